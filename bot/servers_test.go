package bot_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// in says in which servers the bot is.
func (k *talk) in(t testing.TB, servers ...string) {
	t.Helper()
	if err := k.bot.Servers(t.Context(), "chat", servers); err != nil {
		t.Fatal(err)
	}
}

// lines are said one after the other.
func (k *talk) lines(t testing.TB, lines ...string) {
	t.Helper()
	for _, l := range lines {
		who, text, _ := strings.Cut(l, "> ")
		k.say(t, who, text)
	}
}

func (k *talk) matches(t testing.TB, q bot.Query) []match.Match {
	t.Helper()
	ms, err := k.store.Matches(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return ms
}

// While the bot is not in a server no flag of its games falls and nobody is
// reminded, and if it comes back in time that time counts for nobody: whether it
// is seen in the server or somebody is heard from there, in the game's channel or
// another.
func TestServerLeft(t *testing.T) {
	for name, back := range map[string]func(*talk){
		"seen":                           func(k *talk) { k.in(t, "guild", "other") },
		"heard":                          func(k *talk) { k.say(t, "eve", "/games") },
		"heard in another channel":       func(k *talk) { k.say(t, "eve@attic", "/games") },
		"heard where nobody ever was":    func(k *talk) { k.say(t, "eve@new", "/games") },
		"heard by who was not yet known": func(k *talk) { k.say(t, "new@new", "/settings") },
		"by the player":                  func(k *talk) { k.say(t, "bob", "/place B2") },
	} {
		t.Run(name, func(t *testing.T) {
			k := newTalk(t)
			k.server = "guild"
			k.lines(t, "ada> /new aga 5x5 clock:12h", "bob> /join", "ada> /place C3", "eve@attic> /settings")
			k.server = "other"
			k.lines(t, "kim@far> /new aga 5x5 clock:12h", "lee@far> /join", "kim@far> /place C3",
				"kim@far2> /new aga 5x5 clock:20d", "lee@far2> /join")
			k.in(t, "guild", "other")
			k.wait(t, time.Hour)
			k.in(t, "other")
			posts := k.wait(t, 21*time.Hour)
			k.in(t, "other")
			if ms := k.matches(t, bot.Query{Where: match.Room{Platform: "chat", Channel: "club"}}); ms[0].State != match.Going {
				t.Errorf("a flag fell where nobody could play: %+v", ms)
			}
			if ms := k.matches(t, bot.Query{Where: match.Room{Platform: "chat", Channel: "far"}}); ms[0].State != match.Ended {
				t.Errorf("no flag fell where people could play: %+v", ms)
			}
			for _, p := range posts {
				if p.Where.Channel == "club" {
					t.Errorf("posted to a server that was left: %+v", p)
				}
			}
			if len(posts) == 0 {
				t.Error("nothing happened anywhere")
			}
			k.server = "guild"
			back(k)
			k.wait(t, 9*time.Hour) // of twelve, one was over
			if ms := k.matches(t, bot.Query{Where: match.Room{Platform: "chat", Channel: "club"}}); ms[0].State != match.Going {
				t.Errorf("the time counted: %+v", ms)
			}
			long := k.matches(t, bot.Query{Where: match.Room{Platform: "chat", Channel: "far2"}})[0]
			if _, events, err := k.store.Match(t.Context(), long.ID); err != nil || strings.HasPrefix(events[len(events)-1].Body, "credit") {
				t.Errorf("time was credited where people could play: %v, %v", events, err)
			}
			k.wait(t, 4*time.Hour)
			if ms := k.matches(t, bot.Query{Where: match.Room{Platform: "chat", Channel: "club"}}); ms[0].State != match.Ended {
				t.Errorf("the flag does not fall afterwards: %+v", ms)
			}
			k.in(t, "guild", "other")
			k.wait(t, 48*time.Hour)
			k.in(t, "guild", "other")
			if ms := k.matches(t, bot.Query{Where: match.Room{Platform: "chat"}}); len(ms) != 3 {
				t.Errorf("games of servers that the bot is in are forgotten: %+v", ms)
			}
		})
	}
}

// A reminder does not speak of games in a server that the bot has left.
func TestReminderOfServerLeft(t *testing.T) {
	k := newTalk(t)
	k.lines(t, "bob> /remind direct")
	for _, server := range []string{"lost", "kept", "other"} {
		k.server = server
		k.lines(t, "ada@"+server+"> /new aga 5x5 clock:3d", "bob@"+server+"> /join", "ada@"+server+"> /place C3")
	}
	k.in(t, "kept", "other")
	reminded := ""
	for _, p := range k.wait(t, 2*24*time.Hour) {
		if p.Private {
			reminded += bot.Fill(p.Text, inChat)
		}
	}
	if !strings.Contains(reminded, "#kept") && !strings.Contains(reminded, "#other") || strings.Contains(reminded, "#lost") {
		t.Errorf("reminded: %q", reminded)
	}
}

// week is how long a server that was left is kept.
const week = 7 * 24 * time.Hour

// A server that was left a week ago, and still is, is forgotten: not before, and
// not at first sight.
func TestServerForgotten(t *testing.T) {
	k := newTalk(t)
	k.server = "guild"
	k.lines(t, "ada> /new aga 5x5", "bob> /join")
	games := func() int { return len(k.matches(t, bot.Query{Where: match.Room{Platform: "chat"}})) }
	k.wait(t, 100*time.Hour)
	for _, c := range []struct {
		after time.Duration
		in    []string
		games int
	}{
		{0, nil, 1}, {week - time.Hour, nil, 1}, {50 * time.Minute, []string{"guild"}, 1},
		{time.Hour, nil, 1}, {time.Hour, nil, 1}, {week - time.Hour - time.Second, nil, 1}, {time.Second, nil, 0},
	} {
		k.wait(t, c.after)
		if k.in(t, c.in...); games() != c.games {
			t.Fatalf("%v later, in %v: %d games, want %d", c.after, c.in, games(), c.games)
		}
	}
	// Who comes back begins anew.
	if a, _ := k.say(t, "ada", "/games"); !strings.Contains(a.Text, "no games") {
		t.Errorf("%q", a.Text)
	}
	k.lines(t, "ada> /new aga 5x5")
	if ms := k.matches(t, bot.Query{}); len(ms) != 1 || ms[0].Number != 1 {
		t.Errorf("%+v", ms)
	}
	if err := k.bot.Servers(t.Context(), "mail", nil); err != nil || games() != 1 {
		t.Errorf("another platform's servers: %v", err)
	}
	k.wait(t, week+time.Hour)
	if err := k.bot.Servers(t.Context(), "mail", nil); err != nil || games() != 1 {
		t.Errorf("another platform's servers: %v", err)
	}
}

// Nothing is left in the file of a server that was forgotten, nor of those who
// only played there; and nothing is changed of others.
func TestForgottenServerLeavesNothing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "halfpoint.db")
	k := newTalkIn(t, name)
	k.server = "guild-of-xanthippe"
	k.lines(t, "xerxes@xylophones> /new aga 5x5 clock:3d opponent:yvonne", "yvonne@xylophones> /join", "xerxes@xylophones> /place C3", "ada@xylophones> /new button 4x4",
		"yvonne@xylophones> /place Q99", "mod@xylophones> /settings clock:7d theme:slate", "owner@xylophones> /settings whose:server size:17x17",
		"zoroaster@xylophones> /help", "yvonne@xylophones> /resign yes", "xerxes@xylophones> /comment Thank-you-Yvonne game:1",
		"yvonne@xylophones> /new opponent:quentin", "wanda@xylophones> /new opponent:me", "wanda@xylophones> /remind direct zone:Asia/Tehran",
		"ada@xylophones> /join 99", "ada@xylophones> /new opponent:quentin size:xylophone")
	k.server = "club"
	k.lines(t, "ada> /new aga 5x5 opponent:bob", "bob> /join", "ada> /place C3", "quentin> /help", "bob> /comment Nice game:1")
	k.server = ""
	k.lines(t, "bob@direct> /new aga 5x5 opponent:me", "bob@direct> /place C3")
	type kept struct {
		Match  match.Match
		Events []match.Event
		Who    map[match.PersonID]outbox.User
	}
	others := func() (out []kept) {
		for _, m := range append(k.matches(t, bot.Query{Where: match.Room{Platform: "chat", Channel: "club"}}), k.matches(t, bot.Query{Where: match.Room{Platform: "chat", Channel: "direct"}})...) {
			m, events, err := k.store.Match(t.Context(), m.ID)
			if err != nil {
				t.Fatal(err)
			}
			who, err := k.store.People(t.Context(), []match.PersonID{m.Opener, m.Black, m.White, m.Invited})
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, kept{m, events, who})
		}
		return out
	}
	before := others()
	if len(before) != 2 || len(before[0].Events)+len(before[1].Events) < 6 {
		t.Fatalf("nothing is tried: %+v", before)
	}
	var traces []string
	for _, m := range k.matches(t, bot.Query{Where: match.Room{Platform: "chat", Channel: "xylophones"}, Limit: 100}) {
		traces = append(traces, string(m.ID))
	}
	traces = append(traces, "xanthippe", "xylophone", "Xerxes", "xerxes", "Yvonne", "yvonne", "Zoroaster", "zoroaster", "Quentin", "17x17", "slate", "Q99")
	k.in(t, "club")
	k.wait(t, week+time.Hour)
	inFile := func() []byte {
		t.Helper()
		// Closed, all of it is in the file; a copy of that stays as it was.
		if err := k.store.Close(); err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		now := k.now
		k = newTalkIn(t, name)
		k.now = now
		return file
	}
	file := inFile()
	for _, trace := range traces {
		if !bytes.Contains(file, []byte(trace)) {
			t.Errorf("%q is not kept at all", trace)
		}
	}
	k.in(t, "club")
	file = inFile()
	for _, trace := range traces {
		if bytes.Contains(file, []byte(trace)) {
			t.Errorf("%q is still kept", trace)
		}
	}
	for _, trace := range []string{"Ada", "Bob", "Wanda", "Tehran", "club", "direct"} {
		if !bytes.Contains(file, []byte(trace)) {
			t.Errorf("%q is lost", trace)
		}
	}
	if diff := cmp.Diff(before, others()); diff != "" {
		t.Errorf("games of others (-before +after):\n%s", diff)
	}
}

// What a server has chosen for pictures is how they are drawn in its channels.
func TestServerPictures(t *testing.T) {
	k := newTalk(t)
	k.server = "guild"
	k.lines(t, "owner@hall> /settings whose:server theme:book coordinates:kanji", "mod@attic> /settings theme:slate")
	for channel, theme := range map[string]string{"club": "book", "attic": "slate"} {
		_, posts := k.say(t, "ada@"+channel, "/new aga 5x5 opponent:me")
		if n := len(posts); n == 0 || posts[n-1].Scene == nil || posts[n-1].Scene.Look.Theme != theme || posts[n-1].Scene.Look.Coordinates != "kanji" {
			t.Errorf("%s: %+v", channel, posts)
		}
		scene, err := k.bot.Scene(t.Context(), posts[0].Game, posts[0].Seq)
		if err != nil || scene.Look.Theme != theme {
			t.Errorf("%s, later: %+v, %v", channel, scene.Look, err)
		}
		if a, _ := k.say(t, "ada@"+channel, "/board"); a.Scene == nil || a.Scene.Look.Theme != theme {
			t.Errorf("%s, asked: %+v", channel, a)
		}
	}
}

// A forgetful store forgets strangers just before it takes a step.
type forgetful struct {
	bot.Store
	t     *testing.T
	times int
}

func (f *forgetful) Commit(ctx context.Context, step *match.Step) error {
	if f.times > 0 {
		f.times--
		if err := errors.Join(f.Belongs(ctx, match.Room{Platform: "chat", Channel: "x"}, "x"), f.ForgetServer(ctx, "chat", "x")); err != nil {
			f.t.Error(err)
		}
	}
	return f.Store.Commit(ctx, step)
}

// Who is forgotten as a stranger while they open their first game is known by it.
func TestForgottenWhileAsking(t *testing.T) {
	k := newTalk(t)
	k.store = &forgetful{k.store, t, 2}
	k.bot = bot.New(k.store, bot.Config{Now: func() time.Time { return k.now }})
	k.lines(t, "ada> /new aga 5x5 opponent:bob")
	m := k.matches(t, bot.Query{})[0]
	who, err := k.store.People(t.Context(), []match.PersonID{m.Opener, m.Invited})
	if err != nil || who[m.Opener].Name != "Ada" || who[m.Invited].Name != "Bob" {
		t.Errorf("%+v is by %v, %v", m, who, err)
	}
}
