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
	state State
}

func (o *stored) waits() bool { return o.state == Waiting }

// first reports whether no older post of the lane of o waits.
func (d *disk) first(o *stored) bool {
	return d.posts[slices.IndexFunc(d.posts, func(p *stored) bool { return p.waits() && p.Lane() == o.Lane() })] == o
}

// change makes a change of the disk, as one step.
func (p *process) change(ctx context.Context, what string, do func(d *disk) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return p.step(what, func() error {
		p.disk.mu.Lock()
		defer p.disk.mu.Unlock()
		return do(p.disk)
	})
}

var errAgain = errors.New("asked before")

// Commit stores the posts of a step.
func (p *process) Commit(ctx context.Context, step *match.Step) error {
	return p.change(ctx, "commit "+step.Request, func(d *disk) error {
		if d.requests[step.Request] {
			return errAgain
		}
		d.requests[step.Request] = true
		mine := true
		for i := range step.Posts {
			o := &stored{OutboxPost: step.Posts[i], state: Waiting}
			o.Due = step.At
			d.posts = append(d.posts, o)
			for _, p := range d.posts {
				if p.Where.Channel == o.Where.Channel && p.Game == o.Game { // not of each lane of answers
					o.N++
				}
			}
			o.Tried = d.first(o) || i > 0 && mine && step.Posts[i-1].Tried
			mine = mine && o.Asker
			step.Posts[i].N, step.Posts[i].Tried = o.N, o.Tried
		}
		return nil
	})
}

func (p *process) Waiting(ctx context.Context) (posts []match.OutboxPost, err error) {
	err = p.change(ctx, "read posts", func(d *disk) error {
		for _, o := range d.posts {
			if o.waits() {
				o := o.OutboxPost
				o.Asker = false
				posts = append(posts, o)
			}
		}
		return nil
	})
	return posts, err
}

func (p *process) Change(ctx context.Context, c match.OutboxPost, is State, _ string) error {
	return p.change(ctx, "change "+c.ID, func(d *disk) error {
		for _, o := range d.posts {
			if o.ID == c.ID && (o.waits() || o.state == Parked) {
				if o.Attempt, o.Tried, o.Due = c.Attempt, c.Tried, c.Due; is != Waiting {
					o.state = is
				}
				d.supersede(o)
				return nil
			}
		}
		return ErrNotFound
	})
}

// supersede ends the waiting of older boards if a newer one is tried.
func (d *disk) supersede(by *stored) {
	for _, o := range d.posts {
		if o.waits() && by.Tried && o.Kind == match.Show && by.Kind == o.Kind && o.Lane() == by.Lane() && o.N < by.N {
			o.state = Superseded
		}
	}
}

func (p *process) Settle(ctx context.Context, post string, _ Receipt, _ *Message, c Decorations, next *match.OutboxPost) error {
	return p.change(ctx, "settle "+post, func(d *disk) error {
		d.decorate(c)
		found := ErrNotFound
		for _, o := range d.posts {
			if o.ID == post {
				o.state, found = Shown, nil
			}
			if next != nil && o.ID == next.ID && o.waits() {
				o.Tried = true
				d.supersede(o)
			}
		}
		return found
	})
}

func (p *process) Decorate(ctx context.Context, c Decorations) error {
	return p.change(ctx, "decorate", func(d *disk) error {
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

func (p *process) Decorations(ctx context.Context) (rows []Row, err error) {
	err = p.change(ctx, "read decorations", func(d *disk) error {
		for _, r := range d.decorations {
			rows = append(rows, r)
		}
		return nil
	})
	return rows, err
}

func (p *process) Park(ctx context.Context, where match.Room, game match.GameID, _ string) (parked []string, first bool, err error) {
	err = p.change(ctx, "park", func(d *disk) error {
		for _, o := range d.posts {
			if o.waits() && o.For == "" && o.Where.Channel == where.Channel && (game == "" || o.Game == game) {
				o.state = Parked
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
		newer := func(n *stored) bool { return n.state == Shown && n.Lane() == o.Lane() }
		if o.state == Parked && !slices.ContainsFunc(p.disk.posts[i:], newer) {
			o.state, o.Due = Waiting, time.Now()
		}
	}
	p.disk.mu.Unlock()
	p.out.Reread()
}
