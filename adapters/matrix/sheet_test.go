package matrix

import (
	"fmt"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/render"
)

// The message of an event is edited: the words and the table in letters, which every client
// shows as they are now, and no picture, which some clients load once. If somebody has removed
// it, the next one is a new message.
func TestSheetOfAnEvent(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		anna := c.room(matrixtest.Room{Name: "Go club"}, "Anna")[0]
		last := ""
		show := func(k int, says string) string {
			sent, _, err := c.a.Deliver(t.Context(), outbox.Post{ID: fmt.Sprint("e-1-", k, "-sheet"), Kind: match.Sheet, Game: "e-1", Seq: k, Attempt: 1,
				Replaces: last, Text: says, Where: match.Room{Platform: Name, Channel: anna.at.String()}, Link: "https://go.example.org/e/spring",
				Sheet: &render.Sheet{Title: "Spring", Rows: []render.SheetRow{{Number: "1", Name: fmt.Sprint("Ada", k)}}}})
			if err != nil {
				t.Fatal(err)
			}
			anna.reads(says)
			return string(sent)
		}
		last = show(1, "one game is open")
		if again := show(2, "no game is open"); again != last {
			t.Errorf("the message was %s and is %s", last, again)
		}
		said := anna.View(anna.at).From(c.user.ID)
		if len(said) != 1 || said[0].Content["msgtype"] != "m.notice" || !strings.Contains(fmt.Sprint(said[0].Content["formatted_body"]), "Ada2") {
			t.Errorf("%d messages:\n%s", len(said), anna.Sees(anna.at))
		}
		if body := fmt.Sprint(said[0].Content["body"]); !strings.Contains(body, "Open the table: https://go.example.org/e/spring") {
			t.Errorf("no address in %s", body)
		}
		_, first := readReceipt(last)
		anna.Redacts(anna.at, first)
		if again := show(3, "Ada has won"); again == last {
			t.Error("a message was edited that nobody sees")
		} else if last = again; show(4, "Ada has really won") != last {
			t.Error("the new message is not edited")
		}
	})
}
