// Package adaptertest tests what every adapter must do. The test of an adapter begins
// with adaptertest.Run on a double of its platform; tests of what is special to the
// platform follow:
//
//	func TestAdapter(t *testing.T) {
//		adaptertest.Run(t, func(t *testing.T, service bot.Service) adaptertest.Platform {
//			return newDouble(t, service) // starts the adapter, stops it with t.Cleanup
//		})
//	}
package adaptertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// A Platform is a double of a chat platform with the adapter under test
// connected to it.
type Platform interface {
	// Adapter is the adapter under test, running.
	Adapter() bot.Adapter
	// Room is where people talk.
	Room() match.Room
	// Says lets somebody type text. It returns when the adapter has handled it.
	Says(who, text string)
	// Again repeats the last submission, as a platform does that has not received the
	// response. It reports false if this platform never does that.
	Again() bool
	// Sees returns everything that somebody can read now.
	Sees(who string) string
	// OneScreen reports whether all persons look at the same screen, so that private
	// messages can only be marked as private.
	OneScreen() bool
	// Stop stops the adapter and returns the result of Run.
	Stop() error
}

// A Shelf is a Platform that can carry files.
type Shelf interface {
	// Files returns what somebody can download now, by name.
	Files(who string) map[string][]byte
}

// A Faulty is a Platform that can fail to take what the adapter shows.
type Faulty interface {
	// Fails sets whether it fails from now on.
	Fails(bool)
}

// Run runs the suite. start returns a new platform each time.
func Run(t *testing.T, start func(*testing.T, bot.Service) Platform) {
	t.Helper()
	RunIn(t, func(t *testing.T, test func(*testing.T)) { test(t) }, start)
}

// RunIn runs the suite, each of its tests inside around: [synctest.Test] for
// platforms that are in memory.
func RunIn(t *testing.T, around func(t *testing.T, test func(*testing.T)), start func(*testing.T, bot.Service) Platform) {
	if got, want := bot.Fill(marked, bot.Format{}), "Tue 24 Nov 14:00 UTC in the room"; got != want {
		t.Fatalf("instants and rooms are marked otherwise now: %q", got)
	}
	with := func(name string, test func(*testing.T, *fakeService, Platform)) {
		t.Run(name, func(t *testing.T) {
			around(t, func(t *testing.T) {
				d := &fakeService{}
				d.on = start(t, d)
				test(t, d, d.on)
			})
		})
	}
	with("ids begin with the platform's name", func(t *testing.T, d *fakeService, p Platform) {
		p.Says("black", "/place D4")
		r := d.last(t)
		name := p.Adapter().Name()
		if name == "" || !strings.HasPrefix(r.ID, name+":") || r.Who.Platform != name || r.Where.Platform != name || r.Where.Channel == "" || r.Who.ID == "" {
			t.Errorf("%s asked %+v", name, r)
		}
	})
	with("a typed command is a request", func(t *testing.T, d *fakeService, p Platform) {
		p.Says("black", "  /Place   d4 ")
		if r := d.last(t); r.Command != "place" || r.Args["at"] != "d4" {
			t.Errorf("%+v", r)
		}
		p.Says("white", "/new aga 9x9 komi:6.5")
		if r := d.last(t); r.Command != "new" || r.Args["rules"] != "aga" || r.Args["size"] != "9x9" || r.Args["komi"] != "6.5" {
			t.Errorf("%+v", r)
		}
	})
	with("different persons are different, the same person the same", func(t *testing.T, d *fakeService, p Platform) {
		p.Says("black", "/help")
		a := d.last(t)
		p.Says("white", "/help")
		b := d.last(t)
		p.Says("black", "/help")
		c := d.last(t)
		if a.Who.ID == b.Who.ID || a.Who != c.Who || a.ID == b.ID || a.ID == c.ID {
			t.Errorf("%+v\n%+v\n%+v", a, b, c)
		}
	})
	with("redelivery asks with the same id", func(t *testing.T, d *fakeService, p Platform) {
		p.Says("black", "/place D4")
		first := d.last(t)
		if !p.Again() {
			return // a terminal never does
		}
		if again := d.last(t); again.ID != first.ID {
			t.Errorf("%q was asked again as %q", first.ID, again.ID)
		}
	})
	with("what is mistyped is answered, and not asked", func(t *testing.T, d *fakeService, p Platform) {
		p.Says("black", "/plcae D4")
		if n := d.count(); n != 0 {
			t.Errorf("%d requests", n)
		}
		if seen := p.Sees("black"); !strings.Contains(seen, "/place") {
			t.Errorf("black sees %q", seen)
		}
	})
	with("a private answer is for one", func(t *testing.T, d *fakeService, p Platform) {
		d.answer = outbox.Post{Text: "only for your eyes", Private: true}
		p.Says("black", "/score")
		if !strings.Contains(p.Sees("black"), "only for your eyes") {
			t.Errorf("black sees %q", p.Sees("black"))
		}
		if !p.OneScreen() && strings.Contains(p.Sees("white"), "only for your eyes") {
			t.Errorf("white sees %q", p.Sees("white"))
		}
	})
	with("a private answer can be shared, where others do not see it anyway", func(t *testing.T, d *fakeService, p Platform) {
		const label = "Share with everyone"
		d.answer = outbox.Post{Text: "only for your eyes", Private: true, Controls: []match.Control{
			{Label: label, Command: "score", Args: map[string]string{"game": "1", "share": "yes"}}}}
		p.Says("black", "/score")
		hidden := !p.OneScreen() && !strings.Contains(p.Sees("white"), "only for your eyes")
		seen := p.Sees("black")
		if offered := strings.Contains(seen, label) || strings.Contains(seen, "share:yes"); offered != hidden {
			t.Errorf("hidden from White: %v; Black sees %q", hidden, seen)
		}
	})
	with("a public answer is for all", func(t *testing.T, d *fakeService, p Platform) {
		d.answer = outbox.Post{Text: "for everybody"}
		p.Says("black", "/score")
		for _, who := range []string{"black", "white"} {
			if !strings.Contains(p.Sees(who), "for everybody") {
				t.Errorf("%s sees %q", who, p.Sees(who))
			}
		}
	})
	with("a chart is shown, and told", func(t *testing.T, d *fakeService, p Platform) {
		d.answer = outbox.Post{Text: "the same game", Chart: &render.Chart{Title: "By other rules", Rows: []render.ChartRow{
			{Title: "AGA", Label: "this game", Bar: true, Margin: 10, Value: "Black +5", Why: "as on the board"},
			{Title: "Area rules I", Bar: true, Margin: -4, Value: "White +2", Flip: "White wins"}}}}
		p.Says("black", "/compare")
		for _, who := range []string{"black", "white"} {
			seen := p.Sees(who)
			for _, want := range []string{"the same game", "By other rules", "AGA (this game)", "Black +5", "s on the board", "Area rules I", "White +2", "White wins"} {
				if !strings.Contains(seen, want) {
					t.Errorf("%s does not see %q in %q", who, want, seen)
				}
			}
		}
	})
	with("the table of an event is shown, and told", func(t *testing.T, d *fakeService, p Platform) {
		d.answer = outbox.Post{Text: "games are on", Sheet: &render.Sheet{Title: "Winter league", Totals: []render.SheetHeading{{Short: "Score"}},
			Rows: []render.SheetRow{{Number: "1", Name: "Wilhelmine", Totals: []render.SheetTotal{{Value: 5}}}, {Number: "2", Name: "Ben", Totals: []render.SheetTotal{{Value: 2}}}}}}
		p.Says("black", "/event")
		seen := p.Sees("black")
		for _, want := range []string{"games are on", "Winter league", "1 Wilhelmine", "2½", "2 Ben"} {
			if !strings.Contains(strings.ReplaceAll(seen, "  ", " "), want) {
				t.Errorf("black does not see %q in %q", want, seen)
			}
		}
	})
	with("a post is shown, and the same post once", func(t *testing.T, _ *fakeService, p Platform) {
		post := outbox.Post{ID: "post-1", Where: p.Room(), Kind: match.Notice, Text: "Game 1 begins", Attempt: 1}
		a, _, err := p.Adapter().Deliver(t.Context(), post)
		if err != nil || a == "" {
			t.Fatalf("receipt %q, %v", a, err)
		}
		post.Attempt = 2
		b, _, err := p.Adapter().Deliver(t.Context(), post)
		if err != nil || b != a {
			t.Errorf("the receipt was %q and is %q, %v", a, b, err)
		}
		if n := strings.Count(p.Sees("white"), "Game 1 begins"); n != 1 {
			t.Errorf("shown %d times", n)
		}
	})
	with("posts are shown in order, with their picture in words", func(t *testing.T, _ *fakeService, p Platform) {
		for _, post := range posts(t, p.Room(), 3) {
			if _, _, err := p.Adapter().Deliver(t.Context(), post); err != nil {
				t.Fatal(err)
			}
		}
		seen := p.Sees("white")
		if a, b, c := strings.Index(seen, "turn 0"), strings.Index(seen, "turn 1"), strings.Index(seen, "turn 2"); a < 0 || b < a || c < b {
			t.Errorf("white sees %q", seen)
		}
		if !strings.Contains(seen, "A B C D E") {
			t.Errorf("no board in letters in %q", seen)
		}
	})
	with("the asker shows its posts, in order and once", func(t *testing.T, d *fakeService, p Platform) {
		d.posts = posts(t, p.Room(), 2)
		p.Says("black", "/place D4")
		if !d.last(t).Shows {
			return // it leaves them to Deliver
		}
		p.Again()
		seen := p.Sees("white")
		a, b := strings.Index(seen, "turn 0"), strings.Index(seen, "turn 1")
		if a < 0 || b < a || strings.Count(seen, "turn ") != 2 || !strings.Contains(seen, "A B C D E") {
			t.Errorf("white sees %q", seen)
		}
		if settled, released := d.outcome(); settled != "post-0 post-1" || released != "" {
			t.Errorf("settled %q, released %q", settled, released)
		}
	})
	with("the asker releases what it cannot show", func(t *testing.T, d *fakeService, p Platform) {
		faulty, ok := p.(Faulty)
		if !ok {
			return
		}
		d.posts = posts(t, p.Room(), 2)
		faulty.Fails(true)
		p.Says("black", "/place D4")
		faulty.Fails(false)
		if settled, released := d.outcome(); d.last(t).Shows && (settled != "" || released != "post-0") {
			t.Errorf("settled %q, released %q", settled, released)
		}
	})
	with("instants and rooms are written out", func(t *testing.T, d *fakeService, p Platform) {
		d.answer = outbox.Post{Text: "Black has " + marked + " left.", Private: true}
		p.Says("black", "/clock")
		d.answer.Private = false
		p.Says("white", "/clock")
		post := outbox.Post{ID: "post-1", Where: p.Room(), Kind: match.Notice, Text: "A game until " + marked + " begins.", Attempt: 1}
		if _, _, err := p.Adapter().Deliver(t.Context(), post); err != nil {
			t.Fatal(err)
		}
		seen := p.Sees("black")
		if i := strings.IndexFunc(seen, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
			t.Errorf("black sees a raw mark: %q", seen)
		}
		for text, n := range map[string]int{"Black has ": 2, " left.": 2, "A game until ": 1, " begins.": 1} {
			if got := strings.Count(seen, text); got != n {
				t.Errorf("%q is there %d times, not %d, in %q", text, got, n, seen)
			}
		}
	})
	with("a post carries its file, once", func(t *testing.T, _ *fakeService, p Platform) {
		shelf, ok := p.(Shelf)
		if !ok {
			return // such a platform has no files
		}
		record := []byte("(;FF[4]C[½ \\] ok])")
		post := outbox.Post{ID: "post-1", Where: p.Room(), Kind: match.Notice, Text: "Game 3 is over",
			File: &outbox.File{Name: "game-3.sgf", Type: "application/x-go-sgf", Data: record}, Attempt: 1}
		for range 2 {
			if _, _, err := p.Adapter().Deliver(t.Context(), post); err != nil {
				t.Fatal(err)
			}
			post.Attempt++
		}
		got := shelf.Files("white")
		if len(got) != 1 || string(got["game-3.sgf"]) != string(record) {
			t.Errorf("white can download %q", got)
		}
	})
	with("it stops when told to", func(t *testing.T, _ *fakeService, p Platform) {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
}

// posts returns boards of a game, as the bot would have worded them.
func posts(t *testing.T, where match.Room, n int) (posts []outbox.Post) {
	g, err := rules.New(&rules.TwoButton, rules.Setup{W: 5, H: 5})
	if err != nil {
		t.Fatal(err)
	}
	scene := render.Of(g, render.Names{})
	for i := range n {
		posts = append(posts, outbox.Post{ID: fmt.Sprint("post-", i), Where: where, Kind: match.Show, Game: "g", Seq: i + 1,
			Text: fmt.Sprint("turn ", i), Scene: &scene, Attempt: 1})
	}
	return posts
}

// marked is an instant and a room as a text of the bot holds them, before an adapter
// passes it through [bot.Fill].
const marked = "\x031795528800000\x04Tue 24 Nov 14:00 UTC\x05 in \x03web\x06local\x06\x04the room\x05"

// A fakeService records its requests. It answers a repeated request without posts, as
// the bot does, and delivers an answer at once if the adapter does not show it.
type fakeService struct {
	on                Platform
	mu                sync.Mutex
	asked             []bot.Request
	answer            outbox.Post
	posts             []outbox.Post
	settled, released []string // ids of posts
}

func (d *fakeService) Ask(ctx context.Context, r bot.Request) (bot.Answer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	again := slices.ContainsFunc(d.asked, func(o bot.Request) bool { return o.ID == r.ID })
	d.asked = append(d.asked, r)
	a := bot.Answer{Public: !d.answer.Private}
	if r.Shows && !again {
		a.Posts = slices.Clone(d.posts)
	}
	if own := d.answer; !r.Shows {
		return a, d.deliver(ctx, r, own)
	} else {
		if own.ID, own.Kind, own.Where, own.Asker = r.ID+":answer", match.Answer, r.Where, r.Who; !own.Empty() {
			a.Posts = append(a.Posts, own)
		}
	}
	for i := range a.Posts {
		a.Posts[i].Reply = r.Reply
	}
	return a, nil
}

// Bare treats everything as chat.
func (d *fakeService) Bare(_ context.Context, r bot.Request, _ string) (bot.Request, bool, string, error) {
	return r, false, "", nil
}

// Here takes every place for one without a game.
func (d *fakeService) Here(context.Context, bot.Request) (string, bool, error) {
	return "", false, nil
}

func (d *fakeService) Tell(ctx context.Context, r bot.Request, t bot.Text) error {
	return d.deliver(ctx, r, outbox.Post{Text: text.English.Say(t), Private: true, Refused: true})
}

func (d *fakeService) deliver(ctx context.Context, r bot.Request, p outbox.Post) error {
	if p.Empty() {
		return nil
	}
	p.ID, p.Kind, p.Where, p.Asker, p.Reply, p.Attempt = r.ID+":answer", match.Answer, r.Where, r.Who, r.Reply, 1
	_, _, err := d.on.Adapter().Deliver(ctx, p)
	return err
}

func (d *fakeService) Settle(_ context.Context, p outbox.Post, _ outbox.Receipt, _ []outbox.Owes, err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err != nil:
		d.released = append(d.released, p.ID)
	case p.Kind != match.Answer:
		d.settled = append(d.settled, p.ID)
	}
	return nil
}

// outcome returns the ids of the posts that were settled and released.
func (d *fakeService) outcome() (settled, released string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.settled, " "), strings.Join(d.released, " ")
}

func (d *fakeService) Owe(context.Context, match.Room, ...outbox.Owes) error { return nil }

func (d *fakeService) Suggest(context.Context, bot.Request, string, string) []bot.Choice { return nil }

func (d *fakeService) View(context.Context, bot.Viewing) (bot.View, error) {
	g, err := rules.New(&rules.TwoButton, rules.Setup{W: 5, H: 5})
	if err != nil {
		return bot.View{}, err
	}
	return bot.View{Scene: render.Of(g, render.Names{})}, nil
}

func (d *fakeService) Report(context.Context, bot.Report) error { return nil }

func (d *fakeService) Before(context.Context) (time.Time, error) { return time.Time{}, nil }

func (d *fakeService) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.asked)
}

func (d *fakeService) last(t *testing.T) bot.Request {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.asked) == 0 {
		t.Fatal("nothing was asked")
	}
	return d.asked[len(d.asked)-1]
}
