package discordtest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// A saved world is what a double holds, as JSON: one server, its people, what was
// said and asked. Pictures are saved without their bytes; direct messages, permissions
// and sessions are not saved.
type saved struct {
	LastID       uint64
	Users        []savedUser
	Guild        string
	Name         string
	Owner        string
	BotRole      string
	Members      []string
	Channels     []savedChannel
	Interactions []savedInteraction // oldest first
	Messages     []savedMessage     // of each channel, oldest first
	Nonces       []savedNonce
	Commands     map[string][]object
}

type savedUser struct {
	ID, Name string
	Bot      bool
}

type savedChannel struct {
	ID, Name, Parent, Owner string
	Kind, ArchiveIn, Sent   int
	Created                 time.Time
}

type savedMessage struct {
	ID, Channel, Author, Content     string
	Kind, Flags, Edits               int
	Parts                            []any
	Files                            []savedFile
	Nonce                            any
	Reply, Asked, Only, Thread, Asks string // Asks: the interaction that it is the original answer to
	Pinged                           []string
	Created, Edited                  time.Time
}

type savedFile struct {
	ID, Name, Description, Kind, Path string
	Width, Height                     int
}

type savedInteraction struct {
	ID, Token, Channel, Person, Message, Name, Label string
	Kind, Answered                                   int
	Owners, Command                                  object
	Created, At                                      time.Time
}

type savedNonce struct {
	Key, Message string
	At           time.Time
}

// Save returns the double's one server and everything in it, for Restore.
func (s *Server) Save() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guildOrder[0]
	w := saved{LastID: s.lastID, Guild: g.id, Name: g.name, Owner: g.owner.id, BotRole: g.botRole.id, Members: slices.Sorted(maps.Keys(g.members)), Commands: s.commands}
	for _, id := range slices.Sorted(maps.Keys(s.users)) {
		u := s.users[id]
		w.Users = append(w.Users, savedUser{u.id, u.name, u.bot})
	}
	answers := map[*message]string{}
	for _, i := range s.asked {
		si := savedInteraction{ID: i.id, Token: i.token, Channel: i.channel.id, Person: i.person.user.name, Name: i.name, Label: i.label,
			Kind: i.kind, Answered: i.answered, Owners: i.owners, Command: i.command, Created: i.created, At: i.at}
		if i.message != nil {
			si.Message = i.message.id
		}
		if i.original != nil && i.original != i.message {
			answers[i.original] = i.id
		}
		w.Interactions = append(w.Interactions, si)
	}
	for _, c := range g.channels {
		sc := savedChannel{ID: c.id, Name: c.name, Kind: c.kind, ArchiveIn: c.archiveIn, Sent: c.sent, Created: c.created}
		if c.parent != nil {
			sc.Parent, sc.Owner = c.parent.id, c.owner.id
		}
		w.Channels = append(w.Channels, sc)
		for _, m := range c.messages {
			if m.gone {
				continue
			}
			sm := savedMessage{ID: m.id, Channel: c.id, Author: m.author.id, Content: m.content, Kind: m.kind, Flags: m.flags, Edits: m.edits, Parts: m.parts,
				Nonce: m.nonce, Asks: answers[m], Created: m.created, Edited: m.edited}
			for _, f := range m.files {
				sm.Files = append(sm.Files, savedFile{f.id, f.name, f.description, f.kind, f.path, f.width, f.height})
			}
			if m.reply != nil {
				sm.Reply = m.reply.id
			}
			if m.asked != nil {
				sm.Asked = m.asked.id
			}
			if m.only != nil {
				sm.Only = m.only.id
			}
			if m.thread != nil {
				sm.Thread = m.thread.id
			}
			for _, u := range m.pinged {
				sm.Pinged = append(sm.Pinged, u.id)
			}
			w.Messages = append(w.Messages, sm)
		}
	}
	for _, n := range s.nonceOrder {
		w.Nonces = append(w.Nonces, savedNonce{n.key, n.message.id, n.at})
	}
	out, err := json.MarshalIndent(w, "", "\t")
	if err != nil {
		panic(err)
	}
	return out
}

// Restore makes an empty double hold what Save has returned, its bot included.
func (s *Server) Restore(data []byte) error {
	var w saved
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	if err := in.Decode(&w); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID = w.LastID
	clear(s.users)
	clear(s.channels)
	for _, u := range w.Users {
		s.users[u.ID] = &user{id: u.ID, name: u.Name, bot: u.Bot, locale: "en-US"}
		if u.Bot {
			s.bot, s.appID, s.token = s.users[u.ID], u.ID, botToken(u.ID)
		} else {
			s.people[u.Name] = &Person{s: s, user: s.users[u.ID]}
		}
	}
	g := &guild{id: w.Guild, name: w.Name, locale: "en-US", owner: s.users[w.Owner], members: map[string]*member{}, denied: map[string]bool{}, allowed: map[string]bool{}}
	g.roles = []*role{{id: g.id, name: "@everyone", permissions: Everyone}}
	g.botRole = &role{id: w.BotRole, name: s.bot.name, managed: true, permissions: Everyone}
	for _, id := range w.Members {
		if id != s.bot.id {
			g.members[id] = &member{user: s.users[id], joined: s.now()}
		}
	}
	s.guilds[g.id], s.guildNames[g.name], s.guildOrder = g, g, []*guild{g}
	for _, sc := range w.Channels {
		c := &channel{id: sc.ID, name: sc.Name, kind: sc.Kind, guild: g, parent: s.channels[sc.Parent], owner: s.users[sc.Owner],
			archiveIn: sc.ArchiveIn, created: sc.Created, changed: sc.Created, sent: sc.Sent, members: map[string]time.Time{}}
		if c.owner != nil {
			c.members[c.owner.id] = sc.Created
		}
		s.channels[c.id] = c
		g.channels = append(g.channels, c)
	}
	s.join(g)
	for _, si := range w.Interactions {
		i := &interaction{id: si.ID, token: si.Token, kind: si.Kind, channel: s.channels[si.Channel], person: s.people[si.Person], name: si.Name, label: si.Label,
			owners: si.Owners, command: si.Command, created: si.Created, answered: si.Answered, at: si.At, said: true}
		s.interactions[i.id], s.tokens[i.token] = i, i
		s.asked = append(s.asked, i)
	}
	messages := map[string]*message{}
	for _, sm := range w.Messages {
		m := &message{id: sm.ID, kind: sm.Kind, channel: s.channels[sm.Channel], author: s.users[sm.Author], content: sm.Content, parts: sm.Parts, flags: sm.Flags,
			nonce: sm.Nonce, reply: messages[sm.Reply], asked: s.interactions[sm.Asked], only: s.users[sm.Only], thread: s.channels[sm.Thread],
			created: sm.Created, edited: sm.Edited, edits: sm.Edits}
		for _, id := range sm.Pinged {
			m.pinged = append(m.pinged, s.users[id])
		}
		for _, f := range sm.Files {
			a := &attachment{id: f.ID, name: f.Name, description: f.Description, kind: f.Kind, path: f.Path, width: f.Width, height: f.Height}
			m.files, s.files[f.Path] = append(m.files, a), a
		}
		if i := s.interactions[sm.Asks]; i != nil {
			i.original = m
		}
		messages[m.id] = m
		m.channel.messages = append(m.channel.messages, m)
	}
	for n, si := range w.Interactions {
		s.asked[n].message = messages[si.Message]
	}
	for _, n := range w.Nonces {
		s.nonces[n.Key] = &nonce{n.Key, messages[n.Message], n.At}
		s.nonceOrder = append(s.nonceOrder, s.nonces[n.Key])
	}
	s.commands = w.Commands
	return nil
}

// Asked returns the interactions that people have made, oldest first.
func (s *Server) Asked() (list []*Interaction) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.asked {
		list = append(list, &Interaction{s, i})
	}
	return list
}
