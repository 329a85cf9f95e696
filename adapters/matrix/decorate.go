package matrix

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// This file is what follows posts: the root of a game's thread shows how the game
// stands, reactions stand for controls, and a picture follows words that were sent
// without it. The adapter owes them with the post; the bot keeps them and has them
// delivered when the homeserver has room for them.

// Budget returns what Synapse allows an account unless it is told otherwise.
func (a *Adapter) Budget() (perSecond float64, burst int) { return a.cfg.Rate, a.cfg.Burst }

var _ outbox.Limited = (*Adapter)(nil)

// noReactions begins the data of the reactions of a message that is to have none.
const noReactions = "none"

// owes returns what follows a post that was shown: its controls become reactions,
// and a board or the end of a challenge changes the root of its thread.
func (a *Adapter) owes(ctx context.Context, at, in outbox.Receipt, p outbox.Post) ([]outbox.Owes, error) {
	header := outbox.Owes{Kind: outbox.Header, Key: string(in), Target: in, Every: a.cfg.Edit}
	switch {
	case closes(p) && in == "":
		return nil, nil
	case closes(p):
		header.Data = string(at)
		return []outbox.Owes{header, {Kind: outbox.Reaction, Key: string(in), Target: in, Data: noReactions}}, nil
	case p.Instead && in != "":
		return []outbox.Owes{header}, nil
	case p.Kind != match.Show || in == "": // without a thread each board has its own
		return a.reactions(ctx, at, p.Controls)
	}
	owes, err := a.reactions(ctx, in, p.Controls)
	return append(owes, header), err
}

// reactions returns what a message owes whose controls are to be reactions: those
// that are not there yet, each of which is put once for all time.
func (a *Adapter) reactions(ctx context.Context, on outbox.Receipt, controls []match.Control) ([]outbox.Owes, error) {
	var missing []string
	for _, c := range controls {
		emoji, ok := message.Reaction(c)
		if !ok || slices.Contains(missing, emoji) {
			continue
		}
		there, err := a.queue.marked(ctx, "reaction", string(on)+" "+emoji)
		if err != nil {
			return nil, fmt.Errorf("read a stored reaction: %w", err)
		}
		if there == "" {
			missing = append(missing, emoji)
		}
	}
	if len(missing) == 0 {
		return nil, nil
	}
	return []outbox.Owes{{Kind: outbox.Reaction, Key: string(on), Target: on, Data: strings.Join(missing, " ")}}, nil
}

// decorate does what follows a post.
func (a *Adapter) decorate(ctx context.Context, dev *device.Device, p outbox.Post) (err error) {
	at, on := readReceipt(p.Replaces)
	if on == "" {
		return outbox.ErrGone
	}
	wait := a.pace.background(a.cfg.Now())
	switch p.Kind {
	case outbox.Attach:
		wait = 0
	case outbox.Reaction:
		wait = a.pace.full(a.cfg.Now())
	}
	if wait > 0 {
		return outbox.RetryAfter{Wait: wait}
	}
	ctx, cancel := context.WithTimeout(ctx, sendFor)
	defer cancel()
	switch p.Kind {
	case outbox.Header:
		err = a.header(ctx, dev, at, on, p)
	case outbox.Reaction:
		err = a.react(ctx, dev, at, on, p)
	case outbox.Attach:
		err = a.attach(ctx, dev, at, p)
	}
	if refusedBy(err) {
		return fmt.Errorf("%w: %w", outbox.ErrRefused, err)
	}
	return botError(err)
}

// header has the root of a thread say how the game stands, or what a notice has said
// that ended it before it began.
func (a *Adapter) header(ctx context.Context, dev *device.Device, at id.RoomID, root id.EventID, p outbox.Post) error {
	if p.Scene == nil {
		return outbox.ErrGone
	}
	first := bot.Translated(p.Lang, wordStatus, strconv.Itoa(p.Number), p.Scene.Ruleset)
	c := message.Content{Text: strings.Join(append([]string{first}, bot.HowItStands(*p.Scene)...), "\n"), Controls: p.Controls, Number: p.Number, Lang: p.Lang}
	if room, notice := readReceipt(p.Data); notice != "" {
		words, err := a.words(ctx, dev, room, notice, p.Attempt)
		if err != nil {
			return err
		}
		c.Text, c.Controls = strings.TrimSpace(first+"\n"+words), nil
	}
	_, err := a.sendOnce(ctx, dev, at, message.Edit(message.Text(c), root), fmt.Sprintf("root %s %d", root, p.Seq), p.Attempt > 1)
	return err
}

// react puts the reactions that a message lacks, or takes all of the bot's away. It is
// one row of controls, so all of them come or none; and since people can type instead, they
// come when nothing else is to be sent.
func (a *Adapter) react(ctx context.Context, dev *device.Device, at id.RoomID, on id.EventID, p outbox.Post) error {
	wanted := strings.Fields(p.Data)
	if len(wanted) > 0 && wanted[0] == noReactions {
		return a.unpress(ctx, dev, at, on)
	}
	there := map[string]bool{}
	if p.Attempt > 1 || a.hasGoneBack() { // the homeserver may not have finished with the first when it is asked once more
		own, err := pressed(ctx, dev, at, on)
		if err != nil && !refusedBy(err) {
			return err
		}
		for _, e := range own {
			relates, _ := e.Content.Raw["m.relates_to"].(map[string]any)
			emoji, _ := relates["key"].(string)
			there[emoji] = true
		}
	}
	for _, emoji := range wanted {
		key := p.Replaces + " " + emoji
		if done, err := a.queue.marked(ctx, "reaction", key); err != nil {
			return err
		} else if done != "" {
			continue
		}
		if !there[emoji] {
			c := &event.ReactionEventContent{RelatesTo: event.RelatesTo{Type: event.RelAnnotation, EventID: on, Key: emoji}}
			_, err := dev.Client.SendMessageEvent(ctx, at, event.EventReaction, c, mautrix.ReqSendEvent{TransactionID: transaction("reaction " + key), DontEncrypt: true})
			a.paced(err)
			if err != nil && !refusedBy(err) { // as what is there already is
				return err
			}
		}
		if err := a.queue.mark(ctx, "reaction", key, "there", a.cfg.Now()); err != nil {
			return err
		}
	}
	return nil
}

// unpress takes the bot's reactions to a message away.
func (a *Adapter) unpress(ctx context.Context, dev *device.Device, at id.RoomID, on id.EventID) error {
	own, err := pressed(ctx, dev, at, on)
	if err != nil {
		return err
	}
	for _, e := range own {
		_, err := dev.Client.RedactEvent(ctx, at, e.ID, mautrix.ReqRedact{TxnID: transaction("unpress " + e.ID.String())})
		a.paced(err)
		if err != nil && !refusedBy(err) {
			return fmt.Errorf("remove a reaction: %w", err)
		}
	}
	return nil
}

// An attachment is the data of a picture, or another file, that follows the words of
// a post or of an answer.
type attachment struct {
	Post  string     // whose words they are
	Root  id.EventID `json:",omitempty"` // of the thread
	Reply id.EventID `json:",omitempty"`
	Sent  bool       `json:",omitempty"` // it may have been sent
}

// attachHold is how long an attachment may hold up a newer board.
const attachHold = 5 * time.Second

// follows owes the file that belongs to words.
func follows(p outbox.Post, words outbox.Receipt, of attachment) outbox.Owes {
	of.Post = p.ID
	data, err := json.Marshal(of)
	if err != nil {
		panic(err)
	}
	key := p.ID
	if isBoard(p) { // of a game the newest counts
		key = lineOf(p)
	}
	return outbox.Owes{Kind: outbox.Attach, Key: key, Target: words, Data: string(data)}
}

func isBoard(p outbox.Post) bool { return p.Kind == match.Show && !p.Private }

// attach sends a picture or file after its words, unless a newer board of the game
// is on its way.
func (a *Adapter) attach(ctx context.Context, dev *device.Device, at id.RoomID, p outbox.Post) error {
	var of attachment
	if err := json.Unmarshal([]byte(p.Data), &of); err != nil {
		return fmt.Errorf("%w: %w", outbox.ErrRefused, err)
	}
	line := lineOf(p)
	c := content{picture: p.Scene.Picture(), name: boardName(p.Number, p.Seq), file: p.File}
	if p.Game == "" { // an answer's, which is kept here alone: it can be asked for again
		line = at.String() + " answer"
		c.file, _ = a.files.Get(of.Post)
	} else if p.Scene == nil {
		line += " file"
	}
	if err := c.draw(); err != nil || c.file == nil {
		return outbox.ErrGone
	}
	picture, err := a.upload(ctx, dev, at, line, c.file)
	if err != nil {
		return err
	}
	m := message.File(message.Content{Number: p.Number}, picture)
	message.InThread(m, of.Root, of.Reply)
	limited, cancel := context.WithTimeout(ctx, attachHold)
	defer cancel()
	done, err := a.sending.take(limited, line)
	if err != nil {
		return err
	}
	defer done()
	if newest, _ := a.newest.Get(line); p.Scene != nil && newest > p.Seq {
		return nil
	}
	_, err = a.sendOnce(limited, dev, at, m, of.Post+" picture", of.Sent || p.Attempt > 1)
	return err
}

// closes reports whether a post says that a challenge is over: it was declined,
// withdrawn or has run out. Then its opening says so instead of what can be pressed, and
// the bot's reactions go.
func closes(p outbox.Post) bool {
	return p.Kind == match.Notice && p.Unplayed && p.Under != "" && !p.Private
}

// lookTries is how often a notice is looked for that is not found.
const lookTries = 5

// opened decrypts an event that the bot has sent, if it is encrypted; nil if it
// cannot be read, for a device has said it that was lost.
func (a *Adapter) opened(ctx context.Context, dev *device.Device, at id.RoomID, e *event.Event) (*event.Event, error) {
	if e.RoomID = at; e.Type.Type != event.EventEncrypted.Type || dev.Crypto == nil {
		return e, nil
	}
	clear, err := dev.Crypto.Decrypt(ctx, e)
	if errors.As(err, new(e2ee.ErrNoKey)) || errors.As(err, new(e2ee.ErrUnreadable)) {
		a.log.Info("own message cannot be decrypted", "room", at, "event", e.ID, "error", err)
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("decrypt an own message: %w", err)
	}
	return clear, nil
}

// words returns what one of the bot's notices says, without a line that calls people; empty if
// it cannot be read any more. The homeserver is asked: names are not kept here. What
// has just been sent it may not find yet, so that the first attempts fail then.
func (a *Adapter) words(ctx context.Context, dev *device.Device, at id.RoomID, notice id.EventID, attempt int) (string, error) {
	e, err := dev.Client.GetEvent(ctx, at, notice)
	if errors.Is(err, mautrix.MNotFound) && attempt < lookTries {
		return "", fmt.Errorf("get a notice: %v", err)
	} else if refusedBy(err) {
		a.log.Info("notice of a challenge's end not readable, status message omits it", "room", at, "error", err)
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("get a notice: %w", err)
	}
	if e, err = a.opened(ctx, dev, at, e); err != nil || e == nil {
		return "", err
	}
	body, _ := e.Content.Raw["body"].(string)
	mentions, _ := e.Content.Raw["m.mentions"].(map[string]any)
	if calls, _ := mentions["user_ids"].([]any); len(calls) > 0 {
		if i := strings.LastIndexByte(body, '\n'); i >= 0 { // else they are called within the sentence
			body = body[:i]
		}
	}
	return body, nil
}

// pressed returns the bot's own reactions to a message.
func pressed(ctx context.Context, dev *device.Device, at id.RoomID, on id.EventID) (own []*event.Event, err error) {
	answer, err := dev.Client.GetRelations(ctx, at, on, &mautrix.ReqGetRelations{RelationType: event.RelAnnotation, EventType: event.EventReaction,
		Dir: mautrix.DirectionForward, Limit: looked}) // the bot's are the first
	if err != nil {
		return nil, fmt.Errorf("get reactions: %w", err)
	}
	for _, e := range answer.Chunk {
		if e.Sender == dev.Client.UserID && e.Unsigned.RedactedBecause == nil {
			own = append(own, e)
		}
	}
	return own, nil
}
