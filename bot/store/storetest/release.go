package storetest

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/render"
)

// Unpack copies a database of bot/store/testdata/release to a file of the test's own.
func Unpack(t testing.TB, path string) string {
	t.Helper()
	packed, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	in, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "halfpoint.db")
	out, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// Tells returns how a bot on a database answers somebody's questions in a room, at
// a moment. It changes the file: the answers are stored.
func Tells(t testing.TB, file string, now time.Time, who outbox.User, where match.Room, questions ...string) string {
	t.Helper()
	st, err := store.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	b := bot.New(st, bot.Config{Now: func() time.Time { return now }})
	var out strings.Builder
	for i, question := range questions {
		command, args, err := bot.Parse(question)
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.Ask(t.Context(), bot.Request{ID: fmt.Sprint(who.ID, i, question), Who: who, Where: where, Command: command, Args: args, Shows: true})
		if err != nil {
			t.Fatal(err)
		}
		a := got.Own()
		fmt.Fprintf(&out, "> %s\n%s\n", question, bot.Fill(a.Text, bot.Format{}))
		if s := a.Scene; s != nil {
			fmt.Fprintf(&out, "%d %s\n%s\n", s.Move, s.Result, render.TextBoard(*s))
		}
		if a.File != nil {
			fmt.Fprintf(&out, "%s\n%s\n", a.File.Name, a.File.Data)
		}
	}
	return out.String()
}
