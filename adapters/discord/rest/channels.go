package rest

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/bwmarrin/discordgo"
)

// Sent is a message as Discord keeps it. A [discordgo.Message] could not be read where
// it has components that discordgo does not know.
type Sent struct {
	ID          string           `json:"id"`
	Type        int              `json:"type"`
	Channel     string           `json:"channel_id"`
	Author      discordgo.User   `json:"author"`
	Content     string           `json:"content"`
	Flags       int              `json:"flags"`
	Nonce       any              `json:"nonce"` // text or a number
	Attachments []SentAttachment `json:"attachments"`
	Answers     Reference        `json:"message_reference"`
}

// SentAttachment is a file of a message.
type SentAttachment struct {
	Filename string `json:"filename"`
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
	m.Nonce, m.EnforceNonce = "", false
	q := messageCall("edit a message", http.MethodPatch, channel, message)
	q.in, q.files = m.withFiles(), m.Files
	return ask[Sent](ctx, c, q)
}

// Delete takes a message away.
func (c *Client) Delete(ctx context.Context, channel, message string) error {
	return c.do(ctx, messageCall("delete a message", http.MethodDelete, channel, message))
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

// Channel reads a channel or a thread.
func (c *Client) Channel(ctx context.Context, channel string) (*discordgo.Channel, error) {
	return ask[discordgo.Channel](ctx, c, get("read a channel", "/channels", channel, "/channels/"+url.PathEscape(channel)))
}

// ThreadMember reads that a user has joined a thread. The error of somebody who has not is
// [Gone].
func (c *Client) ThreadMember(ctx context.Context, thread, user string) error {
	return c.do(ctx, get("read a member of a thread", "/channels/thread-members", thread,
		"/channels/"+url.PathEscape(thread)+"/thread-members/"+url.PathEscape(user)))
}

// A NewThread is a thread to be.
type NewThread struct {
	Name        string                `json:"name"`                            // 100 characters
	AutoArchive int                   `json:"auto_archive_duration,omitempty"` // minutes: 60, 1440, 4320 or 10080
	Type        discordgo.ChannelType `json:"type,omitempty"`                  // of one that is under no message
}

// StartThread starts a thread that is under no message. In a text channel Discord says so in
// a message of the type [discordgo.MessageTypeThreadCreated], as one of the bot's own. Asking
// twice starts two.
func (c *Client) StartThread(ctx context.Context, channel string, t NewThread) (*discordgo.Channel, error) {
	return ask[discordgo.Channel](ctx, c, call{
		what: "start a thread", method: http.MethodPost, route: "/channels/threads", major: channel,
		path: "/channels/" + url.PathEscape(channel) + "/threads",
		in:   t,
	})
}

// StartThreadUnder starts a thread under a message. There can be only one: the
// thread has the message's id.
func (c *Client) StartThreadUnder(ctx context.Context, channel, message string, t NewThread) (*discordgo.Channel, error) {
	return ask[discordgo.Channel](ctx, c, call{
		what: "start a thread", method: http.MethodPost, route: "/channels/messages/threads", major: channel,
		path: "/channels/" + url.PathEscape(channel) + "/messages/" + url.PathEscape(message) + "/threads",
		in:   t,
	})
}

// CloseThread gives a thread a name and archives it: somebody who writes in it opens it
// again. The bot may do that to threads that it has started. Discord lets a thread have
// two new names in ten minutes.
func (c *Client) CloseThread(ctx context.Context, thread, name string) error {
	return c.do(ctx, call{
		what: "archive a thread", method: http.MethodPatch, route: "/channels", major: thread,
		path: "/channels/" + url.PathEscape(thread),
		in:   map[string]any{"name": name, "archived": true},
	})
}

// DM opens the channel of direct messages with a person.
func (c *Client) DM(ctx context.Context, user string) (*discordgo.Channel, error) {
	return ask[discordgo.Channel](ctx, c, call{
		what: "open direct messages", method: http.MethodPost, route: "/users/@me/channels", safe: true,
		path: "/users/@me/channels",
		in:   map[string]string{"recipient_id": user},
	})
}
