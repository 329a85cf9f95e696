package discordtest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// nonceLife is how long enforce_nonce is remembered: "the past few minutes".
const nonceLife = 5 * time.Minute

type nonce struct {
	message *message
	at      time.Time
}

// create makes a message of the bot from a body that was checked. i is the
// interaction that it answers, and to the message; either may be nil.
func (s *Server) create(c *channel, body object, files []upload, i *interaction, to *message) (*message, error) {
	m := &message{id: s.newID(), channel: c, author: s.bot, created: s.now(), asked: i, nonce: body["nonce"]}
	if to != nil {
		m.reply, m.kind = to, 19
	}
	if i != nil {
		m.hide(i, body)
		switch {
		case i.kind == kindCommand:
			m.kind = 20
			if i.command != nil && commandType(i.command) > 1 {
				m.kind = 23
			}
		case i.kind == kindComponent && i.message != nil:
			m.reply, m.kind = i.message, 19
		}
	}
	m.flags |= max(number(body["flags"]), 0) & (flagSuppressEmbeds | flagSilent)
	if err := s.fill(m, body, files); err != nil {
		return nil, err
	}
	s.ping(m, body)
	s.post(m)
	return m, nil
}

// post puts a finished message into its channel. An archived thread opens for it.
func (s *Server) post(m *message) {
	c := m.channel
	s.keep(m)
	if m.only == nil {
		c.sent++
		if c.isThread() && c.archived {
			s.archive(c, false)
		}
	}
	s.say(m, "")
	s.dispatchMessage("MESSAGE_CREATE", m)
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
		s.say(m, "")
	} else {
		s.mentioned(m, body)
		m.edited = s.now()
		m.edits++
		s.say(m, " changes it to")
	}
	s.dispatchMessage("MESSAGE_UPDATE", m)
	return nil
}

// fill sets what a body brings. In an edit what is absent stays, null clears,
// and files that are not listed go.
func (s *Server) fill(m *message, body object, files []upload) error {
	if len(files) > 0 && !s.appPermissions(m.channel).Has(AttachFiles) {
		return errPermission
	}
	next := *m
	if v, ok := body["content"]; ok {
		next.content = strings.TrimSpace(text(v))
	}
	listed, given := body["attachments"]
	next.files = slices.Clone(m.files)
	if given {
		next.files = nil
		for i, a := range asList(listed) {
			a := a.(object)
			id := text(a["id"])
			if len(id) < 10 {
				continue // a new one
			}
			k := slices.IndexFunc(m.files, func(f *attachment) bool { return f.id == id })
			if k < 0 {
				return invalid("attachments."+itoa(i)+".id", "ATTACHMENT_NOT_FOUND", "Attachment not found")
			}
			old := *m.files[k]
			if d, ok := a["description"]; ok {
				old.description = text(d)
			}
			next.files = append(next.files, &old)
		}
	}
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
	s.dropFiles(m)
	for _, f := range next.files {
		s.files[f.path] = f
	}
	*m = next
	return nil
}

func (s *Server) remove(m *message) {
	m.gone = true
	s.dropFiles(m)
	s.say(m, " said, and it is gone")
	if m.only == nil {
		o := object{"id": m.id, "channel_id": m.channel.id}
		if m.channel.guild != nil {
			o["guild_id"] = m.channel.guild.id
		}
		s.dispatchIn("MESSAGE_DELETE", m.channel, o)
	}
}

// writable tells why the bot cannot write into a channel. A locked thread is
// open to moderators alone; an archived one opens by itself.
func (s *Server) writable(c *channel) error {
	p := s.botPermissions(c)
	switch {
	case c.kind == typeForum:
		return errNotText
	case !p.Has(c.sendBit()):
		return errPermission
	case c.isThread() && c.locked && !p.Has(ManageThreads):
		if c.archived {
			return errArchived
		}
		return errLocked
	case c.kind == typeDM && c.recipient.closed:
		return errNoDM
	}
	return nil
}

func createMessage(s *Server, r *request) (any, error) {
	if err := s.writable(r.channel); err != nil {
		return nil, err
	}
	body := r.object()
	var key string
	if body["enforce_nonce"] == true {
		n, _ := body["nonce"].(json.Number)
		key = text(body["nonce"]) + n.String()
		if old, ok := s.nonces[key]; ok && r.At.Sub(old.at) < nonceLife {
			return old.message.json(s), nil
		}
	}
	if flags := number(body["flags"]); flags > 0 && flags&flagEphemeral != 0 {
		return nil, invalid("flags", "BASE_TYPE_CHOICES", "only the answer to an interaction can be ephemeral")
	}
	to, err := s.repliedTo(r.channel, body)
	if err != nil {
		return nil, err
	}
	m, err := s.create(r.channel, body, r.files, nil, to)
	if err != nil {
		return nil, err
	}
	if key != "" {
		s.nonces[key] = nonce{m, r.At}
	}
	return m.json(s), nil
}

// repliedTo returns the message that a new one answers; nil if it answers none, or none
// that is still there and need not be.
func (s *Server) repliedTo(c *channel, body object) (*message, error) {
	to, ok := body["message_reference"].(object)
	if !ok {
		return nil, nil
	}
	if !s.botPermissions(c).Has(ReadMessageHistory) {
		return nil, errPermission
	}
	k := slices.IndexFunc(c.messages, func(m *message) bool { return m.id == text(to["message_id"]) && !m.gone && m.only == nil })
	switch {
	case k >= 0:
		return c.messages[k], nil
	case to["fail_if_not_exists"] == false:
		return nil, nil
	}
	return nil, invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
}

func editMessage(s *Server, r *request) (any, error) {
	c, m := r.channel, r.message
	switch {
	case m.author != s.bot:
		return nil, errNotAuthor
	case c.isThread() && c.archived:
		return nil, errArchived
	case c.isThread() && c.locked && !s.botPermissions(c).Has(ManageThreads):
		return nil, errLocked
	}
	if rate := s.o.Limits.Old; rate.N > 0 && r.At.Sub(m.created) > time.Hour && !c.oldEdits.take(rate, r.At) {
		return nil, tooOften{c.oldEdits.wait(rate, r.At), codeOldEdits}
	}
	if err := s.edit(m, r.object(), r.files); err != nil {
		return nil, err
	}
	return m.json(s), nil
}

func deleteMessage(s *Server, r *request) (any, error) {
	if r.message.author != s.bot && !s.botPermissions(r.channel).Has(ManageMessages) {
		return nil, errPermission
	}
	if s.frozen(r.channel) {
		return nil, errArchived // in an archived thread deleting alone is allowed
	}
	s.remove(r.message)
	return nil, nil
}

// visible returns a message as the bot may read it over REST: without the
// privileged intent, what others wrote is empty unless it was meant for it.
func (s *Server) visible(m *message, intents int) object {
	o := m.json(s)
	if m.author != s.bot && intents&intentContent == 0 && m.channel.guild != nil && !slices.Contains(m.mentions, s.bot) {
		o["content"], o["embeds"], o["attachments"], o["components"] = "", []any{}, []any{}, []any{}
	}
	return o
}

// listMessages lists those after one, or the newest; the newest comes first.
func listMessages(s *Server, r *request) (any, error) {
	list := []object{}
	if !s.botPermissions(r.channel).Has(ReadMessageHistory) {
		return list, nil
	}
	limit, err := strconv.Atoi(cmp.Or(r.query.Get("limit"), "50"))
	if err != nil || limit < 1 || limit > 100 {
		return nil, invalid("limit", "NUMBER_TYPE_MAX", "int value should be less than or equal to 100.")
	}
	after := r.query.Get("after")
	shown := slices.DeleteFunc(slices.Clone(r.channel.messages), func(m *message) bool {
		return m.only != nil || m.gone || compareIDs(m.id, after) <= 0
	})
	if n := len(shown) - limit; n > 0 && after != "" {
		shown = shown[:limit]
	} else if n > 0 {
		shown = shown[n:]
	}
	for _, m := range slices.Backward(shown) {
		list = append(list, s.visible(m, s.o.Privileged))
	}
	return list, nil
}

// compareIDs orders snowflakes.
func compareIDs(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}
