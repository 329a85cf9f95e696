package bot_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/bot/units"
)

// A elephant platform counts how often it is to forget.
type elephant struct {
	*guest
	times atomic.Int32
}

func (f *elephant) Forgotten() { f.times.Add(1) }

// team returns what makes a process one of several on the store of a talk, until the end of the test.
func team(t *testing.T, k *talk) *units.Keeper {
	t.Helper()
	rows, err := k.store.(*store.Store).OpenUnits()
	must(t, err)
	keeper := units.New(units.Config{Rows: rows})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- keeper.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		must(t, <-ended)
	})
	return keeper
}

// beside returns a second process on the store of a talk, whose bot runs until the end of the
// test, and its platform.
func beside(t *testing.T, k *talk, st bot.Store) (*bot.Bot, *elephant) {
	t.Helper()
	b := bot.New(st, bot.Config{Log: silent, Units: team(t, k), Pages: map[string]match.Pages{"chat": match.LinkPages}})
	f := &elephant{guest: &guest{newChannel(), "elsewhere", func(ctx context.Context) error { <-ctx.Done(); return nil }}}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx, f) }()
	t.Cleanup(func() {
		stop()
		must(t, <-ended)
	})
	synctest.Wait()
	return b, f
}

// Those who watch a page hear within a second of what another process changed, and of nothing
// else, also if it changed between their look at it and the first look around.
func TestChangesOfAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, _ := paged(t, match.LinkPages, "ada> /new aga 5x5", "bob> /join", "ada> /new aga 5x5 opponent:me",
			"mod> /event new title:Spring size:5", "mod> /event publish", "ada> /event join", "bob> /event join", "mod> /event start confirm:yes")
		league := k.event(t)
		in := k.matches(t, bot.Query{Event: must1(k.store.ContestPage(t.Context(), league)).ID})[0]
		var game, alone match.Match
		for _, m := range k.matches(t, bot.Query{Where: clubRoom, Own: true}) {
			if game = m; m.Number == 2 {
				alone = m
			}
		}
		seen := &spyglass{Store: k.store}
		b, _ := beside(t, k, seen)
		time.Sleep(5 * time.Second)
		if n := seen.ids.Load(); n != 0 {
			t.Errorf("%d games are looked for while nobody watches", n)
		}
		who, err := k.store.People(t.Context(), []match.PersonID{in.ToMove, game.ToMove})
		must(t, err)
		other := bot.Viewing{Slug: alone.Page, Watch: true} // that of ada alone
		for _, c := range []struct {
			v    bot.Viewing
			line string
			told bool
		}{
			{bot.Viewing{Slug: game.Page, Watch: true}, who[game.ToMove].ID + "> /place C3 game:" + number(game), true},
			{bot.Viewing{Slug: game.Page, Watch: true}, "", false},
			{bot.Viewing{Event: league, Watch: true}, who[in.ToMove].ID + "> /place C3 game:" + number(in), true},
			{bot.Viewing{Event: league, Watch: true}, "mod> /event extend until:3d", true},
			{bot.Viewing{Event: league, Watch: true}, "eve> /new aga 5x5", false},
		} {
			before, aside := must1(b.View(t.Context(), c.v)), must1(b.View(t.Context(), other))
			if c.line != "" {
				k.lines(t, c.line)
			}
			time.Sleep(1100 * time.Millisecond)
			if closed(before.Changed) != c.told || closed(aside.Changed) {
				t.Errorf("after %q: told %v, and of another game %v", c.line, closed(before.Changed), closed(aside.Changed))
			}
		}
		time.Sleep(2 * time.Minute)
		if n := seen.ids.Swap(0); n == 0 {
			t.Error("no game was looked for")
		}
		time.Sleep(time.Minute)
		if n := seen.ids.Load(); n != 0 {
			t.Errorf("%d games are looked for when all who watched have gone", n)
		}
	})
}

// spyglass counts the games that somebody looks for.
type spyglass struct {
	bot.Store
	ids atomic.Int32
}

func (l *spyglass) Seqs(ctx context.Context, ids []match.GameID) (map[match.GameID]int, error) {
	l.ids.Add(int32(len(ids)))
	return l.Store.Seqs(ctx, ids)
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// An eraser notes how often others had forgotten when it erased.
type eraser struct {
	bot.Store
	times *atomic.Int32
	had   int32
}

func (e *eraser) Erase(ctx context.Context, f bot.Forgetting) error {
	err := e.Store.Erase(ctx, f)
	e.had = e.times.Load()
	return err
}

// When somebody was forgotten, the other processes have forgotten what they remember.
func TestForgettingReachesOtherProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, m := paged(t, match.LinkPages, "ada> /new aga 5x5 opponent:bob", "bob> /join", "ada> /resign yes", `cleo> /comment move:1 text:"Why not B2?"`)
		r := &reading{Store: k.store}
		b, platform := beside(t, k, r)
		look := func() []string {
			_, err := b.View(t.Context(), bot.Viewing{Slug: m.Page})
			must(t, err)
			return r.events()
		}
		look()
		if read := look(); len(read) != 0 {
			t.Errorf("what is remembered is read again: %q", read)
		}
		one := team(t, k)
		e := &eraser{Store: k.store, times: &platform.times}
		k.store = e
		k.start(bot.Config{Units: one})
		had := platform.times.Load()
		time.Sleep(3 * time.Second)
		if now := platform.times.Load(); now != had {
			t.Errorf("forgotten %d times for nobody", now-had)
		}
		k.lines(t, "cleo> /privacy delete yes")
		if now := platform.times.Load(); now == had || now == e.had {
			t.Error("the platform remembers, or has forgotten too early")
		}
		if read := look(); len(read) == 0 {
			t.Error("the game is remembered with the comment")
		}
	})
}

// Where there are no threads, a turn without a number is for the game that was played in last,
// also if another process played there.
func TestLastGameOfAnotherProcess(t *testing.T) {
	k := newTalk(t)
	k.start(bot.Config{Units: units.New(units.Config{})})
	k.lines(t, "ada> /new aga 9x9 opponent:me", "ada> /new two-button 9x9 opponent:me", "ada> /place D4 1")
	here := k.bot
	k.start(bot.Config{Units: units.New(units.Config{})})
	k.lines(t, "ada> /place D4 2")
	k.bot = here
	for _, text := range []string{"/place E5", "F6"} {
		k.now = k.now.Add(time.Second)
		r, err := k.request("ada", strings.Replace("/place "+text, "/place /place", "/place", 1))
		must(t, err)
		r.Flat = true
		if text == "F6" {
			turn, ok, _, err := k.bot.Bare(t.Context(), r, text)
			if must(t, err); !ok || turn.Args["game"] != "2" {
				t.Errorf("%s is for game %q, %v", text, turn.Args["game"], ok)
			}
			continue
		}
		_, err = k.bot.Ask(t.Context(), r)
		must(t, err)
	}
	for _, m := range k.matches(t, bot.Query{}) {
		if p, _, err := k.store.Match(t.Context(), m.ID); err != nil || p.Seq != map[int]int{1: 4, 2: 5}[m.Number] {
			t.Errorf("game %d has %d events, %v", m.Number, p.Seq, err)
		}
	}
}

// lateSecret has no secret until it is to store one, and then there is that of another process.
type lateSecret struct{ *store.Store }

func (s lateSecret) Bookmark(ctx context.Context, name string) (string, error) {
	if name == "bot:secret" {
		return "", nil
	}
	return s.Store.Bookmark(ctx, name)
}

// All processes derive the ids of games from one secret, also if they begin at the same moment.
func TestOneSecret(t *testing.T) {
	st := newStore(t)
	theirs := strings.Repeat("5a", 32)
	must(t, st.SetBookmark(t.Context(), "bot:secret", theirs))
	b := bot.New(lateSecret{st}, bot.Config{Log: silent})
	r, err := newTalkOn(st).request("ada", "/new aga 5x5")
	must(t, err)
	_, err = b.Ask(t.Context(), r)
	must(t, err)
	secret, err := hex.DecodeString(theirs)
	must(t, err)
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(r.ID))
	want := match.GameID("g" + strings.ToLower(base32.StdEncoding.EncodeToString(h.Sum(nil)[:10])))
	if _, err := st.Header(t.Context(), want); err != nil {
		t.Errorf("there is no game %s: %v", want, err)
	}
}

func must1[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func number(m match.Match) string { return strconv.Itoa(m.Number) }

// A turnMeanwhile is a store that another process uses just when this one has looked whether a
// request was answered.
type turnMeanwhile struct {
	bot.Store
	then func()
}

func (s *turnMeanwhile) Known(ctx context.Context, who outbox.User, where match.Room, request string) (rooms.Known, error) {
	k, err := s.Store.Known(ctx, who, where, request)
	if then := s.then; then != nil {
		s.then = nil
		then()
	}
	return k, err
}

// A turn that comes to two processes at once is a turn for both.
func TestBareTurnToTwoProcesses(t *testing.T) {
	k := newTalk(t)
	k.lines(t, "ada> /new aga 5x5", "bob> /join")
	r, err := k.request("ada", "/place C3")
	must(t, err)
	r.Flat = true
	late := &turnMeanwhile{Store: k.store, then: func() {
		_, err := k.bot.Ask(t.Context(), r)
		must(t, err)
	}}
	b := bot.New(late, bot.Config{Log: silent, Now: k.clock})
	turn, ok, why, err := b.Bare(t.Context(), r, "C3")
	if must(t, err); !ok || turn.Command != "place" || turn.Args["at"] != "C3" {
		t.Errorf("%v %v, %q", ok, turn, why)
	}
}
