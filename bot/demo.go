package bot

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
	"github.com/halfpoint-go/halfpoint/rules/sgf"
)

// A lesson is a demonstration of what a rule does: positions in their order,
// each with something to say. It is written as a text:
//
//	The title
//	rules two-button      the ruleset; again later: from the start under another
//	komi 0
//	board                 rows of .XO, up to an empty line
//	..XO.
//
//	moves E5 C7           placements from there, alternately; part of the start
//	The text about the start.
//	B pass                a line of the game's log
//	The text about it. {lead} says who leads by how much, so that no number is wrong.
type lesson struct {
	id, title string
	steps     []lessonStep
}

type lessonStep struct {
	game *rules.Game
	says string
}

//go:embed lessons/*.txt
var lessonFiles embed.FS

// lessons returns all lessons, which are read once. They are part of the program, and a
// test finds those that cannot be read.
var lessons = sync.OnceValue(func() []lesson {
	names, err := fs.Glob(lessonFiles, "lessons/*.txt")
	if err != nil {
		panic(err)
	}
	var out []lesson
	for _, name := range names {
		text, err := fs.ReadFile(lessonFiles, name)
		if err != nil {
			panic(err)
		}
		_, id, _ := strings.Cut(strings.TrimSuffix(path.Base(name), ".txt"), "-")
		l, err := readLesson(id, string(text))
		if err != nil {
			panic(fmt.Sprintf("%s: %v", name, err))
		}
		out = append(out, l)
	}
	return out
})

// A lessonReader reads a lesson, line by line.
type lessonReader struct {
	lesson
	lines   []string
	n       int // the line that is read
	now     *rules.Game
	ruleset *rules.Ruleset
	setup   rules.Setup
	opening []rules.Turn // turns before the first sentence
}

// reads has a reader for each word with which a line may begin. Lines that begin with
// another, or that its reader does not want, are sentences.
var reads = map[string]struct {
	wants func(r *lessonReader, rest string) bool
	read  func(r *lessonReader, rest string) error
}{
	"rules": {func(_ *lessonReader, rest string) bool { return !strings.Contains(rest, " ") }, (*lessonReader).rules},
	"komi":  {func(*lessonReader, string) bool { return true }, (*lessonReader).komi},
	"board": {func(_ *lessonReader, rest string) bool { return rest == "" }, (*lessonReader).board},
	"moves": {(*lessonReader).begun, (*lessonReader).moves},
	"B":     {(*lessonReader).begun, (*lessonReader).turn},
	"W":     {(*lessonReader).begun, (*lessonReader).turn},
}

func readLesson(id, source string) (lesson, error) {
	r := &lessonReader{lines: strings.Split(strings.TrimSpace(source), "\n")}
	r.id, r.title = id, r.lines[0]
	for r.n = 1; r.n < len(r.lines); r.n++ {
		line, at := strings.TrimSpace(r.lines[r.n]), r.n
		if line == "" {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		read := (*lessonReader).sentence
		if by, ok := reads[word]; ok && by.wants(r, rest) {
			read = by.read
		}
		if err := read(r, rest); err != nil {
			return r.lesson, fmt.Errorf("line %d: %w", at+1, err)
		}
	}
	if len(r.steps) == 0 {
		return r.lesson, fmt.Errorf("lesson without steps")
	}
	return r.lesson, nil
}

func (r *lessonReader) begun(string) bool { return r.now != nil }

func (r *lessonReader) rules(name string) (err error) {
	if r.ruleset, err = rules.Find(name); err != nil || r.now == nil {
		return err
	}
	// The same position by another book.
	if r.setup.First = rules.None; len(r.opening) == 0 && r.n+1 < len(r.lines) && strings.HasPrefix(r.lines[r.n+1], "W ") {
		r.setup.First = rules.White
	}
	r.now, err = rules.Replay(r.ruleset, r.setup, r.opening)
	return err
}

func (r *lessonReader) komi(points string) (err error) {
	r.setup.Komi, err = rules.ParsePoints(points)
	return err
}

func (r *lessonReader) board(string) error {
	first := r.n + 1
	for r.n++; r.n < len(r.lines) && strings.TrimSpace(r.lines[r.n]) != ""; r.n++ {
	}
	rec, err := sgf.Diagram(strings.Join(r.lines[first:r.n], "\n"))
	if err != nil {
		return err
	}
	rec.Setup.Komi, rec.Setup.First = r.setup.Komi, rules.None
	r.setup = rec.Setup
	r.now, err = rules.New(r.ruleset, r.setup)
	return err
}

func (r *lessonReader) moves(points string) error {
	for _, at := range strings.Fields(points) {
		p, err := rules.ParsePoint(at, r.setup.W, r.setup.H)
		if err != nil {
			return err
		}
		t := rules.Turn{By: r.now.ToPlay(), At: p}
		if r.now, err = r.now.Play(t); err != nil {
			return err
		}
		r.opening = append(r.opening, t)
	}
	return nil
}

func (r *lessonReader) turn(string) error {
	t, err := rules.ParseTurn(strings.TrimSpace(r.lines[r.n]), r.setup.W, r.setup.H)
	if err == nil {
		r.now, err = r.now.Play(t)
	}
	return err
}

func (r *lessonReader) sentence(string) error {
	if r.now == nil {
		return fmt.Errorf("no board yet")
	}
	says := strings.TrimSpace(r.lines[r.n])
	if strings.Contains(says, "{lead}") {
		s := r.now.Score()
		if s == nil {
			return fmt.Errorf("{lead}: nothing is counted here")
		}
		says = strings.ReplaceAll(says, "{lead}", text.English.Say(lead(s.Margin())))
	}
	r.steps = append(r.steps, lessonStep{r.now, says})
	return nil
}

// demo lists the lessons, or shows a step of one.
func demo(q *question) outbox.Post {
	name := strings.ToLower(strings.TrimSpace(q.req.Args["lesson"]))
	all := lessons()
	i := slices.IndexFunc(all, func(l lesson) bool { return l.id == name })
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(all) {
		i = n - 1
	}
	if i < 0 {
		var out []Text
		if name != "" {
			var ids []string
			for _, l := range all {
				ids = append(ids, l.id)
			}
			var hint any = ""
			if near := text.Nearest(name, ids); near != "" {
				hint = say("did.you.mean", near)
			}
			out = append(out, say("demo.unknown", shortened(name), hint))
		} else {
			out = append(out, say("demo"))
		}
		for i, l := range all {
			out = append(out, say("demo.line", strconv.Itoa(i+1), l.id, l.title))
		}
		return q.answer(out...)
	}
	l, step := all[i], 1
	if text := strings.TrimSpace(q.req.Args["step"]); text != "" {
		var err error
		if step, err = strconv.Atoi(text); err != nil {
			return q.refuse(say("bad.number", shortened(text)))
		}
	}
	if step < 1 || step > len(l.steps) {
		return q.refuse(say("demo.range", strconv.Itoa(len(l.steps))))
	}
	s := l.steps[step-1]
	out := []Text{say("demo.step", l.title, strconv.Itoa(step), strconv.Itoa(len(l.steps)), s.game.Rules().Title), say("lines", s.says)}
	if t, ok := s.game.LastTurn(); ok && t.Kind.IsTurn() {
		es := s.game.EntriesOf(s.game.Turns())
		for i, change := range gains(es) {
			out = append(out, say("demo.change", change, text.Sentence(es[i].Why)))
		}
	}
	a := q.answer(out...)
	scene := q.lang.PictureWords().EndedNow(s.game, render.Names{})
	scene.Step, scene.Steps, scene.Comment = step, len(l.steps), s.says
	scene.Look = q.look()
	a.Scene = &scene
	for _, to := range []struct {
		label string
		step  int
	}{{"demo.back", step - 1}, {"demo.next", step + 1}} {
		if to.step >= 1 && to.step <= len(l.steps) {
			args := map[string]string{"lesson": l.id, "step": strconv.Itoa(to.step)}
			if q.shared() {
				args["share"] = "yes"
			}
			a.Controls = append(a.Controls, match.Control{Label: q.lang.Say(say(to.label)), Command: "demo", Args: args})
		}
	}
	return q.onPage(a, s.game, l.title)
}

// exampleOf returns a position that shows what a ruleset counts: the last one under it in the
// lessons, or else an empty board.
func exampleOf(r *rules.Ruleset) (example *rules.Game) {
	for _, l := range lessons() {
		for _, step := range l.steps {
			if step.game.Rules().ID() == r.ID() {
				example = step.game
			}
		}
	}
	if example == nil {
		example, _ = rules.New(r, rules.Setup{W: 9, H: 9, Komi: r.Komi})
	}
	return example
}
