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
	rec, err := readDrawing(args["diagram"])
	if err != nil {
		return nil, nil, err
	}
	r := otherwise
	if rec.RU != "" {
		if own, _, err := rec.Ruleset(); err == nil {
			r = own
		}
	}
	if name := strings.TrimSpace(args["rules"]); name != "" {
		if r, err = own.Find(name); err != nil {
			return nil, nil, err
		}
	}
	if rec, g, err = playRecord(rec, r, false); err != nil {
		return nil, nil, err
	}
	return g, guesses(rec), nil
}

// A Reading is how a record is read that somebody looks at as a game that was played.
type Reading struct {
	Game    *rules.Game
	Info    sgf.Info
	Guessed []text.Message // what had to be guessed, and why it could not be read on
}

// ReadRecord reads a record in SGF, or a diagram, with what other programs leave out: a
// record without rules by those under which it comes to its result, and at the end the passes
// and the dead stones. Its errors are for the person who brought the record.
func ReadRecord(drawing string) (Reading, error) {
	rec, err := readDrawing(drawing)
	if err != nil {
		return Reading{}, err
	}
	diagram := !rec.HasSize && rec.Info == (sgf.Info{}) && rec.RU == ""
	if !diagram {
		rec = rec.Fitted()
	}
	r, _, err := rec.Ruleset()
	if err != nil {
		return Reading{}, text.Error("diagram.bad", text.Whole(err))
	}
	rec, g, err := playRecord(rec, r, !diagram)
	if err != nil {
		return Reading{}, err
	}
	var guessed []text.Message
	for _, r := range rec.Repairs {
		guessed = append(guessed, text.Whole(r))
	}
	rec.Repairs = nil
	return Reading{g, rec.Info, append(guessed, guesses(rec)...)}, nil
}

// readDrawing reads what somebody drew. Its errors are for them.
func readDrawing(drawing string) (*sgf.Record, error) {
	if len(drawing) > MaxDiagram {
		return nil, text.Error("diagram.long", MaxDiagram>>20)
	}
	rec, err := drawn(drawing)
	if errors.Is(err, sgf.ErrNoDiagram) || strings.TrimSpace(drawing) == "" {
		return nil, text.Error("diagram.none")
	}
	if err != nil {
		return nil, text.Error("diagram.bad", text.Whole(err))
	}
	return rec, nil
}

// playRecord plays a record under a ruleset as far as that permits, and returns what it has played.
// It may settle what the record leaves open of its end.
func playRecord(rec *sgf.Record, r *rules.Ruleset, settle bool) (*sgf.Record, *rules.Game, error) {
	komi := r.Komi
	if rec.HasKomi {
		komi = rec.Setup.Komi
	}
	rec = rec.Mended(r)
	if settle {
		rec = rec.Settled(r)
	}
	g, err := rec.Play(r, komi)
	if illegal, ok := errors.AsType[*rules.Illegal](err); ok && illegal.Move > 1 {
		rec = rec.Before(illegal)
		g, err = rec.Play(r, komi)
	}
	if err != nil {
		return nil, nil, text.Error("diagram.bad", text.Whole(err))
	}
	return rec, g, nil
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
