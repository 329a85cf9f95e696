package discordtest

import "slices"

// A Channel is a text channel, forum, thread or direct messages.
type Channel struct {
	s *Server
	c *channel
}

// ID returns the channel's snowflake.
func (c *Channel) ID() string { return c.c.id }

// Name returns the channel's or thread's name.
func (c *Channel) Name() string {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.c.name
}

// Messages returns those that everybody there sees, oldest first.
func (c *Channel) Messages() []*Message {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.s.snapshots(c.c, nil)
}

// Last returns the newest message that everybody sees, or nil.
func (c *Channel) Last() *Message {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	for _, m := range slices.Backward(c.c.messages) {
		if m.only == nil && !m.gone {
			return c.s.snapshot(m)
		}
	}
	return nil
}

// Wait waits until the messages that everybody sees satisfy done, and reports
// whether they did in time.
func (c *Channel) Wait(done func([]*Message) bool) bool {
	return c.s.Wait(func() bool { return done(c.s.snapshots(c.c, nil)) })
}

// Threads returns the threads or posts under the channel, oldest first.
func (c *Channel) Threads() []*Channel {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return slices.DeleteFunc(c.threads(), func(t *Channel) bool { return t.c.deleted })
}

// WaitThread waits for the n-th thread under the channel, counted from 0 and with
// those that were deleted; nil when it does not come.
func (c *Channel) WaitThread(n int) *Channel {
	var list []*Channel
	if !c.s.Wait(func() bool { list = c.threads(); return len(list) > n }) {
		return nil
	}
	return list[n]
}

func (c *Channel) threads() (list []*Channel) {
	if c.c.guild == nil {
		return nil
	}
	for _, t := range c.c.guild.channels {
		if t.parent == c.c {
			list = append(list, &Channel{c.s, t})
		}
	}
	return list
}

// OverwriteBot sets what the bot may and may not do here.
func (c *Channel) OverwriteBot(allow, deny Permission) { c.Overwrite(c.s.Bot(), allow, deny) }

// Overwrite sets what somebody may and may not do here, whatever their roles permit.
func (c *Channel) Overwrite(p *Person, allow, deny Permission) {
	c.s.locked(func() {
		if c.c.over == nil {
			c.c.over = map[*user]overwrite{}
		}
		c.c.over[p.user] = overwrite{allow, deny}
		if allow|deny == 0 {
			delete(c.c.over, p.user)
		}
		c.s.dispatchChannel("CHANNEL_UPDATE", c.c)
	})
}

// Private starts a private thread here, of one of the members of the guild and the bot.
func (c *Channel) Private(p *Person, name string) *Channel {
	var thread *Channel
	c.s.locked(func() {
		thread = &Channel{c.s, c.s.newThread(c.c, c.s.newID(), object{"name": name, "type": typeSecret}, p.user)}
	})
	return thread
}

// Add adds somebody to a private thread, and Remove takes them out.
func (c *Channel) Add(p *Person)    { c.s.locked(func() { c.c.joined[p.user] = true }) }
func (c *Channel) Remove(p *Person) { c.s.locked(func() { delete(c.c.joined, p.user) }) }

// Archive hides a thread, as time does.
func (c *Channel) Archive() { c.change(true, c.c.locked) }

// Lock closes and locks a thread, so that only moderators open it again.
func (c *Channel) Lock() { c.change(true, true) }

// LockOpen locks a thread that stays in sight: moderators alone write there.
func (c *Channel) LockOpen() { c.change(false, true) }

// Reopen opens a thread that was closed or locked.
func (c *Channel) Reopen() { c.change(false, false) }

func (c *Channel) change(archived, locked bool) {
	c.s.locked(func() {
		c.c.locked = locked
		c.s.archive(c.c, archived)
	})
}

// Archived reports whether a thread is.
func (c *Channel) Archived() bool {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.c.archived
}

// Delete deletes a channel, with its threads, or a thread.
func (c *Channel) Delete() {
	c.s.locked(func() {
		event := "CHANNEL_DELETE"
		if c.c.isThread() {
			event = "THREAD_DELETE"
		}
		c.c.deleted = true
		c.s.dispatchChannel(event, c.c)
		for _, t := range c.threads() {
			t.c.deleted = true
		}
	})
}
