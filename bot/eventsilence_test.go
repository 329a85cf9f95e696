package bot_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// A silence is a place where the bot may not write what it says: nil where it may. Direct
// messages and answers arrive.
type silence func(p outbox.Post) error

func everywhere(p outbox.Post) error { return outbox.Forbidden{Permission: "Send Messages"} }

// inThreads lets the bot write in the room, and not in the threads of games, but for those of some.
func inThreads(but ...match.GameID) silence {
	return func(p outbox.Post) error {
		if contest.Is(p.Game) || slices.Contains(but, p.Game) {
			return nil
		}
		return outbox.InThread{Err: outbox.Forbidden{Permission: "Send Messages in Threads"}}
	}
}

// falls lets a silence fall on a platform, and returns a function that lets another one follow it; nil
// lifts it.
func (c *channel) falls() (silent func(silence)) {
	var now silence
	shows := c.platform
	c.platform = func(ctx context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
		if now != nil && !p.Private && p.Kind != match.Answer {
			if err := now(p); err != nil {
				return "", nil, err
			}
		}
		return shows(ctx, p)
	}
	return func(s silence) { now = s }
}

var cannotPost = regexp.MustCompile("I can no longer post|kann ich nicht mehr schreiben|書き込めなくなりました")

// told returns who is told among posts that the bot cannot write, and what, in their order.
func told(posts []outbox.Post) (who []string, text string) {
	for _, p := range posts {
		if p.Private && cannotPost.MatchString(p.Text) {
			who, text = append(who, p.Notify[0].Name), p.Text
		}
	}
	return who, text
}

// hears lets a while pass, and checks who is told meanwhile that the bot cannot write.
func (k *talk) hears(t *testing.T, when string, want ...string) (text string) {
	t.Helper()
	posts := k.channel.posts
	k.channel.posts = nil
	for range 3 {
		posts = append(posts, k.wait(t, 5*time.Minute)...)
	}
	who, text := told(posts)
	if !slices.Equal(who, want) {
		t.Errorf("%s: %q are told, want %q", when, who, want)
	}
	return text
}

// Organisers of an event in whose room the bot may no longer write hear of it directly, why, and
// what to do: each of them once, and again only if it could write there meanwhile.
func TestOrganisersHearOfASilence(t *testing.T) {
	k := newTalk(t)
	k.league(t, "until:60d", "ada", "bob")
	k.lines(t, "mod> /event organiser player:ada")
	silent := k.channel.falls()
	back := bot.Reached{Where: clubRoom}
	k.hears(t, "while all is well")

	silent(everywhere)
	k.ask(t, "eve", "/event join")
	text := k.hears(t, "when the bot may not write", "Mod", "Ada")
	want := "I can no longer post where “Spring” is played. My posts there wait, and the clocks of its games run on.\n" +
		"I lack a permission there: Send Messages. Grant it again, and the posts follow. If they do not, use any command there."
	if text != want {
		t.Errorf("they are told %q", text)
	}
	k.ask(t, "kim", "/event join")
	k.hears(t, "when more waits")
	k.start(bot.Config{})
	k.hears(t, "after a restart")
	must(t, k.bot.Report(t.Context(), back))
	k.hears(t, "when it is tried again in vain")
	k.ask(t, "zoe", "/event join")
	k.hears(t, "when somebody uses a command there")
	k.now = k.now.Add(40 * day)
	for after := ""; ; {
		next, err := k.store.Prune(t.Context(), k.now, after, 1000)
		must(t, err)
		if after = next; next == "" {
			break
		}
	}
	k.alive(t)

	silent(nil)
	must(t, k.bot.Report(t.Context(), back))
	k.hears(t, "when it is over")
	silent(everywhere)
	k.ask(t, "ian", "/event join")
	k.hears(t, "when it falls again", "Mod", "Ada")
	k.ask(t, "mod", "/event new title:Autumn")
	k.ask(t, "mod", "/event publish")
	k.hears(t, "of another event in the room", "Mod")
}

// Organisers hear in their own language why the bot cannot write, also that the room is gone.
func TestOrganisersHearWhy(t *testing.T) {
	for _, c := range []struct {
		err      error
		language string
		want     string
	}{
		{outbox.ErrGone, "en", "The room, or the thread of a game, was deleted, or I may not see it."},
		{fmt.Errorf("%w: %w", outbox.Forbidden{Permission: "write messages"}, errDead), "de", "Mir fehlt dort eine Berechtigung: Nachrichten schreiben."},
		{outbox.Forbidden{Permission: "Send Messages"}, "ja", "そこでの権限が足りません：Send Messages。"},
	} {
		k := newTalk(t)
		k.league(t, "until:9d", "ada")
		k.lines(t, "mod> /settings whose:mine language:"+c.language)
		k.channel.falls()(func(outbox.Post) error { return c.err })
		k.ask(t, "bob", "/event join")
		if text := k.hears(t, "when it may not write", "Mod"); !strings.Contains(text, "\n"+c.want) {
			t.Errorf("%v: they are told %q", c.err, text)
		}
	}
}

// However many threads of its games are closed to the bot, an event's organisers hear of it once,
// until all are open again. Games that belong to no event tell nobody.
func TestOrganisersHearOnceOfManyThreads(t *testing.T) {
	k := newTalk(t)
	k.league(t, "size:5 until:1d days:20", "ada", "bob", "eve")
	k.lines(t, "kim> /new aga 5x5 opponent:zoe", "zoe> /join")
	k.wait(t, day)
	tables := k.theEvent(t).Round().Tables
	silent := k.channel.falls()
	silent(inThreads())
	k.lines(t, "kim> /place A1 game:1")
	k.hears(t, "when a game of no event cannot be shown")
	for table := range tables {
		k.plays(t, table+1, true, "/place C3 game:%d")
		want := []string{"Mod"}
		if table > 0 {
			want = nil
		}
		if text := k.hears(t, "when a thread is closed", want...); table == 0 && !strings.Contains(text, "I lack a permission there: Send Messages in Threads. ") {
			t.Errorf("they are told %q", text)
		}
	}
	silent(inThreads(tables[0].Game))
	must(t, k.bot.Report(t.Context(), bot.Reached{Where: clubRoom}))
	k.hears(t, "when the first thread is open again")
	silent(nil)
	k.lines(t, "kim> /games")
	k.hears(t, "when all are open again")
	must(t, k.bot.Report(t.Context(), bot.Reached{Where: clubRoom}))
	k.hears(t, "when all is shown")
	silent(inThreads())
	k.plays(t, 2, false, "/place B2 game:%d")
	k.hears(t, "when they are closed again", "Mod")
}

// A room in which the bot may write nothing but in the threads of games is silent although
// these show turns.
func TestOrganisersHearOnceBesideThreads(t *testing.T) {
	k := newTalk(t)
	k.league(t, "size:5 until:1d days:20", "ada", "bob", "eve")
	k.wait(t, day)
	k.channel.falls()(func(p outbox.Post) error {
		if contest.Is(p.Game) {
			return everywhere(p)
		}
		return nil
	})
	for table, want := range [][]string{{"Mod"}, nil, nil} {
		k.plays(t, table+1, true, "/place C3 game:%d")
		k.plays(t, table+1, true, "/resign game:%d confirm:yes")
		k.hears(t, "when a game ends", want...)
	}
}

// Organisers of an event in a room that the bot has left hear that, and not that it cannot write
// there; unless it comes back and may not write.
func TestOrganisersHearOfNoSilenceInARoomThatWasLeft(t *testing.T) {
	for may, want := range map[bool][]string{true: nil, false: {"Mod"}} {
		k := newTalk(t)
		k.server = "guild"
		k.league(t, "until:9d", "ada")
		silent := k.channel.falls()
		silent(func(outbox.Post) error { return outbox.ErrGone })
		k.ask(t, "bob", "/event join")
		k.in(t)
		if k.hears(t, "when the bot has left"); len(k.theEvent(t).Players) != 2 {
			t.Error("nothing is tried")
		}
		if silent(everywhere); may {
			silent(nil)
		}
		k.in(t, "guild")
		must(t, k.bot.Report(t.Context(), bot.Reached{Where: clubRoom}))
		must(t, k.bot.Flush(t.Context(), k.channel))
		k.hears(t, "when it is back", want...)
	}
}

// However often the process dies, between it parks posts and tells the organisers or at another
// write, each hears of a silence once.
func TestSilenceKills(t *testing.T) {
	var silent func(silence)
	s := script{
		signUp: func(c *clinic) {
			c.says("mod", "/event new title:Spring until:9d")
			c.says("mod", "/event publish")
			c.says("mod", "/event organiser player:ada")
			silent = c.channel.falls()
		},
		play: func(c *clinic) {
			for _, who := range []string{"bob", "eve"} {
				silent(everywhere)
				c.says(who, "/event join")
				c.waits(time.Minute)
				silent(nil)
				c.lives(func() error { return c.bot.Report(c.t.Context(), bot.Reached{Where: clubRoom}) })
				c.waits(time.Minute)
			}
		},
	}
	check := func(how string, life lifetime) (deaths int) {
		t.Helper()
		c := s.plays(t, life)
		var who []string
		for _, p := range c.posts {
			names, _ := told([]outbox.Post{p})
			who = append(who, names...)
		}
		if slices.Sort(who); !slices.Equal(who, []string{"Ada", "Ada", "Mod", "Mod"}) {
			t.Errorf("%s: %q are told", how, who)
		}
		return c.deaths
	}
	check("no death", immortal)
	check("each dies after a write", func(tries int) (int, bool) { return tries, true })
	check("each dies before a write", func(tries int) (int, bool) { return tries, false })
	for writes := 0; ; writes++ {
		once := func(after bool) lifetime {
			died := false
			return func(int) (int, bool) {
				if died {
					return immortal(0)
				}
				died = true
				return writes, after
			}
		}
		if check(fmt.Sprint("dies before write ", writes), once(false))+check(fmt.Sprint("dies after write ", writes), once(true)) > 0 {
			continue
		}
		if writes < 15 {
			t.Errorf("there are only %d writes", writes)
		}
		return
	}
}
