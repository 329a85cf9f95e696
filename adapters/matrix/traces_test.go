package matrix

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// Of somebody who is forgotten nothing is left in the file of the database, nor in
// its write-ahead log.
func TestErasedLeavesNoTraces(t *testing.T) {
	ctx := t.Context()
	file := filepath.Join(t.TempDir(), "halfpoint.db")
	_, db, closed := openStore(t, file)
	defer closed()
	q := &queue{db}
	const anna, room = id.UserID("@zyxqanna:x"), id.RoomID("!room:x")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	b := batch{token: "t", marks: map[[2]string]string{{"direct", anna.String()}: "!own:x", {"making", anna.String()}: "word", {"unread", anna.String() + " !room:x"}: "1"}}
	for i := range 60 {
		sender := anna
		if i%2 > 0 {
			sender = id.UserID(fmt.Sprintf("@stays%d:x", i))
		}
		b.events = append(b.events, &event.Event{ID: id.EventID(fmt.Sprintf("$%d", i)), RoomID: room, Sender: sender, Type: event.EventMessage,
			Content: event.Content{Raw: map[string]any{"body": fmt.Sprintf("said by %s: %0200d", sender, i)}}})
	}
	_, err := q.take(ctx, b, now)
	must(err)
	rows, err := q.rows(ctx, "state = $1 ORDER BY n", waiting)
	must(err)
	for i, r := range rows {
		must(q.settle(ctx, r, []string{accepted, poison, keyless}[i/2%3], "session"))
	}
	must(q.erase(ctx, anna))
	var all []byte
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(file + suffix)
		must(err)
		all = append(all, data...)
	}
	if n := bytes.Count(all, []byte("zyxq")); n > 0 {
		t.Errorf("%d traces of her", n)
	}
	if n := bytes.Count(all, []byte("said by @stays")); n < 20 {
		t.Errorf("%d traces of others", n)
	}
}
