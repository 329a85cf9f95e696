package matrix

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/adaptertest"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A club of forty plays a league and three rounds of Swiss, over restarts of the bot.
func TestClubOfForty(t *testing.T) {
	eight := adaptertest.Season{People: 8, Group: 4, Rounds: 1, Restarts: 1, Games: 12}
	forty := adaptertest.Season{People: 40, Group: 8, Rounds: 3, Restarts: 9, Games: 140}
	season := tier.Pick(eight, forty, forty)
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		c.rand = adaptertest.NewSeeded()
		c.start()
		v := &venue{club: c, roots: map[int]id.EventID{}}
		v.moderator = c.room(matrixtest.Room{Name: "Go club", Public: true}, adaptertest.MemberName(0))[0]
		season.Play(t, v)
	})
}

// A venue is a club that plays a season. Its moderator reads along; the others only write: with
// so many readers most of the time would go into telling them.
type venue struct {
	*club
	moderator *guest
	writers   []*mautrix.Client
	roots     map[int]id.EventID // the messages that open games, by number
}

func (v *venue) Store() bot.Store { return v.store }

// writer is the client of a member.
func (v *venue) writer(member int) *mautrix.Client {
	v.Helper()
	if member == 0 {
		return v.moderator.Client
	}
	for len(v.writers) < member {
		user := v.server.Register(v.T, adaptertest.MemberName(len(v.writers)+1))
		client := v.server.Client(v.T, v.server.URL, user)
		if _, err := client.JoinRoomByID(v.Context(), v.moderator.at); err != nil {
			v.Fatal(err)
		}
		v.writers = append(v.writers, client)
	}
	return v.writers[member-1]
}

func (v *venue) Join(member int) {
	v.Does(member, 0, "event", adaptertest.Option{Name: "what", Value: "join"})
}

func (v *venue) Does(member, game int, command string, options ...adaptertest.Option) {
	v.Helper()
	content := &event.MessageEventContent{MsgType: event.MsgText, Body: "!" + command, Mentions: &event.Mentions{}}
	html := content.Body
	for _, o := range options {
		text, link := fmt.Sprint(o.Value), fmt.Sprint(o.Value)
		if m, ok := o.Value.(adaptertest.Member); ok {
			who := v.writer(int(m)).UserID
			text, link = adaptertest.MemberName(int(m)), fmt.Sprintf(`<a href="%s">%s</a>`, who.URI().MatrixToURL(), adaptertest.MemberName(int(m)))
			content.Mentions.Add(who)
		}
		content.Body += fmt.Sprintf(" %s:%s", o.Name, text)
		html += fmt.Sprintf(" %s:%s", o.Name, link)
	}
	if sure := v.sure(command, options); sure != "" {
		content.Body, html = content.Body+sure, html+sure
	}
	if len(content.Mentions.UserIDs) > 0 {
		content.Format, content.FormattedBody = event.FormatHTML, html
	}
	if game > 0 {
		content.RelatesTo = (&event.RelatesTo{}).SetThread(v.root(game), v.root(game))
	}
	sent, err := v.writer(member).SendMessageEvent(v.Context(), v.moderator.at, event.EventMessage, content)
	if err != nil {
		v.Fatal(err)
	}
	synctest.Wait()
	v.dealt(v.moderator.at, sent.EventID)
}

// sure is what somebody adds who is sure.
func (v *venue) sure(command string, options []adaptertest.Option) string {
	for _, o := range options {
		switch o.Value {
		case "withdraw", "start", "result", "delete":
			return " confirm:yes"
		}
	}
	if command == "resign" {
		return " confirm:yes"
	}
	return ""
}

// root is the message that opens a game.
func (v *venue) root(game int) id.EventID {
	v.Helper()
	if v.roots[game] == "" {
		for _, m := range v.moderator.View(v.moderator.at).From(v.user.ID) {
			if n := opens(m); n > 0 {
				v.roots[n] = m.ID
			}
		}
	}
	if v.roots[game] == "" {
		v.Fatalf("game %d has no message\n%s", game, v.log)
	}
	return v.roots[game]
}

// opens is the number of the game that a message opens, or 0.
func opens(m *matrixtest.Message) (game int) {
	if m.Thread == "" {
		fmt.Sscanf(m.Text(), "Game %d", &game)
	}
	return game
}

func (v *venue) Passes(d time.Duration) { time.Sleep(d); synctest.Wait() }

func (v *venue) Restart() { v.restart() }

// Export asks the bot, because the file goes to an encrypted room.
func (v *venue) Export(number int) []byte {
	v.Helper()
	who := v.moderator
	answer, err := v.bot.Ask(v.Context(), bot.Request{ID: fmt.Sprint("export ", number), Who: outbox.User{Platform: Name, ID: who.ID.String(), Name: "Mod"},
		Where: match.Room{Platform: Name, Channel: who.at.String()}, Shows: true, Command: "event", Args: map[string]string{"what": "export", "event": fmt.Sprint(number)}})
	if err != nil || answer.Own().File == nil {
		v.Fatalf("no file: %+v, %v", answer, err)
	}
	return answer.Own().File.Data
}

func (v *venue) Said() (said []string) {
	for _, m := range v.moderator.View(v.moderator.at).From(v.user.ID) {
		if m.Thread == "" && m.ReplyTo == "" && opens(m) == 0 {
			first, _, _ := strings.Cut(m.Text(), "\n")
			said = append(said, first)
		}
	}
	return said
}

func (v *venue) Pinged(member int) map[int]int {
	pinged := map[int]int{}
	who := v.writer(member).UserID
	games := map[id.EventID]int{}
	for _, m := range v.moderator.View(v.moderator.at).From(v.user.ID) {
		n := opens(m)
		if games[m.ID] = n; m.Thread != "" {
			n = games[m.Thread]
		}
		for _, user := range m.Pings {
			if user == who {
				pinged[n]++
			}
		}
	}
	return pinged
}
