package rest

import (
	"context"
	"net/http"
	"net/url"

	"github.com/bwmarrin/discordgo"
)

// Types of first answers to an interaction.
const (
	ResponsePong         = 1
	ResponseMessage      = 4
	ResponseDefer        = 5 // "is thinking…"; the answer follows by EditOriginal
	ResponseDeferUpdate  = 6 // for components: shows nothing; EditOriginal changes their message
	ResponseUpdate       = 7 // for components: changes their message
	ResponseAutocomplete = 8
	ResponseModal        = 9
)

// A Response is the first answer to an interaction. Make it with [Reply],
// [Defer], [DeferUpdate], [Update], [Suggest] or [Ask].
type Response struct {
	Type    int
	Message *Message // of types 4 and 7; of type 5 its flags
	Choices []*discordgo.ApplicationCommandOptionChoice
	Modal   *Modal
}

// Reply answers with a message.
func Reply(m Message) Response { return Response{Type: ResponseMessage, Message: &m} }

// Defer answers that the answer will come; flags is 0 or [Ephemeral] and binds
// the answer.
func Defer(flags int) Response { return Response{Type: ResponseDefer, Message: &Message{Flags: flags}} }

// DeferUpdate answers a component that its message may change.
func DeferUpdate() Response { return Response{Type: ResponseDeferUpdate} }

// Update changes the message of the component.
func Update(m Message) Response { return Response{Type: ResponseUpdate, Message: &m} }

// Suggest completes what is being typed, with 25 choices at most.
func Suggest(choices []*discordgo.ApplicationCommandOptionChoice) Response {
	return Response{Type: ResponseAutocomplete, Choices: choices[:min(len(choices), 25)]}
}

// Ask opens a form.
func Ask(m Modal) Response { return Response{Type: ResponseModal, Modal: &m} }

// A Modal is a form of one to five components.
type Modal struct {
	CustomID   string      `json:"custom_id"`
	Title      string      `json:"title"` // 45 characters
	Components []Component `json:"components"`
}

// Files are those of its message.
func (r Response) Files() []File {
	if r.Message == nil {
		return nil
	}
	return r.Message.Files
}

// Private reports whether one person alone sees it.
func (r Response) Private() bool { return r.Message != nil && r.Message.Flags&Ephemeral != 0 }

// Body is what becomes its JSON.
func (r Response) Body() any {
	body := map[string]any{"type": r.Type}
	switch {
	case r.Type == ResponseDefer:
		if r.Private() {
			body["data"] = map[string]int{"flags": Ephemeral}
		}
	case r.Type == ResponseAutocomplete:
		body["data"] = map[string]any{"choices": append([]*discordgo.ApplicationCommandOptionChoice{}, r.Choices...)}
	case r.Modal != nil:
		body["data"] = r.Modal
	case r.Message != nil:
		m := r.Message.withFiles()
		m.Nonce, m.EnforceNonce = "", false // not known there
		body["data"] = m
	}
	return body
}

// Respond sends the first answer to an interaction, within three seconds of
// it. It returns the message that was made or changed, if there is one. After an
// [Ambiguous] error [Client.Original] tells what is there; discordgo's
// ErrCodeInteractionHasAlreadyBeenAcknowledged means that there is an answer already.
func (c *Client) Respond(ctx context.Context, id, token string, r Response) (*Sent, error) {
	var out struct {
		Resource *struct {
			Message *Sent `json:"message"`
		} `json:"resource"`
	}
	q := call{
		what: "answer an interaction", method: http.MethodPost, route: "/interactions/callback",
		path: "/interactions/" + url.PathEscape(id) + "/" + url.PathEscape(token) + "/callback",
		in:   r.Body(), files: r.Files(), open: true, single: true, secret: token,
	}
	if r.Type == ResponseMessage || r.Type == ResponseUpdate {
		q.query = url.Values{"with_response": {"true"}}
		q.out = &out
	}
	if err := c.do(ctx, q); err != nil {
		return nil, err
	}
	if out.Resource == nil {
		return nil, nil
	}
	return out.Resource.Message, nil
}

// webhook is a call that uses an interaction's token.
func (c *Client) webhook(what, method, token, message string) call {
	q := call{
		what: what, method: method, route: "/webhooks", major: token,
		path: "/webhooks/" + url.PathEscape(c.cfg.Application) + "/" + url.PathEscape(token),
		open: true, secret: token,
	}
	if message != "" {
		q.route += "/messages"
		q.path += "/messages/" + url.PathEscape(message)
		q.safe = true
	}
	return q
}

// Original is the first answer to an interaction.
func (c *Client) Original(ctx context.Context, token string) (*Sent, error) {
	return ask[Sent](ctx, c, c.webhook("read an answer to an interaction", http.MethodGet, token, "@original"))
}

// EditOriginal changes the first answer, or sends it after [Defer].
func (c *Client) EditOriginal(ctx context.Context, token string, m Message) (*Sent, error) {
	return c.EditFollowUp(ctx, token, "@original", m)
}

// DeleteOriginal deletes the first answer, or its placeholder after [Defer].
func (c *Client) DeleteOriginal(ctx context.Context, token string) error {
	return c.do(ctx, c.webhook("delete an answer to an interaction", http.MethodDelete, token, "@original"))
}

// FollowUp sends a further message in answer to an interaction, within 15
// minutes of it. There is nothing by which Discord would know the same one
// again.
func (c *Client) FollowUp(ctx context.Context, token string, m Message) (*Sent, error) {
	q := c.webhook("follow up on an interaction", http.MethodPost, token, "")
	m.Nonce, m.EnforceNonce = "", false
	q.query = url.Values{"wait": {"true"}}
	q.in, q.files = m.withFiles(), m.Files
	return ask[Sent](ctx, c, q)
}

// EditFollowUp changes a follow-up.
func (c *Client) EditFollowUp(ctx context.Context, token, message string, m Message) (*Sent, error) {
	q := c.webhook("edit an answer to an interaction", http.MethodPatch, token, message)
	m.Nonce, m.EnforceNonce = "", false
	q.in, q.files = m.withFiles(), m.Files
	return ask[Sent](ctx, c, q)
}
