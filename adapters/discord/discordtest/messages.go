package discordtest

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// nonceLife is how long enforce_nonce is remembered: "the past few minutes".
const nonceLife = 5 * time.Minute

type nonce struct {
	key     string
	message *message
	at      time.Time
}

// create makes a message of the bot from a body that was checked. i is the
// interaction that it answers, or nil; only is who alone sees it, or nil.
func (s *Server) create(c *channel, body object, files []upload, i *interaction, only *user) (*message, error) {
	m := &message{id: s.newID(), channel: c, author: s.bot, created: s.now(), asked: i, only: only}
	if i != nil && i.kind == kindCommand {
		m.kind = 20
		if i.command != nil && commandType(i.command) > 1 {
			m.kind = 23
		}
	}
	if i != nil && i.kind == kindComponent && i.message != nil {
		m.reply, m.kind = i.message, 19
	}
	if only != nil {
		m.flags |= flagEphemeral
	}
	if ref, ok := body["message_reference"].(object); ok {
		if m.reply = c.find(text(ref["message_id"])); m.reply == nil && ref["fail_if_not_exists"] != false {
			return nil, invalid(fieldError{path: []string{"message_reference"}, code: "REPLIES_UNKNOWN_MESSAGE", message: "Unknown message"})
		}
		m.kind = 19
	}
	m.flags |= max(number(body["flags"]), 0) & (flagSuppressEmbeds | flagSilent)
	if err := s.fill(m, body, files); err != nil {
		return nil, err
	}
	if c.guild != nil && i == nil && len(m.files) > 0 && !s.botPermissions(c).Has(AttachFiles) {
		return nil, errPermission
	}
	m.nonce = body["nonce"]
	s.ping(m, body)
	s.post(m)
	return m, nil
}

// post puts a finished message into its channel.
func (s *Server) post(m *message) {
	c := m.channel
	s.keep(c, m)
	if m.only == nil {
		c.sent++
	}
	if c.isThread() && c.archived && m.only == nil {
		c.archived, c.changed = false, s.now()
		s.dispatchChannel("THREAD_UPDATE", c)
	}
	s.say(m)
	if m.only == nil {
		s.dispatchMessage("MESSAGE_CREATE", m)
	}
	s.changed.Broadcast()
}

// edit changes a message of the bot.
func (s *Server) edit(m *message, body object, files []upload) error {
	wasLoading := m.flags&flagLoading != 0
	if err := s.fill(m, body, files); err != nil {
		return err
	}
	if f := body["flags"]; f != nil {
		m.flags = m.flags&^flagSuppressEmbeds | number(f)&flagSuppressEmbeds
	}
	m.flags &^= flagLoading
	if wasLoading {
		s.ping(m, body)
		s.say(m)
	} else {
		s.mentioned(m, body)
		m.edited = s.now()
		m.edits++
		s.sayEdit(m)
	}
	if m.only == nil {
		s.dispatchMessage("MESSAGE_UPDATE", m)
	}
	s.changed.Broadcast()
	return nil
}

// fill sets what a body brings. In an edit what is absent stays, null clears,
// and files that are not listed go.
func (s *Server) fill(m *message, body object, files []upload) error {
	next := *m
	if v, ok := body["content"]; ok {
		next.content = strings.TrimSpace(text(v))
	}
	listed, given := body["attachments"]
	keep := next.files
	if given {
		keep = nil
		for i, a := range asList(listed) {
			a := a.(object)
			id := text(a["id"])
			if len(id) < 10 {
				continue // a new one
			}
			k := slices.IndexFunc(m.files, func(f *attachment) bool { return f.id == id })
			if k < 0 {
				return invalid(fieldError{path: []string{"attachments", itoa(i), "id"}, code: "ATTACHMENT_NOT_FOUND", message: "Attachment not found"})
			}
			old := *m.files[k]
			if d, ok := a["description"]; ok {
				old.description = text(d)
			}
			keep = append(keep, &old)
		}
	}
	next.files = slices.Clone(keep)
	for _, f := range files {
		next.files = append(next.files, s.store(m, f, asList(listed)))
	}
	if v, ok := body["components"]; ok {
		n := 0
		next.parts = nil
		for _, p := range asList(v) {
			next.parts = append(next.parts, shape(p.(object), &n))
		}
	}
	if next.content == "" && len(next.files) == 0 && len(next.parts) == 0 {
		return errEmpty
	}
	for _, old := range m.files {
		if !slices.ContainsFunc(next.files, func(f *attachment) bool { return f.id == old.id }) {
			delete(s.files, old.path)
		}
	}
	for _, f := range next.files {
		s.files[f.path] = f
	}
	*m = next
	return nil
}

func (s *Server) remove(m *message) {
	m.gone = true
	for _, f := range m.files {
		delete(s.files, f.path)
	}
	s.sayRemoved(m)
	if m.only == nil {
		o := object{"id": m.id, "channel_id": m.channel.id}
		if m.channel.guild != nil {
			o["guild_id"] = m.channel.guild.id
		}
		s.dispatchIn("MESSAGE_DELETE", m.channel, o)
	}
	s.changed.Broadcast()
}

// channelFor is the channel of a request, if the bot is there and may do what
// it wants.
func (s *Server) channelFor(r *request, need Permission) (*channel, error) {
	c := s.channels[r.params["channel_id"]]
	if c == nil || c.deleted {
		return nil, errChannel
	}
	p := s.botPermissions(c)
	if !p.Has(ViewChannel) {
		return nil, errAccess
	}
	if !p.Has(need) {
		return nil, errPermission
	}
	return c, nil
}

func (s *Server) messageFor(r *request, need Permission) (*channel, *message, error) {
	c, err := s.channelFor(r, need)
	if err != nil {
		return nil, nil, err
	}
	m := c.find(r.params["message_id"])
	if m == nil || m.only != nil {
		return nil, nil, errMessage
	}
	return c, m, nil
}

// writable says why the bot cannot write into a channel. A locked thread is
// open to moderators alone; an archived one opens by itself.
func (s *Server) writable(c *channel) error {
	if c.kind == typeForum {
		return errNotText
	}
	p := s.botPermissions(c)
	if !p.Has(c.sendBit()) {
		return errPermission
	}
	if c.isThread() && c.locked && !p.Has(ManageThreads) {
		if c.archived {
			return errArchived
		}
		return errLocked
	}
	if c.kind == typeDM && s.people[c.recipient.name] != nil && s.people[c.recipient.name].closed {
		return errNoDM
	}
	return nil
}

func createMessage(s *Server, r *request) (reply, error) {
	c, err := s.channelFor(r, ViewChannel)
	if err != nil {
		return reply{}, err
	}
	if err := s.writable(c); err != nil {
		return reply{}, err
	}
	body := r.object()
	var key string
	if body["enforce_nonce"] == true {
		key = text(body["nonce"]) + asNumber(body["nonce"]).String()
		if old := s.nonces[key]; old != nil && r.now.Sub(old.at) < nonceLife {
			return ok(old.message.json(s))
		}
	}
	if flags := number(body["flags"]); flags > 0 && flags&flagEphemeral != 0 {
		return reply{}, invalid(fieldError{path: []string{"flags"}, code: "BASE_TYPE_CHOICES", message: "only the answer to an interaction can be ephemeral"})
	}
	m, err := s.create(c, body, r.files, nil, nil)
	if err != nil {
		return reply{}, err
	}
	if key != "" {
		for len(s.nonceOrder) > 0 && r.now.Sub(s.nonceOrder[0].at) >= nonceLife {
			if old := s.nonceOrder[0]; s.nonces[old.key] == old {
				delete(s.nonces, old.key)
			}
			s.nonceOrder = s.nonceOrder[1:]
		}
		n := &nonce{key, m, r.now}
		s.nonces[key] = n
		s.nonceOrder = append(s.nonceOrder, n)
	}
	return ok(m.json(s))
}

func editMessage(s *Server, r *request) (reply, error) {
	c, m, err := s.messageFor(r, ViewChannel)
	if err != nil {
		return reply{}, err
	}
	if m.author != s.bot {
		return reply{}, errNotAuthor
	}
	if c.isThread() && c.archived {
		return reply{}, errArchived
	}
	if c.isThread() && c.locked && !s.botPermissions(c).Has(ManageThreads) {
		return reply{}, errLocked
	}
	if c.guild != nil && len(r.files) > 0 && !s.botPermissions(c).Has(AttachFiles) {
		return reply{}, errPermission
	}
	if err := s.edit(m, r.object(), r.files); err != nil {
		return reply{}, err
	}
	return ok(m.json(s))
}

func deleteMessage(s *Server, r *request) (reply, error) {
	c, m, err := s.messageFor(r, ViewChannel)
	if err != nil {
		return reply{}, err
	}
	if m.author != s.bot && !s.botPermissions(c).Has(ManageMessages) {
		return reply{}, errPermission
	}
	if s.frozen(c) {
		return reply{}, errArchived // in an archived thread deleting alone is allowed
	}
	s.remove(m)
	return reply{status: 204}, nil
}

func getMessage(s *Server, r *request) (reply, error) {
	_, m, err := s.messageFor(r, ReadMessageHistory)
	if err != nil {
		return reply{}, err
	}
	return ok(s.visible(m))
}

// visible is a message as the bot may read it over REST: without the
// privileged intent, what others wrote is empty unless it was meant for it.
func (s *Server) visible(m *message) object {
	o := m.json(s)
	if !s.mayRead(m, s.o.Privileged) {
		o["content"], o["embeds"], o["attachments"], o["components"] = "", []any{}, []any{}, []any{}
	}
	return o
}

func (s *Server) mayRead(m *message, intents int) bool {
	return m.author == s.bot || intents&intentContent != 0 || m.channel.guild == nil || slices.Contains(m.mentions, s.bot)
}

func listMessages(s *Server, r *request) (reply, error) {
	c, err := s.channelFor(r, ViewChannel)
	if err != nil {
		return reply{}, err
	}
	list := []object{}
	if !s.botPermissions(c).Has(ReadMessageHistory) {
		return ok(list)
	}
	limit := 50
	if n, err := strconv.Atoi(r.query.Get("limit")); err == nil {
		if n < 1 || n > 100 {
			return reply{}, invalid(fieldError{path: []string{"limit"}, code: "NUMBER_TYPE_MAX", message: "int value should be less than or equal to 100."})
		}
		limit = n
	}
	var shown []*message
	for _, m := range c.messages {
		if m.only == nil && !m.gone {
			shown = append(shown, m)
		}
	}
	before, after := r.query.Get("before"), r.query.Get("after")
	if after != "" {
		shown = slices.DeleteFunc(shown, func(m *message) bool { return compareIDs(m.id, after) <= 0 })
		if len(shown) > limit {
			shown = shown[:limit]
		}
	}
	if before != "" {
		shown = slices.DeleteFunc(shown, func(m *message) bool { return compareIDs(m.id, before) >= 0 })
	}
	if around := r.query.Get("around"); around != "" {
		k, _ := slices.BinarySearchFunc(shown, around, func(m *message, id string) int { return compareIDs(m.id, id) })
		shown = shown[max(0, k-limit/2):min(len(shown), max(0, k-limit/2)+limit)]
	}
	if len(shown) > limit {
		shown = shown[len(shown)-limit:]
	}
	for _, m := range slices.Backward(shown) {
		list = append(list, s.visible(m))
	}
	return ok(list)
}

// compareIDs orders snowflakes.
func compareIDs(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}
