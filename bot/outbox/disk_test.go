package outbox

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// A disk is a store in memory; the store's own tests say what it promises.
type disk struct {
	mu          sync.Mutex
	posts       []*stored
	decorations map[id]Row
	requests    map[string]bool
	parked      map[match.Room]bool
}

// A stored post is a row of the disk.
type stored struct {
	match.OutboxPost
	state string // waiting, shown, superseded, parked or refused
	due   time.Time
	why   string
}

func (o *stored) waits() bool     { return o.state == "waiting" }
func (o *stored) neverSent() bool { return o.Attempt == 0 || o.why == "unsent" }

// opened makes posts due at once whose claims the process before held.
func (d *disk) opened() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, o := range d.posts {
		if o.waits() && o.Attempt > 0 {
			o.due = time.Time{}
		}
	}
}

// first reports whether no older post of the lane of o waits.
func (d *disk) first(o *stored) bool {
	return d.posts[slices.IndexFunc(d.posts, func(p *stored) bool { return p.waits() && p.Lane() == o.Lane() })] == o
}

// change makes a change of the disk, as one step.
func (p *process) change(what string, do func(d *disk) error) error {
	return p.step(what, func() error {
		p.disk.mu.Lock()
		defer p.disk.mu.Unlock()
		return do(p.disk)
	})
}

// each changes the post with an id, if it waits under the claim of that attempt.
func (d *disk) each(id string, attempt int, change func(*stored)) error {
	for _, o := range d.posts {
		if o.ID == id && o.waits() && o.Attempt == attempt {
			change(o)
		}
	}
	return nil
}

var errAgain = errors.New("asked before")

// Commit stores the posts of a step.
func (p *process) Commit(step *match.Step) error {
	return p.change("commit "+step.Request, func(d *disk) error {
		if d.requests[step.Request] {
			return errAgain
		}
		d.requests[step.Request] = true
		mine := true
		for i := range step.Posts {
			o := &stored{OutboxPost: step.Posts[i], state: "waiting", due: step.At}
			d.posts = append(d.posts, o)
			mine = mine && o.For == match.Asker
			if o.For != "" && (d.first(o) || i > 0 && mine && step.Posts[i-1].Attempt == 1) {
				o.Attempt, o.why, o.due = 1, "clean", step.Claim
			}
			o.Unsent = true
			step.Posts[i].Attempt, step.Posts[i].Unsent = o.Attempt, true
		}
		return nil
	})
}

func (p *process) Claim(_ context.Context, now, until time.Time, except ...string) (claimed []match.OutboxPost, err error) {
	p.disk.mu.Lock()
	some := slices.ContainsFunc(p.disk.posts, func(o *stored) bool { return o.waits() && !now.Before(o.due) })
	p.disk.mu.Unlock()
	if !some {
		return nil, nil
	}
	err = p.change("claim", func(d *disk) error {
		if slices.Contains(except, "chat") {
			return nil
		}
		for i, o := range d.posts {
			newer := func(n *stored) bool { return n.waits() && n.Lane() == o.Lane() && n.Kind == o.Kind }
			if o.waits() && o.Kind == match.Show && !now.Before(o.due) && o.neverSent() && slices.ContainsFunc(d.posts[i+1:], newer) {
				o.state = "superseded"
			}
		}
		for _, o := range d.posts {
			if o.waits() && !now.Before(o.due) && d.first(o) {
				o.Unsent, o.why = o.neverSent(), map[bool]string{true: "clean"}[o.neverSent()]
				o.Attempt++
				o.due = until
				claimed = append(claimed, o.OutboxPost)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return claimed, nil
}

func (p *process) Renew(_ context.Context, posts []match.OutboxPost, until time.Time) error {
	return p.change("renew", func(d *disk) error {
		for _, o := range posts {
			d.each(o.ID, o.Attempt, func(o *stored) { o.due = until })
		}
		return nil
	})
}

func (p *process) Later(_ context.Context, post string, attempt int, until time.Time, unsent bool) error {
	return p.change("later "+post, func(d *disk) error {
		return d.each(post, attempt, func(o *stored) {
			o.due = until
			if o.why = ""; unsent && o.Unsent {
				o.why = "unsent"
			}
		})
	})
}

func (p *process) Refuse(_ context.Context, post string, attempt int, why string) error {
	return p.change("refuse "+post, func(d *disk) error {
		return d.each(post, attempt, func(o *stored) { o.state, o.why = "refused", why })
	})
}

func (p *process) Settle(_ context.Context, post string, _ Receipt, _ *Message, c Decorations) error {
	return p.change("settle "+post, func(d *disk) error {
		d.decorate(c)
		for _, o := range d.posts {
			if o.ID == post {
				o.state = "shown"
				return nil
			}
		}
		return ErrNotFound
	})
}

func (p *process) Decorate(_ context.Context, c Decorations) error {
	return p.change("decorate", func(d *disk) error {
		d.decorate(c)
		return nil
	})
}

func (d *disk) decorate(c Decorations) {
	for _, r := range c.Gone {
		if d.decorations[r.id()].N == r.N {
			delete(d.decorations, r.id())
		}
	}
	for _, r := range c.Changed {
		if d.decorations[r.id()].N == r.N {
			d.decorations[r.id()] = r
		}
	}
	for _, r := range c.Put {
		if d.decorations[r.id()].N <= r.N {
			d.decorations[r.id()] = r
		}
	}
}

func (p *process) Decorations(context.Context) (rows []Row, err error) {
	err = p.change("read decorations", func(d *disk) error {
		for _, r := range d.decorations {
			rows = append(rows, r)
		}
		return nil
	})
	return rows, err
}

func (p *process) Park(_ context.Context, where match.Room, game match.GameID, why string) (parked []string, first bool, err error) {
	err = p.change("park", func(d *disk) error {
		for _, o := range d.posts {
			if o.waits() && o.Where.Channel == where.Channel && (game == "" || o.Game == game) {
				o.state, o.why = "parked", why
				parked = append(parked, o.ID)
			}
		}
		first = !d.parked[where]
		d.parked[where] = true
		return nil
	})
	return parked, first, err
}

// unpark makes parked posts due again, as when somebody is heard in the room, but for
// those after which newer ones were shown.
func (p *process) unpark() {
	p.disk.mu.Lock()
	for i, o := range p.disk.posts {
		newer := func(n *stored) bool { return n.state == "shown" && n.Lane() == o.Lane() }
		if o.state == "parked" && !slices.ContainsFunc(p.disk.posts[i:], newer) {
			o.state, o.due, o.why = "waiting", time.Now(), "unsent"
		}
	}
	p.disk.mu.Unlock()
	p.out.Wake()
}
