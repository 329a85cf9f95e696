package discordtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"time"
)

// A saved world is what the double of the first release held, as JSON: one server,
// its people, what was said and asked. Pictures were saved without their bytes.
type saved struct {
	LastID uint64
	Users  []struct {
		ID, Name string
		Bot      bool
	}
	Guild, Name, Owner, BotRole string
	Members                     []string
	Channels                    []struct {
		ID, Name, Parent, Owner string
		Kind, ArchiveIn, Sent   int
		Created                 time.Time
	}
	Interactions []struct { // oldest first
		ID, Token, Channel, Person, Message, Label string
		Kind, Answered                             int
		Owners, Command                            object
		Created, At                                time.Time
	}
	Messages []struct { // of each channel, oldest first
		ID, Channel, Author, Content     string
		Kind, Flags, Edits               int
		Parts                            []any
		Files                            []savedFile
		Nonce                            any
		Reply, Asked, Only, Thread, Asks string // Asks: the interaction that it is the original answer to
		Pinged                           []string
		Created, Edited                  time.Time
	}
	Nonces []struct {
		Key, Message string
		At           time.Time
	}
	Commands map[string][]object
}

type savedFile struct {
	ID, Name, Description, Kind, Path string
	Width, Height                     int
}

// Restore makes an empty double hold what another saved, its bot included.
func (s *Server) Restore(data []byte) error {
	var w saved
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	if err := in.Decode(&w); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID, s.commands = w.LastID, w.Commands
	s.guildOrder = nil
	clear(s.guilds)
	clear(s.users)
	clear(s.channels)
	for _, u := range w.Users {
		restored := &user{id: u.ID, name: u.Name, bot: u.Bot, locale: "en-US"}
		s.users[u.ID] = restored
		if u.Bot {
			s.bot, s.appID, s.token = restored, cmp.Or(s.o.Application, u.ID), botToken(u.ID)
		} else {
			s.people[u.Name] = &Person{s: s, user: restored}
		}
	}
	g := s.newGuild(w.Guild, w.Name, s.users[w.Owner], w.BotRole)
	for _, id := range w.Members {
		g.members[id] = &member{user: s.users[id], joined: s.now()}
	}
	for _, sc := range w.Channels {
		c := &channel{id: sc.ID, name: sc.Name, kind: sc.Kind, guild: g, parent: s.channels[sc.Parent], owner: s.users[sc.Owner],
			archiveIn: sc.ArchiveIn, created: sc.Created, changed: sc.Created, sent: sc.Sent}
		s.channels[c.id] = c
		g.channels = append(g.channels, c)
	}
	s.join(g)
	asked := map[string]*interaction{}
	for _, si := range w.Interactions {
		i := &interaction{id: si.ID, token: si.Token, kind: si.Kind, channel: s.channels[si.Channel], person: s.people[si.Person], label: si.Label,
			owners: si.Owners, command: si.Command, created: si.Created, answered: si.Answered, at: si.At, said: true}
		asked[i.id], s.tokens[i.token] = i, i
		s.asked = append(s.asked, i)
	}
	messages := map[string]*message{}
	for _, sm := range w.Messages {
		m := &message{id: sm.ID, kind: sm.Kind, channel: s.channels[sm.Channel], author: s.users[sm.Author], content: sm.Content, parts: sm.Parts, flags: sm.Flags,
			nonce: sm.Nonce, reply: messages[sm.Reply], asked: asked[sm.Asked], only: s.users[sm.Only], thread: s.channels[sm.Thread],
			created: sm.Created, edited: sm.Edited, edits: sm.Edits}
		for _, id := range sm.Pinged {
			m.pinged = append(m.pinged, s.users[id])
		}
		for _, f := range sm.Files {
			a := &attachment{id: f.ID, name: f.Name, description: f.Description, kind: f.Kind, path: f.Path, width: f.Width, height: f.Height}
			m.files, s.files[f.Path] = append(m.files, a), a
		}
		if i := asked[sm.Asks]; i != nil {
			i.original = m
		}
		messages[m.id] = m
		m.channel.messages = append(m.channel.messages, m)
	}
	for n, si := range w.Interactions {
		s.asked[n].message = messages[si.Message]
	}
	for _, n := range w.Nonces {
		s.nonces[n.Key] = nonce{messages[n.Message], n.At}
	}
	return nil
}
