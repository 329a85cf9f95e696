package matrix

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

// letsIn lets the bot in as soon as its log asks for that, and returns the way to wait
// until it has.
func (c *club) letsIn(accounts *matrixtest.Accounts) (done func()) {
	asked := regexp.MustCompile(`msg="matrix: waiting for a login.* code=(\S+) `)
	before := len(asked.FindAllString(c.log.String(), -1))
	over := make(chan struct{})
	go func() {
		defer close(over)
		for late := time.Now().Add(time.Hour); time.Now().Before(late); time.Sleep(time.Second) {
			if all := asked.FindAllStringSubmatch(c.log.String(), -1); len(all) > before {
				time.Sleep(20 * time.Second) // the owner types it
				accounts.Approve(all[len(all)-1][1], "")
				return
			}
		}
		c.Error("the log asks for no login")
	}()
	return func() { <-over }
}

// On a homeserver that manages accounts in the browser, to which somebody has given
// cross-signing keys before, the bot is let in, starts unsigned with an address in the
// log, and plays. When its login ends it asks for another, and what people said meanwhile
// is answered.
func TestPlaysWhereAccountsAreManaged(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		c.start() // elsewhere
		c.halt()
		proxy := s.Proxy(t)
		accounts := proxy.Accounts(t, c.user)
		c.file = filepath.Join(databaseDir(t), "halfpoint.db")
		c.cfg.Homeserver, c.cfg.Password, c.cfg.RecoveryFile = proxy.URL, secret.Text{}, c.file+".recovery-key"
		done := c.letsIn(accounts)
		c.start()
		done()
		if e2ee.Available && !strings.Contains(c.log.String(), `address="`+accounts.Page()) {
			t.Error("the log does not show where new keys are approved")
		}
		anna := c.room(matrixtest.Room{}, "Anna")[0]
		opens := func() bool {
			m := anna.Says(anna.at, "!new two-button 9x9")
			c.dealt(anna.at, m)
			return true
		}
		opens()
		time.Sleep(time.Hour) // tokens come and go
		opens()
		games := func() int { return strings.Count(anna.Sees(anna.at), "Two Button Go") }
		seen := games()
		done = c.letsIn(accounts)
		accounts.End("")
		said := anna.Says(anna.at, "!new two-button 9x9")
		done()
		c.dealt(anna.at, said)
		caughtUp(anna.Player, anna.at)
		if now := games(); now <= seen || seen == 0 {
			t.Errorf("before the login ended Anna saw %d games, then %d\n%s", seen, now, anna.Sees(anna.at))
		}
		c.restart() // nobody is asked
		if n := strings.Count(c.log.String(), "waiting for a login"); n != 2 {
			t.Errorf("the log asks for a login %d times", n)
		}
	})
}

// A homeserver that wants the bot to wait with its login is asked again when it allows.
func TestLoginWaits(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		proxy := s.Proxy(t)
		c.cfg.Homeserver = proxy.URL
		login := matrixtest.On("POST", "/v3/login$")
		proxy.Once(login, matrixtest.TooMany(90*time.Second))
		c.start()
		asked := proxy.Requests(login)
		if len(asked) != 2 || asked[1].At.Sub(asked[0].At) < 90*time.Second {
			t.Errorf("%d logins", len(asked))
		}
	})
}
