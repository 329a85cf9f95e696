package bot_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// week is how long a server that was left is kept.
const week = 7 * 24 * time.Hour

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
			far := match.Room{Platform: "chat", Channel: "far"}
			stands := func(where match.Room, want match.State) {
				t.Helper()
				if m := k.matches(t, bot.Query{Where: where})[0]; m.State != want {
					t.Errorf("the game in %s is %s", where.Channel, m.State)
				}
			}
			k.server = "guild"
			k.lines(t, "ada> /new aga 5x5 clock:12h", "bob> /join", "ada> /place C3", "eve@attic> /settings")
			k.server = "other"
			k.lines(t, "kim@far> /new aga 5x5 clock:12h", "lee@far> /join", "kim@far2> /new aga 5x5 clock:20d", "lee@far2> /join")
			k.wait(t, time.Hour)
			k.in(t, "other")
			must(t, k.bot.Report(t.Context(), bot.Servers{Platform: "mail"})) // which concerns no other platform
			for _, p := range k.wait(t, 21*time.Hour) {
				if p.Where == clubRoom {
					t.Errorf("posted to a server that was left: %+v", p)
				}
			}
			stands(clubRoom, match.Going)
			stands(far, match.Ended)
			k.server = "guild"
			back(k)
			k.wait(t, 9*time.Hour) // of twelve, one was over
			stands(clubRoom, match.Going)
			k.wait(t, 4*time.Hour)
			stands(clubRoom, match.Ended)
			long := k.matches(t, bot.Query{Where: match.Room{Platform: "chat", Channel: "far2"}})[0]
			if n := k.credits(t); n[long.ID] != 0 {
				t.Errorf("time was credited where people could play: %v", n)
			}
		})
	}
}

// inDatabase is a talk that is kept in a file.
func inDatabase(t testing.TB, name string) *talk {
	t.Helper()
	st, err := store.Open(t.Context(), name)
	must(t, err)
	t.Cleanup(func() { st.Close() })
	return newTalkOn(st)
}

// Nothing is left in the file of a server that was forgotten, nor of those who
// only played there; and nothing is changed of others.
func TestForgottenServerLeavesNothing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "halfpoint.db")
	k := inDatabase(t, name)
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
			must(t, err)
			who, err := k.store.People(t.Context(), []match.PersonID{m.Opener, m.Black, m.White, m.Invited})
			must(t, err)
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
		must(t, k.store.Close())
		file, err := os.ReadFile(name)
		must(t, err)
		now := k.now
		k = inDatabase(t, name)
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
	k.start(bot.Config{})
	k.lines(t, "ada> /new aga 5x5 opponent:bob")
	m := k.matches(t, bot.Query{})[0]
	who, err := k.store.People(t.Context(), []match.PersonID{m.Opener, m.Invited})
	if err != nil || who[m.Opener].Name != "Ada" || who[m.Invited].Name != "Bob" {
		t.Errorf("%+v is by %v, %v", m, who, err)
	}
}
