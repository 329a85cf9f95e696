// Package verify answers when an owner of the bot wants to verify its account by emoji,
// which is Matrix's m.sas.v1: both sides show seven emoji, and people compare them.
//
// The bot never begins a verification. One at a time is under way, in memory alone:
// after a restart the other side is told that it is unknown. mautrix has a
// verificationhelper, which cannot do this: it takes messages from others than the one who
// is verifying, compares the other's master key with its own if the other confirms first,
// needs the account's private signing keys, and sleeps in goroutines that nothing ends.
package verify

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"maunium.net/go/mautrix/crypto/canonicaljson"
	"maunium.net/go/mautrix/id"
)

// Prefix is how the types of all events of a verification begin, but for a request in a
// room: that is a message whose msgtype is [Request].
const (
	Prefix  = "m.key.verification."
	Request = Prefix + "request"
)

// lasts is how long a verification may take, and early how far the other's clock may be
// ahead.
const (
	lasts = 10 * time.Minute
	early = 5 * time.Minute
)

// Why a verification is cancelled.
const (
	byUser     = "m.user"
	timeout    = "m.timeout"
	unknown    = "m.unknown_transaction"
	method     = "m.unknown_method"
	unexpected = "m.unexpected_message"
	keys       = "m.key_mismatch"
	invalid    = "m.invalid_message"
	mismatch   = "m.mismatched_sas"
)

// ErrNone says that no verification waits for an answer, or another one than was meant.
var ErrNone = errors.New("no verification is waiting, or another one than a moment ago")

// Keys are the public keys that are verified. Master is empty if the account has none.
type Keys struct{ Device, Master id.Ed25519 }

// Config is what a Verifier works with. Only Busy may be nil.
type Config struct {
	User   id.UserID
	Device id.DeviceID
	Owner  func(id.UserID) bool
	// Keys returns those of a device and its account, the bot's own included.
	Keys func(context.Context, id.UserID, id.DeviceID) (Keys, error)
	// Send sends an event of a verification to a room, or to a device if that is
	// empty; the device "*" is all of the user's. The same key is the same event.
	Send func(ctx context.Context, to Peer, kind, key string, content map[string]any) error
	// Busy reports whether rooms must wait for the cancellation of a request by somebody
	// who is no owner.
	Busy func() bool
	Log  *slog.Logger
}

// Peer is the other side.
type Peer struct {
	User   id.UserID
	Device id.DeviceID
	Room   id.RoomID // empty: its messages go from device to device
}

// Verification is one that waits for somebody to compare.
type Verification struct {
	ID     string      `json:"id"`
	User   id.UserID   `json:"user"`
	Device id.DeviceID `json:"device"`
	Emoji  []string    `json:"emoji"` // with their names, or numbers if the other side shows no emoji
}

// Event is an event of a verification.
type Event struct {
	Type    string // Request also for a message in a room
	Sender  id.UserID
	Room    id.RoomID  // empty: it came to the device
	ID      id.EventID // in a room
	At      time.Time  // when it was sent, in a room
	Content json.RawMessage
}

// content is what the events of a verification hold.
type content struct {
	Transaction string              `json:"transaction_id"`
	From        id.DeviceID         `json:"from_device"`
	To          id.UserID           `json:"to"`
	Timestamp   int64               `json:"timestamp"`
	Methods     []string            `json:"methods"`
	Method      string              `json:"method"`
	Hashes      []string            `json:"hashes"`
	Agreements  []string            `json:"key_agreement_protocols"`
	MACs        []string            `json:"message_authentication_codes"`
	Strings     []string            `json:"short_authentication_string"`
	Key         string              `json:"key"`
	Keys        json.RawMessage     `json:"keys"`
	MAC         map[id.KeyID]string `json:"mac"`
	Code        string              `json:"code"`
	Relates     struct {
		Event string `json:"event_id"`
	} `json:"m.relates_to"`
}

// What this side speaks.
const (
	sas       = "m.sas.v1"
	hash      = "sha256"
	agreement = "curve25519-hkdf-sha256"
	macs      = "hkdf-hmac-sha256.v2"
)

// A Verifier answers verifications. Its methods may be called concurrently.
type Verifier struct {
	Config
	lock   chan struct{}   // a mutex that is held while something is sent
	now    *transaction    // nil: none is under way
	refuse []refusal       // requests that are still to be cancelled, one of a user, the oldest first
	open   context.Context // until Close
	closes context.CancelFunc
}

// transaction is a verification.
type transaction struct {
	Peer
	id      string
	end     *time.Timer
	started json.RawMessage // the other's start
	strings []string
	own     *ecdh.PrivateKey
	theirs  *ecdh.PublicKey // whether the emoji are shown
	emoji   []string
	matches bool // the owner has confirmed, and the other side knows
	checked bool // the other side has confirmed
}

// refusal is a request by somebody who is no owner.
type refusal struct {
	Peer
	id    string
	until time.Time // the other side gives up by itself then
}

// maxRefusals is how many requests wait to be cancelled. Anybody can make them.
const maxRefusals = 64

// New returns a Verifier without a verification.
func New(c Config) *Verifier {
	v := &Verifier{Config: c, lock: make(chan struct{}, 1)}
	v.open, v.closes = context.WithCancel(context.Background())
	return v
}

// Close forgets the verification that is under way, and sends nothing any more.
func (v *Verifier) Close() {
	v.closes()
	v.lock <- struct{}{}
	defer func() { <-v.lock }()
	v.drop()
}

// take locks the Verifier for what ends with Close, too.
func (v *Verifier) take(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(v.open, cancel)
	v.lock <- struct{}{}
	return ctx, func() {
		<-v.lock
		stop()
		cancel()
	}
}

func (v *Verifier) drop() {
	if v.now != nil {
		v.now.end.Stop()
		v.now = nil
	}
}

// Waiting returns the verification that waits for somebody to compare; nil if none does.
func (v *Verifier) Waiting() *Verification {
	v.lock <- struct{}{}
	defer func() { <-v.lock }()
	t := v.now
	if t == nil || t.theirs == nil || t.matches {
		return nil
	}
	return &Verification{ID: t.id, User: t.User, Device: t.Device, Emoji: t.emoji}
}

// Answer says whether both sides show the same emoji in the verification with an id.
func (v *Verifier) Answer(ctx context.Context, id string, match bool) error {
	ctx, done := v.take(ctx)
	defer done()
	t := v.now
	switch {
	case t == nil || t.id != id || t.theirs == nil || t.matches:
		return ErrNone
	case !match:
		return v.cancel(ctx, mismatch, "the emoji are not the same")
	}
	return v.confirm(ctx)
}

// Handle takes in an event. After an error it may be given the same again.
func (v *Verifier) Handle(ctx context.Context, e Event) error {
	var c content
	if json.Unmarshal(e.Content, &c) != nil {
		return nil
	}
	if e.Room != "" {
		c.Transaction = c.Relates.Event
		if e.Type == Request {
			c.Transaction, c.Timestamp = e.ID.String(), e.At.UnixMilli()
		}
	}
	if c.Transaction == "" || e.Sender == v.User && c.From == v.Device {
		return nil
	}
	ctx, done := v.take(ctx)
	defer done()
	if e.Type == Request {
		return v.requested(ctx, e, c)
	}
	t := v.now
	if t == nil || t.id != c.Transaction || t.User != e.Sender || t.Room != e.Room {
		// Answers from before a restart; others' transactions in a room are not ours.
		if !v.Owner(e.Sender) || e.Room != "" || e.Type == Prefix+"cancel" || e.Type == Prefix+"done" {
			return nil
		}
		return v.tell(ctx, Peer{User: e.Sender, Device: "*"}, c.Transaction, unknown, "this verification is not under way; begin a new one")
	}
	switch strings.TrimPrefix(e.Type, Prefix) {
	case "start":
		return v.starts(ctx, e, c)
	case "key":
		return v.keyed(ctx, c)
	case "mac":
		return v.confirmed(ctx, c)
	case "cancel":
		v.drop()
		v.Log.Warn("matrix: verification cancelled by the other side", "user", t.User, "device", t.Device, "code", c.Code)
	}
	return nil
}

// requested takes up a verification.
func (v *Verifier) requested(ctx context.Context, e Event, c content) error {
	if e.Room != "" && c.To != v.User {
		return nil
	}
	peer := Peer{User: e.Sender, Device: c.From, Room: e.Room}
	age := time.Since(time.UnixMilli(c.Timestamp))
	t := v.now
	switch {
	case age > lasts || age < -early || c.From == "":
		return nil
	case !v.Owner(e.Sender):
		v.Log.Info("matrix: verification request refused: sender not in matrix.owners", "user", e.Sender, "device", c.From)
		// Of one user the newest counts: the others end by themselves.
		v.refuse = slices.DeleteFunc(v.refuse, func(r refusal) bool { return r.User == e.Sender || time.Now().After(r.until) })
		if len(v.refuse) < maxRefusals {
			v.refuse = append(v.refuse, refusal{peer, c.Transaction, time.Now().Add(lasts - age)})
		}
		return nil
	case !slices.Contains(c.Methods, sas):
		return v.tell(ctx, peer, c.Transaction, method, "the bot verifies by emoji only")
	case t != nil && t.id == c.Transaction && t.Peer == peer:
		return nil // the same again
	case t != nil && (t.User != peer.User || t.Device != peer.Device):
		v.Log.Warn("matrix: verification request refused: another one is under way", "user", peer.User, "device", peer.Device, "other", t.User)
		return v.tell(ctx, peer, c.Transaction, byUser, "another verification is under way")
	case t != nil:
		if err := v.cancel(ctx, unexpected, "the same device has begun another verification"); err != nil {
			return err
		}
	}
	if err := v.send(ctx, peer, c.Transaction, "ready", map[string]any{"from_device": v.Device, "methods": []string{sas}}); err != nil {
		return err
	}
	t = &transaction{Peer: peer, id: c.Transaction}
	t.end = time.AfterFunc(lasts-age, func() { v.expire(t) })
	v.now = t
	v.Log.Info("matrix: verification requested", "user", t.User, "device", t.Device)
	return nil
}

// Refuse cancels the oldest request of somebody who is no owner, once its room has time for
// that. Call it repeatedly. It cancels one request at a time, so a flood of them
// costs no more than one.
func (v *Verifier) Refuse(ctx context.Context) error {
	ctx, done := v.take(ctx)
	defer done()
	for i, r := range v.refuse {
		if r.Room != "" && v.Busy != nil && v.Busy() {
			continue
		}
		if time.Now().Before(r.until) {
			if err := v.tell(ctx, r.Peer, r.id, byUser, "only the bot's owners verify it"); err != nil {
				return err
			}
		}
		v.refuse = slices.Delete(v.refuse, i, i+1)
		return nil
	}
	return nil
}

// expire ends a verification that has taken too long.
func (v *Verifier) expire(t *transaction) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ctx, done := v.take(ctx)
	defer done()
	if v.now != t {
		return
	}
	_ = v.cancel(ctx, timeout, "the verification has taken too long")
	v.drop()
}

// starts answers the other's start with a commitment to a key.
func (v *Verifier) starts(ctx context.Context, e Event, c content) error {
	t := v.now
	raw := e.Content
	if t.started != nil {
		if bytes.Equal(t.started, raw) {
			return nil // the same again
		}
		return v.cancel(ctx, unexpected, "started twice")
	}
	for _, in := range []struct {
		list []string
		has  string
	}{{[]string{c.Method}, sas}, {c.Hashes, hash}, {c.Agreements, agreement}, {c.MACs, macs}} {
		if !slices.Contains(in.list, in.has) {
			return v.cancel(ctx, method, "the bot needs "+in.has)
		}
	}
	for _, s := range []string{"emoji", "decimal"} {
		if slices.Contains(c.Strings, s) && !slices.Contains(t.strings, s) {
			t.strings = append(t.strings, s)
		}
	}
	switch {
	case len(t.strings) == 0:
		return v.cancel(ctx, method, "the bot needs emoji or numbers")
	case c.From != t.Device:
		return v.cancel(ctx, invalid, "started by another device")
	}
	canonical, err := canonicaljson.Marshal(raw)
	if err != nil {
		return v.cancel(ctx, invalid, "the start is no JSON")
	}
	if t.own == nil {
		if t.own, err = ecdh.X25519().GenerateKey(rand.Reader); err != nil {
			return fmt.Errorf("make a key: %w", err)
		}
	}
	commitment := sha256.Sum256(append([]byte(public(t.own.PublicKey())), canonical...))
	err = v.send(ctx, t.Peer, t.id, "accept", map[string]any{"method": sas, "hash": hash, "key_agreement_protocol": agreement,
		"message_authentication_code": macs, "short_authentication_string": t.strings, "commitment": unpadded(commitment[:])})
	if err == nil {
		t.started = raw
	}
	return err
}

// keyed shows the emoji that follow from the other's key.
func (v *Verifier) keyed(ctx context.Context, c content) error {
	t := v.now
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(c.Key, "="))
	var theirs *ecdh.PublicKey
	if err == nil {
		theirs, err = ecdh.X25519().NewPublicKey(raw)
	}
	switch {
	case err != nil:
		return v.cancel(ctx, invalid, "the key cannot be read")
	case t.started == nil, t.theirs != nil && !t.theirs.Equal(theirs):
		return v.cancel(ctx, unexpected, "a key out of turn")
	case t.theirs != nil:
		return nil // the same again
	}
	secret, err := t.own.ECDH(theirs)
	if err != nil {
		return v.cancel(ctx, invalid, "the key cannot be used")
	}
	if err := v.send(ctx, t.Peer, t.id, "key", map[string]any{"key": public(t.own.PublicKey())}); err != nil {
		return err
	}
	info := strings.Join([]string{"MATRIX_KEY_VERIFICATION_SAS", t.User.String(), t.Device.String(), public(theirs),
		v.User.String(), v.Device.String(), public(t.own.PublicKey()), t.id}, "|")
	bits, err := hkdf.Key(sha256.New, secret, nil, info, 6)
	if err != nil {
		return err
	}
	t.theirs, t.emoji = theirs, numbers(bits)
	if slices.Contains(t.strings, "emoji") {
		t.emoji = pictures(bits)
	}
	v.Log.Warn("matrix: somebody verifies the bot: compare the emoji, then run halfpoint verify", "user", t.User, "device", t.Device, "emoji", strings.Join(t.emoji, ", "))
	return nil
}

// confirm tells the other side that the owner has found the emoji equal, and gives it the
// bot's keys.
func (v *Verifier) confirm(ctx context.Context) error {
	t := v.now
	own, err := v.Keys(ctx, v.User, v.Device)
	if err != nil {
		return fmt.Errorf("get the bot's keys: %w", err)
	}
	codes := map[id.KeyID]string{}
	add := func(name string, key id.Ed25519) {
		name = "ed25519:" + name
		codes[id.KeyID(name)] = v.code(true, name, key.String())
	}
	add(v.Device.String(), own.Device)
	if own.Master != "" {
		add(own.Master.String(), own.Master)
	}
	if err := v.send(ctx, t.Peer, t.id, "mac", map[string]any{"mac": codes, "keys": v.code(true, "KEY_IDS", names(codes))}); err != nil {
		return err
	}
	t.matches = true
	return v.finish(ctx)
}

// confirmed checks the other's keys.
func (v *Verifier) confirmed(ctx context.Context, c content) error {
	t := v.now
	switch {
	case t.theirs == nil:
		return v.cancel(ctx, unexpected, "keys out of turn")
	case t.checked:
		return v.finish(ctx)
	}
	theirs, err := v.Keys(ctx, t.User, t.Device)
	if err != nil {
		return fmt.Errorf("get the other's keys: %w", err)
	}
	var sum string
	known := map[id.KeyID]id.Ed25519{id.KeyID("ed25519:" + t.Device.String()): theirs.Device, id.KeyID("ed25519:" + theirs.Master.String()): theirs.Master}
	ok := json.Unmarshal(c.Keys, &sum) == nil && same(sum, v.code(false, "KEY_IDS", names(c.MAC)))
	_, named := c.MAC[id.KeyID("ed25519:"+t.Device.String())]
	for name, code := range c.MAC {
		key := known[name]
		ok = ok && key != "" && same(code, v.code(false, string(name), key.String()))
	}
	if !ok || !named || theirs.Device == "" {
		return v.cancel(ctx, keys, "the keys are others than the homeserver has")
	}
	t.checked = true
	return v.finish(ctx)
}

// finish ends a verification that both sides have confirmed.
func (v *Verifier) finish(ctx context.Context) error {
	t := v.now
	if !t.matches || !t.checked {
		return nil
	}
	if err := v.send(ctx, t.Peer, t.id, "done", map[string]any{}); err != nil {
		return err
	}
	v.drop()
	v.Log.Info("matrix: verified", "user", t.User, "device", t.Device)
	return nil
}

// cancel ends the verification that is under way.
func (v *Verifier) cancel(ctx context.Context, code, reason string) error {
	t := v.now
	if err := v.tell(ctx, t.Peer, t.id, code, reason); err != nil {
		return err
	}
	v.drop()
	v.Log.Warn("matrix: verification ended", "user", t.User, "device", t.Device, "reason", reason)
	return nil
}

func (v *Verifier) tell(ctx context.Context, to Peer, transaction, code, reason string) error {
	return v.send(ctx, to, transaction, "cancel", map[string]any{"code": code, "reason": reason})
}

func (v *Verifier) send(ctx context.Context, to Peer, transaction, kind string, content map[string]any) error {
	content = maps.Clone(content)
	if to.Room != "" {
		content["m.relates_to"] = map[string]any{"rel_type": "m.reference", "event_id": transaction}
	} else {
		content["transaction_id"] = transaction
	}
	if err := v.open.Err(); err != nil {
		return err
	}
	if err := v.Send(ctx, to, Prefix+kind, Prefix+kind+" "+transaction, content); err != nil {
		return fmt.Errorf("verification: %w", err)
	}
	return nil
}

// code authenticates a key, or the list of keys, of this side or of the other.
func (v *Verifier) code(ours bool, name, key string) string {
	t := v.now
	from, to := v.User.String()+v.Device.String(), t.User.String()+t.Device.String()
	if !ours {
		from, to = to, from
	}
	secret, err := t.own.ECDH(t.theirs)
	if err != nil {
		return "" // equal to nothing; keyed has made it once
	}
	by, err := hkdf.Key(sha256.New, secret, nil, "MATRIX_KEY_VERIFICATION_MAC"+from+to+t.id+name, sha256.Size)
	if err != nil {
		return ""
	}
	sum := hmac.New(sha256.New, by)
	sum.Write([]byte(key))
	return unpadded(sum.Sum(nil))
}

func same(theirs, ours string) bool {
	return ours != "" && hmac.Equal([]byte(strings.TrimRight(theirs, "=")), []byte(ours))
}

func names(codes map[id.KeyID]string) string {
	var list []string
	for name := range codes {
		list = append(list, string(name))
	}
	slices.Sort(list)
	return strings.Join(list, ",")
}

func public(key *ecdh.PublicKey) string { return unpadded(key.Bytes()) }

func unpadded(data []byte) string { return base64.RawStdEncoding.EncodeToString(data) }

// numbers returns three numbers of 13 bits each.
func numbers(bits []byte) (list []string) {
	all := word(bits)
	for i := range 3 {
		list = append(list, fmt.Sprint(all>>(48-13*(i+1))&0x1fff+1000))
	}
	return list
}

// pictures returns seven emoji of 6 bits each.
func pictures(bits []byte) (list []string) {
	all := word(bits)
	for i := range 7 {
		list = append(list, emoji[all>>(48-6*(i+1))&0x3f])
	}
	return list
}

func word(bits []byte) (w uint64) {
	for _, b := range bits[:6] {
		w = w<<8 | uint64(b)
	}
	return w
}

// emoji are those of the specification, with their English names.
var emoji = strings.Split(""+
	"🐶 Dog,🐱 Cat,🦁 Lion,🐎 Horse,🦄 Unicorn,🐷 Pig,🐘 Elephant,🐰 Rabbit,"+
	"🐼 Panda,🐓 Rooster,🐧 Penguin,🐢 Turtle,🐟 Fish,🐙 Octopus,🦋 Butterfly,🌷 Flower,"+
	"🌳 Tree,🌵 Cactus,🍄 Mushroom,🌏 Globe,🌙 Moon,☁ Cloud,🔥 Fire,🍌 Banana,"+
	"🍎 Apple,🍓 Strawberry,🌽 Corn,🍕 Pizza,🎂 Cake,❤ Heart,😀 Smiley,🤖 Robot,"+
	"🎩 Hat,👓 Glasses,🔧 Spanner,🎅 Santa,👍 Thumbs Up,☂ Umbrella,⌛ Hourglass,⏰ Clock,"+
	"🎁 Gift,💡 Light Bulb,📕 Book,✏ Pencil,📎 Paperclip,✂ Scissors,🔒 Lock,🔑 Key,"+
	"🔨 Hammer,☎ Telephone,🏁 Flag,🚂 Train,🚲 Bicycle,✈ Aeroplane,🚀 Rocket,🏆 Trophy,"+
	"⚽ Ball,🎸 Guitar,🎺 Trumpet,🔔 Bell,⚓ Anchor,🎧 Headphones,📁 Folder,📌 Pin", ",")
