package matrix

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"maunium.net/go/mautrix"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// The bot sets name and avatar once. What the account has already, and what somebody changes
// afterwards, stays until the owner chooses something else.
func TestProfile(t *testing.T) {
	t.Parallel()
	matrixtest.Bubble(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		proxy := s.Proxy(t)
		c.cfg.Homeserver = proxy.URL
		asked := matrixtest.On("", "/profile/|/media/v3/upload$")
		client := s.Client(t, s.URL, c.user)
		name := func(n string) {
			t.Helper()
			if err := client.SetDisplayName(t.Context(), n); err != nil {
				t.Fatal(err)
			}
		}
		is := func(requests int, name string) (now *mautrix.RespUserProfile) {
			t.Helper()
			proxy.Forget()
			c.start()
			synctest.Wait()
			if got := proxy.Requests(asked); len(got) != requests {
				t.Errorf("%d requests, want %d: %s", len(got), requests, matrixtest.Paths(got))
			}
			now, err := client.GetProfile(t.Context(), c.user.ID)
			if err != nil {
				t.Fatal(err)
			}
			if now.DisplayName != name {
				t.Errorf("the name is %q, want %q", now.DisplayName, name)
			}
			c.halt()
			return now
		}
		name(c.user.ID.Localpart())
		c.cfg.Profile = Profile{Name: "Halfpoint", Avatar: []byte("picture")}
		refusal := proxy.Always(matrixtest.On("PUT", "/avatar_url$"), matrixtest.Fails(http.StatusForbidden, "M_FORBIDDEN"))
		if now := is(5, "Halfpoint"); !now.AvatarURL.IsEmpty() || !strings.Contains(c.log.String(), "setting the account's profile failed") {
			t.Error("a refusal is not in the log")
		}
		refusal.Stop()
		first := is(3, "Halfpoint").AvatarURL // the avatar again
		if first.IsEmpty() {
			t.Error("no avatar")
		}
		is(0, "Halfpoint")
		name("Half a point")
		is(0, "Half a point")
		c.cfg.Profile.Name, c.cfg.Profile.NameChosen = "Go", true
		is(1, "Go")
		name("Half a point")
		is(0, "Half a point")
		c.cfg.Profile.Name, c.cfg.Profile.NameChosen = "Point", false
		is(1, "Half a point") // it has one
		c.cfg.Profile.NameChosen = true
		is(1, "Point")
		name("Half a point")
		c.cfg.Profile.Avatar = []byte("another picture") // of a later version
		if now := is(1, "Half a point"); now.AvatarURL != first {
			t.Error("the avatar was replaced")
		}
	})
}
