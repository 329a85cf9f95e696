package discordtest

import (
	"mime"
	"path"
	"slices"
)

// A Person is somebody with an account.
type Person struct {
	s         *Server
	user      *user
	installed bool // the app, for themselves
}

// Person returns the person of that name; the first call makes one.
func (s *Server) Person(name string) *Person {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.people[name]
	if p == nil {
		p = &Person{s: s, user: s.newUser(name)}
		s.people[name] = p
	}
	return p
}

// Bot returns the account of the bot under test, which people can mention and choose.
func (s *Server) Bot() *Person { return &Person{s: s, user: s.bot} }

// ID returns the person's snowflake.
func (p *Person) ID() string { return p.user.id }

// Name returns what others see.
func (p *Person) Name() string { return p.user.name }

// Rename changes the name that others see.
func (p *Person) Rename(name string) { p.s.locked(func() { p.user.name = name }) }

// Locale sets the language of the person's client, "en-US" until then.
func (p *Person) Locale(locale string) { p.s.locked(func() { p.user.locale = locale }) }

// Install installs the app for the person, so that it can be used anywhere.
func (p *Person) Install() { p.s.locked(func() { p.installed = true }) }

// CloseDMs lets nobody write to the person.
func (p *Person) CloseDMs() { p.s.locked(func() { p.user.closed = true }) }

// OpenDMs lets the bot write to the person again.
func (p *Person) OpenDMs() { p.s.locked(func() { p.user.closed = false }) }

// DM returns the person's direct messages with the bot.
func (p *Person) DM() *Channel {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return &Channel{p.s, p.s.dmOf(p.user)}
}

// Sees returns the messages of a channel that the person sees, oldest first: what
// everybody sees, and what was shown to the person alone.
func (p *Person) Sees(c *Channel) []*Message {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if c.c.guild != nil && !c.c.permissions(p.user).Has(ViewChannel) {
		return nil
	}
	return p.s.snapshots(c.c, p.user)
}

// Pinged returns the messages that notified the person, oldest first.
func (p *Person) Pinged() []*Message {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	var list []*Message
	for _, c := range p.s.channels {
		for _, m := range c.messages {
			if slices.Contains(m.pinged, p.user) {
				list = append(list, p.s.snapshot(m))
			}
		}
	}
	slices.SortFunc(list, func(a, b *Message) int { return compareIDs(a.ID, b.ID) })
	return list
}

// Say writes a message in a channel.
func (p *Person) Say(c *Channel, content string) *Message { return p.SayFile(c, content, "", nil) }

// Reply answers a message, and notifies its author.
func (p *Person) Reply(to *Message, content string) *Message {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &message{id: s.newID(), kind: 19, channel: to.m.channel, author: p.user, content: content, reply: to.m, created: s.now()}
	s.ping(m, object{})
	s.post(m)
	return s.snapshot(m)
}

// SayFile writes a message with a file; with none when data is nil.
func (p *Person) SayFile(c *Channel, content, name string, data []byte) *Message {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &message{id: s.newID(), channel: c.c, author: p.user, content: content, created: s.now()}
	if data != nil {
		f := s.store(m, upload{name: name, data: data}, nil)
		if kind := mime.TypeByExtension(path.Ext(name)); kind != "" {
			f.kind = kind
		}
		m.files = []*attachment{f}
		s.files[f.path] = f
	}
	s.ping(m, object{})
	s.post(m)
	return s.snapshot(m)
}

// Open starts a post in a forum with its first message.
func (p *Person) Open(forum *Channel, name, content string) *Channel {
	var post *Channel
	p.s.locked(func() { post = &Channel{p.s, p.s.newThread(forum.c, p.s.newID(), object{"name": name}, p.user)} })
	p.Say(post, content)
	return post
}
