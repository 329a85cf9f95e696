package discordtest

import (
	"encoding/json"
	"errors"
	"time"
)

// late reports whether nobody answered in time, and tells the person.
func (s *Server) late(i *interaction) bool {
	if i.answered != 0 || s.now().Sub(i.created) <= FirstResponse {
		return false
	}
	if !i.failed {
		i.failed = true
		s.sayAsked(i)
		s.sayTo(i, "The application did not respond")
	}
	return true
}

// An Interaction is what a person did, and what came of it.
type Interaction struct {
	s *Server
	i *interaction
}

// Asked returns the interactions that people have made, oldest first.
func (s *Server) Asked() (list []*Interaction) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.asked {
		list = append(list, &Interaction{s, i})
	}
	return list
}

// ID returns the interaction's snowflake.
func (i *Interaction) ID() string { return i.i.id }

// Token returns the interaction's token.
func (i *Interaction) Token() string { return i.i.token }

// Refused returns why Discord's own client did not let the person do it; then
// nothing was sent.
func (i *Interaction) Refused() error { return i.i.refused }

// Again delivers the same interaction once more, as a gateway may.
func (i *Interaction) Again() { i.s.locked(func() { i.s.deliver(i.i) }) }

// First waits for the first response and returns its callback type (4 message, 5
// deferred, 6 deferred update, 7 update, 8 choices, 9 modal), and how long it
// took by the double's clock; 0 when none came in time.
func (i *Interaction) First() (kind int, took time.Duration) {
	i.s.mu.Lock()
	defer i.s.mu.Unlock()
	i.await(i.answered)
	if !i.answered() {
		return 0, 0
	}
	return i.i.answered, i.i.at.Sub(i.i.created)
}

func (i *Interaction) answered() bool { return i.i.answered != 0 }

// await waits with the lock held until done, refused or too late.
func (i *Interaction) await(done func() bool) {
	wake := time.AfterFunc(FirstResponse+10*time.Millisecond, i.s.changed.Broadcast)
	defer wake.Stop()
	i.s.waitFor(func() bool {
		return i.i.refused != nil || done() || i.s.late(i.i) || i.s.now().Sub(i.i.created) > TokenLife
	})
}

// Answer waits for the message that answers the interaction: the first
// response, or what replaces a deferral, or the component's message after its
// update. It is nil when none came, and after a modal or choices.
func (i *Interaction) Answer() *Message {
	i.s.mu.Lock()
	defer i.s.mu.Unlock()
	var m *message
	i.await(func() bool {
		switch o := i.i.original; i.i.answered {
		case 0:
			return false
		case answerModal, answerChoices:
			return true
		case answerDeferEdit:
			if i.i.message.edits > i.i.editsThen {
				m = i.i.message
			}
		default:
			if o.flags&flagLoading == 0 {
				m = o
			}
			if o.gone {
				return true
			}
		}
		return m != nil
	})
	if m == nil {
		return nil
	}
	return i.s.snapshot(m)
}

// Failed waits like First and reports whether the person was told that the
// application did not respond.
func (i *Interaction) Failed() bool {
	i.First()
	i.s.mu.Lock()
	defer i.s.mu.Unlock()
	return i.i.failed
}

// FollowUps returns the messages that followed the answer so far.
func (i *Interaction) FollowUps() (list []*Message) {
	i.s.mu.Lock()
	defer i.s.mu.Unlock()
	for _, m := range i.i.followUps {
		list = append(list, i.s.snapshot(m))
	}
	return list
}

// choices waits for what an autocompletion offers.
func (i *Interaction) choices() ([]Choice, error) {
	i.s.mu.Lock()
	defer i.s.mu.Unlock()
	i.await(i.answered)
	if i.i.refused != nil {
		return nil, i.i.refused
	}
	if i.i.answered != answerChoices {
		return nil, errors.New("loading options failed")
	}
	list := []Choice{}
	for _, c := range i.i.choices {
		v := c.(object)["value"]
		if n, ok := v.(json.Number); ok {
			v = asFloat(n)
		}
		list = append(list, Choice{text(c.(object)["name"]), v})
	}
	return list, nil
}

// A Modal is a form that an interaction opened.
type Modal struct {
	Title  string
	Fields []Field
}

// A Field is one text input of a Modal, and what it holds.
type Field struct{ CustomID, Label, Value string }

// Modal waits for the form that the interaction opens; nil when it opens none.
func (i *Interaction) Modal() *Modal {
	i.s.mu.Lock()
	defer i.s.mu.Unlock()
	i.await(i.answered)
	if i.i.modal == nil {
		return nil
	}
	m := &Modal{Title: text(i.i.modal["title"])}
	label := ""
	visitParts(i.i.modal["components"], func(o object) {
		if l := text(o["label"]); l != "" {
			label = l // a label's, or the field's own
		}
		if number(o["type"]) == partInput {
			m.Fields = append(m.Fields, Field{text(o["custom_id"]), label, text(o["value"])})
		}
	})
	return m
}
