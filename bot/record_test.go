package bot_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// shelved returns the record of a page.
func (k *talk) shelved(t *testing.T, path string) bot.Record {
	t.Helper()
	r, err := k.store.(interface {
		Record(ctx context.Context, slug string) (bot.Record, error)
	}).Record(t.Context(), strings.TrimPrefix(path, "/p/"))
	must(t, err)
	return r
}

// What people show to a room that has pages gets a page, the same each time, that looks like a
// position and not like a new game. It goes when the room has pages no more.
func TestShownPositionsHavePages(t *testing.T) {
	k := newTalk(t)
	k.start(bot.Config{PublicURL: "https://go.example", Pages: map[string]match.Pages{"chat": match.LinkPages}})
	shown := k.ask(t, "ada", "/show .X./XO./...")
	if !strings.HasPrefix(shown.Path, "/p/") || shown.Link != "https://go.example"+shown.Path {
		t.Fatalf("the page is %q at %q", shown.Path, shown.Link)
	}
	if again := k.ask(t, "bob", "/show .X./XO./... rules:tromp-taylor"); again.Path != shown.Path {
		t.Errorf("shown again: %q, then %q", shown.Path, again.Path)
	}
	if other := k.ask(t, "bob", "/show .X./XO./... rules:aga"); other.Path == shown.Path || other.Path == "" {
		t.Errorf("by other rules: %q", other.Path)
	}
	for _, line := range []string{"/show .X./XO./... share:no", "/demo", "/demo buttons", "/score"} {
		if p := k.ask(t, "ada", line); p.Link != "" {
			t.Errorf("%s leads to %s", line, p.Link)
		}
	}
	for who, want := range map[string]bool{"ada": true, "eve": false} { // who showed it can ask for what is kept
		if a := k.ask(t, who, "/privacy export"); strings.Contains(string(a.File.Data), `"page": "`+shown.Path+`"`) != want {
			t.Errorf("%s is told:\n%s", who, a.File.Data)
		}
	}
	record := k.shelved(t, shown.Path)
	v := k.view(t, bot.Viewing{Record: &record})
	if !slices.Equal(v.Scene.Board, []string{".X.", "XO.", "..."}) || v.Scene.Told != shown.Scene.Told || len(v.Scene.Rows) != len(shown.Scene.Rows) || v.Scene.Black.Name != "" || v.Rules != "tromp-taylor" || len(v.Guessed) > 0 {
		t.Errorf("the page shows %q, %q, %+v, %q", v.Scene.Board, v.Scene.Told, v.Scene.Rows, v.Guessed)
	}
	lesson := k.ask(t, "ada", "/demo pass-fight step:2 share:yes")
	taught := k.shelved(t, lesson.Path)
	if v := k.view(t, bot.Viewing{Record: &taught}); !slices.Equal(v.Scene.Board, lesson.Scene.Board) || v.About == "" {
		t.Errorf("the page of a lesson shows %q, %q", v.Scene.Board, v.About)
	}
	for _, pages := range []string{"off", "link"} {
		k.now = k.now.Add(time.Minute)
		k.lines(t, "mod> /settings pages:"+pages)
		if _, err := k.bot.View(t.Context(), bot.Viewing{Record: &record}); !errors.Is(err, bot.ErrNotFound) {
			t.Errorf("after pages:%s: %v", pages, err)
		}
	}
}

// Without pages, or an address for them, nothing is stored.
func TestShownPositionsWithoutPages(t *testing.T) {
	for _, c := range []bot.Config{{PublicURL: "https://go.example"}, {Pages: map[string]match.Pages{"chat": match.LinkPages}}} {
		k := newTalk(t)
		k.start(c)
		if p := k.ask(t, "ada", "/show .X./XO./..."); p.Link != "" || p.Path != "" {
			t.Errorf("%+v: a page at %q", c, p.Path)
		}
	}
}
