package discord

import (
	"context"
	"errors"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/adapters/lanes"
	"github.com/halfpoint-go/halfpoint/bot"
)

// A picture is ten times as long as its words. On a slow line the words go
// first, with the board in letters, and the picture is put into their message
// when it has arrived.

const (
	slowAfter     = 4 * time.Second
	crawlsFor     = time.Minute     // where a picture took too long the next one is not tried first
	followFor     = 3 * time.Minute // a picture is tried to be put into its message
	followTries   = 6
	followPause   = time.Second // before the next try, doubled each time
	followWorkers = 8
	followWaiting = 200
)

// followers are the pictures on their way to their messages, each game's one
// after the other.
func followers(panicked func(any)) *lanes.Lanes {
	return lanes.New(lanes.Config{Workers: followWorkers, Total: followWaiting, Panic: panicked})
}

// slowIn reports whether files went up too slowly to a channel a moment ago. Other
// channels learn that for themselves: one upload that is slow says little of theirs.
func (a *Adapter) slowIn(channel string) bool {
	until, ok := a.slow.get(channel)
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
		a.slow.put(channel, time.Now().Add(crawlsFor))
		a.log.Info("files go up slowly: words go first", "channel", channel, "error", err)
		return true, err
	}
	return false, err
}

// soon is when the words of a message go without its files, if it is begun now.
func (a *Adapter) soon() time.Time { return time.Now().Add(slowAfter / 2) }

// inWords is what is said while files are on their way: the board in letters, if
// there is room.
func (c content) inWords() (content, rest.Message, error) {
	c.late = true
	ms, err := c.messages()
	if err == nil && len(ms) > 1 && c.scene != nil {
		c.scene = nil
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

// follow puts the files into the message of a post that went in words, unless a
// newer board of the game was shown meanwhile.
func (d *delivery) follow(sent bot.Receipt) {
	if len(d.whole.Files) == 0 {
		return
	}
	a, m := d.a, d.whole
	m.Components = nil // they may be gone by now
	channel, message := readReceipt(string(sent))
	game := channel + " " + string(d.p.Game)
	a.follows(game, func() bool {
		newest, _ := a.newest.get(game)
		return d.p.Kind == bot.Show && newest > d.p.Seq
	}, a.timed(channel, func(ctx context.Context) (err error) {
		switch {
		case d.route.Alone && d.first:
			_, err = a.rest.EditOriginal(ctx, d.route.Token, m)
		case d.route.Alone:
			_, err = a.rest.EditFollowUp(ctx, d.route.Token, message, m)
		default:
			_, err = a.low.Edit(ctx, channel, message, m)
		}
		return err
	}))
}

// timed is an edit that puts files into a message of a channel, and takes note if
// they go up fast again.
func (a *Adapter) timed(channel string, edit func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		began := time.Now()
		err := edit(ctx)
		if err == nil && time.Since(began) < slowAfter/2 {
			a.slow.drop(channel)
		}
		return err
	}
}

// shown writes down which board of a game is the newest in a channel.
func (d *delivery) shown(sent bot.Receipt) {
	if d.p.Kind == bot.Show {
		channel, _ := readReceipt(string(sent))
		d.a.newest.put(channel+" "+string(d.p.Game), d.p.Seq)
	}
}

// follows does edit, which puts files into a message, for as long as it is worth
// it.
func (a *Adapter) follows(key string, pointless func() bool, edit func(context.Context) error) {
	a.mu.Lock()
	pictures, asking := a.pictures, a.ctx
	a.mu.Unlock()
	if pictures == nil || asking.Err() != nil {
		return
	}
	err := pictures.Try(key, func() {
		ctx, cancel := context.WithTimeout(asking, followFor)
		defer cancel()
		for try := 0; try < followTries && ctx.Err() == nil && !pointless(); {
			err := edit(ctx)
			var wait *rest.RateLimited
			switch {
			case err == nil:
				return
			case errors.As(err, &wait):
				pause(ctx, wait.Wait)
				continue
			case final(err):
				a.log.Debug("a picture could not follow its words", "error", err)
				return
			}
			pause(ctx, followPause<<try)
			try++
		}
	})
	if err != nil {
		a.log.Debug("a picture does not follow its words", "error", err)
	}
}

// firstInTime gives the first answer, which the caller has taken, as first does:
// in words if its files take too long.
func (a *Adapter) firstInTime(ctx context.Context, w *waiting, c content, m rest.Message, as func(rest.Message) rest.Response) error {
	return a.tells(ctx, w.in.Channel.ID, w.in.ID, w.since.Add(slowAfter/2), c, m,
		func(ctx context.Context, m rest.Message) error { return a.first(ctx, w, as(m)) },
		func(ctx context.Context, m rest.Message) error { return a.edits(ctx, w, m) })
}

// endInTime ends a deferral, in words if the files of the message take too long.
func (a *Adapter) endInTime(ctx context.Context, w *waiting, c content, m rest.Message) {
	m.Flags &^= rest.Ephemeral
	c.flags &^= rest.Ephemeral
	edit := func(ctx context.Context, m rest.Message) error { return a.edits(ctx, w, m) }
	if err := a.tells(ctx, w.in.Channel.ID, w.in.ID, a.soon(), c, m, edit, edit); err != nil {
		if _, words, e := c.inWords(); e == nil {
			m = words
		}
		a.unended(w.in.Token, m, err)
	}
}

// sendInTime sends an answer as a message of the bot's own, in words if its files
// take too long.
func (a *Adapter) sendInTime(ctx context.Context, channel, nonce string, c content, m rest.Message) (*rest.Sent, error) {
	var s *rest.Sent
	err := a.tells(ctx, channel, nonce, a.soon(), c, m, func(ctx context.Context, m rest.Message) (err error) {
		m.Nonce = nonce
		s, err = a.rest.Send(ctx, channel, m)
		return err
	}, func(ctx context.Context, m rest.Message) error {
		_, err := a.low.Edit(ctx, channel, s.ID, m)
		return err
	})
	return s, err
}

func (a *Adapter) edits(ctx context.Context, w *waiting, m rest.Message) error {
	_, err := a.rest.EditOriginal(ctx, w.in.Token, m)
	if err == nil || rest.Gone(err) {
		a.deferred().ended(w.in.Token)
	}
	return err
}

// tells says something in a channel, and edits its files into it afterwards if they take too
// long or do not get through.
func (a *Adapter) tells(ctx context.Context, channel, key string, by time.Time, c content, m rest.Message, say, edit func(context.Context, rest.Message) error) error {
	late, err := a.inTime(ctx, channel, by, m, say)
	if !late && (!isAmbiguous(err) || len(m.Files) == 0 || ctx.Err() != nil) {
		return err
	}
	_, words, err := c.inWords()
	if err == nil {
		err = say(ctx, words)
	}
	if err != nil {
		return err
	}
	m.Components, m.Flags = nil, m.Flags&^rest.Ephemeral
	a.follows(key, func() bool { return false }, a.timed(channel, func(ctx context.Context) error { return edit(ctx, m) }))
	return nil
}
