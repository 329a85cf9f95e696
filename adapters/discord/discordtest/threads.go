package discordtest

import (
	"slices"
	"strings"
	"time"
)

func getActiveThreads(s *Server, r *request) (reply, error) {
	g, err := s.guildFor(r)
	if err != nil {
		return reply{}, err
	}
	threads, members := []object{}, []object{}
	for _, c := range g.channels {
		if c.isThread() && !c.archived && !c.deleted && s.botPermissions(c).Has(ViewChannel) {
			o := c.json(s)
			threads = append(threads, o)
			if m, in := o["member"].(object); in {
				members = append(members, m)
			}
		}
	}
	return ok(object{"threads": threads, "members": members, "has_more": false})
}

func getArchivedThreads(s *Server, r *request) (reply, error) {
	c, err := s.channelFor(r, ReadMessageHistory)
	if err != nil {
		return reply{}, err
	}
	threads, members := []object{}, []object{}
	if c.guild != nil {
		for _, t := range slices.Backward(c.guild.channels) {
			if t.parent == c && t.archived && !t.deleted {
				threads = append(threads, t.json(s))
			}
		}
	}
	return ok(object{"threads": threads, "members": members, "has_more": false})
}

func (c *channel) tagIDs(list []any) ([]string, error) {
	var ids []string
	for i, v := range list {
		id := text(v)
		if !slices.ContainsFunc(c.tags, func(t tag) bool { return t.id == id }) {
			return nil, invalid(fieldError{path: []string{"applied_tags", itoa(i)}, code: "TAG_UNKNOWN", message: "Unknown tag"})
		}
		ids = append(ids, id)
	}
	return ids, nil
}

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
	s.saySystem(c.parent, by+" started the thread “"+c.name+"”"+c.tagNames())
	o := c.json(s)
	o["newly_created"] = true
	s.dispatchIn("THREAD_CREATE", c, o)
	s.changed.Broadcast()
}

func (c *channel) tagNames() string {
	var names []string
	for _, t := range c.parent.tags {
		if slices.Contains(c.applied, t.id) {
			names = append(names, t.name)
		}
	}
	if names == nil {
		return ""
	}
	return " [" + strings.Join(names, ", ") + "]"
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

func startThread(s *Server, r *request) (reply, error) {
	c, err := s.channelFor(r, ViewChannel)
	if err != nil {
		return reply{}, err
	}
	body := r.object()
	p := s.botPermissions(c)
	if c.kind == typeForum {
		if !p.Has(SendMessages) {
			return reply{}, errPermission
		}
		applied, err := c.tagIDs(asList(body["applied_tags"]))
		if err != nil {
			return reply{}, err
		}
		first, _ := body["message"].(object)
		if len(r.files) > 0 && !p.Has(AttachFiles) {
			return reply{}, errPermission
		}
		t := s.newThread(c, s.newID(), body, s.bot)
		t.applied = applied
		m := &message{id: t.id, channel: t, author: s.bot, created: s.now(), flags: max(number(first["flags"]), 0)}
		if err := s.fill(m, first, r.files); err != nil {
			delete(s.channels, t.id)
			c.guild.channels = slices.DeleteFunc(c.guild.channels, func(x *channel) bool { return x == t })
			return reply{}, err
		}
		s.announceThread(t, s.bot.name)
		s.ping(m, first)
		s.post(m)
		return reply{201, t.json(s)}, nil
	}
	if c.kind != typeText && c.kind != typeNews {
		return reply{}, refuse(400, 50024, "Cannot execute action on this channel type")
	}
	kind := number(body["type"])
	need := CreatePublicThreads
	if kind != typeThread {
		kind, need = typePrivate, CreatePrivateThreads // the documented default
	}
	if !p.Has(need) {
		return reply{}, errPermission
	}
	t := s.newThread(c, s.newID(), body, s.bot)
	t.kind = kind
	s.announceThread(t, s.bot.name)
	return reply{201, t.json(s)}, nil
}

func joinThread(s *Server, r *request) (reply, error) {
	r.params["user_id"] = s.bot.id
	return addToThread(s, r)
}

func addToThread(s *Server, r *request) (reply, error) {
	c, err := s.channelFor(r, ViewChannel)
	if err != nil {
		return reply{}, err
	}
	u := s.users[r.params["user_id"]]
	switch {
	case !c.isThread():
		return reply{}, errChannel
	case u == nil:
		return reply{}, errUser
	case c.archived:
		return reply{}, errArchived
	case c.guild.members[u.id] == nil:
		return reply{}, errMember
	}
	if _, in := c.members[u.id]; !in {
		c.members[u.id] = r.now
	}
	return reply{status: 204}, nil
}
