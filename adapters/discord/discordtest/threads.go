package discordtest

import (
	"time"
)

func (s *Server) newThread(parent *channel, id string, body object, by *user) *channel {
	c := &channel{
		id: id, name: text(body["name"]), kind: typeThread, guild: parent.guild, parent: parent, owner: by,
		archiveIn: 4320, created: s.now(), changed: s.now(), members: map[string]time.Time{by.id: s.now()},
	}
	if n := number(body["auto_archive_duration"]); n > 0 {
		c.archiveIn = n
	}
	s.channels[c.id] = c
	parent.guild.channels = append(parent.guild.channels, c)
	return c
}

func (s *Server) announceThread(c *channel, by string) {
	s.saySystem(c.parent, by+" started the thread “"+c.name+"”")
	o := c.json(s)
	o["newly_created"] = true
	s.dispatchIn("THREAD_CREATE", c, o)
	s.changed.Broadcast()
}

func startThreadFrom(s *Server, r *request) (reply, error) {
	c, m, err := s.messageFor(r, CreatePublicThreads)
	if err != nil {
		return reply{}, err
	}
	if c.kind != typeText && c.kind != typeNews {
		return reply{}, refuse(400, 50024, "Cannot execute action on this channel type")
	}
	if m.thread != nil {
		return reply{}, errHasThread
	}
	t := s.newThread(c, m.id, r.object(), s.bot)
	m.thread = t
	m.flags |= flagThread
	s.announceThread(t, s.bot.name)
	return reply{201, t.json(s)}, nil
}
