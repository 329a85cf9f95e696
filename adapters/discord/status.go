package discord

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/render"
)

// This file is the opening of a game: its first message, which stands in the
// channel above the thread and shows how the game stands. It is edited after a
// board was shown in the thread, the newest board winning.
//
// What an opening is to say is kept in memory alone. A crash loses at most what
// the next board says anew, and after the last board of a game there is none: so
// the end of a game is written before Deliver returns. If the program dies
// before that, the board is not settled, is delivered once more, found in the
// thread, and brings the end with it.

// How often an opening is edited. Of messages older than an hour Discord allows
// few edits (error 30046) and does not say how many: with one in ten minutes even
// the 50 games that a channel can have come to no more than one in twelve
// seconds.
const (
	pace    = time.Minute
	oldPace = 10 * time.Minute
	oldAge  = time.Hour
)

// Limits on edits of openings.
const (
	editFor    = 3 * time.Second  // one edit
	editAgain  = 10 * time.Second // after one that failed, doubled each time
	editTries  = 8                // in a row
	lastFor    = 2 * time.Second  // all those that are made when the program ends
	refusedFor = 24 * time.Hour   // an opening is left alone that could not be edited
	maxRoots   = 10_000           // that wait, or were edited lately
)

// codeOldEdits is Discord's code when old messages were edited too often.
const codeOldEdits = 30046

// A root is an opening that waits to be edited, or was lately.
type root struct {
	editing chan struct{} // holds a value during an edit: one after the other

	says   string      // how the game stands, as Discord reads it
	lang   string      // in which that is
	board  bot.Receipt // of the newest board
	seq    int         // the event after which the game stands so
	over   bool        // the game is over
	due    time.Time   // when it is to be edited; zero: it shows all this
	edited time.Time
	tries  int  // edits that failed since
	queued bool // it has its place among the work
}

func newRoot() *root { return &root{editing: make(chan struct{}, 1)} }

// roots are those of all games, by receipt.
type roots struct {
	mu     sync.Mutex
	m      map[string]*root
	direct bool // nobody works off what waits: the program is about to end
}

// stands has the opening of a game say how the game stands now that a board was
// shown, if the board is not in the same place.
func (a *Adapter) stands(ctx context.Context, p bot.Post, board bot.Receipt) {
	channel, message := readReceipt(p.Under)
	thread, _ := readReceipt(string(board))
	if p.Kind != bot.Show || p.Private || channel == "" || thread == "" || thread == channel || p.State == bot.Sandbox {
		return // where nothing counts, the opening says so
	}
	if until, ok := a.refused.get(p.Under); ok && time.Now().Before(until) {
		return
	}
	scene := p.Scene
	if desk := a.theDesk(); scene == nil && desk != nil { // it was too large to be shown
		if s, err := desk.Scene(ctx, p.Game, p.Seq); err == nil {
			scene = &s
		}
	}
	if scene == nil {
		return
	}
	now := time.Now()
	a.roots.mu.Lock()
	r := a.roots.m[p.Under]
	if r == nil && len(a.roots.m) < maxRoots {
		r = newRoot()
		a.roots.m[p.Under] = r
	}
	if r == nil || r.seq > p.Seq {
		a.roots.mu.Unlock()
		return
	}
	r.says, r.lang, r.board, r.seq, r.over = standing(p, *scene), p.Lang, board, p.Seq, scene.Result != ""
	atOnce := r.over || a.roots.direct
	switch {
	case atOnce:
		r.due = now
	case r.due.IsZero():
		r.due = now
		if next := r.edited.Add(paceOf(message, now)); next.After(now) {
			r.due = next
		}
	}
	if !atOnce {
		a.queue(p.Under, r, now)
	}
	a.roots.mu.Unlock()
	if atOnce {
		a.editOpening(ctx, p.Under)
	}
}

// standing says how a game stands.
func standing(p bot.Post, s render.Scene) string {
	what := s.Ruleset
	if len(s.Board) > 0 {
		what += fmt.Sprintf(" · %d×%d", len(s.Board[0]), len(s.Board))
	}
	lines := append([]string{bot.Translated(p.Lang, wordStatus, strconv.Itoa(p.Number), what)}, bot.HowItStands(s)...)
	return escape(strings.Join(lines, "\n"))
}

// paceOf gives the time between two edits of a message.
func paceOf(message string, now time.Time) time.Duration {
	if now.Sub(created(message)) > oldAge {
		return oldPace
	}
	return pace
}

// created gives when a message was sent: its id holds that.
func created(id string) time.Time {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(int64(n>>22) + epoch)
}

// keepStanding edits the openings whose time has come, until ctx is done.
func (a *Adapter) keepStanding(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			a.editDue()
		}
	}
}

// editDue puts the openings among the work whose time has come, and forgets
// those of games in which nothing happens.
func (a *Adapter) editDue() {
	now := time.Now()
	a.roots.mu.Lock()
	defer a.roots.mu.Unlock()
	for key, r := range a.roots.m {
		_, message := readReceipt(key)
		if r.due.IsZero() && now.Sub(r.edited) >= paceOf(message, now) {
			delete(a.roots.m, key)
		} else if !a.queue(key, r, now) {
			return
		}
	}
}

// queue puts an opening among the work if its time has come. It reports false if
// there is no place. All openings wait in one line, so that they take turns with
// each channel in which there is something to tidy up. a.roots.mu is held.
func (a *Adapter) queue(key string, r *root, now time.Time) bool {
	if r.queued || r.due.IsZero() || now.Before(r.due) {
		return true
	}
	r.queued = a.spare("openings", func(ctx context.Context) { a.editOpening(ctx, key) })
	return r.queued
}

// lastEdits edits the openings that wait for their time, as far as it goes at
// once: nobody would know of them after a restart until the next board.
func (a *Adapter) lastEdits(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastFor)
	defer cancel()
	a.roots.mu.Lock()
	a.roots.direct = true // what is shown from now on
	all := maps.Clone(a.roots.m)
	keys := slices.SortedFunc(maps.Keys(all), func(x, y string) int {
		if all[x].over != all[y].over { // no board comes after these
			if all[x].over {
				return -1
			}
			return 1
		}
		return all[x].due.Compare(all[y].due)
	})
	a.roots.mu.Unlock()
	for _, key := range keys {
		if ctx.Err() != nil {
			return
		}
		a.editOpening(ctx, key)
	}
}

// editOpening edits an opening if it does not show what it should and its time
// has come, or there will be no other.
func (a *Adapter) editOpening(ctx context.Context, key string) {
	a.roots.mu.Lock()
	r := a.roots.m[key]
	a.roots.mu.Unlock()
	if r == nil {
		return
	}
	r.editing <- struct{}{}
	defer func() { <-r.editing }()
	a.roots.mu.Lock()
	r.queued = false
	says, lang, board, seq := r.says, r.lang, r.board, r.seq
	early := time.Now().Before(r.due) && !a.roots.direct // an edit that was under way has failed
	done := r.due.IsZero() || a.roots.m[key] != r
	a.roots.mu.Unlock()
	if early || done {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, editFor)
	defer cancel()
	channel, message := readReceipt(key)
	if link := a.link(ctx, channel, board); link != "" {
		says += "\n" + bot.Translated(lang, wordSee, link)
	}
	_, err := a.low.Edit(ctx, channel, message, rest.Message{Content: new(rest.Clip(says, maxContent)), Components: []rest.Component{}})

	now := time.Now()
	a.roots.mu.Lock()
	defer a.roots.mu.Unlock()
	var wait *rest.RateLimited
	switch {
	case err == nil && r.seq == seq && r.over:
		delete(a.roots.m, key)
	case err == nil:
		r.edited, r.tries = now, 0
		switch {
		case r.seq == seq:
			r.due = time.Time{}
		case r.over: // meanwhile; whoever said so waits for this
			r.due = now
		default:
			r.due = now.Add(paceOf(message, now))
		}
	case final(err) && rest.Code(err) != codeOldEdits: // it was deleted, say
		a.refused.put(key, now.Add(refusedFor))
		delete(a.roots.m, key)
	case r.tries >= editTries: // the next board is another chance
		delete(a.roots.m, key)
	default:
		again := editAgain << r.tries
		if errors.As(err, &wait) {
			again = max(again, wait.Wait)
		}
		r.tries++
		r.due = now.Add(again)
	}
	if err != nil {
		a.log.Debug("an opening was not edited", "channel", channel, "error", err)
	}
}

// link gives the address of a board in the thread of a message in channel, or
// nothing if it cannot be found out.
func (a *Adapter) link(ctx context.Context, channel string, board bot.Receipt) string {
	thread, _ := readReceipt(string(board))
	at, ok := a.rooms.get(thread)
	if !ok {
		var err error
		if at, err = a.room(ctx, channel); err != nil {
			return ""
		}
	}
	if at.guild == "" {
		return ""
	}
	return "https://discord.com/channels/" + at.guild + "/" + string(board)
}
