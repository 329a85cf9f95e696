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

func readLesson(id, source string) (lesson, error) {
	lines := strings.Split(strings.TrimSpace(source), "\n")
	l := lesson{id: id, title: lines[0]}
	var now *rules.Game
	var ruleset *rules.Ruleset
	var setup rules.Setup
	var opening []rules.Turn // turns before the first sentence
	fail := func(n int, err error) (lesson, error) { return l, fmt.Errorf("line %d: %w", n+1, err) }
	for n := 1; n < len(lines); n++ {
		line := strings.TrimSpace(lines[n])
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "":
		case word == "rules" && !strings.Contains(rest, " "):
			r, err := rules.Find(rest)
			if err != nil {
				return fail(n, err)
			}
			ruleset = r
			if now != nil { // the same position by another book
				if setup.First = rules.None; len(opening) == 0 && n+1 < len(lines) && strings.HasPrefix(lines[n+1], "W ") {
					setup.First = rules.White
				}
				if now, err = rules.Replay(r, setup, opening); err != nil {
					return fail(n, err)
				}
			}
		case word == "komi":
			k, err := rules.ParsePoints(rest)
			if err != nil {
				return fail(n, err)
			}
			setup.Komi = k
		case line == "board":
			end := n + 1
			for end < len(lines) && strings.TrimSpace(lines[end]) != "" {
				end++
			}
			rec, err := sgf.Diagram(strings.Join(lines[n+1:end], "\n"))
			if err != nil {
				return fail(n, err)
			}
			rec.Setup.Komi, rec.Setup.First = setup.Komi, rules.None
			setup = rec.Setup
			if now, err = rules.New(ruleset, setup); err != nil {
				return fail(n, err)
			}
			n = end
		case word == "moves" && now != nil:
			for _, at := range strings.Fields(rest) {
				p, err := rules.ParsePoint(at, setup.W, setup.H)
				if err != nil {
					return fail(n, err)
				}
				t := rules.Turn{By: now.ToPlay(), At: p}
				if now, err = now.Play(t); err != nil {
					return fail(n, err)
				}
				opening = append(opening, t)
			}
		case (word == "B" || word == "W") && now != nil:
			t, err := rules.ParseTurn(line, setup.W, setup.H)
			if err != nil {
				return fail(n, err)
			}
			if now, err = now.Play(t); err != nil {
				return fail(n, err)
			}
		default:
			if now == nil {
				return fail(n, fmt.Errorf("no board yet"))
			}
			says := line
			if strings.Contains(says, "{lead}") {
				s := now.Score()
				if s == nil {
					return fail(n, fmt.Errorf("{lead}: nothing is counted here"))
				}
				says = strings.ReplaceAll(says, "{lead}", text.English.Say(lead(s.Margin())))
			}
			l.steps = append(l.steps, lessonStep{now, says})
		}
	}
	if len(l.steps) == 0 {
		return l, fmt.Errorf("lesson without steps")
	}
	return l, nil
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
	return a
}
