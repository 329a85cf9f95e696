package bot_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// shows asks for a change as somebody who shows the posts of the request.
func (r *running) shows(id, who, channel, command string, args map[string]string) bot.Answer {
	r.Helper()
	return r.request(bot.Request{ID: id, Who: person(who), Shows: true, Command: command, Args: args}, channel)
}

func kinds(posts []outbox.Post) string {
	var out []string
	for _, p := range posts {
		out = append(out, fmt.Sprint(p.Kind, " ", p.Seq))
	}
	return strings.Join(out, ", ")
}

func at(point string) map[string]string { return map[string]string{"at": point} }

// delivered returns the posts that the adapter showed, and forgets them.
func (p *playing) delivered() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := kinds(p.shown["club 1"])
	p.shown["club 1"] = nil
	return out
}

// Only what all may see in the place of the request is the asker's.
func TestAskerShowsNoOthersPosts(t *testing.T) {
	onChat(t, nil, func(p *playing) {
		p.opens("club", 1, 1)
		_, err := p.b.Ask(p.Context(), bot.Request{ID: "chat:r", Who: person("white1"), Where: clubRoom, Command: "remind",
			Args: map[string]string{"how": "direct"}})
		must(p, err)
		for turn, point := range []string{"A1", "B1", "C1", "D1"} {
			who := []string{"black1", "white1"}[turn%2]
			a := p.shows(fmt.Sprint("chat:t", turn), who, "club", "place", at(point))
			if slices.ContainsFunc(a.Posts, func(post outbox.Post) bool { return post.Private || post.Where.Channel != "club" }) || len(a.Posts) != 1 {
				p.Errorf("turn %d: %s", turn, kinds(a.Posts))
			}
			for _, post := range a.Posts {
				must(p, p.b.Settle(p.Context(), post, outbox.Receipt(post.ID), nil, nil))
			}
		}
	})
}

// A slowStore takes a while before and after each commit.
type slowStore struct {
	bot.Store
	before, after time.Duration
}

func (s slowStore) Commit(ctx context.Context, step *match.Step) error {
	time.Sleep(s.before)
	defer time.Sleep(s.after)
	return s.Store.Commit(ctx, step)
}

// An asker gets its posts although an older one of their game, which is being tried
// again because somebody was heard, is parked once more: it tells people why nothing
// can be shown. All is shown once that is possible.
func TestAskerOfAParkedGame(t *testing.T) {
	for name, after := range map[string]time.Duration{"while it waits": 0, "before it waits": 600 * time.Millisecond} {
		t.Run(name, func(t *testing.T) { askerOfAParkedGame(t, after) })
	}
}

func askerOfAParkedGame(t *testing.T, after time.Duration) {
	const before, fails = 100 * time.Millisecond, 500 * time.Millisecond
	onChat(t, func(s bot.Store) bot.Store { return slowStore{s, before, after} }, func(p *playing) {
		p.opens("club", 1, 1)
		p.delivered()
		why := outbox.Forbidden{Permission: "send"}
		p.setFails(func(outbox.Post) error {
			time.Sleep(fails)
			return why
		})
		p.asks("black1", "club", "draw", nil) // a notice, which no newer post supersedes
		time.Sleep(2 * time.Minute)
		began := time.Now()
		a := p.shows("chat:a", "black1", "club", "place", at("D4"))
		if waited := time.Since(began); kinds(a.Posts) != "show 5" || waited != max(fails, before+after) {
			p.Fatalf("its posts: %q after %v", kinds(a.Posts), waited)
		}
		must(p, p.b.Settle(p.Context(), a.Posts[0], "", nil, why))
		time.Sleep(time.Hour)
		if got := p.delivered(); got != "" {
			p.Errorf("delivered while nothing can be: %s", got)
		}
		p.setFails(nil)
		_, err := p.b.Ask(p.Context(), bot.Request{ID: "chat:b", Who: person("white1"), Where: match.Room{Platform: "chat", Channel: "club"}, Command: "games"})
		must(p, err)
		time.Sleep(time.Minute)
		if got := p.delivered(); got != "notice 4, show 5" {
			p.Errorf("delivered in the end: %s", got)
		}
	})
}

// An unclear store unparks posts, and then reports an error.
type unclear struct{ bot.Store }

func (s unclear) Unpark(ctx context.Context, where match.Room, now time.Time, sure bool) (bool, error) {
	_, err := s.Store.Unpark(ctx, where, now, sure)
	return false, errors.Join(err, errDead)
}

// Posts that were unparked are shown, although it is unclear whether that was stored.
func TestUnparkedUnclearly(t *testing.T) {
	for what, heard := range map[string]func(p *playing) error{
		"by a request": func(p *playing) error {
			_, err := p.b.Ask(p.Context(), bot.Request{ID: "chat:b", Who: person("white1"), Where: clubRoom, Command: "games"})
			return err
		},
		"by the platform": func(p *playing) error { return p.b.Report(p.Context(), bot.Reached{Where: clubRoom}) },
	} {
		t.Run(what, func(t *testing.T) {
			onChat(t, func(s bot.Store) bot.Store { return unclear{s} }, func(p *playing) {
				p.opens("club", 1, 1)
				p.delivered()
				p.setFails(func(outbox.Post) error { return outbox.Forbidden{Permission: "send"} })
				p.asks("black1", "club", "draw", nil)
				time.Sleep(2 * time.Minute)
				p.setFails(nil)
				if err := heard(p); !errors.Is(err, errDead) {
					p.Errorf("error is %v", err)
				}
				time.Sleep(time.Minute)
				if got := p.delivered(); got != "notice 4" {
					p.Errorf("delivered: %q", got)
				}
			})
		})
	}
}

// crowded is a store in which others come before a request, so many times.
type crowded struct {
	bot.Store
	request string
	first   int
}

func (c *crowded) Commit(ctx context.Context, step *match.Step) error {
	if step.Request == c.request && c.first > 0 {
		c.first--
		return bot.ErrConflict
	}
	return c.Store.Commit(ctx, step)
}

// A change before which others came first too often is no more than not carried out: nothing is stored
// or told, and the same request, asked again, is carried out once.
func TestChangeTriedInVain(t *testing.T) {
	for name, shows := range map[string]bool{"for an adapter that shows its posts": true, "for one that does not": false} {
		t.Run(name, func(t *testing.T) {
			c := &crowded{request: "chat:r", first: 8}
			onChat(t, func(s bot.Store) bot.Store { c.Store = s; return c }, func(p *playing) {
				p.opens("club", 1, 1)
				p.delivered()
				r := bot.Request{ID: c.request, Who: person("black1"), Where: clubRoom, Command: "place", Args: at("D4"), Shows: shows}
				if a, err := p.b.Ask(p.Context(), r); !errors.Is(err, bot.ErrConflict) || c.first > 0 {
					p.Errorf("tried %d times too few: %q, %v", c.first, a.Own().Text, err)
				}
				settle(time.Minute)
				if _, done, err := c.Answered(p.Context(), r.ID); done || err != nil || p.delivered() != "" {
					p.Errorf("it has an answer: %v, %v", done, err)
				}
				if n := p.b.Counts().Refused[bot.Refusal{Platform: "chat", Reason: bot.RefusedConflict}]; n != 1 {
					p.Errorf("%d are counted", n)
				}
				for range 2 {
					if a, err := p.b.Ask(p.Context(), r); err != nil || !a.Public {
						p.Errorf("asked again: %q, %v", a.Own().Text, err)
					}
				}
				if m, err := c.Matches(p.Context(), bot.Query{}); err != nil || len(m) != 1 || m[0].Seq != 4 {
					p.Errorf("the game is %+v, %v", m, err)
				}
			})
		})
	}
}
