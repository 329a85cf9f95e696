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
	closed    bool // for direct messages
}

// Person is the person of that name; the first call makes one.
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

// ID is the person's snowflake.
func (p *Person) ID() string { return p.user.id }

// Name is what others see.
func (p *Person) Name() string { return p.user.name }

// Rename changes the name that others see.
func (p *Person) Rename(name string) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.user.name = name
}

// Locale sets the language of the person's client, "en-US" until then.
func (p *Person) Locale(locale string) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.user.locale = locale
}

// Install installs the app for the person, so that it can be used anywhere.
func (p *Person) Install() {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.installed = true
}

// CloseDMs lets nobody write to the person.
func (p *Person) CloseDMs() {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.closed = true
}

// OpenDMs lets the bot write to the person again.
func (p *Person) OpenDMs() {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.closed = false
}

// DM is the person's direct messages with the bot.
func (p *Person) DM() *Channel {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return &Channel{p.s, p.s.dmOf(p.user)}
}

// DMWith is the direct messages of two people, where the bot is not.
func (p *Person) DMWith(other *Person) *Channel {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	for _, c := range p.s.channels {
		if c.kind == typeDM && !c.withBot && c.owner == p.user && c.recipient == other.user {
			return &Channel{p.s, c}
		}
	}
	c := &channel{id: p.s.newID(), kind: typeDM, owner: p.user, recipient: other.user, created: p.s.now()}
	p.s.channels[c.id] = c
	return &Channel{p.s, c}
}

// Sees are the messages of a channel that the person sees, oldest first: what
// everybody sees, and what was shown to the person alone.
func (p *Person) Sees(c *Channel) []*Message {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if c.c.guild != nil && !c.c.permissions(p.user).Has(ViewChannel) {
		return nil
	}
	return p.s.snapshots(c.c, p.user)
}

// Pinged are the messages that notified the person, oldest first.
func (p *Person) Pinged() []*Message {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	var list []*message
	for _, c := range p.s.channels {
		for _, m := range c.messages {
			if slices.Contains(m.pinged, p.user) {
				list = append(list, m)
			}
		}
	}
	slices.SortFunc(list, func(a, b *message) int { return compareIDs(a.id, b.id) })
	var out []*Message
	for _, m := range list {
		out = append(out, p.s.snapshot(m))
	}
	return out
}

// Say writes a message in a channel.
func (p *Person) Say(c *Channel, content string) *Message { return p.say(c, content, "", nil) }

// SayFile writes a message with a file.
func (p *Person) SayFile(c *Channel, content, name string, data []byte) *Message {
	return p.say(c, content, name, data)
}

// Open starts a post in a forum with its first message.
func (p *Person) Open(forum *Channel, name, content string) *Channel {
	p.s.mu.Lock()
	t := p.s.newThread(forum.c, p.s.newID(), object{"name": name}, p.user)
	p.s.announceThread(t, p.user.name)
	p.s.mu.Unlock()
	post := &Channel{p.s, t}
	p.Say(post, content)
	return post
}

func (p *Person) say(c *Channel, content, name string, data []byte) *Message {
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
