package match

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// # Proofs
//
// A proof tells whether a stored match is as the bot wrote it. That of an event begins with its
// link: a digest of the link before it and of all that the event says. The first is chained to
// how the match began. The head of the match has that beginning, the position after the last
// event, and a digest of both with the last link and the standing. So whoever changes a row,
// removes one or swaps two has to compute the later links and the head again; a backup tells
// what they were.
//
// A comment takes part by a digest of its words and a salt, which follow its link.
// Forgetting its author deletes words and salt, and leaves the digest, from which nobody can
// guess the words.
//
// Earlier versions wrote no head, and as the proof of an event that of the position after it,
// which is longer than a link. The first link after such events is chained to the last of
// their proofs.

// linkSize is the length of a digest: 88 bits of SHA-256 in base64. A space and another one
// follow in the proof of a comment, then its salt.
const (
	linkSize = 15
	Unsalted = linkSize + 1 + linkSize // length of the proof of a comment without its salt
)

// digest returns the digest of some texts.
func digest(texts ...string) string {
	var room [512]byte
	all := room[:0]
	for _, t := range texts {
		all = binary.BigEndian.AppendUint64(all, uint64(len(t)))
		all = append(all, t...)
	}
	sum := sha256.Sum256(all)
	return base64.RawURLEncoding.EncodeToString(sum[:11])
}

// stamp writes a time as it is stored, in milliseconds of Unix time.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}

// opening is the digest of how a match began, all that never changes. Its place does, when
// rooms are upgraded.
func (m Match) opening() string {
	control, err := m.Clock.MarshalText()
	if err != nil { // a match with such a clock cannot be stored
		control = []byte(err.Error())
	}
	s := m.Setup
	return digest("opening", string(m.ID), m.Rules, fmt.Sprint(s.W, s.H, int(s.Komi), s.Handicap, s.Black, s.White, s.First), string(control),
		fmt.Sprint(m.Rated, m.NoHints), string(m.Opener), string(m.Invited), stamp(m.Opened),
		string(m.Fixture.Event), fmt.Sprint(m.Fixture.Round, m.Fixture.Table))
}

// headOf returns the head of a match after its last event, when rules.Game.Proof is board.
func headOf(m Match, last Event, board string) string {
	s, opening := m.Standing, m.opening()
	return opening + board + digest("head", opening, board, last.link(), string(s.State), s.Page,
		string(s.Black), string(s.White), string(s.ToMove), strconv.Itoa(s.Seq), s.Result, stamp(s.Deadline), stamp(s.Changed))
}

// link returns the link in the proof of an event; empty if an earlier version wrote it.
func (e Event) link() string {
	link, _, _ := strings.Cut(e.Proof, " ")
	if len(link) != linkSize {
		return ""
	}
	return link
}

// prove sets the proof of an event that follows others. The salt is for a comment.
func (e *Event) prove(m Match, before []Event, salt string) {
	says, comment := e.Body.String(), ""
	if e.Body.Kind == eventComment {
		says = digest("comment", salt, says)
		comment = " " + says + " " + salt
	}
	e.Proof = e.chain(m, before, says) + comment
}

// chain returns the link of an event that follows others.
func (e Event) chain(m Match, before []Event, says string) string {
	previous := ""
	switch n := len(before); {
	case n == 0:
		previous = m.opening()
	case before[n-1].link() != "":
		previous = before[n-1].link()
	default:
		previous = digest("earlier", m.opening(), before[n-1].Proof)
	}
	return digest("event", previous, strconv.Itoa(e.Seq), stamp(e.At), string(e.By), string(e.Body.Kind), says)
}

// proven returns what is wrong with an event that has a link and follows others, or nil.
func (e Event) proven(m Match, before []Event) error {
	says := e.Body.String()
	if e.Body.Kind == eventComment {
		words := strings.Split(e.Proof, " ")
		switch {
		case len(words) == 3 && digest("comment", words[2], says) == words[1],
			len(words) == 2 && e.Body.Args == "": // its author was forgotten
		default:
			return errors.New("this comment is not what was said")
		}
		says = words[1]
	}
	if e.chain(m, before, says) != e.link() {
		return errors.New("it does not follow from what was stored before it")
	}
	return nil
}

// HasLink reports whether a proof has a link, which proves an event and all events with links
// before it. Those of earlier versions have none.
func HasLink(proof string) bool { return Event{Proof: proof}.link() != "" }

// SameLink reports whether two proofs have the same link.
func SameLink(a, b string) bool {
	return HasLink(a) && Event{Proof: a}.link() == Event{Proof: b}.link()
}

// Differs returns the number of the first of some events that is not the same in a log which
// should have grown from them; 0: all are. A comment is the same after its author was forgotten.
func Differs(was, is []Event) int {
	for i, e := range was {
		if i >= len(is) {
			return e.Seq
		}
		now := is[i]
		if e.Body.Kind == eventComment && now.Body.Args == "" {
			e.Body.Args = ""
		}
		if linked := e.link() != "" || now.link() != ""; linked && !SameLink(e.Proof, now.Proof) || !linked && e.Proof != now.Proof ||
			e.Seq != now.Seq || !e.At.Equal(now.At) || e.By != now.By || e.Body != now.Body {
			return e.Seq
		}
	}
	return 0
}

// A Damage says what is wrong with a stored match: its row or its log is not as the bot wrote
// it, or this version no longer plays the ruleset as it was played.
type Damage struct {
	Seq int // of the first event that is wrong; 0: the row of the match
	Err error
}

// Error names the event.
func (d *Damage) Error() string {
	if d.Seq == 0 {
		return d.Err.Error()
	}
	return fmt.Sprintf("event %d: %v", d.Seq, d.Err)
}

// Unwrap returns what is wrong.
func (d *Damage) Unwrap() error { return d.Err }

// damaged returns a Damage.
func damaged(seq int, format string, args ...any) error {
	return &Damage{seq, fmt.Errorf(format, args...)}
}

// Verify folds a stored match from all of its events and checks all proofs. Old means that an
// earlier version, whose proofs say less, wrote some of the events, or all. The error is a
// *Damage, which names the first event that is wrong.
func Verify(m Match, events []Event) (old bool, err error) {
	if err := unbroken(m, events); err != nil {
		return false, err
	}
	if n := len(events); n < m.Seq || n == 0 {
		return false, damaged(n+1, "it is missing")
	}
	if n := slices.IndexFunc(events, func(e Event) bool { return e.link() != "" }); n > 0 {
		p, err := Fold(m, events[:n])
		if err != nil {
			return false, err
		}
		if board := p.Game.Proof(); board != events[n-1].Proof {
			return false, damaged(n, "the game replays to proof %s, and %s is stored", board, events[n-1].Proof)
		}
	}
	p, err := Fold(m, events)
	if err != nil {
		return false, err
	}
	return events[0].link() == "", p.stands(m)
}

// Prove returns a *Damage if what is stored of the match m, or the part of its events from which the position
// was folded, does not agree with its proofs. Then somebody has changed it, or the program
// no longer plays the ruleset under which the game began, and must not go on.
func (p *Position) Prove(m Match) error {
	if err := unbroken(m, p.Events); err != nil {
		return err
	}
	return p.stands(m)
}

// stands returns a *Damage if the match m does not stand as after the events from which the
// position was folded, whose links are a chain. It says nothing of a part of them.
func (p *Position) stands(m Match) error {
	n := len(p.Events)
	if n == 0 || n < m.Seq && m.Head != "" {
		return nil
	}
	last := p.Events[n-1]
	stored := last.Proof
	if m.Head != "" {
		if stored = m.Head[linkSize : len(m.Head)-linkSize]; m.Head != headOf(m, last, stored) {
			return damaged(0, "players, state, result or times are not those after the last event")
		}
	}
	if board := p.Game.Proof(); board != stored {
		return damaged(n, "the game replays to proof %s, and %s is stored", board, stored)
	}
	return nil
}

// unbroken returns a *Damage if the links of the events of a match, from the first on, are no chain.
func unbroken(m Match, events []Event) error {
	if m.Head != "" && (len(m.Head) != 2*linkSize+16 || m.Head[:linkSize] != m.opening()) {
		return damaged(0, "rules, board, komi, clock or opener are not those with which it began")
	}
	linked := false
	for i, e := range events {
		switch chained := e.link() != ""; {
		case e.Seq != i+1:
			return damaged(i+1, "it is missing")
		case e.Seq > m.Seq:
			return damaged(e.Seq, "it comes after the last event that the match has")
		case chained && m.Head == "":
			return damaged(0, "its head is missing")
		case !chained && (linked || m.Head != "" && e.Seq == m.Seq):
			return damaged(e.Seq, "its proof is missing")
		case chained:
			linked = true
			if err := e.proven(m, events[:i]); err != nil {
				return &Damage{e.Seq, err}
			}
		}
	}
	return nil
}
