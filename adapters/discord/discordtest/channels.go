package discordtest

import "slices"

// A Channel is a text channel, forum, thread or direct messages.
type Channel struct {
	s *Server
	c *channel
}

// ID is the channel's snowflake.
func (c *Channel) ID() string { return c.c.id }

// Name is the channel's or thread's name.
func (c *Channel) Name() string {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.c.name
}

// Messages are those that everybody there sees, oldest first.
func (c *Channel) Messages() []*Message {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.s.snapshots(c.c, nil)
}

// Last is the newest message that everybody sees, or nil.
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

// Threads are the threads or posts under the channel, oldest first.
func (c *Channel) Threads() []*Channel {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	var list []*Channel
	if c.c.guild != nil {
		for _, t := range c.c.guild.channels {
			if t.parent == c.c && !t.deleted {
				list = append(list, &Channel{c.s, t})
			}
		}
	}
	return list
}

// WaitThread waits for the n-th thread under the channel, counted from 0; nil
// when it does not come.
func (c *Channel) WaitThread(n int) *Channel {
	var found *channel
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.waitFor(func() bool {
		k := 0
		for _, t := range c.c.guild.channels {
			if t.parent == c.c {
				if k == n {
					found = t
				}
				k++
			}
		}
		return found != nil
	})
	if found == nil {
		return nil
	}
	return &Channel{c.s, found}
}

// Wait waits until the newest messages that everybody sees satisfy done, and
// says whether they did in time.
func (c *Channel) Wait(done func([]*Message) bool) bool {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.s.waitFor(func() bool { return done(c.s.snapshots(c.c, nil)) })
}

// Members are the names of who is in a thread.
func (c *Channel) Members() []string {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	var names []string
	for id := range c.c.members {
		names = append(names, c.s.users[id].name)
	}
	slices.Sort(names)
	return names
}

// Overwrite sets what somebody (nil is everybody) may and may not do here.
func (c *Channel) Overwrite(who *Person, allow, deny Permission) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	id := c.c.guild.id
	if who != nil {
		id = who.user.id
	}
	c.s.overwrite(c.c, id, allow, deny)
}

// OverwriteBot sets what the bot may and may not do here.
func (c *Channel) OverwriteBot(allow, deny Permission) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.overwrite(c.c, c.s.bot.id, allow, deny)
}

// OverwriteRole sets what those with a role may and may not do here.
func (c *Channel) OverwriteRole(role string, allow, deny Permission) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.overwrite(c.c, role, allow, deny)
}

func (s *Server) overwrite(c *channel, id string, allow, deny Permission) {
	c.overwrites = slices.DeleteFunc(c.overwrites, func(w overwrite) bool { return w.id == id })
	c.overwrites = append(c.overwrites, overwrite{id, allow, deny})
}

// Archive hides a thread, as time does.
func (c *Channel) Archive() { c.thread(func() { c.c.archived = true }) }

// Lock closes and locks a thread, so that only moderators open it again.
func (c *Channel) Lock() { c.thread(func() { c.c.archived, c.c.locked = true, true }) }

// LockOpen locks a thread that stays in sight: moderators alone write there.
func (c *Channel) LockOpen() { c.thread(func() { c.c.archived, c.c.locked = false, true }) }

// Reopen opens a thread that was closed or locked.
func (c *Channel) Reopen() { c.thread(func() { c.c.archived, c.c.locked = false, false }) }

func (c *Channel) thread(change func()) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	change()
	c.c.changed = c.s.now()
	c.s.dispatchChannel("THREAD_UPDATE", c.c)
	c.s.changed.Broadcast()
}

// Archived says whether a thread is.
func (c *Channel) Archived() bool {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.c.archived
}

// Delete deletes a channel or thread.
func (c *Channel) Delete() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.deleteChannel(c.c)
}
