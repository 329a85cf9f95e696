package bot_test

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// TestLargeEvent has as many players as there can be in one room: what each step takes is in its
// log.
func TestLargeEvent(t *testing.T) {
	tier.Soak(t)
	for _, terms := range []string{"system:swiss rounds:3", "system:groups group:8"} {
		t.Run(terms, func(t *testing.T) {
			st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "halfpoint.db"))
			must(t, err)
			defer st.Close()
			k := newTalkOn(st)
			took := func(what string, do func()) {
				from := time.Now()
				do()
				t.Logf("%-28s %v", what, time.Since(from).Round(time.Millisecond))
			}
			k.lines(t, "mod> /event new title:Large size:5 until:1d days:8 "+terms, "mod> /event publish")
			join := func(n int) { k.ask(t, fmt.Sprint("p", n), "/event join") }
			took("the first join", func() { join(1) })
			took("198 joins", func() {
				for n := 2; n < contest.MaxPlayers; n++ {
					join(n)
				}
			})
			took("the last join", func() { join(contest.MaxPlayers) })
			took("the message", func() { k.posts(t) })
			k.now = k.now.Add(day)
			k.alive(t)
			took("pairing and ten games", func() { k.tick(t) })
			took("all other games", func() {
				for ticks := 0; len(k.theEvent(t).Unopened()) > 0; ticks++ {
					k.now = k.now.Add(100 * time.Millisecond)
					again, err := k.bot.Tick(t.Context())
					must(t, err)
					if again.After(k.now) && len(k.theEvent(t).Unopened()) > 0 || ticks > 100 {
						t.Fatalf("tick %d: again at %v, it is %v", ticks, again, k.now)
					}
				}
			})
			took("their posts", func() { k.posts(t) })
			games := k.matches(t, bot.Query{States: []match.State{match.Going}, Limit: 5000})
			t.Logf("%d games", len(games))
			took("a resignation", func() { k.ask(t, "p1", "/resign yes") })
			took("its result", func() { k.tick(t) })
			took("a result by hand", func() { k.ask(t, "mod", "/event result table:9 as:black confirm:yes") })
			took("the table", func() { k.ask(t, "p1", "/event") })
			k.now = k.now.Add(5 * day)
			k.alive(t)
			took("all flags and results", func() { k.tick(t) })
			took("their posts", func() { k.posts(t) })
		})
	}
}

// A round with more games than are opened at once goes on with the rest without a pause.
func TestRoundOpensAllItsGames(t *testing.T) {
	k := newTalk(t)
	k.league(t, "size:5 until:1d days:10", "ada", "bob", "eve", "kim", "zoe", "ian")
	k.now = k.now.Add(day)
	k.alive(t)
	for ticks := 1; ; ticks++ {
		again, err := k.bot.Tick(t.Context())
		must(t, err)
		if len(k.theEvent(t).Unopened()) == 0 {
			if n := len(k.matches(t, bot.Query{})); n != 15 || ticks > 3 {
				t.Errorf("%d games after %d ticks", n, ticks)
			}
			return
		}
		if again.After(k.now) {
			t.Fatalf("games are missing, and the next tick is in %v", again.Sub(k.now))
		}
		k.now = k.now.Add(100 * time.Millisecond)
	}
}

// league publishes an event, and lets people join.
func (k *talk) league(t *testing.T, terms string, players ...string) {
	t.Helper()
	k.lines(t, "mod> /event new title:Spring "+terms, "mod> /event publish")
	for _, who := range players {
		k.say(t, who, "/event join")
	}
}

// plays asks for a line, in which the number of a table's game is missing, as its player of a colour.
func (k *talk) plays(t *testing.T, table int, black bool, line string) {
	t.Helper()
	m, err := k.store.Header(t.Context(), k.theEvent(t).Round().Tables[table-1].Game)
	must(t, err)
	who := m.White
	if black {
		who = m.Black
	}
	users, err := k.store.People(t.Context(), []match.PersonID{who})
	must(t, err)
	if a := k.ask(t, users[who].ID, fmt.Sprintf(line, m.Number)); a.Refused {
		t.Errorf("%s: %s", line, a.Text)
	}
}

// A flag that falls when the round ends decides its game, and the event is over.
func TestFlagFallsAsTheRoundEnds(t *testing.T) {
	k := newTalk(t)
	k.league(t, "size:5 until:1d days:2", "ada", "bob")
	k.wait(t, day)
	round := k.theEvent(t).Round()
	k.wait(t, round.Began.Add(day).Sub(k.now)-time.Millisecond)
	k.plays(t, 1, true, "/place C3 game:%d")
	k.wait(t, round.Ends.Sub(k.now)+2*time.Minute) // turns made in time may be on their way
	e := k.theEvent(t)
	if r := e.Round().Tables[0].Result; e.State != contest.Over || r == nil || r.Game != "B+T" || r.How != contest.Played {
		t.Errorf("the event is %s, the result %+v", e.State, r)
	}
}

// More time for a round does not make those who keep others waiting look quick.
func TestLateAfterMoreTime(t *testing.T) {
	k := newTalk(t)
	k.league(t, "size:5 until:1d days:4", "ada", "bob", "eve")
	k.wait(t, day)
	k.wait(t, 23*time.Hour)
	k.plays(t, 1, true, "/place C3 game:%d")
	k.wait(t, time.Hour)
	k.lines(t, "mod> /event extend until:6d")
	k.wait(t, time.Hour)
	late := k.ask(t, "mod", "/event late").Text
	var order []string
	for _, m := range regexp.MustCompile(`Table (\d), .* for (.*), with`).FindAllStringSubmatch(late, -1) {
		order = append(order, m[1]+": "+m[2])
	}
	if want := []string{"2: 1 day 1 hour", "3: 1 day 1 hour", "1: 2 hours 1 minute"}; !slices.Equal(order, want) {
		t.Errorf("those that wait are %q, not %q, in\n%s", order, want, late)
	}
}

// Two games that end in the same millisecond both count.
func TestTwoResultsAtOnce(t *testing.T) {
	k := newTalk(t)
	k.league(t, "size:5 until:1d days:2", "ada", "bob", "eve")
	k.wait(t, day)
	k.plays(t, 1, true, "/resign game:%d confirm:yes")
	k.plays(t, 2, false, "/resign game:%d confirm:yes")
	k.wait(t, time.Second)
	r := k.theEvent(t).Round()
	if len(r.Tables) != 3 || r.Tables[0].Open() || r.Tables[1].Open() || r.Tables[0].Result.White != 2 || r.Tables[1].Result.Black != 2 {
		t.Errorf("results %+v, %+v", r.Tables[0].Result, r.Tables[1].Result)
	}
}

// A pressed store lets somebody else in before a change of an event is stored, once.
type pressed struct {
	bot.Store
	first func()
}

func (p *pressed) CommitContest(ctx context.Context, s *contest.Step) error {
	if first := p.first; first != nil {
		p.first = nil
		first()
	}
	return p.Store.CommitContest(ctx, s)
}

// An organiser and a player who press at the same moment both get what they asked for, or hear
// why not; asked again, a request has the same answer and no further effect.
func TestTwoPressAtOnce(t *testing.T) {
	k := newTalk(t)
	k.league(t, "size:5 until:1d days:2 seats:3", "ada", "bob")
	for _, c := range []struct{ first, then, says, state string }{
		{"ada> /event leave", "eve> /event join", "You are in “Spring”, as player 2", "signup"},
		{"ada> /event join", "kim> /event join", "“Spring” is full. You are number 1 on the waiting list", "signup"},
		{"mod> /event start confirm:yes", "zoe> /event join", "“Spring” has begun", "playing"},
		{"bob> /event leave confirm:yes", "mod> /event withdraw player:bob confirm:yes", "Bob has left “Spring” already", "playing"},
		{"mod> /event cancel confirm:yes", "eve> /event leave confirm:yes", "“Spring” was called off", "cancelled"},
	} {
		k.now = k.now.Add(time.Minute)
		k.alive(t)
		k.tick(t)
		store := &pressed{Store: k.store, first: func() {
			who, line, _ := strings.Cut(c.first, "> ")
			k.ask(t, who, line)
		}}
		who, line, _ := strings.Cut(c.then, "> ")
		r, err := k.request(who, line)
		must(t, err)
		a, err := k.on(store).Ask(t.Context(), r)
		must(t, err)
		seq := k.theEvent(t).Seq
		again, err := k.on(k.store).Ask(t.Context(), r)
		must(t, err)
		e := k.theEvent(t)
		if a.Own().Text != again.Own().Text || e.Seq != seq {
			t.Errorf("%s: %q, then %q; line %d is now %d", c.then, a.Own().Text, again.Own().Text, seq, e.Seq)
		}
		if !strings.Contains(a.Own().Text, c.says) || string(e.State) != c.state {
			t.Errorf("%s after %s: the event is %s; %q", c.then, c.first, e.State, a.Own().Text)
		}
		k.posts(t)
	}
}

// A clock that is set back during the sign-up changes nothing: it ends when it was to end, and
// the times of the log do not go back.
func TestClockSetBackDuringSignUp(t *testing.T) {
	k := newTalk(t)
	k.league(t, "size:5 until:1d days:2", "ada", "bob")
	until := k.theEvent(t).Until
	k.now = k.now.Add(-time.Hour)
	k.bot = k.on(k.store)
	k.say(t, "eve", "/event join")
	k.wait(t, until.Sub(k.now)-time.Second)
	if e := k.theEvent(t); e.State != contest.SignUp || len(e.Players) != 3 || !e.Until.Equal(until) {
		t.Errorf("just before its end the sign-up is %s with %d players, until %v, was %v", e.State, len(e.Players), e.Until, until)
	}
	k.wait(t, time.Minute)
	e := k.theEvent(t)
	if e.State != contest.Playing || e.Round().Paired.Before(until) {
		t.Errorf("after it the event is %s", e.State)
	}
	_, log, err := k.store.Contest(t.Context(), e.ID)
	must(t, err)
	for i, line := range log[1:] {
		if line.At.Before(log[i].At) {
			t.Errorf("line %d was at %v, the one before at %v", line.Seq, line.At, log[i].At)
		}
	}
}

// An export of what is stored about somebody has the events that they are in, and what they did
// there, but no pairings, which are about everybody.
func TestExportOfEvents(t *testing.T) {
	k := newTalk(t)
	k.league(t, "ranks:yes system:swiss until:1d")
	k.say(t, "ada", "/event join rank:7k")
	k.say(t, "bob", "/event join rank:8k")
	k.say(t, "mod", "/event start confirm:yes")
	export := func(who string) string {
		a, _ := k.say(t, who, "/privacy export")
		return string(a.File.Data)
	}
	for who, want := range map[string][]string{
		"ada": {`"title": "Spring"`, `"plays": true`, `"rank": "7k"`, `"kind":"join"`},
		"mod": {`"title": "Spring"`, `"organises": true`, `"kind":"open"`, `"kind":"pair"`},
		"eve": {`"events": []`},
	} {
		got := export(who)
		for _, s := range want {
			if !strings.Contains(got, s) && !strings.Contains(got, strings.ReplaceAll(s, `":"`, `": "`)) {
				t.Errorf("the export of %s lacks %s: %s", who, s, got)
			}
		}
		if strings.Contains(got, `"black": 1`) || strings.Contains(got, "8k") {
			t.Errorf("the export of %s is about others: %s", who, got)
		}
	}
}

// Where nobody else can come nobody can join an event.
func TestEventInADirectMessage(t *testing.T) {
	k := newTalk(t)
	for _, line := range []string{"/event new title:Lonely", "/event publish"} {
		r, err := k.request("mod", line)
		must(t, err)
		r.Alone = true
		a, err := k.bot.Ask(t.Context(), r)
		must(t, err)
		if p := a.Own(); !p.Refused || !strings.Contains(p.Text, "Nobody else can join") {
			t.Errorf("%s: %q", line, p.Text)
		}
	}
}

// An organiser who is forgotten takes no game of others with them.
func TestOrganiserIsForgotten(t *testing.T) {
	k := newTalk(t)
	k.league(t, "size:5 until:1d days:2", "ada", "bob", "eve")
	k.wait(t, day)
	if a, _ := k.say(t, "mod", "/privacy delete"); strings.Contains(a.Text, "3") {
		t.Errorf("before: %s", a.Text)
	}
	k.say(t, "mod", "/privacy delete yes")
	k.wait(t, time.Minute)
	if e := k.theEvent(t); e.State != contest.Playing || len(e.Unfinished()) != 3 {
		t.Errorf("the event is %s, %d tables are open", e.State, len(e.Unfinished()))
	}
	for _, m := range k.matches(t, bot.Query{}) {
		if m.State != match.Going {
			t.Errorf("game %d is %s", m.Number, m.State)
		}
	}
	if a, _ := k.say(t, "mod2", "/event organiser"); a.Refused {
		t.Errorf("nobody can take over: %s", a.Text)
	}
}

// Where an old copy of the database is restored, or a room has moved, the message of an event shows
// how it stands: once, in its old place or as a new message.
func TestEventIsShownAgain(t *testing.T) {
	k := newTalk(t)
	k.league(t, "until:1d", "ada")
	club := match.Room{Platform: "chat", Channel: "club"}
	receipt := "" // of the message
	for _, c := range []struct {
		report bot.Report
		shows  bool
	}{
		{bot.Restored{Where: club, Copied: k.now, Found: k.now}, true},
		{bot.Restored{Where: club, Copied: k.now, Found: k.now}, false},
		{bot.Moved{Where: club, Place: "elsewhere"}, true},
		{bot.Moved{Where: club, Place: "elsewhere"}, false},
	} {
		k.now = k.now.Add(time.Minute)
		must(t, k.bot.Report(t.Context(), c.report))
		posts := k.posts(t)
		if got := len(posts) == 1 && posts[0].Kind == match.Sheet; got != c.shows {
			t.Fatalf("%T: %d posts", c.report, len(posts))
		}
		if _, moved := c.report.(bot.Moved); c.shows && moved == (posts[0].Replaces != "") {
			t.Errorf("%T: it replaces %q", c.report, posts[0].Replaces)
		}
		if c.shows {
			receipt = fmt.Sprint(k.channel.shown)
		}
	}
	if _, posts := k.say(t, "bob", "/event join"); len(posts) != 1 || posts[0].Replaces != receipt {
		t.Errorf("then it replaces %q, want %q", posts[0].Replaces, receipt)
	}
}

// The message of an event leads to all games of a group of eight; if their players have long
// names it leads to some and counts the others.
func TestEventLinksFit(t *testing.T) {
	for long, want := range map[int]int{10: 28, 40: 10} {
		k := newTalk(t)
		k.start(bot.Config{})
		k.lines(t, "mod> /event new group:8 size:5", "mod> /event publish")
		for n := range 8 {
			k.lines(t, fmt.Sprintf("%s%d> /event join", strings.Repeat("x", long-1), n+1))
		}
		k.say(t, "mod", "/event start confirm:yes")
		last := ""
		for _, p := range k.wait(t, 3*time.Minute) {
			if p.Kind == match.Sheet {
				last = bot.Fill(p.Text, inChat)
			}
		}
		more := fmt.Sprintf("and %d more. /games mine lists yours", 28-want)
		if n := strings.Count(last, "#club ("); n != want || strings.Contains(last, more) != (want < 28) || len(last) > 1500+len("#club ()")*want {
			t.Errorf("with names of %d letters the message leads to %d games, want %d: %s", long, n, want, last)
		}
	}
}
