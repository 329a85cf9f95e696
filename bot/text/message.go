package text

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/rules"
)

// A Message is a text as the key of its words and their arguments. It is worded only on
// delivery, in the language of its readers and with the names that people have then. In
// JSON, as in the database, it is {"k": key, "a": [arguments]}.
type Message struct {
	Key  string `json:"k"`
	Args []Arg  `json:"a,omitempty"`
}

// Say makes a message. An argument is a string, an int, a Message, an [Arg], or
// anything else that fmt prints, such as points of the score. If the words have
// plural forms, the first argument is the number that chooses among them.
func Say(key string, args ...any) Message {
	m := Message{Key: key}
	for _, a := range args {
		m.Args = append(m.Args, argOf(a))
	}
	return m
}

// An Arg is an argument of a message.
type Arg struct {
	Kind    Kind
	Value   string   // the literal, the digits of the number, or the person's id
	Message *Message // of a Nested argument
}

// A Kind is a kind of argument.
type Kind uint8

// The kinds of arguments.
const (
	Literal Kind = iota // a text
	Number              // a number, which chooses the plural form if it is the first argument
	Person              // the name of the person with this id
	Game                // the number of the game that the message is about
	Nested              // a message, in the language of the one that holds it
)

// Somebody is an argument for the name of the person with an id.
func Somebody(id string) Arg { return Arg{Kind: Person, Value: id} }

// ThisGame is an argument for the number of the game that the message is about. The
// store numbers a new game after the message was made.
var ThisGame = Arg{Kind: Game}

func argOf(a any) Arg {
	switch a := a.(type) {
	case Arg:
		return a
	case Message:
		return Arg{Kind: Nested, Message: &a}
	case string:
		return Arg{Value: a}
	case int:
		return Arg{Kind: Number, Value: strconv.Itoa(a)}
	}
	return Arg{Value: fmt.Sprint(a)}
}

// jsonArg is the JSON of an argument that is neither a string nor a number.
type jsonArg struct {
	Person string `json:"p,omitempty"`
	Game   bool   `json:"g,omitempty"`
	Key    string `json:"k,omitempty"`
	Args   []Arg  `json:"a,omitempty"`
}

// MarshalJSON writes a literal as a string, a number as a number, and the others
// as objects: {"p": person}, {"g": true}, {"k": key, "a": [arguments]}.
func (a Arg) MarshalJSON() ([]byte, error) {
	switch a.Kind {
	case Number:
		return []byte(a.Value), nil
	case Person:
		return json.Marshal(jsonArg{Person: a.Value})
	case Game:
		return json.Marshal(jsonArg{Game: true})
	case Nested:
		return json.Marshal(a.Message)
	}
	return json.Marshal(a.Value)
}

// The marks with which the first release encoded arguments other than literals as
// strings.
const (
	formerPerson = "\x01"
	formerGame   = "\x02"
	formerNested = "\x07"
)

// UnmarshalJSON reads what MarshalJSON writes, and what the first release wrote: only
// strings, some with a mark at the beginning and some with numbers.
func (a *Arg) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case '"':
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		return a.former(s)
	case '{':
		var o jsonArg
		if err := json.Unmarshal(data, &o); err != nil {
			return err
		}
		switch {
		case o.Person != "":
			*a = Somebody(o.Person)
		case o.Game:
			*a = ThisGame
		default:
			*a = Arg{Kind: Nested, Message: &Message{o.Key, o.Args}}
		}
		return nil
	}
	var n int
	if err := json.Unmarshal(data, &n); err != nil {
		return err
	}
	*a = argOf(n)
	return nil
}

func (a *Arg) former(s string) error {
	if id, ok := strings.CutPrefix(s, formerPerson); ok {
		*a = Somebody(id)
		return nil
	}
	if s == formerGame {
		*a = ThisGame
		return nil
	}
	if inner, ok := strings.CutPrefix(s, formerNested); ok {
		var m Message
		if err := json.Unmarshal([]byte(inner), &m); err != nil {
			return err
		}
		*a = argOf(m)
		return nil
	}
	*a = Arg{Value: s}
	if n, err := strconv.Atoi(s); err == nil && strconv.Itoa(n) == s {
		a.Kind = Number
	}
	return nil
}

// List is several arguments as one, with commas between them.
func List[T any](args ...T) Message {
	out := Say("lines", args[0])
	for _, a := range args[1:] {
		out = Say("list", out, a)
	}
	return out
}

// Lines is several messages as one, each in a line of its own.
func Lines(ms ...Message) Message {
	out := ms[0]
	for _, m := range ms[1:] {
		out = Say("below", out, m)
	}
	return out
}

// Points is an amount of points as an argument: "6½", or in a language that says so 6目半.
func Points(p rules.Points) Message {
	whole, half := strings.CutSuffix(p.String(), "½")
	switch {
	case !half:
		return Say("points", whole)
	case strings.ContainsAny(whole, "0123456789"):
		return Say("points.half", whole)
	}
	return Say("points.only.half", whole)
}

// Or is List with "or" before the last.
func Or(args ...string) Message {
	last := len(args) - 1
	if last == 0 {
		return List(args...)
	}
	return Say("or", List(args[:last]...), args[last])
}

// Sentence is a message in the words of the rules: a string, a [rules.Saying], or an
// error that may be one. The rules quote their sources; a language that has no words
// for a sentence quotes it in English.
func Sentence(s any) Message { return sentence("sentence", s) }

// Begins is Sentence with a capital letter.
func Begins(s any) Message { return sentence("sentence.begins", s) }

// Whole is Begins with a stop, if nothing else ends it.
func Whole(s any) Message { return sentence("sentence.whole", s) }

// sentence makes a message whose first argument is the English sentence, followed by the
// sentence's own arguments.
func sentence(key string, s any) Message {
	if v, is := s.(interface{ Says() rules.Saying }); is {
		s = v.Says()
	}
	says, ok := s.(rules.Saying)
	if err, is := s.(error); is && !ok {
		ok = errors.As(err, &says) && says.String() == err.Error()
	}
	if !ok {
		return Say(key, fmt.Sprint(s))
	}
	m := Say(key, says.Text)
	for _, a := range says.Args {
		switch v := a.(type) {
		case rules.Color:
			a = Color(v)
		case error: // a Saying, or what may be one
			a = Sentence(v)
		}
		m.Args = append(m.Args, argOf(a))
	}
	return m
}

// adapters is the key of messages of adapters.
const adapters = "adapter"

// Adapters makes a message of an adapter's own English text and its arguments for {0},
// {1} ….
func Adapters(english string, args ...string) Message {
	m := Say(adapters, english)
	for _, a := range args {
		m.Args = append(m.Args, argOf(a))
	}
	return m
}

// About says in a line how you win under a ruleset and what a pass costs. If people asked
// for it by the name of other rules, a line before that says how it is related to those.
func About(typed string, r *rules.Ruleset) []Message {
	summary := Say("rules.summary", Sentence(r.Aim), Sentence(r.PassCost))
	if note := rules.About(typed); note != "" && !r.IsCustom() {
		return []Message{Whole(note), summary}
	}
	return []Message{summary}
}

// Identity returns what tells a message from others that an adapter tells somebody.
func (m Message) Identity() string {
	if m.Key == adapters {
		return m.Args[0].Value
	}
	return m.Key
}

// A messageError is a Message as an error.
type messageError struct{ Message }

func (e messageError) Error() string { return Fill(English.Say(e.Message), Format{}) }

// Error makes an error for the person who typed something wrong. Its text is
// English; [Explain] returns its message.
func Error(key string, args ...any) error { return messageError{Say(key, args...)} }

// Explain returns the message of an error that is for the person who typed: one
// made by [Error], or one of the rules; see [Whole].
func Explain(err error) Message {
	if e, ok := errors.AsType[messageError](err); ok {
		return e.Message
	}
	return Whole(err)
}

// Shorten cuts what somebody typed to a length suitable for an answer: 30 characters.
func Shorten(s string) string {
	return rules.Shorten(s, 30)
}

// People returns the ids of the people whom messages name, in order.
func People(ms []Message) []string {
	var ids []string
	for _, m := range ms {
		for _, a := range m.Args {
			switch a.Kind {
			case Person:
				ids = append(ids, a.Value)
			case Nested:
				ids = append(ids, People([]Message{*a.Message})...)
			}
		}
	}
	return ids
}
