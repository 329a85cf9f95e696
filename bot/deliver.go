package bot

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/rules"
)

const (
	claimFor   = 30 * time.Second // a post is not given to another delivery for so long
	retryAfter = 5 * time.Second  // after an error that says nothing better
	deliveries = 8                // channels at once, unless told otherwise
	finishIn   = 8 * time.Second  // for a round of deliveries
)

// Flush delivers until nothing is due, for adapters that show what a line of
// input brought about before they read the next.
func (b *Bot) Flush(ctx context.Context, adapters ...Adapter) error {
	for {
		if n, err := b.Deliver(ctx, adapters...); n == 0 || err != nil {
			return err
		}
	}
}

// Deliver shows what is owed now, the oldest post of each game and channel,
// and gives how many posts it took up. Calling it again when it gives 0 has no
// use until something new is owed.
func (b *Bot) Deliver(ctx context.Context, adapters ...Adapter) (int, error) {
	b.delivery.Lock()
	defer b.delivery.Unlock()
	now := b.now()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	// What has been taken up is finished, even if the program is told to stop
	// meanwhile: half a delivery would have to be repeated after the restart.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishIn)
	defer cancel()
	owed, err := b.store.Claim(ctx, now, now.Add(claimFor))
	if err != nil {
		return 0, err
	}
	var channels [][]Owed // one goroutine per channel
	index := map[Room]int{}
	for _, o := range owed {
		key := Room{Platform: o.Where.Platform, Channel: o.Where.Channel}
		i, ok := index[key]
		if !ok {
			i = len(channels)
			index[key] = i
			channels = append(channels, nil)
		}
		channels[i] = append(channels[i], o)
	}
	var wait sync.WaitGroup
	slots := make(chan struct{}, b.slots)
	for _, posts := range channels {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			for _, o := range posts {
				if !b.deliver(ctx, adapters, o) {
					return
				}
			}
		})
	}
	wait.Wait()
	return len(owed), nil
}

// deliver shows one post and writes down what became of it. It reports false
// if nothing more may be shown in the channel now: waiting has ended the claims
// on what else is owed there.
func (b *Bot) deliver(ctx context.Context, adapters []Adapter, o Owed) bool {
	log := b.log.With("post", o.ID, "channel", o.Where.Channel)
	failed := func(err error) {
		if err != nil && ctx.Err() == nil {
			log.Error("after a delivery", "error", err)
		}
	}
	var adapter Adapter
	for _, a := range adapters {
		if a.Name() == o.Where.Platform {
			adapter = a
		}
	}
	if adapter == nil {
		failed(b.store.Postpone(ctx, o.Where, b.now().Add(time.Hour)))
		return false
	}
	post, err := b.worded(ctx, o)
	if errors.Is(err, errStale) {
		failed(b.store.Settle(ctx, o.ID, ""))
		return true
	}
	if err != nil {
		log.Error("a post cannot be worded", "error", err)
		failed(b.store.Postpone(ctx, o.Where, b.now().Add(time.Minute)))
		return false
	}
	receipt, err := adapter.Deliver(ctx, post)
	if errors.Is(err, ErrTooLarge) && post.Scene != nil {
		post.Scene = nil // the words say it too
		receipt, err = adapter.Deliver(ctx, post)
	}
	var wait RetryAfter
	var forbidden Forbidden
	switch {
	case err == nil:
		failed(b.store.Settle(ctx, o.ID, receipt))
		return true
	case ctx.Err() != nil:
		// The claim runs out; the post is taken up again after the restart.
	case errors.As(err, &wait):
		failed(b.store.Postpone(ctx, o.Where, b.now().Add(wait.Wait)))
	case errors.Is(err, ErrGone), errors.As(err, &forbidden):
		first, e := b.store.Park(ctx, o.Where, err.Error())
		failed(e)
		if first {
			log.Warn("a room cannot be written to; its posts wait", "error", err)
		}
	case errors.Is(err, ErrTooLarge):
		log.Error("a post is too large even without its picture", "error", err)
		failed(b.store.Settle(ctx, o.ID, ""))
		return true
	default: // ErrAmbiguous too: the adapter looks for the message on the next attempt
		log.Warn("a post was not delivered", "attempt", o.Attempt, "error", err)
		failed(b.store.Postpone(ctx, o.Where, b.now().Add(retryAfter)))
	}
	return false
}

// errStale is the error of wording a post that has become pointless.
var errStale = errors.New("there is nothing to say any more")

// worded puts names, words and the picture into a post.
func (b *Bot) worded(ctx context.Context, o Owed) (Post, error) {
	p := Post{ID: o.ID, Where: o.Where, Kind: o.Kind, Game: o.Game, Seq: o.Seq, Private: o.Private, Reply: o.Reply, Attempt: o.Attempt}
	texts := o.Texts
	if o.Game != "" {
		m, pos, err := b.at(ctx, o.Game, o.Seq)
		if err != nil {
			return p, err
		}
		p.Number = m.Number
		switch o.Kind {
		case Status:
			if m.Seq != o.Seq { // never after the turn
				return p, errStale
			}
			texts = append(texts, reminder(m, pos, b.now())...)
			if strings.HasSuffix(o.ID, againMark) {
				last, err := b.store.Shown(ctx, o.Game, o.Where, Status)
				if err != nil {
					return p, err
				}
				p.Replaces = string(last)
			}
		case Remove:
			last, err := b.store.Shown(ctx, o.Game, o.Where, Status)
			if err != nil {
				return p, err
			}
			if last == "" {
				return p, errStale
			}
			p.Replaces = string(last)
		}
		if o.Kind == Show {
			texts = append(texts, caption(m, pos, b.now())...)
			scene, err := b.scene(ctx, m, pos)
			if err != nil {
				return p, err
			}
			p.Scene = &scene
			p.Controls = controls(m, pos, o.Seq)
		}
	}
	who, err := b.store.People(ctx, append(people(texts), o.Notify...))
	if err != nil {
		return p, err
	}
	for _, n := range o.Notify {
		if w, ok := who[n]; ok {
			p.Notify = append(p.Notify, w)
		}
	}
	p.Text = word(texts, who, p.Number)
	return p, nil
}

// controls gives the buttons below a board: what both can say at this moment,
// for as long as nothing else has been done.
func controls(m Match, p *position, seq int) []Control {
	if p.game.Phase() != rules.Settling || p.over() {
		return nil
	}
	args := map[string]string{"game": strconv.Itoa(m.Number), "seq": strconv.Itoa(seq)}
	return []Control{
		{Label: word([]Text{say("label.accept")}, nil), Command: "accept", Args: args},
		{Label: word([]Text{say("label.resume")}, nil), Command: "resume", Args: args},
	}
}
