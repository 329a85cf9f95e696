package outbox

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// The lanes hold the posts that wait, as the store has them: it is read at the start,
// and again when somebody else may have changed what waits.

// A lane holds the posts that wait in it, in their order.
type lane struct {
	posts []*pending
	last  int       // the highest N so far
	from  time.Time // when the first may be sent, because an attempt has failed
	sent  time.Time // when the last was
}

// A pending post is a Pending and what happens to it. The outbox's mu guards it.
type pending struct {
	Pending
	busy   bool          // it is being sent
	asked  time.Time     // since when its asker shows it; zero: it does not
	wanted chan struct{} // its asker waits for it; nil: it does not
	with   []*pending    // the refusals that are sent in the same message
	since  time.Time     // when it came into its lane
	made   time.Time     // when it was stored, as far as is known
	unsent bool          // the store says that it was not sent, although it is looked for
	marked bool          // the store may say that it is tried
}

// idle reports whether nobody is showing the post.
func (p *pending) idle() bool { return !p.busy && p.asked.IsZero() }

func (b *Outbox) lane(l match.Lane) *lane {
	in := b.lanes[l]
	if in == nil {
		in = &lane{}
		b.lanes[l] = in
	}
	return in
}

// find returns the post with the id of o, or nil.
func (b *Outbox) find(o match.OutboxPost) *pending {
	if in := b.lanes[o.Lane()]; in != nil {
		for _, p := range in.posts {
			if p.ID == o.ID {
				return p
			}
		}
	}
	return nil
}

// put adds a post to its lane.
func (b *Outbox) put(p *pending) {
	in := b.lane(p.Lane())
	p.since, p.made, p.marked = b.Now(), b.Now(), p.marked || p.Tried
	if p.Attempt == 0 && !p.Due.IsZero() { // it is due since it was stored
		p.made = sooner(p.made, p.Due)
	}
	at, _ := slices.BinarySearchFunc(in.posts, p, func(x, y *pending) int { return cmp.Compare(x.N, y.N) })
	in.posts, in.last = slices.Insert(in.posts, at, p), max(in.last, p.N)
	in.supersede()
}

// supersede drops the boards and statuses for which newer ones wait. A post that may have
// been sent is shown again, because its receipt is needed to remove its controls. One that may only be
// stored as tried stays until it is stored that it is not, see deliver.
func (in *lane) supersede() {
	newer := map[string]bool{}
	for i, p := range slices.Backward(in.posts) {
		if newer[p.Kind] && p.idle() && !p.marked && p.moot() {
			in.drop(i)
		} else if p.Supersedes() {
			newer[p.Kind] = true
		}
	}
}

// moot reports whether a post need not be shown once a newer one of its kind waits.
func (p *pending) moot() bool { return !p.Look || p.unsent }

// superseded reports whether a newer post takes the place of one, which surely was not sent.
func (b *Outbox) superseded(p *pending) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return p.moot() && slices.ContainsFunc(b.lane(p.Lane()).posts, func(q *pending) bool { return q.N > p.N && q.Kind == p.Kind && q.Supersedes() })
}

// remove removes a post that waits no longer.
func (b *Outbox) remove(o match.OutboxPost) {
	b.removed.Add(o.ID, struct{}{})
	if in := b.lanes[o.Lane()]; in != nil {
		if i := slices.IndexFunc(in.posts, func(p *pending) bool { return p.ID == o.ID }); i >= 0 {
			in.drop(i)
		}
	}
}

// drop drops a post, and tells the asker that waits for it.
func (in *lane) drop(i int) {
	if p := in.posts[i]; p.wanted != nil {
		close(p.wanted)
		p.wanted = nil
	}
	in.posts = slices.Delete(in.posts, i, i+1)
}

// dropIdle drops the posts that nobody is showing. They are in the store.
func (in *lane) dropIdle() {
	in.last = 0
	for i, p := range slices.Backward(in.posts) {
		if p.idle() {
			in.drop(i)
		} else {
			in.last = max(in.last, p.N)
		}
	}
}

// lost removes a post that the next holder of its room shows. That may be this process again, and
// then it must not show the next one first.
func (b *Outbox) lost(o match.OutboxPost) {
	b.remove(o)
	b.current = false
}

// Forget drops the answers that wait for somebody whose posts are deleted.
func (b *Outbox) Forget(who match.PersonID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for l, in := range b.lanes {
		if l.For == who && who != "" {
			in.posts = slices.DeleteFunc(in.posts, func(p *pending) bool { return p.idle() })
		}
	}
}

// Reread makes the outbox read the waiting posts again, because there may be others now.
func (b *Outbox) Reread() {
	b.mu.Lock()
	b.current = false
	b.mu.Unlock()
	b.Wake()
}

// Look makes the outbox read the waiting posts soon, because another process may have stored some.
// Meanwhile it shows those that it knows, which are older.
func (b *Outbox) Look() {
	b.mu.Lock()
	b.lookAt, b.hinted = sooner(b.lookAt, b.lookMin), true
	b.mu.Unlock()
	b.Wake()
}

func (b *Outbox) looksAt() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lookAt
}

// read reads the posts that wait, unless the lanes hold all of them.
func (b *Outbox) read(ctx context.Context) error {
	b.mu.Lock()
	now := b.Now()
	if b.current && (b.Leases == nil || now.Before(b.lookAt) && b.lookAt.Before(now.Add(time.Minute))) { // unless the clock was ahead
		b.mu.Unlock()
		return nil
	}
	b.current, b.hinted = true, false
	taken := b.taken
	b.taken = map[string]bool{}
	b.mu.Unlock()
	err := b.takeDecorations(ctx, taken)
	var posts []match.OutboxPost
	if err == nil {
		posts, err = b.Rows.Waiting(ctx)
	}
	leased := map[match.Room]string{} // by room; each is looked up once, without the lock
	for _, o := range posts {
		if _, known := leased[o.Where]; !known {
			if holder, ok := b.lease(o.Where); ok {
				leased[o.Where] = holder
			}
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads++
	latest := b.Now().Add(longest)
	for _, o := range posts {
		if o.Due.After(latest) { // the clock was ahead
			o.Due = latest
		}
		holder, ok := leased[o.Where]
		if !ok {
			continue
		}
		p := b.find(o)
		if p == nil {
			p = &pending{Pending: Pending{OutboxPost: o, Look: o.Tried || taken[holder] || b.taken[holder]}, unsent: !o.Tried, marked: o.Tried}
			if p.Tried = false; p.Look { // so that a post is not sent that was shown meanwhile
				p.Attempt++
			}
			b.put(p)
			if in := b.lane(o.Lane()); o.Attempt > 0 && p == in.posts[0] {
				in.from = o.Due
			}
		}
	}
	b.lookMin = now.Add(10 * b.Now().Sub(now)) // long lists less often
	b.lookAt = later(now.Add(lookEvery), b.lookMin)
	if b.hinted { // while it read
		b.lookAt = b.lookMin
	}
	if err != nil {
		b.current = false
		maps.Copy(b.taken, taken)
	}
	return err
}

// next returns the posts to send now, which are the caller's to deliver: of each lane the
// first, and of each platform so many that at most a number are being sent. Lanes that
// have waited longest come first. It also returns when there will be others; zero: after
// the next change.
func (b *Outbox) next(platforms []Platform, most int) (posts []*pending, again time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.Now()
	if !b.current { // an older post may be missing
		return nil, now
	}
	free := map[string]int{} // how many more posts a platform may be sending
	for _, p := range platforms {
		free[p.Name()] = b.queue.accounts.of(p.Name()).atOnce(now, most) - b.sending[p.Name()]
	}
	var due []*lane
	for l, in := range b.lanes {
		if len(in.posts) > 0 {
			if _, ok := b.lease(in.posts[0].Where); !ok { // another process shows them
				in.dropIdle()
			}
		}
		if len(in.posts) == 0 {
			if len(b.lanes) > maxLanes {
				delete(b.lanes, l)
			}
			continue
		}
		if latest := now.Add(longest); in.from.After(latest) { // the clock was ahead
			in.from = latest
		}
		account := b.queue.accounts.of(l.Platform)
		from := later(account.held(now), in.from)
		if p := in.posts[0]; p.yields(now) && !slices.ContainsFunc(in.posts, func(q *pending) bool { return !q.Refused }) {
			from = later(from, sooner(p.since.Add(yieldsFor), now.Add(account.Wait(now, 1, 0))))
		}
		if in.posts[0].Kind == match.Sheet {
			from = later(from, in.sent.Add(sheetEvery))
		}
		busy := false
		for _, q := range in.posts { // one that was unparked may be before those that are being shown
			busy = busy || q.busy
			if q.asked.IsZero() {
				continue
			}
			if q.asked.After(now) { // the clock was ahead
				q.asked = now
			}
			if end := q.asked.Add(deliverFor); now.Before(end) {
				from = end
				break
			}
			b.fail(q, now, true) // its asker has gone, after having sent it or not
			q.asked = time.Time{}
		}
		switch {
		case busy, free[l.Platform] <= 0:
		case now.Before(from):
			again = sooner(again, from.Add(time.Millisecond)) // so that what comes just then is chosen, too
		default:
			due = append(due, in)
		}
	}
	slices.SortFunc(due, func(x, y *lane) int {
		p, q := x.posts[0], y.posts[0]
		if yields := p.yields(now); yields != q.yields(now) { // boards first
			return map[bool]int{false: -1, true: 1}[yields]
		}
		return cmp.Or(x.sent.Compare(y.sent), p.Due.Compare(q.Due), p.since.Compare(q.since), cmp.Compare(p.ID, q.ID))
	})
	for _, in := range due {
		if p := in.posts[0]; free[p.Where.Platform] > 0 {
			p.busy = true
			free[p.Where.Platform]--
			b.sending[p.Where.Platform]++
			posts = append(posts, p)
		}
	}
	return posts, again
}

// yields reports whether a post is a refusal that boards come before.
func (p *pending) yields(now time.Time) bool { return p.Refused && now.Before(p.since.Add(yieldsFor)) }

// merge adds to a refusal those behind it in its lane, unless it may have been sent
// already, and returns the post to word. The caller holds b.mu.
func (b *Outbox) merge(p *pending) Pending {
	if !p.Look {
		p.with = nil
		for _, q := range b.lane(p.Lane()).posts {
			if q != p && p.merges() && q.merges() && q.idle() && !q.Look {
				p.with = append(p.with, q)
			}
		}
	}
	o := p.Pending
	for _, q := range p.with {
		q.busy = true
		o.Texts = append(slices.Clip(o.Texts), q.Texts...)
	}
	return o
}

// merges reports whether a post is a refusal in words alone, which may be shown together
// with others.
func (p *pending) merges() bool { return p.Refused && p.Question == nil && len(p.Controls) == 0 }

// fail notes that an attempt to show a post has ended, after which it may be there.
func (b *Outbox) fail(p *pending, due time.Time, look bool) {
	p.Look, p.unsent = p.Look || look, p.unsent && !look
	p.Attempt, p.Tried, p.Due, p.Left = p.Attempt+1, p.Look, due, nil
	b.lane(p.Lane()).from = due
}

// mark stores that a post may have been sent, before it is, and reports whether it still
// waits.
func (b *Outbox) mark(ctx context.Context, p *pending) bool {
	b.mu.Lock()
	was := p.Tried
	p.Tried = true
	b.mu.Unlock()
	return was || b.change(ctx, p, Waiting, "") == nil
}

// change stores the state of a post, which leaves its lane if it waits no longer.
func (b *Outbox) change(ctx context.Context, p *pending, is State, why string) error {
	b.mu.Lock()
	o := p.OutboxPost
	p.marked = p.marked || o.Tried
	b.mu.Unlock()
	holder, ok := b.lease(o.Where)
	err := ErrLost
	if o.Holder = holder; ok {
		err = b.Rows.Change(ctx, o, is, why)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case errors.Is(err, ErrLost):
		b.lost(o)
	case errors.Is(err, ErrNotFound), err == nil && is != Waiting:
		b.remove(o)
	case err != nil:
		p.Tried = false
		if in, from := b.lane(o.Lane()), b.Now().Add(retryAfter); from.After(in.from) {
			in.from = from
		}
		b.failed(ctx, err, "storing the outcome of a delivery failed, will retry", "post", o.ID)
	default:
		p.marked = o.Tried
	}
	return err
}

// following returns the post that follows one in its lane, if it comes at once and is not
// tried yet; else nil. A sheet waits.
func (b *Outbox) following(o match.OutboxPost) *match.OutboxPost {
	b.mu.Lock()
	defer b.mu.Unlock()
	in, now, account := b.lane(o.Lane()), b.Now(), b.queue.accounts.of(o.Where.Platform)
	if !b.current || len(in.posts) < 2 || in.posts[0].ID != o.ID || !account.held(now).IsZero() || account.atOnce(now, 2) < 2 {
		return nil
	}
	p := in.posts[1]
	if !p.idle() || p.Tried || p.Kind == match.Sheet {
		return nil
	}
	next := p.OutboxPost
	next.Tried, p.marked = true, true
	return &next
}
