package rest

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// A User is somebody as Discord tells of them.
type User struct {
	ID         string `json:"id"`
	Username   string `json:"username"`
	GlobalName string `json:"global_name"`
	Bot        bool   `json:"bot"`
	System     bool   `json:"system"`
}

// Sent is a message as Discord keeps it.
type Sent struct {
	ID          string           `json:"id"`
	Channel     string           `json:"channel_id"`
	Author      User             `json:"author"`
	Content     string           `json:"content"`
	Timestamp   time.Time        `json:"timestamp"`
	Flags       int              `json:"flags"`
	Nonce       Nonces           `json:"nonce"`
	Attachments []SentAttachment `json:"attachments"`
	Thread      *Channel         `json:"thread"`
}

// SentAttachment is a file of a message.
type SentAttachment struct {
	ID          string `json:"id"`
	Filename    string `json:"filename"`
	Description string `json:"description"`
	Size        int    `json:"size"`
	URL         string `json:"url"`
	ContentType string `json:"content_type"`
}

// Nonces is a nonce, which Discord gives as text or as a number.
type Nonces string

// UnmarshalJSON takes either.
func (n *Nonces) UnmarshalJSON(data []byte) error {
	if s, err := strconv.Unquote(string(data)); err == nil {
		*n = Nonces(s)
	} else if string(data) != "null" {
		*n = Nonces(data)
	}
	return nil
}

// Types of channels.
const (
	ChannelText          = 0
	ChannelDM            = 1
	ChannelVoice         = 2
	ChannelGroupDM       = 3
	ChannelAnnouncement  = 5
	ThreadOfAnnouncement = 10
	ThreadPublic         = 11
	ThreadPrivate        = 12
	ChannelForum         = 15
	ChannelMedia         = 16
)

// A Channel is a channel or a thread.
type Channel struct {
	ID          string       `json:"id"`
	Type        int          `json:"type"`
	Guild       string       `json:"guild_id"`
	Parent      string       `json:"parent_id"`
	Owner       string       `json:"owner_id"`
	Name        string       `json:"name"`
	LastMessage string       `json:"last_message_id"`
	Flags       int          `json:"flags"`
	Thread      *ThreadState `json:"thread_metadata"`
	Tags        []Tag        `json:"available_tags"`
	Applied     []string     `json:"applied_tags"`
	Overwrites  []Overwrite  `json:"permission_overwrites"`
}

// IsThread reports whether it is a thread.
func (c Channel) IsThread() bool { return c.Type >= ThreadOfAnnouncement && c.Type <= ThreadPrivate }

// RequiresTag reports whether posts of a forum must have one.
func (c Channel) RequiresTag() bool { return c.Flags&(1<<4) != 0 }

// ThreadState is what threads have besides.
type ThreadState struct {
	Archived    bool      `json:"archived"`
	Locked      bool      `json:"locked"`
	AutoArchive int       `json:"auto_archive_duration"` // minutes without a message
	ArchivedAt  time.Time `json:"archive_timestamp"`
}

// A Tag can be given to posts of a forum.
type Tag struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Moderated bool   `json:"moderated"`
}

// Send sends a message. With a nonce it is sent once, however often it is asked
// for within a few minutes.
func (c *Client) Send(ctx context.Context, channel string, m Message) (*Sent, error) {
	m.EnforceNonce = m.Nonce != ""
	return ask[Sent](ctx, c, call{
		what: "send a message", method: http.MethodPost, route: "/channels/messages", major: channel,
		path: "/channels/" + url.PathEscape(channel) + "/messages",
		in:   m.withFiles(), files: m.Files, safe: m.EnforceNonce,
	})
}

func messageCall(what, method, channel, message string) call {
	return call{
		what: what, method: method, route: "/channels/messages/id", major: channel, safe: true,
		path: "/channels/" + url.PathEscape(channel) + "/messages/" + url.PathEscape(message),
	}
}

// Edit changes a message of the bot's own.
func (c *Client) Edit(ctx context.Context, channel, message string, m Message) (*Sent, error) {
	m.Nonce, m.EnforceNonce, m.Reference = "", false, nil
	q := messageCall("edit a message", http.MethodPatch, channel, message)
	q.in, q.files = m.withFiles(), m.Files
	return ask[Sent](ctx, c, q)
}

// Delete takes a message away.
func (c *Client) Delete(ctx context.Context, channel, message string) error {
	return c.do(ctx, messageCall("delete a message", http.MethodDelete, channel, message))
}

// Message reads a message.
func (c *Client) Message(ctx context.Context, channel, message string) (*Sent, error) {
	q := messageCall("read a message", http.MethodGet, channel, message)
	return ask[Sent](ctx, c, q)
}

// Messages reads up to 100 messages after one, or the newest if after is
// empty; the newest comes first.
func (c *Client) Messages(ctx context.Context, channel, after string, limit int) ([]Sent, error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if after != "" {
		query.Set("after", after)
	}
	return list[Sent](ctx, c, call{
		what: "read messages", method: http.MethodGet, route: "/channels/messages", major: channel, safe: true,
		path: "/channels/" + url.PathEscape(channel) + "/messages", query: query,
	})
}

func channelCall(what, method, channel, rest string) call {
	return call{
		what: what, method: method, route: "/channels" + rest, major: channel, safe: true,
		path: "/channels/" + url.PathEscape(channel) + rest,
	}
}

// Channel reads a channel or a thread.
func (c *Client) Channel(ctx context.Context, channel string) (*Channel, error) {
	q := channelCall("read a channel", http.MethodGet, channel, "")
	return ask[Channel](ctx, c, q)
}

// ThreadChange is what an edit of a thread changes; what is nil stays.
type ThreadChange struct {
	Name        *string  `json:"name,omitempty"`
	Archived    *bool    `json:"archived,omitempty"`
	Locked      *bool    `json:"locked,omitempty"`
	AutoArchive int      `json:"auto_archive_duration,omitempty"`
	Applied     []string `json:"applied_tags,omitzero"`
}

// EditThread changes a thread. Archived: new(false) wakes it.
func (c *Client) EditThread(ctx context.Context, thread string, change ThreadChange) (*Channel, error) {
	q := channelCall("edit a thread", http.MethodPatch, thread, "")
	q.in = change
	return ask[Channel](ctx, c, q)
}

// A NewThread is a thread to be.
type NewThread struct {
	Name        string   `json:"name"`                            // 100 characters
	AutoArchive int      `json:"auto_archive_duration,omitempty"` // minutes: 60, 1440, 4320 or 10080
	Type        int      `json:"type,omitempty"`                  // of StartThread: ThreadPublic or ThreadPrivate
	Invitable   *bool    `json:"invitable,omitempty"`             // of private threads
	Tags        []string `json:"applied_tags,omitempty"`          // of posts in a forum
	Message     *Message `json:"message,omitempty"`               // of posts in a forum: the first one
}

// StartThreadUnder starts a thread under a message. There can be only one: the
// thread has the message's id.
func (c *Client) StartThreadUnder(ctx context.Context, channel, message string, t NewThread) (*Channel, error) {
	t.Type, t.Tags, t.Message, t.Invitable = 0, nil, nil, nil
	return ask[Channel](ctx, c, call{
		what: "start a thread", method: http.MethodPost, route: "/channels/messages/threads", major: channel,
		path: "/channels/" + url.PathEscape(channel) + "/messages/" + url.PathEscape(message) + "/threads",
		in:   t,
	})
}

// StartThread starts a thread in a channel, or a post in a forum, whose first
// message is t.Message.
func (c *Client) StartThread(ctx context.Context, channel string, t NewThread) (*Channel, error) {
	var files []File
	if t.Message != nil {
		m := t.Message.withFiles()
		m.Nonce, m.EnforceNonce, m.Reference = "", false, nil
		files, t.Message = m.Files, &m
	}
	q := channelCall("start a thread", http.MethodPost, channel, "/threads")
	q.in, q.files, q.safe = t, files, false
	return ask[Channel](ctx, c, q)
}

// AddToThread adds a person to a thread.
func (c *Client) AddToThread(ctx context.Context, thread, user string) error {
	return c.do(ctx, call{
		what: "add somebody to a thread", method: http.MethodPut, route: "/channels/thread-members", major: thread, safe: true,
		path: "/channels/" + url.PathEscape(thread) + "/thread-members/" + url.PathEscape(user),
	})
}

// JoinThread adds the bot itself.
func (c *Client) JoinThread(ctx context.Context, thread string) error {
	return c.AddToThread(ctx, thread, "@me")
}

// DM gives the channel of direct messages with a person.
func (c *Client) DM(ctx context.Context, user string) (*Channel, error) {
	return ask[Channel](ctx, c, call{
		what: "open direct messages", method: http.MethodPost, route: "/users/@me/channels", safe: true,
		path: "/users/@me/channels",
		in: struct {
			Recipient string `json:"recipient_id"`
		}{user},
	})
}
