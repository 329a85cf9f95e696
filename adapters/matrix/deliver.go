package matrix

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/retry"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/render"
)

// Deliver shows a post; see [bot.Adapter].
func (a *Adapter) Deliver(ctx context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	direct := p.Private && p.Kind != match.Answer // which names people, and needs no room
	if p.Where.Platform != Name || p.Where.Channel == "" && !direct {
		return "", nil, outbox.ErrGone
	}
	ctx, dev, done := a.enter(ctx)
	defer done()
	if dev == nil {
		return "", nil, outbox.RetryAfter{Wait: time.Second}
	}
	switch p.Kind {
	case match.Remove:
		return outbox.Receipt(p.Replaces), nil, a.remove(ctx, dev, p)
	case outbox.Header, outbox.Reaction, outbox.Clear, outbox.Attach:
		owes, err := a.decorate(ctx, dev, p)
		return "", owes, err
	}
	if p.Kind == match.Answer {
		return a.answer(ctx, dev, p)
	}
	if direct {
		return a.direct(ctx, dev, p)
	}
	at := a.current(id.RoomID(p.Where.Channel))
	if a.hasRead() && !at.joined {
		return "", nil, outbox.ErrGone
	}
	if p.Begins != "" && (p.Joined || at.direct()) { // where its words are no root of a thread they go with the board
		if p.Kind == match.Notice {
			return "", nil, outbox.ErrStale
		}
		p.Text = p.Begins + "\n" + p.Text
	}
	root, err := a.threadFor(ctx, dev, at, p)
	if err != nil {
		return "", nil, botError(err)
	}
	sent, owes, err := a.post(ctx, dev, at.id, root, "", p)
	var no outbox.Forbidden
	if errors.As(err, &no) && p.Attempt <= moveTries && a.hasMoved(ctx, dev, at.id, no.Unasked) {
		return "", nil, outbox.RetryAfter{Wait: moveAgain}
	}
	return sent, owes, err
}

// A room that has moved may not be written to any more before the bot has followed:
// so often, and after so long, a post is tried again until it has.
const (
	moveTries = 10
	moveAgain = 5 * time.Second
)

// hasMoved reports whether a room that refuses messages says that it has moved to another.
// If it was asked before, the first answer counts.
func (a *Adapter) hasMoved(ctx context.Context, dev *device.Device, at id.RoomID, before bool) bool {
	d := door{at, event.EventMessage.Type}
	refused, ok := a.closed.Get(d)
	if before {
		return refused.moved
	}
	ctx, cancel := context.WithTimeout(ctx, sendFor)
	defer cancel()
	var c event.TombstoneEventContent
	err := dev.Client.StateEvent(ctx, at, event.StateTombstone, "", &c)
	if refused.moved = err == nil && c.ReplacementRoom != ""; ok {
		a.closed.Add(d, refused)
	}
	return refused.moved
}

// hasRead reports whether the rooms are known, which they are once something was
// read.
func (a *Adapter) hasRead() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.rooms) > 0
}

// threadFor gives the root of the thread in which a post belongs; empty: none.
// Two people alone need no threads. Where the room has moved the thread is begun
// anew; so it was if somebody removed its root ([Adapter.newRoot]).
func (a *Adapter) threadFor(ctx context.Context, dev *device.Device, at room, p outbox.Post) (id.EventID, error) {
	in, root := readReceipt(p.Under)
	switch {
	case root == "", at.direct() && a.room(in).direct(): // where it has moved, the others are still to come
		return "", nil
	}
	again, err := a.queue.marked(ctx, "goes on", p.Under+" "+at.id.String())
	if err != nil || again != "" {
		return id.EventID(again), err
	}
	if in == at.id {
		return root, nil
	}
	c := message.Text(message.Content{Text: bot.Translated(p.Lang, wordGoesOn, strconv.Itoa(p.Number)), Number: p.Number, Lang: p.Lang})
	sent, err := a.sendOnce(ctx, dev, at.id, c, "goes on "+p.Under, p.Attempt > 1)
	if err != nil {
		return "", err
	}
	return sent, a.goesOn(ctx, p.Under, at.id, sent)
}

// goesOn stores that what belongs in the thread under a message belongs in another thread
// from now on.
func (a *Adapter) goesOn(ctx context.Context, under string, at id.RoomID, root id.EventID) error {
	if err := a.queue.mark(ctx, "root", receipt(at, root), under, a.cfg.Now()); err != nil {
		return err
	}
	return a.queue.mark(ctx, "goes on", under+" "+at.String(), root.String(), a.cfg.Now())
}

// post shows a post in a room. An answer replies to a message, if that is not empty.
func (a *Adapter) post(ctx context.Context, dev *device.Device, at id.RoomID, root, reply id.EventID, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	if err := a.closedTo(at, event.EventMessage); err != nil {
		return "", nil, botError(err)
	}
	again := p.Attempt > 1 // it may be there
	var sent sentMessage
	var owes []outbox.Owes
	var err error
	if sent, err = a.sentBefore(ctx, dev, at, p.ID, again); err != nil {
		return "", nil, botError(err)
	}
	found := sent.event != ""
	if !found {
		if sent, err = a.first(ctx, dev, at, root, reply, p); err != nil {
			return "", nil, botError(err)
		}
	}
	words := outbox.Receipt(receipt(at, cmp.Or(sent.edits, sent.event)))
	picture, _ := pictureOf(p)
	if sent.bare && (picture != nil || p.File != nil) { // which follows
		if p.Kind == match.Answer {
			a.files.Add(p.ID, contentOf(p))
		}
		owes = append(owes, follows(p, words, attachment{Root: root, Reply: reply, Sent: found}))
	}
	if picture != nil && p.File != nil {
		c := content{Content: message.Content{Text: p.File.Name, Number: p.Number}, file: p.File, line: lineOf(p) + " file"}
		m, err := a.build(ctx, dev, at, &c)
		if err != nil {
			return "", nil, botError(err)
		}
		message.InThread(m, root, reply)
		if _, err := a.sendOnce(ctx, dev, at, m, p.ID+" file", again); err != nil {
			return "", nil, botError(err)
		}
	}
	var in outbox.Receipt
	if root != "" && p.Kind != match.Answer {
		in = outbox.Receipt(receipt(at, root))
	} else if room, _ := readReceipt(p.Under); closes(p) && room == at { // where there are no threads
		in = outbox.Receipt(p.Under)
	}
	if sent.typed && in == "" || p.Menu != "" { // what is rare is typed: reactions cost events
		p.Controls = nil
	}
	more, err := a.owes(ctx, words, in, p)
	if err != nil {
		return "", nil, err
	}
	if room, _ := readReceipt(p.Previous); isBoard(p) && room != "" && room != at {
		left, err := a.leaves(ctx, room, p)
		if err != nil {
			return "", nil, err
		}
		more = append(more, left...)
	}
	return words, append(owes, more...), nil
}

// lateAfter is when a board is late.
const lateAfter = time.Minute

// late reports whether a board comes so late that people wonder, because the
// homeserver has said that it was too much.
func (a *Adapter) late(p outbox.Post) bool {
	late := a.cfg.Now().Sub(p.At)
	return p.Kind == match.Show && !p.At.IsZero() && late > lateAfter && a.account.HeldSince(p.At)
}

// first sends the message of a post; bare if its picture or file is still to follow.
func (a *Adapter) first(ctx context.Context, dev *device.Device, at id.RoomID, root, reply id.EventID, p outbox.Post) (sent sentMessage, err error) {
	c := contentOf(p)
	c.Text, c.Notify, c.Controls, c.Typed, c.Unfold = p.Text, p.Notify, p.Controls, p.Menu != "", p.Letters
	c.Thread = root != "" && p.Kind != match.Answer
	if a.late(p) {
		c.Text += "\n" + bot.Translated(p.Lang, wordLate)
		a.log.Warn("board shown late", "room", at, "game", p.Number, "delay", a.cfg.Now().Sub(p.At))
	}
	if c.Sealed, err = a.sealed(ctx, at); err != nil {
		return sent, err
	}
	if !c.Sealed {
		c.Link = p.Link
	}
	if isBoard(p) { // reactions stand below the root of a thread, and are left out where they would come late
		c.Typed = root != "" || a.account.Wait(a.cfg.Now(), len(message.ReactionsOf(p.Controls, c.Sealed)), 0) > 0
	}
	if p.Scene != nil {
		defer a.typing(at)()
	}
	m, bare, err := a.orWords(ctx, dev, at, &c)
	if err != nil {
		return sent, err
	}
	if sent.edits, err = a.edits(ctx, dev, at, root, p, bare); err != nil {
		return sent, err
	}
	if sent.edits != "" {
		if p.Agreed && p.LastTurn != "" { // which the edit would take away
			c.Text = p.LastTurn + "\n" + c.Text
			if m, bare, err = a.orWords(ctx, dev, at, &c); err != nil {
				return sent, err
			}
		}
		m = message.Edit(m, sent.edits)
	} else {
		message.InThread(m, root, reply)
	}
	if isBoard(p) {
		done, err := a.sending.take(ctx, c.line)
		if err != nil {
			return sent, err
		}
		defer done()
		a.newest.Add(c.line, p.Seq)
	}
	sent.bare, sent.typed = bare, c.Typed
	sent.event, err = a.send(ctx, dev, at, m, p.ID, pressable(p.Controls))
	return sent, err
}

// edits returns the message that a post changes; empty: none, it is a message of its own.
// A board that only shows the count that was agreed changes the picture before it in its
// thread. Elsewhere reactions stand below each board, and words are no picture.
func (a *Adapter) edits(ctx context.Context, dev *device.Device, at id.RoomID, root id.EventID, p outbox.Post, bare bool) (id.EventID, error) {
	if in, target := readReceipt(p.Replaces); target != "" && in == at {
		gone := false
		if p.Kind == match.Sheet {
			var err error
			if gone, err = a.removed(ctx, dev, at, target); err != nil {
				return "", err
			}
		}
		if !gone {
			return target, nil
		}
	}
	in, board := readReceipt(p.Previous)
	if !p.Agreed || bare || root == "" || board == "" || in != at {
		return "", nil
	}
	e, err := a.event(ctx, dev, at, board)
	if refusedBy(err) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("get the board before: %w", err)
	}
	if e, err = a.opened(ctx, dev, at, e); err != nil || e == nil || e.Content.Raw["msgtype"] != string(event.MsgImage) {
		return "", err
	}
	return board, nil
}

// lineOf names the line of a post's picture: of those of a game the newest counts.
func lineOf(p outbox.Post) string { return p.Where.Channel + " " + cmp.Or(string(p.Game), "answer") }

// boardName names the picture of a board.
func boardName(number, seq int) string { return fmt.Sprintf("game-%d-%d.png", number, seq) }

// mine are those of people who are of this platform.
func mine(who []outbox.User) (out []outbox.User) {
	for _, w := range who {
		if w.Platform == Name {
			out = append(out, w)
		}
	}
	return out
}

// direct shows a post to each person alone.
func (a *Adapter) direct(ctx context.Context, dev *device.Device, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	return outbox.ToEach(mine(p.Notify), func(who outbox.User) (outbox.Receipt, []outbox.Owes, error) {
		at, err := a.directly(ctx, dev, id.UserID(who.ID), false)
		if err != nil {
			return "", nil, directError(err)
		}
		q := p
		q.ID, q.Notify = p.ID+" "+who.ID, []outbox.User{who}
		if in, _ := readReceipt(p.Replaces); in != at {
			q.Replaces = ""
		}
		sent, owes, err := a.post(ctx, dev, at, "", "", q)
		return sent, owes, directError(err)
	})
}

// directError returns the error of writing to somebody directly, which says nothing about the
// room of the post: it parks no other post.
func directError(err error) error {
	if refusedBy(err) || errors.Is(err, outbox.ErrGone) || errors.As(err, new(outbox.Forbidden)) {
		return fmt.Errorf("%w: %w", outbox.ErrRefused, errors.New(err.Error()))
	}
	return err
}

// remove takes a message away.
func (a *Adapter) remove(ctx context.Context, dev *device.Device, p outbox.Post) error {
	at, e := readReceipt(p.Replaces)
	if e == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, sendFor)
	defer cancel()
	err := a.redact(ctx, dev, at, e, p.ID)
	if refusedBy(err) { // it is gone, or nothing can be done about it
		return nil
	}
	return botError(err)
}

// content is something to show.
type content struct {
	message.Content
	picture render.Picture
	name    string // of the picture
	file    *outbox.File
	line    string // in which it is uploaded
}

// pictureOf returns the picture of a post, and a name for its file. The message of an event has
// none, but its table in letters: it is edited again and again, and Element Web goes on to show
// the first picture of a message that is on the screen (MImageBody downloads it once).
func pictureOf(p outbox.Post) (render.Picture, string) {
	if p.Kind == match.Sheet {
		return nil, ""
	}
	return p.Picture()
}

// contentOf returns the picture of a post, or its file if it has none.
func contentOf(p outbox.Post) (c content) {
	c.picture, c.name = pictureOf(p)
	if c.picture == nil && p.Sheet != nil {
		c.Board = p.Sheet.Letters()
	}
	c.Table = contest.Is(p.Game) || p.Sheet != nil
	c.Lang, c.Chart, c.line = p.Lang, p.Chart != nil || p.Sheet != nil, lineOf(p)
	if p.Game != "" && p.Sheet == nil { // the words of an answer name its game
		c.Number, c.name = p.Number, boardName(p.Number, p.Seq)
	}
	if c.picture == nil && p.File != nil {
		c.file, c.line = p.File, c.line+" file"
	}
	return c
}

// draw makes a file of the picture, and draws it in letters.
func (c *content) draw() error {
	if c.picture == nil {
		return nil
	}
	var b bytes.Buffer
	if err := c.picture.Draw(&b, render.Options{}); err != nil {
		return fmt.Errorf("draw a post: %w", err)
	}
	c.Board = c.picture.Letters()
	c.picture, c.file = nil, &outbox.File{Name: c.name, Type: "image/png", Data: b.Bytes()}
	return nil
}

// build makes a message, and uploads its picture or file. If the upload fails, c holds what
// can be shown without it.
func (a *Adapter) build(ctx context.Context, dev *device.Device, at id.RoomID, c *content) (*event.MessageEventContent, error) {
	if err := c.draw(); err != nil {
		return nil, err
	}
	if c.file == nil {
		return message.Text(c.Content), nil
	}
	p, err := a.upload(ctx, dev, at, c.line, c.file)
	if err != nil {
		return nil, err
	}
	return message.File(c.Content, p), nil
}

// orWords makes a message with what belongs to it, or, if that cannot be uploaded
// now, without it: then it reports that it is still to follow.
func (a *Adapter) orWords(ctx context.Context, dev *device.Device, at id.RoomID, c *content) (m *event.MessageEventContent, bare bool, err error) {
	m, err = a.build(ctx, dev, at, c)
	if bare = errors.Is(err, errUploading); !bare && !tooLarge(err) {
		return m, false, err
	}
	if !bare {
		a.log.Warn("file too large for the homeserver, sent without it", "room", at, "name", c.file.Name, "error", err)
	}
	c.Text = cmp.Or(c.Text, c.file.Name)
	return message.Text(c.Content), bare, nil
}

// marker is the field of a message in which its post's key stands, by which it
// is known after a crash.
const marker = "io.github.halfpoint.post"

// transaction makes the transaction's id of a post's: the homeserver takes each
// once.
func transaction(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "halfpoint." + base64.RawURLEncoding.EncodeToString(sum[:18])
}

// send sends a message once, with more fields that are in no specification, and
// encrypted if the room is; if that cannot be found out, or the build cannot encrypt, it
// is not sent.
func (a *Adapter) send(ctx context.Context, dev *device.Device, at id.RoomID, m *event.MessageEventContent, key string, more map[string]any) (id.EventID, error) {
	whole := &event.Content{Parsed: m, Raw: map[string]any{marker: transaction(key)}}
	maps.Copy(whole.Raw, more)
	return a.sendEvent(ctx, dev, at, event.EventMessage, whole, key)
}

// sendEvent sends an event to a room, encrypted if the room is.
func (a *Adapter) sendEvent(ctx context.Context, dev *device.Device, at id.RoomID, kind event.Type, whole *event.Content, key string) (id.EventID, error) {
	if err := a.closedTo(at, kind); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, sendFor)
	defer cancel()
	secret, err := a.encrypted(ctx, dev, at)
	if err != nil {
		return "", fmt.Errorf("read the room's encryption: %w", err)
	}
	var body any = whole
	if secret {
		if dev.Crypto == nil {
			return "", e2ee.ErrOff
		}
		if a.synced.Load() != dev {
			return "", errNotSynced
		}
		if err := e2ee.FetchMembers(ctx, dev.Client, dev.State, at); err != nil {
			return "", fmt.Errorf("get the room's members: %w", err)
		}
		if m, ok := whole.Parsed.(*event.MessageEventContent); ok && m.File == nil && m.URL != "" {
			return "", errEncryptedMeanwhile
		}
		if body, err = dev.Crypto.Encrypt(ctx, at, kind, whole); refusedBy(err) {
			return "", fmt.Errorf("encrypt: %v", err) // keys are refused, of which the room knows nothing
		} else if err != nil {
			return "", fmt.Errorf("encrypt: %w", err)
		}
		kind = event.EventEncrypted
	}
	sent, err := dev.Client.SendMessageEvent(ctx, at, kind, body, mautrix.ReqSendEvent{TransactionID: transaction(key), DontEncrypt: true})
	a.sent(ctx, dev, at, kind, err)
	var refused mautrix.HTTPError
	if errors.As(err, &refused) && refused.IsStatus(http.StatusBadRequest) && !inFront(err) {
		err = fmt.Errorf("%w: %w", outbox.ErrRefused, err)
	}
	if err != nil {
		return "", err
	}
	return sent.EventID, nil
}

// sendOnce sends a message, unless it may have been sent before and is there.
func (a *Adapter) sendOnce(ctx context.Context, dev *device.Device, at id.RoomID, m *event.MessageEventContent, key string, again bool) (id.EventID, error) {
	if found, err := a.sentBefore(ctx, dev, at, key, again); err != nil || found.event != "" {
		return found.event, err
	}
	return a.send(ctx, dev, at, m, key, nil)
}

// errEncryptedMeanwhile is the error of sending a picture that was uploaded in
// the clear, to a room that has become encrypted since.
var errEncryptedMeanwhile = errors.New("room became encrypted, picture must be uploaded again")

// errNotSynced is the error of sending to an encrypted room before the homeserver has told
// what is new: who has come or left, or has a new device, would get the key or not as it was
// when the bot was last there.
var errNotSynced = errors.New("members and devices of the room not up to date yet")

// looked is how many of the newest messages are looked through for one that may
// have been sent before a crash.
const looked = 50

// A sentMessage is a message that was sent; without an event it was not.
type sentMessage struct {
	event id.EventID
	bare  bool       // it is words alone
	typed bool       // it names no reactions
	edits id.EventID // the message that it changes; empty: none
}

// find looks for a message that an earlier attempt may have sent. The transaction's
// id does the same, but homeservers forget it, and a new device has others.
func (a *Adapter) find(ctx context.Context, dev *device.Device, at id.RoomID, key string) (none sentMessage, err error) {
	ctx, cancel := context.WithTimeout(ctx, sendFor)
	defer cancel()
	part, err := dev.Client.Messages(ctx, at, "", "", mautrix.DirectionBackward,
		&mautrix.FilterPart{Types: []event.Type{event.EventMessage, event.EventEncrypted}, Senders: []id.UserID{dev.Client.UserID}}, looked)
	if err != nil {
		return none, fmt.Errorf("look for a message already sent: %w", err)
	}
	want := transaction(key)
	for _, e := range part.Chunk {
		if which, sent, err := a.markerOf(ctx, dev, at, e); err != nil || which == want {
			return sent, err
		}
	}
	return none, nil
}

// markerOf returns which of the bot's messages an event is; empty if it is none, or cannot be
// read.
func (a *Adapter) markerOf(ctx context.Context, dev *device.Device, at id.RoomID, e *event.Event) (which string, sent sentMessage, err error) {
	said, err := a.opened(ctx, dev, at, e)
	if err != nil || said == nil {
		return "", sent, err
	}
	which, _ = said.Content.Raw[marker].(string)
	kind, _ := said.Content.Raw["msgtype"].(string)
	return which, sentMessage{event: e.ID, bare: kind != string(event.MsgImage) && kind != string(event.MsgFile), edits: replaced(e)}, nil
}

// meanings are the errors that the bot knows, by the homeserver's status.
var meanings = map[int]error{
	http.StatusForbidden:             outbox.Forbidden{Permission: wordWrite},
	http.StatusNotFound:              outbox.ErrGone,
	http.StatusRequestEntityTooLarge: outbox.ErrTooLarge,
}

// botError makes of an error one that the bot knows.
func botError(err error) error {
	var e mautrix.HTTPError
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(errClosed)):
		return outbox.Forbidden{Permission: wordWrite, Unasked: true}
	case device.LoggedOut(err), errors.Is(err, errEncryptedMeanwhile), errors.Is(err, errNotSynced):
		return outbox.RetryAfter{Wait: time.Second}
	case errors.Is(err, e2ee.ErrOff):
		return outbox.Forbidden{Permission: err.Error()}
	case errors.Is(err, mautrix.MTooLarge):
		return fmt.Errorf("%w: %w", outbox.ErrTooLarge, err)
	case inFront(err):
		return err
	case errors.As(err, &e) && e.Response != nil:
		if e.IsStatus(http.StatusTooManyRequests) {
			return outbox.RetryAfter{Wait: retry.After(err), Account: true}
		}
		if meaning := meanings[e.Response.StatusCode]; meaning != nil {
			return fmt.Errorf("%w: %w", meaning, err)
		}
		return err
	case unreachable(err):
		return fmt.Errorf("%w: %w", outbox.ErrAmbiguous, err)
	}
	return err
}

// replaced gives the event that an event is an edit of; empty: none.
func replaced(e *event.Event) id.EventID {
	relates, _ := e.Content.Raw["m.relates_to"].(map[string]any)
	if kind, _ := relates["rel_type"].(string); kind != string(event.RelReplace) {
		return ""
	}
	first, _ := relates["event_id"].(string)
	return id.EventID(first)
}
