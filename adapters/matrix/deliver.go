package matrix

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/render"
)

// Deliver shows a post; see [bot.Adapter].
func (a *Adapter) Deliver(ctx context.Context, p bot.Post) (bot.Receipt, []bot.Owes, error) {
	if p.Where.Platform != Name || p.Where.Channel == "" {
		return "", nil, bot.ErrGone
	}
	dev := a.device()
	if dev == nil {
		return "", nil, bot.RetryAfter{Wait: time.Second}
	}
	switch {
	case p.Kind == bot.Remove:
		return bot.Receipt(p.Replaces), nil, a.remove(ctx, dev, p)
	case p.Private:
		r, err := a.direct(ctx, dev, p)
		return r, nil, err
	}
	at := a.current(id.RoomID(p.Where.Channel))
	if a.hasRead() && !at.joined {
		return "", nil, bot.ErrGone
	}
	root, err := a.threadFor(ctx, dev, at, p)
	if err != nil {
		return "", nil, botError(err)
	}
	sent, err := a.post(ctx, dev, at.id, root, p)
	if errors.As(err, new(bot.Forbidden)) && p.Attempt <= moveTries && a.hasMoved(ctx, dev, at.id) {
		return "", nil, bot.RetryAfter{Wait: moveAgain}
	}
	return sent, nil, err
}

// A room that has moved may not be written to any more before the bot has followed:
// so often, and after so long, a post is tried again until it has.
const (
	moveTries = 10
	moveAgain = 5 * time.Second
)

// hasMoved reports whether a room says that it has moved to another.
func (a *Adapter) hasMoved(ctx context.Context, dev *device.Device, at id.RoomID) bool {
	ctx, cancel := context.WithTimeout(ctx, sendFor)
	defer cancel()
	var c event.TombstoneEventContent
	err := dev.Client.StateEvent(ctx, at, event.StateTombstone, "", &c)
	return err == nil && c.ReplacementRoom != ""
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
// anew.
func (a *Adapter) threadFor(ctx context.Context, dev *device.Device, at room, p bot.Post) (id.EventID, error) {
	in, root := readReceipt(p.Under)
	switch {
	case root == "" || at.direct():
		return "", nil
	case in == at.id:
		return root, nil
	}
	again, err := a.queue.marked(ctx, "goes on", p.Under+" "+at.id.String())
	if err != nil || again != "" {
		return id.EventID(again), err
	}
	c := message.Text(message.Content{Text: bot.Translated(p.Lang, wordGoesOn, strconv.Itoa(p.Number)), Number: p.Number, Lang: p.Lang})
	sent, err := a.sendOnce(ctx, dev, at.id, c, "goes on "+p.Under, p.Attempt > 1)
	if err != nil {
		return "", err
	}
	if err := a.queue.mark(ctx, "root", receipt(at.id, sent), p.Under, a.cfg.Now()); err != nil {
		return "", err
	}
	return sent, a.queue.mark(ctx, "goes on", p.Under+" "+at.id.String(), sent.String(), a.cfg.Now())
}

// post shows a post in a room.
func (a *Adapter) post(ctx context.Context, dev *device.Device, at id.RoomID, root id.EventID, p bot.Post) (bot.Receipt, error) {
	again := p.Attempt > 1 && !a.sends.unsent(p.ID) // it may be there
	var sent id.EventID
	var err error
	if again {
		if sent, err = a.lookFor(ctx, dev, at, p.ID); err != nil {
			return "", botError(err)
		}
	}
	if sent == "" {
		if sent, err = a.first(ctx, dev, at, root, p); err != nil {
			if retryAfter(err) > 0 {
				a.sends.refuse(p.ID)
			} else if !errors.As(err, new(errLater)) && !errors.Is(err, errUploading) {
				a.sends.perhaps(p.ID)
			}
			if late, tell := a.sends.failed(p.Where.Channel, p.Under, a.cfg.Now()); tell {
				a.log.Warn("a board is late", "room", at, "game", p.Number, "delay", late, "error", err)
			}
			return "", botError(err)
		}
	}
	a.sends.done(p.ID, p.Where.Channel, p.Under)
	a.wordsSent(ctx, promiseOf(p))
	if p.Scene != nil && p.File != nil {
		c := content{Content: message.Content{Text: p.File.Name, Number: p.Number}, file: p.File, id: p.ID + " file", line: lineOf(p) + " file"}
		m, err := a.build(ctx, dev, at, &c)
		if err != nil {
			return "", botError(err)
		}
		message.InThread(m, root, "", "")
		if _, err := a.sendOnce(ctx, dev, at, m, p.ID+" file", again); err != nil {
			return "", botError(err)
		}
	}
	a.shown(ctx, at, root, sent, p)
	if in, target := readReceipt(p.Replaces); target != "" && in == at {
		return bot.Receipt(p.Replaces), nil
	}
	return bot.Receipt(receipt(at, sent)), nil
}

// first sends the message of a post.
func (a *Adapter) first(ctx context.Context, dev *device.Device, at id.RoomID, root id.EventID, p bot.Post) (id.EventID, error) {
	if p.Lang != "" && !p.Private {
		a.langs.Store(at, p.Lang)
	}
	c := content{Content: message.Content{Text: p.Text, Notify: mine(p.Notify), Controls: p.Controls, Number: p.Number, Lang: p.Lang}, scene: p.Scene,
		name: boardName(p.Number, p.Seq), id: p.ID, line: lineOf(p)}
	if p.Scene == nil && p.File != nil {
		c.file, c.line = p.File, c.line+" file"
	}
	if p.Kind == bot.Show && a.sends.late(p.Where.Channel, p.Under, a.cfg.Now()) {
		c.Text += "\n" + bot.Translated(p.Lang, wordLate)
	}
	if wait := a.sends.wait(a.cfg.Now()); wait > 0 { // before anything is drawn and uploaded
		return "", errLater{wait}
	}
	if p.Scene != nil {
		defer a.typing(at)()
	}
	m, err := a.build(ctx, dev, at, &c)
	promised := promiseOf(p)
	switch {
	case errors.Is(err, errUploading) && a.sends.slow(p.ID, a.cfg.Now(), a.cfg.Slow):
		// The words come now, and the picture when it can.
		promised.Room, promised.Root = at, root
		if !promised.board() {
			promised.file = c.file
		}
		m, err = c.words(), a.promise(ctx, promised)
	case tooLarge(err):
		a.log.Warn("a file is too large for the homeserver", "room", at, "name", c.file.Name, "error", err)
		m, err = c.words(), a.unpromise(ctx, promised)
	case err == nil:
		err = a.unpromise(ctx, promised)
	}
	if err != nil {
		return "", err
	}
	if in, target := readReceipt(p.Replaces); target != "" && in == at {
		m = message.Edit(m, target)
	} else {
		message.InThread(m, root, "", "")
	}
	return a.sendWith(ctx, dev, at, m, p.ID, pressable(p.Controls))
}

// lineOf names the line of a post's picture: of those of a game the newest counts.
func lineOf(p bot.Post) string { return p.Where.Channel + " " + string(p.Game) }

// boardName names the picture of a board.
func boardName(number, seq int) string { return fmt.Sprintf("game-%d-%d.png", number, seq) }

// mine are those of people who are of this platform.
func mine(who []bot.Who) (out []bot.Who) {
	for _, w := range who {
		if w.Platform == Name {
			out = append(out, w)
		}
	}
	return out
}

// direct shows a post to each person alone.
func (a *Adapter) direct(ctx context.Context, dev *device.Device, p bot.Post) (bot.Receipt, error) {
	var first bot.Receipt
	for _, who := range mine(p.Notify) {
		at, err := a.directly(ctx, dev, id.UserID(who.ID))
		if err != nil {
			return "", alone(err)
		}
		q := p
		q.ID, q.Notify = p.ID+" "+who.ID, []bot.Who{who}
		if in, _ := readReceipt(p.Replaces); in != at {
			q.Replaces = ""
		}
		sent, err := a.post(ctx, dev, at, "", q)
		if err != nil {
			return "", alone(err)
		}
		if first == "" {
			first = sent
		}
	}
	return first, nil
}

// alone gives an error of writing to somebody directly, which says nothing of the
// room for which it is: nobody else waits for it.
func alone(err error) error {
	if refusedBy(err) || errors.Is(err, bot.ErrGone) || errors.As(err, new(bot.Forbidden)) {
		return fmt.Errorf("%w: %w", bot.ErrRefused, errors.New(err.Error()))
	}
	return err
}

// remove takes a message away.
func (a *Adapter) remove(ctx context.Context, dev *device.Device, p bot.Post) error {
	at, e := readReceipt(p.Replaces)
	if e == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, sendFor)
	defer cancel()
	_, err := dev.Client.RedactEvent(ctx, at, e, mautrix.ReqRedact{TxnID: transaction(p.ID)})
	if refusedBy(err) { // it is gone, or nothing can be done about it
		return nil
	}
	return botError(err)
}

// content is something to show.
type content struct {
	message.Content
	scene *render.Scene
	name  string // of the picture
	file  *bot.File
	id    string // of what is shown, by which what was uploaded is found again
	line  string // in which it is uploaded
}

// draw makes a picture of what is to be drawn, and the board in letters.
func (c *content) draw() error {
	if c.scene == nil {
		return nil
	}
	var b bytes.Buffer
	if err := render.PNG(&b, *c.scene, render.Options{}); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	c.Board = render.TextBoard(*c.scene)
	c.scene, c.file = nil, &bot.File{Name: c.name, Type: "image/png", Data: b.Bytes()}
	return nil
}

// words makes a message without the picture or file.
func (c *content) words() *event.MessageEventContent {
	if c.Text == "" && c.file != nil {
		c.Text = c.file.Name
	}
	return message.Text(c.Content)
}

// build makes a message, and uploads what belongs to it. If the error is of the
// upload, c holds what can be said without it.
func (a *Adapter) build(ctx context.Context, dev *device.Device, at id.RoomID, c *content) (*event.MessageEventContent, error) {
	if err := c.draw(); err != nil {
		return nil, err
	}
	if c.file == nil {
		return message.Text(c.Content), nil
	}
	p, err := a.upload(ctx, dev, at, c.line, c.id, c.file)
	if err != nil {
		return nil, err
	}
	return attached(c.Content, p), nil
}

// attached makes a message of a picture or another file.
func attached(c message.Content, p message.Picture) *event.MessageEventContent {
	if strings.HasPrefix(p.Type, "image/") {
		return message.Image(c, p)
	}
	return message.File(c, p)
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

// send sends a message once, encrypted if the room is; if that cannot be found
// out, or the build cannot encrypt, it is not sent.
func (a *Adapter) send(ctx context.Context, dev *device.Device, at id.RoomID, m *event.MessageEventContent, key string) (id.EventID, error) {
	return a.sendWith(ctx, dev, at, m, key, nil)
}

// sendWith sends a message with fields that are in no specification.
func (a *Adapter) sendWith(ctx context.Context, dev *device.Device, at id.RoomID, m *event.MessageEventContent, key string, more map[string]any) (id.EventID, error) {
	if wait := a.sends.wait(a.cfg.Now()); wait > 0 {
		return "", errLater{wait}
	}
	ctx, cancel := context.WithTimeout(ctx, sendFor)
	defer cancel()
	secret, err := a.encrypted(ctx, dev, at)
	if err != nil {
		return "", fmt.Errorf("ask whether the room is encrypted: %w", err)
	}
	whole := &event.Content{Parsed: m, Raw: map[string]any{marker: transaction(key)}}
	maps.Copy(whole.Raw, more)
	kind := event.EventMessage
	var body any = whole
	if secret {
		if dev.Crypto == nil {
			return "", e2ee.ErrOff
		}
		if err := a.members(ctx, dev, at); err != nil {
			return "", fmt.Errorf("ask who is in the room: %w", err)
		}
		if m.File == nil && m.URL != "" {
			return "", errEncryptedMeanwhile
		}
		kind = event.EventEncrypted
		if body, err = dev.Crypto.Encrypt(ctx, at, event.EventMessage, whole); refusedBy(err) {
			return "", fmt.Errorf("encrypt: %v", err) // keys are refused, of which the room knows nothing
		} else if err != nil {
			return "", fmt.Errorf("encrypt: %w", err)
		}
	}
	sent, err := dev.Client.SendMessageEvent(ctx, at, kind, body, mautrix.ReqSendEvent{TransactionID: transaction(key), DontEncrypt: true})
	a.paced(err)
	var refused mautrix.HTTPError
	if errors.As(err, &refused) && refused.IsStatus(http.StatusBadRequest) && !inFront(err) {
		err = fmt.Errorf("%w: %w", bot.ErrRefused, err)
	}
	if err != nil {
		return "", err
	}
	return sent.EventID, nil
}

// paced takes note of what came of sending: when the homeserver asks to wait, all
// wait, for it counts what the bot sends to all rooms together.
func (a *Adapter) paced(err error) {
	now, wait := a.cfg.Now(), retryAfter(err)
	a.spare.sent(now, wait)
	if wait > 0 {
		a.sends.hold(now.Add(wait))
	}
}

// sendOnce sends a message, unless it may have been sent before and is there.
func (a *Adapter) sendOnce(ctx context.Context, dev *device.Device, at id.RoomID, m *event.MessageEventContent, key string, again bool) (id.EventID, error) {
	if again {
		if sent, err := a.lookFor(ctx, dev, at, key); err != nil || sent != "" {
			return sent, err
		}
	}
	return a.send(ctx, dev, at, m, key)
}

// errEncryptedMeanwhile is the error of sending a picture that was uploaded in
// the clear, to a room that has become encrypted since.
var errEncryptedMeanwhile = errors.New("the room has become encrypted meanwhile")

// looked is how many of the newest messages are looked through for one that may
// have been sent before a crash.
const looked = 50

// lookFor looks for a message that an earlier attempt may have sent; empty if it
// is not there. The transaction's id does the same, but homeservers forget it,
// and a new device has others.
func (a *Adapter) lookFor(ctx context.Context, dev *device.Device, at id.RoomID, key string) (id.EventID, error) {
	ctx, cancel := context.WithTimeout(ctx, sendFor)
	defer cancel()
	part, err := dev.Client.Messages(ctx, at, "", "", mautrix.DirectionBackward,
		&mautrix.FilterPart{Types: []event.Type{event.EventMessage, event.EventEncrypted}, Senders: []id.UserID{dev.Client.UserID}}, looked)
	if err != nil {
		return "", fmt.Errorf("look for what may have been sent: %w", err)
	}
	want := transaction(key)
	for _, e := range part.Chunk {
		said, err := a.opened(ctx, dev, at, e)
		if err != nil {
			return "", err
		}
		if said != nil && said.Content.Raw[marker] == want {
			return e.ID, nil
		}
	}
	return "", nil
}

// botError makes of an error one that the bot knows.
func botError(err error) error {
	var e mautrix.HTTPError
	var later errLater
	switch {
	case err == nil:
		return nil
	case errors.As(err, &later):
		return bot.RetryAfter{Wait: later.wait}
	case errors.Is(err, errUploading):
		return bot.RetryAfter{Wait: uploadAgain}
	case errors.Is(err, mautrix.MUnknownToken), errors.Is(err, errEncryptedMeanwhile):
		return bot.RetryAfter{Wait: time.Second}
	case errors.Is(err, e2ee.ErrOff):
		return bot.Forbidden{Permission: err.Error()}
	case errors.Is(err, mautrix.MTooLarge):
		return fmt.Errorf("%w: %w", bot.ErrTooLarge, err)
	case inFront(err):
		return err
	case errors.As(err, &e) && e.Response != nil:
		switch e.Response.StatusCode {
		case http.StatusTooManyRequests:
			return bot.RetryAfter{Wait: retryAfter(err)}
		case http.StatusForbidden:
			return fmt.Errorf("%w: %w", bot.Forbidden{Permission: "write messages"}, err)
		case http.StatusNotFound:
			return fmt.Errorf("%w: %w", bot.ErrGone, err)
		case http.StatusRequestEntityTooLarge:
			return fmt.Errorf("%w: %w", bot.ErrTooLarge, err)
		}
		return err
	case unreachable(err):
		return fmt.Errorf("%w: %w", bot.ErrAmbiguous, err)
	}
	return err
}

// personal reports whether an answer is for the eyes of one person alone: what is
// kept of them, which is JSON. Other files are of games, which all can see.
func personal(answer bot.Answer) bool {
	return answer.Private && answer.File != nil && answer.File.Type == "application/json"
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

// tell tells an answer where it was asked, as a reply; what is personal goes to
// the person directly.
func (a *Adapter) tell(ctx context.Context, dev *device.Device, e *event.Event, root id.EventID, answer bot.Answer) error {
	at, key, again := e.RoomID, "answer "+e.ID.String(), a.hasFailed(e.ID)
	c := content{Content: message.Content{Text: answer.Text, Controls: answer.Controls, Lang: answer.Lang}, scene: answer.Scene, name: "board.png", id: key, line: at.String() + " answer"}
	if answer.Scene == nil {
		c.file = answer.File
	}
	reply := e.ID
	if e.Type.Type == event.EventReaction.Type { // which cannot be replied to
		reply = ""
		if answer.Private && c.Text != "" {
			between := " "
			if strings.Contains(c.Text, "\n") {
				between = "\n"
			}
			c.Text = bot.CleanName(a.who(ctx, dev, at, e.Sender).Name) + ":" + between + c.Text
		}
	} else if first := replaced(e); first != "" {
		reply = first
	}
	elsewhere := false
	if personal(answer) {
		alone, err := a.alone(ctx, dev, at, e.Sender)
		if err != nil {
			return err
		}
		elsewhere = !alone
	}
	if elsewhere {
		to, err := a.directly(ctx, dev, e.Sender)
		if err != nil {
			return a.answerFailed(e, err)
		}
		m := message.Text(message.Content{Text: bot.Translated(answer.Lang, wordDirectly), Lang: answer.Lang})
		message.InThread(m, root, "", reply)
		if _, err := a.sendOnce(ctx, dev, at, m, key+" there", again); err != nil {
			return a.answerFailed(e, err)
		}
		at, root, reply = to, "", ""
	}
	var sent id.EventID
	var err error
	if again {
		sent, err = a.lookFor(ctx, dev, at, key)
	}
	if err == nil && sent == "" {
		sent, err = a.say(ctx, dev, at, root, reply, &c)
	}
	if err != nil {
		return a.answerFailed(e, err)
	}
	a.wordsSent(ctx, promise{Post: key})
	if answer.Scene != nil && answer.File != nil {
		c.file, c.Text, c.Board, c.Controls, c.id = answer.File, answer.File.Name, "", nil, key+" file"
		m, err := a.build(ctx, dev, at, &c)
		if err != nil {
			return a.answerFailed(e, err)
		}
		message.InThread(m, root, "", reply)
		if _, err := a.sendOnce(ctx, dev, at, m, key+" file", again); err != nil {
			return a.answerFailed(e, err)
		}
	}
	a.press(ctx, at, sent, answer.Controls)
	return nil
}

// say sends an answer: without its picture or file if that cannot be uploaded in
// time, and then that follows.
func (a *Adapter) say(ctx context.Context, dev *device.Device, at id.RoomID, root, reply id.EventID, c *content) (id.EventID, error) {
	m, err := a.build(ctx, dev, at, c)
	if errors.Is(err, errUploading) {
		m, err = a.build(ctx, dev, at, c)
	}
	promised := promise{Room: at, Root: root, Post: c.id, Number: c.Number, reply: reply, file: c.file}
	switch {
	case errors.Is(err, errUploading):
		err = a.promise(ctx, promised)
		m = c.words()
	case tooLarge(err):
		a.log.Warn("a file is too large for the homeserver", "room", at, "name", c.file.Name, "error", err)
		m, err = c.words(), a.unpromise(ctx, promised)
	case err == nil:
		err = a.unpromise(ctx, promised)
	}
	if err != nil {
		return "", err
	}
	message.InThread(m, root, "", reply)
	return a.send(ctx, dev, at, m, c.id)
}

// answerFailed gives an error after which the answer is to be given again, nil
// if there is no point in that.
func (a *Adapter) answerFailed(e *event.Event, err error) error {
	if refusedBy(err) || errors.Is(err, e2ee.ErrOff) {
		a.log.Warn("an answer was not given", "event", e.ID, "room", e.RoomID, "error", err)
		return nil
	}
	return fmt.Errorf("answer: %w", err)
}
