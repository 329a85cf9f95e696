package match

import (
	"errors"
	"regexp"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
	"github.com/halfpoint-go/halfpoint/rules/sgf"
)

// Positions for discussions: shown once, or set up as a sandbox, in which one person
// plays both colours and nothing counts.

// MaxDiagram is the greatest length of a diagram or a record, in bytes.
const MaxDiagram = 2 << 20

// maxGuessed is how many guesses an answer lists one by one.
const maxGuessed = 5

// fence matches the marks of a code block around a text.
var fence = regexp.MustCompile("^\\s*```(\\w*\\s)?|```\\s*$")

// drawn reads what somebody drew: a diagram, or a record, perhaps within other text.
func drawn(drawing string) (*sgf.Record, error) {
	drawing = fence.ReplaceAllString(drawing, "")
	rec, err := sgf.Diagram(text.Typed(drawing, true))
	if err == nil {
		return rec, nil
	}
	rec, e := sgf.Read(strings.NewReader(drawing))
	if errors.Is(e, sgf.ErrNoRecord) && !strings.HasPrefix(strings.TrimSpace(drawing), "(") && !strings.Contains(drawing, "]") {
		return nil, err
	}
	return rec, e
}

// Diagram plays what the argument "diagram" draws under the ruleset that "rules" names,
// the record's own, or the one given, and says what had to be guessed and why a record
// could not be read on. A text of which nothing can be read is an error. Its errors are
// for the person who drew it.
func Diagram(own Rulesets, args map[string]string, otherwise *rules.Ruleset) (g *rules.Game, guessed []text.Message, err error) {
	drawing, name := args["diagram"], strings.TrimSpace(args["rules"])
	if len(drawing) > MaxDiagram {
		return nil, nil, text.Error("diagram.long", MaxDiagram>>20)
	}
	rec, err := drawn(drawing)
	if errors.Is(err, sgf.ErrNoDiagram) || strings.TrimSpace(drawing) == "" {
		return nil, nil, text.Error("diagram.none")
	}
	if err != nil {
		return nil, nil, text.Error("diagram.bad", text.Whole(err))
	}
	r := otherwise
	if rec.RU != "" {
		if own, _, err := rec.Ruleset(); err == nil {
			r = own
		}
	}
	if name != "" {
		if r, err = own.Find(name); err != nil {
			return nil, nil, err
		}
	}
	komi := r.Komi
	if rec.HasKomi {
		komi = rec.Setup.Komi
	}
	rec = rec.Mended(r)
	g, err = rec.Play(r, komi)
	if illegal, ok := errors.AsType[*rules.Illegal](err); ok && illegal.Move > 1 {
		rec = rec.Before(illegal)
		g, err = rec.Play(r, komi)
	}
	if err != nil {
		return nil, nil, text.Error("diagram.bad", text.Whole(err))
	}
	return g, guesses(rec), nil
}

// guesses says what of a record had to be guessed, and why it could not be read on.
func guesses(rec *sgf.Record) (guessed []text.Message) {
	if rec.More {
		guessed = append(guessed, say("diagram.first"))
	}
	for _, r := range rec.Repairs[:min(len(rec.Repairs), maxGuessed)] {
		guessed = append(guessed, say("diagram.repaired", text.Whole(r)))
	}
	if more := len(rec.Repairs) - maxGuessed; more > 0 {
		guessed = append(guessed, say("diagram.repaired.more", more))
	}
	if rec.Stopped != nil {
		guessed = append(guessed, say("diagram.stopped", text.Whole(rec.Stopped)))
	}
	return guessed
}

// setUp sets a position up as a sandbox.
func setUp(in *Input) Step {
	if s, closed := in.closed(); closed {
		return s
	}
	otherwise := &rules.TwoButton
	if r, err := in.Rulesets.Find(in.Room.Rules); in.Room.Rules != "" && err == nil {
		otherwise = r
	}
	g, guessed, err := Diagram(in.Rulesets, in.Request.Args, otherwise)
	if err != nil {
		return in.Refuse(wrong(err))
	}
	if in.unfinished(true) >= maxSandboxes {
		return in.Refuse(say("sandbox.many"))
	}
	m := Match{ID: in.NewID, Rules: g.Rules().Stored(), Setup: g.Setup(), Opener: in.By, Where: in.Request.Where,
		Opened: in.Now, Standing: Standing{State: Sandbox, Page: in.NewPage, Black: in.By, White: in.By}}
	bodies := []Body{body(eventSandbox)}
	for _, t := range g.Log() {
		bodies = append(bodies, body(eventTurn, t))
	}
	s := in.opening(m).step(above(append([]text.Message{say("sandbox", named(in.By), text.ThisGame, g.Rules().Title)}, guessed...)...), bodies...)
	s.New = true
	return s
}

// maxSandboxes is how many sandboxes a person may have in a channel at once.
const maxSandboxes = 10
