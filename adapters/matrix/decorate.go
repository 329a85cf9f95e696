package matrix

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
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

// Account allows what the configuration says; by default Synapse's limits.
func (a *Adapter) Account() *outbox.Account { return a.account }

var _ outbox.Limited = (*Adapter)(nil)

// onlyThese begins the data of a row of reactions that is to be all that a message has.
// Without it, as older versions stored them, the row adds to what is there.
const onlyThese = "only"

// noReactions is what older versions stored of a message that is to have none.
const noReactions = "none"

// owes returns what follows a post that was shown: its controls become reactions,
// and a board or the end of a challenge changes the root of its thread.
func (a *Adapter) owes(ctx context.Context, at, in outbox.Receipt, p outbox.Post) ([]outbox.Owes, error) {
	header := outbox.Owes{Kind: outbox.Header, Key: string(in), Target: in, Every: a.cfg.Edit}
	switch {
	case p.Kind == match.Notice && p.State == match.Deleted && in != "":
		return a.erases(ctx, at, in, p)
	case closes(p) && in == "":
		return nil, nil
	case closes(p):
		header.Data = string(at)
		owes, err := a.reactions(ctx, p.Where, in, nil)
		return append(owes, header), err
	case p.Instead && in != "":
		return []outbox.Owes{header}, nil
	case p.Kind == match.Show && in != "":
		owes, err := a.reactions(ctx, p.Where, in, p.Controls)
		return append(owes, header), err
	case len(p.Controls) == 0 && p.Kind != match.Show:
		return nil, nil
	}
	// Without a thread each board has its own, and so has a question. They go once
	// something newer of the game is shown. What its opening offers is over.
	owes, err := a.reactions(ctx, p.Where, at, p.Controls)
	if err != nil || p.Private || p.Under == "" {
		return owes, err
	}
	if p.Kind != match.Show || p.State != match.Ended { // nothing comes after the last board
		owes = append(owes, outbox.Owes{Kind: outbox.Clear, Key: string(at), Target: at})
	}
	if room, _ := readReceipt(p.Under); p.Kind == match.Show && p.Under != string(at) && room == roomOf(at) {
		more, err := a.reactions(ctx, p.Where, outbox.Receipt(p.Under), nil)
		return append(owes, more...), err
	}
	return owes, nil
}

func roomOf(r outbox.Receipt) id.RoomID {
	room, _ := readReceipt(string(r))
	return room
}

// leftBehind is the data of decorations that take away what the messages of a game offer in
// a room that has moved. If the upgrade lets the bot write there no longer, they stay.
const leftBehind = "left behind"

// leaves returns what follows the first board of a game in another room than the one
// before: in the old room its last board and its root offer nothing any more.
func (a *Adapter) leaves(ctx context.Context, old id.RoomID, p outbox.Post) ([]outbox.Owes, error) {
	owes := []outbox.Owes{{Kind: outbox.Clear, Key: leftBehind + " " + p.Previous, Target: outbox.Receipt(p.Previous), Data: leftBehind}}
	root := p.Under
	if again, err := a.queue.marked(ctx, "goes on", p.Under+" "+old.String()); err != nil {
		return nil, err
	} else if again != "" {
		root = receipt(old, id.EventID(again))
	}
	if room, _ := readReceipt(root); room == old && !a.room(old).direct() {
		owes = append(owes, outbox.Owes{Kind: outbox.Header, Key: root, Target: outbox.Receipt(root), Data: leftBehind})
	}
	for _, on := range []string{p.Previous, root} {
		more, err := a.reactions(ctx, p.Where, outbox.Receipt(on), nil)
		if err != nil {
			return nil, err
		}
		owes = append(owes, more...)
	}
	return owes, nil
}

// leave takes away what a board offers in a room that has moved.
func (a *Adapter) leave(ctx context.Context, dev *device.Device, at id.RoomID, board id.EventID, p outbox.Post) error {
	e, err := a.event(ctx, dev, at, board)
	if err != nil {
		return err
	}
	if own, err := a.own(ctx, dev, at, e); err != nil {
		return err
	} else if !own {
		return outbox.ErrGone
	}
	if e, err = a.opened(ctx, dev, at, e); err != nil || e == nil {
		return err
	}
	lang, err := a.languageFor(ctx, "", p.Where.Channel)
	if err != nil {
		return err
	}
	e.Type.Class = event.MessageEventType
	if err := e.Content.ParseRaw(event.EventMessage); err != nil && !errors.Is(err, event.ErrContentAlreadyParsed) {
		return fmt.Errorf("%w: %w", outbox.ErrRefused, err)
	}
	m, ok := e.Content.Parsed.(*event.MessageEventContent)
	if !ok {
		return outbox.ErrGone
	}
	_, err = a.sendOnce(ctx, dev, at, message.Edit(message.WithoutControls(m, lang), board), leftBehind+" "+board.String(), p.Attempt > 1)
	return err
}

// reactions returns what a message owes whose controls are to be its reactions: those that
// it lacks come, and all others of the bot's go.
func (a *Adapter) reactions(ctx context.Context, where match.Room, on outbox.Receipt, controls []match.Control) ([]outbox.Owes, error) {
	there, err := a.queue.reactions(ctx, string(on))
	if err != nil {
		return nil, fmt.Errorf("read stored reactions: %w", err)
	}
	sealed, err := a.sealed(ctx, roomOf(on))
	if err != nil {
		return nil, err
	}
	wanted := message.ReactionsOf(controls, sealed)
	missing := slices.DeleteFunc(slices.Clone(wanted), func(emoji string) bool { return there[emoji] != "" })
	if len(missing) == 0 && len(there) == len(wanted) { // as wanted
		service, _ := a.theService()
		return nil, service.Owe(ctx, where, outbox.Owes{Kind: outbox.Reaction, Key: string(on), Done: true})
	}
	return []outbox.Owes{{Kind: outbox.Reaction, Key: string(on), Target: on, Messages: len(missing), Data: strings.Join(append([]string{onlyThese}, wanted...), " ")}}, nil
}

// decorate does what follows a post.
func (a *Adapter) decorate(ctx context.Context, dev *device.Device, p outbox.Post) (owes []outbox.Owes, err error) {
	at, on := readReceipt(p.Replaces)
	if on == "" {
		return nil, outbox.ErrGone
	}
	kind := event.EventMessage
	if p.Kind == outbox.Reaction {
		kind = event.EventReaction
	}
	if err := a.closedTo(at, kind); err != nil {
		return nil, botError(err)
	}
	if notice, ok := strings.CutPrefix(p.Data, allPosts); ok && p.Kind == outbox.Clear {
		return nil, botError(a.erase(ctx, dev, at, on, notice, p))
	}
	ctx, cancel := context.WithTimeout(ctx, sendFor)
	defer cancel()
	switch {
	case p.Kind == outbox.Clear && p.Data == leftBehind:
		err = a.leave(ctx, dev, at, on, p)
	case p.Kind == outbox.Header:
		owes, err = a.header(ctx, dev, at, on, p)
	case p.Kind == outbox.Clear: // reactions that are still to come are moot
		service, _ := a.theService()
		if err := service.Owe(ctx, p.Where, outbox.Owes{Kind: outbox.Reaction, Key: p.Replaces, Done: true}); err != nil {
			return nil, err
		}
		err = a.react(ctx, dev, at, on, p)
	case p.Kind == outbox.Reaction:
		err = a.react(ctx, dev, at, on, p)
	case p.Kind == outbox.Attach:
		err = a.attach(ctx, dev, at, p)
	}
	if refusedBy(err) && !errors.As(err, new(errClosed)) {
		return nil, fmt.Errorf("%w: %w", outbox.ErrRefused, err)
	}
	return owes, botError(err)
}

// header has the root of a thread say how the game stands, or what a notice has said
// that ended it before it began.
func (a *Adapter) header(ctx context.Context, dev *device.Device, at id.RoomID, root id.EventID, p outbox.Post) ([]outbox.Owes, error) {
	if p.Scene == nil {
		return nil, outbox.ErrGone
	}
	removed, err := a.removed(ctx, dev, at, root)
	if err != nil {
		return nil, err
	} else if removed && p.Data == leftBehind {
		return nil, outbox.ErrGone
	}
	sealed, err := a.sealed(ctx, at)
	if err != nil {
		return nil, err
	}
	first := bot.Translated(p.Lang, wordStatus, strconv.Itoa(p.Number), p.Scene.Ruleset)
	c := message.Content{Text: strings.Join(append([]string{first}, bot.HowItStands(*p.Scene)...), "\n"), Controls: p.Controls, Number: p.Number, Lang: p.Lang, Sealed: sealed}
	if removed {
		return a.newRoot(ctx, dev, at, root, c, p)
	}
	key := fmt.Sprintf("root %s %d", root, p.Seq)
	if p.Data == leftBehind {
		c.Controls, key = nil, "root "+leftBehind+" "+root.String()
	}
	if room, notice := readReceipt(p.Data); notice != "" {
		words, err := a.words(ctx, dev, room, notice, p.Attempt)
		if err != nil {
			return nil, err
		}
		c.Text, c.Controls = strings.TrimSpace(first+"\n"+words), nil
	}
	_, err = a.sendOnce(ctx, dev, at, message.Edit(message.Text(c), root), key, p.Attempt > 1)
	return nil, err
}

// removed reports whether somebody has removed a message of the bot's. Homeservers take
// edits of such a message, and nobody sees them.
func (a *Adapter) removed(ctx context.Context, dev *device.Device, at id.RoomID, what id.EventID) (bool, error) {
	e, err := a.event(ctx, dev, at, what)
	if refusedBy(err) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("get the status message: %w", err)
	}
	return e.Unsigned.RedactedBecause != nil, nil
}

// newRoot begins the thread of a game anew, under a message with the content c, because
// the root was removed. Only a game that is played needs that.
func (a *Adapter) newRoot(ctx context.Context, dev *device.Device, at id.RoomID, root id.EventID, c message.Content, p outbox.Post) ([]outbox.Owes, error) {
	if p.State != match.Going {
		return nil, outbox.ErrGone
	}
	under, err := a.queue.marked(ctx, "root", receipt(at, root))
	if err != nil {
		return nil, err
	}
	under = cmp.Or(under, receipt(at, root))
	c.Text = bot.Translated(p.Lang, wordGoesOn, strconv.Itoa(p.Number)) + "\n" + c.Text
	sent, err := a.sendOnce(ctx, dev, at, message.Text(c), "root after "+root.String(), p.Attempt > 1)
	if err != nil {
		return nil, err
	}
	a.log.Info("status message of a game was removed, sent a new one", "room", at, "game", p.Number)
	if err := a.goesOn(ctx, under, at, sent); err != nil {
		return nil, err
	}
	service, _ := a.theService()
	if err := service.Owe(ctx, p.Where, outbox.Owes{Kind: outbox.Reaction, Key: receipt(at, root), Done: true}); err != nil {
		return nil, err
	}
	return a.reactions(ctx, p.Where, outbox.Receipt(receipt(at, sent)), p.Controls)
}

// react adds the reactions that a message lacks, and then removes those of the bot's that it
// must have no longer, one at a time. The outbox lets it add all that were missing when they
// were owed, and its error is [outbox.ErrMore] while others are left to remove.
func (a *Adapter) react(ctx context.Context, dev *device.Device, at id.RoomID, on id.EventID, p outbox.Post) error {
	wanted := strings.Fields(p.Data)
	only := p.Kind == outbox.Clear || len(wanted) > 0 && (wanted[0] == onlyThese || wanted[0] == noReactions)
	if only && len(wanted) > 0 {
		wanted = wanted[1:]
	}
	there, err := a.reactionsThere(ctx, dev, at, on, p, only)
	if err != nil {
		return err
	}
	left := error(outbox.ErrStale) // nothing was sent
	for _, emoji := range wanted {
		if there[emoji] == "" {
			if there[emoji], err = a.addReaction(ctx, dev, at, on, emoji, p); err != nil {
				return err
			}
			left = nil
		}
		if err := a.queue.mark(ctx, "reaction", p.Replaces+" "+emoji, there[emoji], a.cfg.Now()); err != nil {
			return err
		}
	}
	for _, emoji := range slices.Sorted(maps.Keys(there)) {
		if only && !slices.Contains(wanted, emoji) {
			if left == nil {
				return outbox.ErrMore
			}
			if err := a.removeReaction(ctx, dev, at, there[emoji], p.Replaces+" "+emoji); err != nil {
				return err
			}
			left = nil
		}
	}
	return left
}

// reactionsThere returns the bot's reactions to a message, by emoji: the id of the event, or
// reactionThere. It asks the homeserver if what is stored may be incomplete.
func (a *Adapter) reactionsThere(ctx context.Context, dev *device.Device, at id.RoomID, on id.EventID, p outbox.Post, only bool) (map[string]string, error) {
	there, err := a.queue.reactions(ctx, p.Replaces)
	if err != nil {
		return nil, err
	}
	unknown := p.Attempt > 1 || a.hasGoneBack() // the homeserver may still be handling the first attempt
	for _, e := range there {
		unknown = unknown || only && e == reactionThere
	}
	if !unknown {
		return there, nil
	}
	own, err := pressed(ctx, dev, at, on)
	if err != nil && !refusedBy(err) {
		return nil, err
	}
	for _, e := range own {
		relates, _ := e.Content.Raw["m.relates_to"].(map[string]any)
		emoji, _ := relates["key"].(string)
		there[emoji] = e.ID.String()
	}
	return there, nil
}

func (a *Adapter) addReaction(ctx context.Context, dev *device.Device, at id.RoomID, on id.EventID, emoji string, p outbox.Post) (stored string, err error) {
	c := &event.ReactionEventContent{RelatesTo: event.RelatesTo{Type: event.RelAnnotation, EventID: on, Key: emoji}}
	// The reaction may have been removed before, so its transaction needs another id.
	txn := transaction(fmt.Sprintf("reaction %s %s %d", p.Replaces, emoji, p.Seq))
	sent, err := dev.Client.SendMessageEvent(ctx, at, event.EventReaction, c, mautrix.ReqSendEvent{TransactionID: txn, DontEncrypt: true})
	a.sent(ctx, dev, at, event.EventReaction, err)
	if refusedBy(err) && !errors.Is(err, mautrix.MForbidden) { // as a duplicate is
		return reactionThere, nil
	} else if err != nil {
		return "", err
	}
	return sent.EventID.String(), nil
}

// removeReaction removes a reaction, which is stored under a key.
func (a *Adapter) removeReaction(ctx context.Context, dev *device.Device, at id.RoomID, stored, key string) error {
	if stored != reactionThere { // otherwise reactionsThere did not find it any more
		if err := a.redact(ctx, dev, at, id.EventID(stored), "unpress "+stored); err != nil && !refusedBy(err) {
			return fmt.Errorf("remove a reaction: %w", err)
		}
	}
	return a.queue.unmark(ctx, "reaction", key)
}

// reactionThere is stored of a reaction whose event is not known.
const reactionThere = "there"

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
	c := contentOf(p)
	if p.Game == "" { // an answer's, which only memory holds: the person can ask again
		c, _ = a.files.Get(of.Post)
	}
	if err := c.draw(); err != nil || c.file == nil {
		return outbox.ErrGone
	}
	picture, err := a.upload(ctx, dev, at, c.line, c.file)
	if err != nil {
		return err
	}
	m := message.File(c.Content, picture)
	message.InThread(m, of.Root, of.Reply)
	limited, cancel := context.WithTimeout(ctx, attachHold)
	defer cancel()
	done, err := a.sending.take(limited, c.line)
	if err != nil {
		return err
	}
	defer done()
	if newest, _ := a.newest.Get(c.line); p.Scene != nil && newest > p.Seq {
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

// own reports whether an event is for certain the bot's. In a sealed room the homeserver
// could have made up what is not encrypted.
func (a *Adapter) own(ctx context.Context, dev *device.Device, at id.RoomID, e *event.Event) (bool, error) {
	sealed, err := a.sealed(ctx, at)
	return e.Sender == dev.Client.UserID && (!sealed || e.Type.Type == event.EventEncrypted.Type), err
}

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
	if own, err := a.own(ctx, dev, at, e); err != nil || !own {
		return "", err
	}
	if e, err = a.opened(ctx, dev, at, e); err != nil || e == nil {
		return "", err
	}
	body, _ := e.Content.Raw["body"].(string)
	formatted, _ := e.Content.Raw["formatted_body"].(string)
	return withoutCalls(body, formatted), nil
}

// link is a link to a person in a formatted body.
var link = regexp.MustCompile(`<a [^>]*>[^<]*</a>`)

// withoutCalls returns a body without its last line if that does nothing but call people.
// Others are called within the sentences.
func withoutCalls(body, formatted string) string {
	i := strings.LastIndexByte(body, '\n')
	last := formatted[strings.LastIndex(formatted, "<br>")+1:]
	if i < 0 || !link.MatchString(last) || strings.TrimSpace(link.ReplaceAllString(strings.TrimPrefix(last, "br>"), "")) != "" {
		return body
	}
	return body[:i]
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
