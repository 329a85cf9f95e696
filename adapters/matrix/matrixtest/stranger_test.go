package matrixtest

import (
	"bytes"
	"image"
	"image/png"
	"testing"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

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
	shown := anna.Shows(room, data.Bytes())
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
