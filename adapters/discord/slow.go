package discord

import (
	"context"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
)

// A picture is ten times as long as its words. On a slow line the words go
// first, with the board in letters, and the picture is put into their message
// when it has arrived: the outbox does so for a post, the goroutine that answers for an
// answer.

const (
	slowAfter   = 4 * time.Second
	crawlsFor   = time.Minute     // where a picture took too long the next one is not tried first
	followFor   = 3 * time.Minute // the picture of an answer is tried to be put into its message
	followTries = 6
	followPause = time.Second // before the next try, doubled each time
	followMost  = 8           // at once: others show answers meanwhile
)

// slowIn reports whether files went up too slowly to a channel a moment ago. Other
// channels learn that for themselves: one upload that is slow says little of theirs.
func (a *Adapter) slowIn(channel string) bool {
	until, ok := a.slow.Get(channel)
	return ok && time.Now().Before(until)
}

// inTime does something with a message in a channel. If the message has files and
// they are not there at the time given, it is given up: it had better be done in
// words.
func (a *Adapter) inTime(ctx context.Context, channel string, by time.Time, m rest.Message, do func(context.Context, rest.Message) error) (late bool, err error) {
	if len(m.Files) == 0 {
		return false, do(ctx, m)
	}
	if a.slowIn(channel) {
		return true, nil
	}
	up, cancel := context.WithDeadline(ctx, by)
	defer cancel()
	err = do(up, m)
	if err != nil && up.Err() != nil && ctx.Err() == nil {
		a.slow.Add(channel, time.Now().Add(crawlsFor))
		a.log.Info("uploads are slow, will send text before pictures", "channel", channel, "error", err)
		return true, err
	}
	return false, err
}

// soon is when the words of a message go without its files, if it is begun now.
func soon() time.Time { return time.Now().Add(slowAfter / 2) }

// uploaded takes note if files went up fast again to a channel.
func (a *Adapter) uploaded(channel string, began time.Time) {
	if time.Since(began) < slowAfter/2 {
		a.slow.Remove(channel)
	}
}

// inWords returns the content to show while files are on their way: the board in
// letters, if there is room.
func (c content) inWords() (content, rest.Message, error) {
	c.late = true
	ms, err := c.messages()
	if err == nil && len(ms) > 1 && c.picture != nil {
		c.picture = nil
		ms, err = c.messages()
	}
	if err != nil {
		return c, rest.Message{}, err
	}
	return c, ms[0], nil
}

// inWords makes the post one in words; its files follow.
func (d *delivery) inWords() error {
	if len(d.m.Files) == 0 {
		return nil
	}
	c, _, err := d.c.inWords()
	if err != nil {
		return err
	}
	d.whole, d.c = d.m, c
	return d.build()
}

// upload sends the message by do, and in words if its files are not there at the time
// given or do not get through: the files follow.
func (d *delivery) upload(ctx context.Context, by time.Time, do func(context.Context, rest.Message) (*rest.Sent, error)) (s *rest.Sent, err error) {
	sends := func(ctx context.Context, m rest.Message) (err error) {
		s, err = do(ctx, m)
		return err
	}
	late, err := d.a.inTime(ctx, d.at.channel, by, d.m, sends)
	doubt := isAmbiguous(err)
	if !late && (!doubt || len(d.m.Files) == 0 || ctx.Err() != nil) {
		return s, err
	}
	if err := d.inWords(); err != nil {
		return nil, err
	}
	err = sends(ctx, d.m)
	switch {
	case err != nil && doubt: // the first may have got through
		err = &rest.Ambiguous{What: "show a post in words", Cause: err}
	case err == nil && s != nil && len(s.Attachments) > 0:
		d.whole = rest.Message{} // they are there
	}
	return s, err
}

// follow puts the files into the message of an answer that was sent in words. It returns
// when they are there, or it has tried often enough.
func (d *delivery) follow(ctx context.Context, sent outbox.Receipt) {
	a, m := d.a, d.whole
	if len(m.Files) == 0 {
		return
	}
	select {
	case a.following <- struct{}{}:
		defer func() { <-a.following }()
	default:
		a.log.Debug("picture not added to its answer: too many uploads", "channel", d.at.channel)
		return
	}
	m.Components, m.Flags = nil, m.Flags&^rest.Ephemeral
	channel, message := readReceipt(string(sent))
	ctx, cancel := context.WithTimeout(ctx, followFor)
	defer cancel()
	for try := range followTries {
		began := time.Now()
		_, err := a.rest.Edit(ctx, channel, message, m)
		if err == nil {
			a.uploaded(channel, began)
			return
		}
		if final(err) || backoff.Sleep(ctx, atLeast(backoff.After(try+1, followPause, time.Minute), err)) != nil {
			a.log.Debug("picture not added to its answer", "error", err)
			return
		}
	}
}
