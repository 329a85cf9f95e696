package matrixtest

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

func TestStrangersReadEachOther(t *testing.T) {
	tier.Change(t)
	t.Parallel()
	s := Shared(t)
	anna, zoe := s.Stranger(t, "Anna"), s.Stranger(t, "Zoe")
	board := image.NewGray(image.Rect(0, 0, 32, 20))
	board.SetGray(3, 4, color.Gray{200})
	var data bytes.Buffer
	if err := png.Encode(&data, board); err != nil {
		t.Fatal(err)
	}
	for _, encrypted := range []bool{false, true} {
		room := anna.Makes(Room{Name: "Go", Encrypted: encrypted, Invite: []id.UserID{zoe.ID}})
		zoe.AwaitInvite(room)
		zoe.Joins(room)
		anna.AwaitMember(room, zoe.ID)
		root := anna.Says(room, "!new 9x9", zoe.ID)
		zoe.AwaitEvent(room, root)
		placed := zoe.SaysIn(room, root, "!place D4")
		anna.AwaitEvent(room, placed)
		zoe.Edits(room, placed, "!place E5")
		reaction := anna.Reacts(room, placed, "✅")
		shown := anna.Shows(room, root, "board.png", "Black E5.", data.Bytes())
		slip := zoe.Says(room, "oops")
		anna.AwaitEvent(room, slip)
		zoe.Redacts(room, slip)

		check := func(who *Stranger, event id.EventID, want Sight) Sight {
			t.Helper()
			got := who.AwaitSight(room, want.Body(), func(s Sight) bool {
				return s.ID == event && s.Failure == "" && s.Redacted == want.Redacted && s.Body() == want.Body()
			})
			if got.Thread != want.Thread || got.Edited != want.Edited || got.ReplyTo != "" || len(got.Mentions) != len(want.Mentions) {
				t.Errorf("%s sees %+v", who.ID, got)
			}
			if want.Redacted {
				return got
			}
			if got.Encrypted != encrypted {
				t.Errorf("%s sees %+v", who.ID, got)
			}
			if encrypted && (got.Shield != "none" || !got.SignedByOwner || got.Device == "") {
				t.Errorf("%s sees %+v", who.ID, got)
			}
			if encrypted != (got.Content["body"] != nil && !contains(got.Clear, "body")) {
				t.Errorf("the homeserver sees %v of %+v", got.Clear, got)
			}
			return got
		}
		says := func(body string) Sight { return Sight{Content: map[string]any{"body": body}} }
		want := says("!new 9x9")
		want.Mentions = []id.UserID{zoe.ID}
		check(zoe, root, want)
		want = says("!place E5")
		want.Thread, want.Edited = root, true
		if got := check(anna, placed, want); got.Device != zoe.Device && encrypted {
			t.Errorf("Zoe's device is %s, not %s", zoe.Device, got.Device)
		}
		want = says("Black E5.")
		want.Thread = root
		got := check(zoe, shown, want)
		if got.Media == nil || got.Media.Encrypted != encrypted || got.Media.Width != 32 || got.Media.Height != 20 || got.Media.Size != data.Len() {
			t.Fatalf("Zoe sees the picture %+v", got.Media)
		}
		if file, err := zoe.File(got); err != nil || !bytes.Equal(file, data.Bytes()) {
			t.Errorf("Zoe has %d other bytes, %v", len(file), err)
		}
		if c := color.GrayModel.Convert(zoe.Picture(got).At(3, 4)).(color.Gray); c.Y != 200 {
			t.Errorf("the picture is %v", c)
		}
		if got := zoe.AwaitEvent(room, reaction); got.Type != "m.reaction" || got.Relation != "m.annotation" || got.Target != placed || got.Key != "✅" || got.Encrypted {
			t.Errorf("Zoe sees the reaction %+v", got)
		}
		check(anna, slip, Sight{Redacted: true})
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// An altered file must not pass as a picture: nothing else here would say that
// the hash is looked at.
func TestAStrangerRefusesAnAlteredPicture(t *testing.T) {
	tier.Change(t)
	t.Parallel()
	s := Shared(t)
	p := s.Proxy(t)
	anna := s.Stranger(t, "Anna")
	zoe := NewStranger(t, p.URL, s.Register(t, "Zoe"))
	room := anna.Makes(Room{Encrypted: true, Invite: []id.UserID{zoe.ID}})
	zoe.AwaitInvite(room)
	zoe.Joins(room)
	anna.AwaitMember(room, zoe.ID)
	p.Always(Downloading, Changes(func(body []byte) []byte {
		body[len(body)/2] ^= 1
		return body
	}))
	var data bytes.Buffer
	if err := png.Encode(&data, image.NewGray(image.Rect(0, 0, 9, 9))); err != nil {
		t.Fatal(err)
	}
	shown := anna.Shows(room, "", "board.png", "", data.Bytes())
	if got := zoe.AwaitEvent(room, shown); got.Media == nil || got.Media.Error != "the hash of the encrypted file is another" {
		t.Errorf("Zoe sees %+v", got.Media)
	}
}

// A device that its owner has not signed gets a warning beside one that they
// have: the shield that the adapter's tests want to be gone can be seen.
func TestAStrangerWarnsOfADeviceThatNobodySigned(t *testing.T) {
	tier.Change(t)
	t.Parallel()
	s := Shared(t)
	anna, zoe := s.Stranger(t, "Anna"), s.Stranger(t, "Zoe")
	room := anna.Makes(Room{Encrypted: true, Invite: []id.UserID{zoe.ID}})
	zoe.AwaitInvite(room)
	zoe.Joins(room)
	anna.AwaitMember(room, zoe.ID)
	thief := newStranger(t, s.URL, zoe.User, false)
	whose := map[id.EventID]*Stranger{}
	for _, who := range []*Stranger{zoe, thief} {
		said := who.Says(room, "who am I?")
		anna.AwaitEvent(room, said)
		whose[said] = who
	}
	// By now Anna knows of both devices; their order is another each time.
	for range 5 {
		seen := 0
		for _, got := range anna.Looks(room) {
			who := whose[got.ID]
			if who == nil {
				continue
			}
			seen++
			shield, reason := "none", ""
			if who == thief {
				shield, reason = "red", "unsigned device"
			}
			if got.Device != who.Device || got.SignedByOwner != (who == zoe) || got.Shield != shield || got.ShieldReason != reason {
				t.Errorf("Anna sees %+v", got)
			}
		}
		if seen != 2 {
			t.Errorf("Anna sees %d of two messages", seen)
		}
	}
}
