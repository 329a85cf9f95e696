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

// The asker shows its posts; nobody else does, and asking again brings none.
func TestAskerShowsItsPosts(t *testing.T) {
	onChat(t, nil, func(p *playing) {
		p.opens("club", 1, 1)
		p.delivered()
		a := p.shows("chat:a", "black1", "club", "place", at("D4"))
		if kinds(a.Posts) != "show 4" || a.Posts[0].Scene == nil || a.Posts[0].Attempt != 1 {
			p.Fatalf("its posts: %s", kinds(a.Posts))
		}
		time.Sleep(50 * time.Second) // the claim holds while it is in use
		must(p, p.b.Settle(p.Context(), a.Posts[0], "m4"))
		must(p, p.b.Settle(p.Context(), a.Posts[0], "twice"))
		if again := p.shows("chat:a", "black1", "club", "place", at("D4")); again.Posts != nil {
			p.Errorf("asked again: %s", kinds(again.Posts))
		}
		b := p.shows("chat:b", "white1", "club", "place", at("C3"))
		if kinds(b.Posts) != "show 5" || b.Posts[0].Previous != "m4" {
			p.Fatalf("the next: %s after %q", kinds(b.Posts), b.Posts[0].Previous)
		}
		time.Sleep(10 * time.Minute) // the asker has died
		if got := p.delivered(); got != "show 5" {
			p.Errorf("delivered: %s", got)
		}
	})
}

// An asker waits a second for what is before its posts, and then leaves them to the
// outbox.
func TestAskerWaitsItsTurn(t *testing.T) {
	onChat(t, nil, func(p *playing) {
		p.opens("club", 1, 1)
		p.delivered()
		a := p.shows("chat:a", "black1", "club", "place", at("D4"))
		var b bot.Answer
		done := make(chan bool)
		go func() {
			defer close(done)
			b = p.shows("chat:b", "white1", "club", "place", at("C3"))
		}()
		time.Sleep(600 * time.Millisecond)
		must(p, p.b.Settle(p.Context(), a.Posts[0], "m4"))
		<-done
		if kinds(b.Posts) != "show 5" || b.Posts[0].Previous != "m4" {
			p.Fatalf("the second: %s", kinds(b.Posts))
		}
		began := time.Now()
		c := p.shows("chat:c", "black1", "club", "place", at("E5"))
		if waited := time.Since(began); c.Posts != nil || waited != time.Second {
			p.Errorf("the third has %s after %v", kinds(c.Posts), waited)
		}
		must(p, p.b.Settle(p.Context(), b.Posts[0], "m5"))
		time.Sleep(time.Second)
		if got := p.delivered(); got != "show 6" {
			p.Errorf("delivered: %s", got)
		}
	})
}

// The outbox shows posts that the asker could not show: at once, later or never, as the
// error says.
func TestAskerReleasesItsPosts(t *testing.T) {
	for _, c := range []struct {
		err        error
		after      time.Duration
		soon, late string // what is delivered by then, and after that
	}{
		{outbox.RetryAfter{Wait: 20 * time.Second}, 19 * time.Second, "", "show 4"},
		{outbox.RetryAfter{Wait: 20 * time.Second, Account: true}, 19 * time.Second, "", "show 4"},
		{outbox.ErrTooLarge, time.Second, "show 4", ""},
		{outbox.ErrAmbiguous, 4 * time.Second, "", "show 4"},
		{errors.New("the line is broken"), 4 * time.Second, "", "show 4"},
		{outbox.ErrGone, time.Hour, "", ""},
		{outbox.Forbidden{Permission: "send"}, time.Hour, "", ""},
	} {
		t.Run(c.err.Error(), func(t *testing.T) {
			onChat(t, nil, func(p *playing) {
				p.opens("club", 1, 1)
				p.delivered()
				a := p.shows("chat:a", "black1", "club", "place", at("D4"))
				must(p, p.b.Release(p.Context(), a.Posts[0], c.err))
				settle(c.after)
				soon := p.delivered()
				settle(10 * time.Second)
				if late := p.delivered(); soon != c.soon || late != c.late {
					p.Errorf("delivered %q, and later %q", soon, late)
				}
			})
		})
	}
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
				must(p, p.b.Settle(p.Context(), post, outbox.Receipt(post.ID)))
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
		must(p, p.b.Release(p.Context(), a.Posts[0], why))
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
