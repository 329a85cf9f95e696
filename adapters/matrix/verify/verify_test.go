package verify

import (
	"cmp"
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
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"maunium.net/go/mautrix/crypto/canonicaljson"
	"maunium.net/go/mautrix/id"
)

const (
	bots  = id.UserID("@bot:x")
	annas = id.UserID("@anna:x")
)

// desk is a bot and what it sends.
type desk struct {
	*Verifier
	t    *testing.T
	keys map[id.DeviceID]Keys
	busy bool

	mu   sync.Mutex // the bot also sends when time has run out
	sent []sent
	fail error // of the next message
}

type sent struct {
	Peer
	kind    string
	content map[string]any
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, keys: map[id.DeviceID]Keys{"BOT": {"botdevice", "botmaster"}, "ANNA": {"annadevice", "annamaster"}, "OTHER": {"otherdevice", "annamaster"}}}
	d.Verifier = New(Config{User: bots, Device: "BOT", Log: slog.New(slog.DiscardHandler),
		Owner: func(u id.UserID) bool { return u == annas },
		Busy:  func() bool { return d.busy },
		Keys: func(_ context.Context, _ id.UserID, device id.DeviceID) (Keys, error) {
			return d.keys[device], nil
		},
		Send: func(_ context.Context, to Peer, kind, _ string, content map[string]any) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			if err := d.fail; err != nil {
				d.fail = nil
				return err
			}
			d.sent = append(d.sent, sent{to, strings.TrimPrefix(kind, Prefix), content})
			return nil
		}})
	t.Cleanup(d.Close)
	return d
}

// last is what the bot has sent since, which is one message of a kind; empty: nothing.
func (d *desk) last(kind string) map[string]any {
	d.t.Helper()
	d.mu.Lock()
	all := d.sent
	d.sent = nil
	d.mu.Unlock()
	if kind == "" && len(all) == 0 {
		return nil
	}
	if len(all) != 1 || all[0].kind != kind {
		d.t.Fatalf("the bot sends %+v, want %q", all, kind)
	}
	return all[0].content
}

// cancelled says that the bot has sent a cancellation with a code.
func (d *desk) cancelled(code string) {
	d.t.Helper()
	if got := d.last("cancel")["code"]; got != code {
		d.t.Errorf("cancelled with %v, want %s", got, code)
	}
}

// owner is somebody's client.
type owner struct {
	*desk
	user   id.UserID
	device id.DeviceID
	room   id.RoomID
	id     string
	key    *ecdh.PrivateKey
	theirs *ecdh.PublicKey
	start  map[string]any
}

func (d *desk) owner(device id.DeviceID, room id.RoomID, transaction string) *owner {
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		d.t.Fatal(err)
	}
	return &owner{desk: d, user: annas, device: device, room: room, id: transaction, key: key}
}

func (o *owner) says(kind string, content map[string]any) {
	o.t.Helper()
	if err := o.tries(kind, content); err != nil {
		o.t.Fatal(err)
	}
}

func (o *owner) tries(kind string, content map[string]any) error {
	e := Event{Type: Prefix + kind, Sender: o.user, Room: o.room, At: time.Now()}
	switch {
	case o.room != "" && kind == "request":
		e.ID = id.EventID(o.id)
	case o.room != "":
		content["m.relates_to"] = map[string]any{"rel_type": "m.reference", "event_id": o.id}
	default:
		content["transaction_id"] = o.id
	}
	e.Content, _ = json.Marshal(content)
	return o.Handle(context.Background(), e)
}

func (o *owner) requests() {
	o.t.Helper()
	o.says("request", map[string]any{"from_device": o.device, "methods": []string{"m.qr_code.scan.v1", sas}, "timestamp": time.Now().UnixMilli(), "to": bots})
}

func (o *owner) starts() {
	o.t.Helper()
	o.start = map[string]any{"from_device": o.device, "method": sas, "hashes": []string{hash}, "key_agreement_protocols": []string{agreement, "curve25519"},
		"message_authentication_codes": []string{macs}, "short_authentication_string": []string{"decimal", "emoji"}, "of_later_versions": 1}
	o.says("start", o.start)
}

// shows goes on to where both sides show emoji, and returns the owner's.
func (o *owner) shows() []string {
	o.t.Helper()
	o.requests()
	o.last("ready")
	o.starts()
	accept := o.last("accept")
	o.says("key", map[string]any{"key": public(o.key.PublicKey())})
	text := o.last("key")["key"].(string)
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err == nil {
		o.theirs, err = ecdh.X25519().NewPublicKey(raw)
	}
	if err != nil {
		o.t.Fatal(err)
	}
	canonical, err := canonicaljson.Marshal(o.start)
	if err != nil {
		o.t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(text + string(canonical)))
	if want := base64.RawStdEncoding.EncodeToString(sum[:]); accept["commitment"] != want {
		o.t.Errorf("commitment %v, want %s", accept["commitment"], want)
	}
	bits := o.derive("MATRIX_KEY_VERIFICATION_SAS|"+strings.Join([]string{annas.String(), o.device.String(), public(o.key.PublicKey()), bots.String(), "BOT", text, o.id}, "|"), 6)
	return pictures(bits)
}

func (o *owner) derive(info string, n int) []byte {
	secret, err := o.key.ECDH(o.theirs)
	if err != nil {
		o.t.Fatal(err)
	}
	bits, err := hkdf.Key(sha256.New, secret, nil, info, n)
	if err != nil {
		o.t.Fatal(err)
	}
	return bits
}

func (o *owner) mac(from, to, name, key string) string {
	sum := hmac.New(sha256.New, o.derive("MATRIX_KEY_VERIFICATION_MAC"+from+to+o.id+name, 32))
	sum.Write([]byte(key))
	return base64.RawStdEncoding.EncodeToString(sum.Sum(nil))
}

// confirms sends the owner's keys.
func (o *owner) confirms(device, master string) {
	o.t.Helper()
	from := annas.String() + o.device.String()
	to := bots.String() + "BOT"
	names := []string{"ed25519:" + o.device.String(), "ed25519:annamaster"}
	slices.Sort(names)
	o.says("mac", map[string]any{"keys": o.mac(from, to, "KEY_IDS", strings.Join(names, ",")) + "=", "mac": map[string]string{
		"ed25519:" + o.device.String(): o.mac(from, to, "ed25519:"+o.device.String(), device), "ed25519:annamaster": o.mac(from, to, "ed25519:annamaster", master)}})
}

// gets checks the bot's keys.
func (o *owner) gets(content map[string]any) {
	o.t.Helper()
	from, to := bots.String()+"BOT", annas.String()+o.device.String()
	codes := content["mac"].(map[id.KeyID]string)
	want := map[id.KeyID]string{}
	for name, key := range map[string]string{"ed25519:BOT": "botdevice", "ed25519:botmaster": "botmaster"} {
		want[id.KeyID(name)] = o.mac(from, to, name, key)
	}
	if len(codes) != 2 || codes["ed25519:BOT"] != want["ed25519:BOT"] || codes["ed25519:botmaster"] != want["ed25519:botmaster"] {
		o.t.Errorf("codes %v, want %v", codes, want)
	}
	if got := o.mac(from, to, "KEY_IDS", "ed25519:BOT,ed25519:botmaster"); content["keys"] != got {
		o.t.Errorf("list %v, want %v", content["keys"], got)
	}
}

// answers is what the operator of the bot says.
func (o *owner) answers(match bool) {
	o.t.Helper()
	w := o.Waiting()
	if w == nil {
		o.t.Fatal("nothing is waiting")
	}
	if err := o.Answer(context.Background(), w.ID, match); err != nil {
		o.t.Fatal(err)
	}
}

// An owner verifies the bot, in a room or from device to device, whoever confirms first.
func TestVerify(t *testing.T) {
	for _, room := range []id.RoomID{"", "!direct:x"} {
		for _, first := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				o := d.owner("ANNA", room, "$1")
				emoji := o.shows()
				w := d.Waiting()
				if w == nil || !slices.Equal(w.Emoji, emoji) || len(emoji) != 7 || w.User != annas || w.Device != "ANNA" {
					t.Fatalf("the bot shows %+v, Anna %v", w, emoji)
				}
				if first {
					o.confirms("annadevice", "annamaster")
					d.last("")
				}
				d.fail = errors.New("away")
				if err := d.Answer(t.Context(), w.ID, true); err == nil {
					t.Error("confirmed without the homeserver")
				}
				o.answers(true)
				codes := d.sent[0]
				if first {
					d.sent = d.sent[1:]
				} else {
					d.last("mac")
					o.confirms("annadevice", "annamaster")
				}
				d.last("done")
				o.gets(codes.content)
				if codes.Peer != (Peer{annas, "ANNA", room}) {
					t.Errorf("sent to %+v", codes.Peer)
				}
				if err := d.Answer(t.Context(), w.ID, true); !errors.Is(err, ErrNone) || d.Waiting() != nil {
					t.Errorf("once more: %v", err)
				}
				o.says("done", map[string]any{})
				time.Sleep(lasts)
				synctest.Wait()
				d.last("")
				d.owner("OTHER", room, "$2").shows()
			})
		}
	}
}

// What does not go as it should ends the verification, with the code for it.
func TestCancel(t *testing.T) {
	for name, c := range map[string]struct {
		does func(o *owner)
		code string
	}{
		"the operator sees other emoji": {func(o *owner) { o.shows(); o.answers(false) }, mismatch},
		"another device's key":          {func(o *owner) { o.shows(); o.confirms("otherdevice", "annamaster") }, keys},
		"another account's key":         {func(o *owner) { o.shows(); o.confirms("annadevice", "mallory") }, keys},
		"keys without a device's":       {func(o *owner) { o.shows(); o.says("mac", map[string]any{"keys": "", "mac": map[string]string{}}) }, keys},
		"an account without its device": {func(o *owner) { delete(o.keys, "ANNA"); o.shows(); o.confirms("", "annamaster") }, keys},
		"keys before emoji":             {func(o *owner) { o.requests(); o.last("ready"); o.says("mac", map[string]any{}) }, unexpected},
		"a key before the start": {func(o *owner) {
			o.requests()
			o.last("ready")
			o.says("key", map[string]any{"key": public(o.key.PublicKey())})
		}, unexpected},
		"a key that is none": {func(o *owner) {
			o.requests()
			o.last("ready")
			o.starts()
			o.last("accept")
			o.says("key", map[string]any{"key": "?"})
		}, invalid},
		"a key of low order": {func(o *owner) {
			o.requests()
			o.last("ready")
			o.starts()
			o.last("accept")
			o.says("key", map[string]any{"key": unpadded(make([]byte, 32))})
		}, invalid},
		"a second key": {func(o *owner) {
			o.shows()
			o.says("key", map[string]any{"key": public(o.owner("ANNA", "", "").key.PublicKey())})
		}, unexpected},
		"a second start": {func(o *owner) { o.shows(); o.says("start", map[string]any{}) }, unexpected},
		"a QR code": {func(o *owner) {
			o.requests()
			o.last("ready")
			o.says("start", map[string]any{"method": "m.reciprocate.v1"})
		}, method},
		"no emoji": {func(o *owner) {
			o.says("request", map[string]any{"from_device": o.device, "methods": []string{"m.qr_code.scan.v1"}, "timestamp": time.Now().UnixMilli(), "to": bots})
		}, method},
		"started by another device":      {func(o *owner) { o.requests(); o.last("ready"); o.device = "OTHER"; o.starts() }, invalid},
		"ten minutes":                    {func(o *owner) { o.shows(); time.Sleep(lasts); synctest.Wait() }, timeout},
		"the same device begins another": {func(o *owner) { o.shows(); o.id = "$2"; o.requests(); o.sent = o.sent[:1] }, unexpected},
		"another device begins another":  {func(o *owner) { o.shows(); o.owner("OTHER", o.room, "$2").requests() }, byUser},
	} {
		for _, room := range []id.RoomID{"", "!direct:x"} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := newDesk(t)
					o := d.owner("ANNA", room, "$1")
					c.does(o)
					d.cancelled(c.code)
				})
			})
		}
	}
}

// After a restart the other side is told to begin once more; nobody else is told anything.
func TestUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		o := d.owner("ANNA", "", "$1")
		o.says("mac", map[string]any{})
		if d.sent[0].Peer != (Peer{User: annas, Device: "*"}) {
			t.Errorf("sent to %+v", d.sent[0].Peer)
		}
		d.cancelled(unknown)
		for _, kind := range []string{"done", "cancel"} {
			o.says(kind, map[string]any{})
		}
		o.user = "@mallory:x"
		o.says("mac", map[string]any{})
		d.last("")
	})
}

// Close waits for no homeserver that does not answer, and nothing begins afterwards.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		sends := d.Send
		d.Send = func(ctx context.Context, _ Peer, _, _ string, _ map[string]any) error {
			<-ctx.Done()
			return ctx.Err()
		}
		o := d.owner("ANNA", "", "$1")
		request := map[string]any{"from_device": "ANNA", "methods": []string{sas}, "timestamp": time.Now().UnixMilli()}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		failed := make(chan error)
		content, _ := json.Marshal(map[string]any{"transaction_id": "$1", "from_device": "ANNA", "methods": []string{sas}, "timestamp": time.Now().UnixMilli()})
		go func() { failed <- d.Handle(ctx, Event{Type: Request, Sender: annas, Content: content}) }()
		synctest.Wait()
		began := time.Now()
		go d.Close()
		if err := <-failed; err == nil || time.Since(began) > 0 {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		d.Send = sends
		if err := o.tries("request", request); err == nil {
			t.Error("a verification begins after the end")
		}
		d.last("")
	})
}

// Events of others change nothing, and neither do repeated, old and cancelled ones.
func TestIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		o := d.owner("ANNA", "!direct:x", "$1")
		emoji := o.shows()
		mallory := d.owner("ANNA", "!direct:x", "$1")
		mallory.user = "@mallory:x"
		mallory.says("cancel", map[string]any{"code": "m.user"})
		mallory.says("mac", map[string]any{})
		elsewhere := d.owner("ANNA", "!club:x", "$1")
		elsewhere.says("mac", map[string]any{})
		o.requests()
		o.says("start", o.start)
		o.says("key", map[string]any{"key": public(o.key.PublicKey())})
		o.says("ready", map[string]any{})
		if err := d.Handle(t.Context(), Event{Type: Prefix + "mac", Sender: annas, Content: json.RawMessage(`{"mac":1}`)}); err != nil {
			t.Error(err)
		}
		d.last("")
		if w := d.Waiting(); w == nil || !slices.Equal(w.Emoji, emoji) {
			t.Errorf("waiting: %+v", w)
		}
		o.says("cancel", map[string]any{"code": "m.user"})
		if d.Waiting() != nil {
			t.Error("cancelled, and waiting")
		}
		time.Sleep(lasts)
		for _, at := range []time.Duration{-lasts - time.Second, early + time.Second} {
			d.owner("ANNA", "", "$3").says("request", map[string]any{"from_device": "ANNA", "methods": []string{sas}, "timestamp": time.Now().Add(at).UnixMilli()})
		}
		d.owner("ANNA", "!direct:x", "$4").says("request", map[string]any{"from_device": "ANNA", "methods": []string{sas}, "to": "@ben:x"})
		d.last("")
	})
}

// Requests of others are cancelled, one at a time: of each user the newest, in a room once
// that has time for it, and no more than so many.
func TestOthersAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		asks := func(user id.UserID, room id.RoomID, transaction string) {
			o := d.owner("THEIRS", room, transaction)
			o.user = user
			o.requests()
		}
		refuses := func(want ...string) {
			t.Helper()
			for range max(1, len(want)) {
				if err := d.Refuse(t.Context()); err != nil {
					t.Error(err)
				}
			}
			var got []string
			for _, s := range d.sent {
				of, _ := s.content["m.relates_to"].(map[string]any)
				transaction, _ := cmp.Or(s.content["transaction_id"], of["event_id"]).(string)
				got = append(got, transaction)
				if s.kind != "cancel" || s.content["code"] != byUser {
					t.Errorf("%s with %v", s.kind, s.content["code"])
				}
			}
			d.sent = nil
			if !slices.Equal(got, want) {
				t.Errorf("cancelled %q, want %q", got, want)
			}
		}
		refuses()
		asks("@mallory:x", "!club:x", "$1")
		asks("@eve:x", "!club:x", "$2")
		asks("@mallory:x", "!other:x", "$3")
		d.last("")
		d.busy = true
		asks("@trent:x", "", "$4")
		refuses("$4")
		refuses()
		d.busy = false
		d.fail = errors.New("the homeserver is away")
		if d.Refuse(t.Context()) == nil {
			t.Error("a cancellation that failed is none")
		}
		refuses("$2")
		refuses("$3")
		refuses()
		for n := range 2 * maxRefusals {
			asks(id.UserID(fmt.Sprintf("@%d:x", n)), "!club:x", fmt.Sprint("$", n))
		}
		o := d.owner("ANNA", "!direct:x", "$a")
		if emoji := o.shows(); len(emoji) != 7 {
			t.Errorf("an owner sees %v", emoji)
		}
		if n := len(d.refuse); n != maxRefusals {
			t.Errorf("%d wait", n)
		}
		time.Sleep(lasts)
		synctest.Wait() // the owner's has ended at this very moment
		d.cancelled(timeout)
		refuses()
	})
}

// There are 64 emoji, each with a name.
func TestEmoji(t *testing.T) {
	for _, e := range emoji {
		if picture, name, ok := strings.Cut(e, " "); !ok || picture == "" || name == "" {
			t.Errorf("%q", e)
		}
	}
	if len(emoji) != 64 {
		t.Errorf("%d emoji", len(emoji))
	}
	if got := numbers([]byte{0, 0, 0, 0, 0, 0}); !slices.Equal(got, []string{"1000", "1000", "1000"}) {
		t.Errorf("numbers %v", got)
	}
	if got := numbers([]byte{255, 255, 255, 255, 254, 0}); !slices.Equal(got, []string{"9191", "9191", "9191"}) {
		t.Errorf("numbers %v", got)
	}
}
