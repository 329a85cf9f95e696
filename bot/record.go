package bot

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
	"github.com/halfpoint-go/halfpoint/rules/sgf"
)

// A Record is a record or a position that has a page without being a game here: somebody
// brought it with a browser, or showed it in a room.
type Record struct {
	Slug    string         // in the address of its page, hard to guess
	Where   match.Room     // where it was shown; zero: nowhere
	Person  match.PersonID // who showed it
	Browser string         // that brought it, by the hash of its secret; empty: none
	Name    string         // of its file; may be empty
	Text    string         // SGF or a diagram, in any encoding
	Shared  bool           // anyone who has the address may see it; else only the browser may
	Visited time.Time      // when somebody last looked at it, to a day; until it is shared, when it was stored
}

// Errors of AddRecord.
var (
	ErrTooMany = errors.New("there are as many records as there may be")
	ErrFull    = errors.New("there is no room for more records")
)

// viewRecord returns a record at one moment. An error of a text that is none, or no record
// that can be played, is for the person who brought it.
func (b *Bot) viewRecord(ctx context.Context, v Viewing) (View, error) {
	l := text.BestLanguage(v.Lang)
	if r := v.Record; r.Where != (match.Room{}) {
		here, room, err := b.room(ctx, r.Where)
		if err != nil {
			return View{}, err
		}
		// A page from before the room had pages again stays closed. Nobody could visit it meanwhile.
		if set := b.settings(here); !set.Pages.On() || r.Visited.Before(set.Since) {
			return View{}, ErrNotFound
		}
		if v.Lang == "" {
			l = room
		}
	}
	read, err := b.reading(v.Record)
	if err != nil {
		return View{}, err
	}
	turns := read.Game.Turns()
	if v.Seq < 0 || v.Seq > turns+1 {
		return View{}, ErrNotFound
	}
	last := &match.Position{Game: read.Game}
	for _, t := range read.Game.Log() {
		if t.Kind.IsTurn() {
			last.Lines = append(last.Lines, match.Line{Seq: len(last.Lines) + 2, Turn: t})
		}
	}
	m := match.Match{Rules: read.Game.Rules().Stored(), Setup: read.Game.Setup(), Standing: match.Standing{State: match.Ended, Seq: turns + 1}}
	out := View{Match: m, Seq: cmp.Or(v.Seq, turns+1), Lang: l.Tag}
	out.Path = "/p/" + v.Record.Slug + "/" + strconv.Itoa(out.Seq-1)
	at := last
	if out.Seq <= turns {
		at = &match.Position{Game: read.Game.At(out.Seq - 1), Lines: last.Lines[:out.Seq-1]}
	}
	named := render.Names{Black: text.CleanName(read.Info.Black), White: text.CleanName(read.Info.White)}
	scene := func(n render.Names) render.Scene {
		s := l.PictureWords().Of(at.Game, n)
		if turns == 0 {
			s = s.Position()
		}
		return s
	}
	out.Scene, out.Card = scene(named), scene(render.Names{})
	out.describe(m, last, at, l)
	if turns == 0 {
		out.Line = out.Scene.Told
	}
	out.Heard = out.Line
	out.Guessed = words(l, read.Guessed)
	out.About = toldBy(read.Info)
	counted := b.countRecord(&out, v, at.Game, l)
	if v.Held {
		out.Held = changedHands(&match.Position{Game: counted, Lines: at.Lines}, l)
	}
	out.preview(l)
	if v.File != "" {
		out.File, err = recordAs(v.File, read, l)
	}
	return out, err
}

// recordAs returns a whole record as a file: "sgf" or "gif".
func recordAs(kind string, read match.Reading, l *text.Language) (*outbox.File, error) {
	var out bytes.Buffer
	if kind == "sgf" {
		err := sgf.Write(&out, read.Game, read.Info)
		return &outbox.File{Name: "record.sgf", Type: "application/x-go-sgf", Data: out.Bytes()}, err
	}
	turns := read.Game.Turns()
	names := render.Names{Black: read.Info.Black, White: read.Info.White}
	scenes := l.PictureWords().Scenes(read.Game, names, max(0, turns-replayTurns), turns)
	err := render.GIF(&out, scenes, render.Options{Size: "small"}, replayTurn, replayEnd)
	return &outbox.File{Name: "record.gif", Type: "image/gif", Data: out.Bytes()}, err
}

// countRecord counts a moment of a record as its reader asks: with other dead stones, or by
// another ruleset. It returns the game that the ledger is of.
func (b *Bot) countRecord(out *View, v Viewing, g *rules.Game, l *text.Language) *rules.Game {
	rec, board := sgf.Of(g), g.Board()
	if stopped, _, err := rec.Count(sgf.Count{Stop: true, Move: g.Turns()}); err == nil {
		board = stopped.Board() // dead stones and all
	}
	if v.Dead == "" {
		if g.Phase() != rules.Playing {
			out.Dead = rules.Names(match.OneOfEach(board, rec.Dead()))
		}
		if v.As != "" {
			out.As = b.countedIn(v.As, rec.Compare(sgf.Count{Also: b.rulesets}), l, out.Scene)
		}
		return g
	}
	points, err := match.ParsePoints(v.Dead, g.Setup().W, g.Setup().H)
	if i := slices.IndexFunc(points, func(p rules.Point) bool { return board.At(p) == rules.None }); i >= 0 {
		err = rules.Saying{Text: "there is no stone on {0}", Args: []any{points[i]}}
	}
	if err != nil {
		out.Dead, out.As = v.Dead, &Counted{Err: l.Say(text.Whole(err))}
		return g
	}
	dead := append([]rules.Point{}, odd(board, points)...) // not nil: somebody has said what is dead
	out.Dead = cmp.Or(rules.Names(dead), "none")
	rows := rec.Compare(sgf.Count{Dead: dead, Also: b.rulesets})
	reader := l.Say(say("view.reader"))
	if c := countedBy(g.Rules(), rows, l, out.Scene); c.Err == "" {
		out.Scene, g = c.Scene, c.game
		out.Scene.Caption = reader
	} else if v.As == "" {
		out.As = c
	}
	if v.As != "" {
		if out.As = b.countedIn(v.As, rows, l, out.Scene); out.As.Err == "" {
			out.As.Scene.Caption = reader
			out.As.Differs = slices.DeleteFunc(out.As.Differs, func(s string) bool { return s == l.Say(say("view.unfinished")) })
		}
	}
	return g
}

// countedIn returns the count of a ruleset among the rows of a comparison, by its name.
func (b *Bot) countedIn(name string, rows []sgf.Row, l *text.Language, scene render.Scene) *Counted {
	r, err := b.rulesets.Find(name)
	if err != nil {
		return &Counted{Err: l.Say(wrong(err))}
	}
	return countedBy(r, rows, l, scene)
}

// odd returns one point of each chain that is named an odd number of times.
func odd(board rules.Board, points []rules.Point) (out []rules.Point) {
	for _, p := range points {
		chain := board.Chain(p)
		if i := slices.IndexFunc(out, func(q rules.Point) bool { return slices.Contains(chain, q) }); i >= 0 {
			out = slices.Delete(out, i, i+1)
		} else {
			out = append(out, p)
		}
	}
	return out
}

// reading reads a record, or remembers how it was read.
func (b *Bot) reading(r *Record) (match.Reading, error) {
	if read, ok := b.readings.Get(r.Slug); ok {
		return read, nil
	}
	read, err := match.ReadRecord(r.Text)
	if err == nil && r.Slug != "" {
		b.readings.Add(r.Slug, read)
	}
	return read, err
}

// toldBy says what a record tells of its game.
func toldBy(i sgf.Info) string {
	var said []string
	for _, s := range []string{i.Name, i.Event, i.Round, i.Place, i.Date, i.Result} {
		if s = text.CleanName(s); s != "" {
			said = append(said, s)
		}
	}
	return strings.Join(said, " · ")
}

func words(l *text.Language, texts []Text) (out []string) {
	for _, t := range texts {
		out = append(out, l.Say(t))
	}
	return out
}

// maxShown is how many positions that were shown in a room have pages.
const maxShown = 1000

// onPage gives what an answer shows a page of its own, if everybody sees the answer, the room
// has pages, and somebody could find it. What is shown again in a room keeps its page. It stores
// the page, which is no change of any game: a question that is asked again stores it again.
func (q *question) onPage(a outbox.Post, g *rules.Game, name string) outbox.Post {
	where := q.req.Where.WithoutThread()
	if !q.shared() || !q.b.reachable(where) || !q.b.settings(q.localizer.here).Pages.On() {
		return a
	}
	var record bytes.Buffer
	err := sgf.Write(&record, g, sgf.Info{Name: name})
	var secret []byte
	if err == nil {
		secret, err = q.b.secret(q.ctx)
	}
	h := hmac.New(sha256.New, secret)
	h.Write([]byte("show " + where.Platform + " " + where.Channel + " " + record.String()))
	slug := strings.ToLower(base32.StdEncoding.EncodeToString(h.Sum(nil)[:10]))
	if err == nil {
		err = q.b.store.AddRecord(q.ctx, Record{Slug: slug, Where: where, Person: q.by, Text: record.String(), Shared: true, Visited: q.b.now().UTC()}, maxShown)
	}
	if err != nil { // no room for it, or worse: the answer is good without
		if !errors.Is(err, ErrFull) {
			q.b.log.Error("page of a position not stored", "request", q.req.ID, "error", err)
		}
		return a
	}
	path := "/p/" + slug
	if where.Platform != LogPlatform {
		a.Path, a.Link = path, q.b.address+path
		return a
	}
	t := say("show.page", text.Address(q.b.address+path))
	a.Text += "\n" + q.lang.Say(t)
	a.Stored.Texts = append(a.Stored.Texts, t)
	return a
}
