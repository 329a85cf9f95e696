package bot_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/rules/sgf"
)

var silent = slog.New(slog.DiscardHandler)

var update = flag.Bool("update", false, "write the conversations as the bot has them now; read them before you commit")

// A channel is a chat platform that remembers what it was shown.
type channel struct {
	mu    sync.Mutex
	posts []bot.Post
	shown int // ever
}

func (*channel) Name() string                              { return "chat" }
func (*channel) Run(ctx context.Context, _ bot.Desk) error { <-ctx.Done(); return nil }

func (c *channel) Deliver(_ context.Context, p bot.Post) (bot.Receipt, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.posts = append(c.posts, p)
	c.shown++
	return bot.Receipt(strconv.Itoa(c.shown)), nil
}

func (c *channel) take() []bot.Post {
	c.mu.Lock()
	defer c.mu.Unlock()
	posts := c.posts
	c.posts = nil
	return posts
}

// talk is a bot, its store and a channel with people in it.
type talk struct {
	store   bot.Store
	bot     *bot.Bot
	channel *channel
	now     time.Time
	n       int
}

func newTalk(t testing.TB) *talk {
	t.Helper()
	st, err := store.Open(t.Context(), store.Memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	k := &talk{store: st, channel: &channel{}, now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
	k.bot = bot.New(st, bot.Config{Now: func() time.Time { return k.now }})
	return k
}

// request makes the request of a line that somebody typed.
func (k *talk) request(who, text string) (bot.Request, error) {
	command, args, err := bot.Parse(k.bot.Commands(), text)
	k.n++
	r := bot.Request{
		ID: fmt.Sprintf("chat:%d", k.n), Who: person(who), Where: bot.Room{Platform: "chat", Channel: "club"},
		Command: command, Args: args,
	}
	if o := args["opponent"]; o != "" && o != "me" {
		r.Users = map[string]bot.Who{"opponent": person(o)}
	}
	return r, err
}

func person(name string) bot.Who {
	return bot.Who{Platform: "chat", ID: strings.ToLower(name), Name: strings.ToUpper(name[:1]) + name[1:]}
}

func (k *talk) say(t testing.TB, who, text string) (bot.Answer, []bot.Post) {
	t.Helper()
	k.now = k.now.Add(time.Minute)
	r, err := k.request(who, text)
	if err != nil {
		return bot.Answer{Text: err.Error(), Private: true}, nil
	}
	if _, err := k.bot.Tick(t.Context()); err != nil {
		t.Fatal(err)
	}
	a, err := k.bot.Ask(t.Context(), r)
	if err != nil {
		t.Fatalf("%s> %s: %v", who, text, err)
	}
	if err := k.bot.Flush(t.Context(), k.channel); err != nil {
		t.Fatal(err)
	}
	return a, k.channel.take()
}

// Conversations are frozen: what is indented is what the bot said. "ada> text"
// is a line that somebody typed.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			file, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := converse(t, string(file))
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, have := strings.Split(string(file), "\n"), strings.Split(got, "\n")
			for i := range max(len(want), len(have)) {
				if i >= len(want) || i >= len(have) || want[i] != have[i] {
					t.Fatalf("%s:%d:\n%q\nthe bot says\n%q", name, i+1, slices.Concat(want, []string{"", ""})[min(i, len(want))], slices.Concat(have, []string{"", ""})[min(i, len(have))])
				}
			}
		})
	}
}

func converse(t *testing.T, script string) string {
	k := newTalk(t)
	var out strings.Builder
	block := func(head, text string) {
		for i, l := range strings.Split(text, "\n") {
			if i == 0 {
				l = head + l
			}
			if l == "" {
				continue
			}
			out.WriteString(strings.TrimRight("    "+l, " ") + "\n")
		}
	}
	for _, input := range strings.Split(strings.TrimRight(script, "\n"), "\n") {
		if strings.HasPrefix(input, " ") {
			continue
		}
		out.WriteString(input + "\n")
		if later, ok := strings.CutPrefix(input, "+ "); ok {
			// Time passes, in steps of a minute as the real one does.
			hours, err := time.ParseDuration(later)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range k.wait(t, hours) {
				show(block, p)
			}
			continue
		}
		who, text, ok := strings.Cut(input, "> ")
		if !ok || strings.HasPrefix(input, "#") {
			continue
		}
		a, posts := k.say(t, who, text)
		if a.Text != "" {
			to := ""
			if a.Private {
				to = "(to " + who + ") "
			}
			block(to, a.Text)
		}
		for _, c := range a.Controls {
			block("", "["+c.Label+"] /"+c.Command+" "+fmt.Sprint(c.Args))
		}
		if a.File != nil {
			block("", "file "+a.File.Name)
		}
		for _, p := range posts {
			show(block, p)
		}
	}
	return out.String()
}

func show(block func(head, text string), p bot.Post) {
	head := "* "
	switch {
	case p.Scene != nil:
		head = "* picture: "
	case p.Kind == bot.Remove:
		head = "* (message " + p.Replaces + " is taken away)"
	case p.Kind == bot.Status && p.Replaces != "":
		head = "* (in place of message " + p.Replaces + ") "
	}
	if p.Private {
		head += "(privately) "
	}
	for _, who := range p.Notify {
		head += "@" + who.Name + " "
	}
	block(head, p.Text)
}

// wait lets time pass, in which the bot is there and looks whenever something
// is due.
func (k *talk) wait(t testing.TB, d time.Duration) (posts []bot.Post) {
	t.Helper()
	end := k.now.Add(d)
	for k.now.Before(end) {
		next, err := k.store.NextDue(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if k.now = end; !next.IsZero() && next.Before(end) {
			k.now = next
		}
		if err := k.store.SetBookmark(t.Context(), "bot:alive", fmt.Sprint(k.now.UnixMilli())); err != nil {
			t.Fatal(err)
		}
		if _, err := k.bot.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := k.bot.Flush(t.Context(), k.channel); err != nil {
			t.Fatal(err)
		}
		posts = append(posts, k.channel.take()...)
	}
	return posts
}

// The file that the bot gives tells who made which turn and when, and is read
// back as the same game.
func TestRecord(t *testing.T) {
	k := newTalk(t)
	for _, l := range []string{"ada> /new two-button 5x5 clock:3d", "bob> /join", "ada> /place C3", "bob> /place B2", "ada> /undo", "bob> /accept",
		"ada> /place D4", "bob> /pass", "ada> /pass", "bob> /accept", "ada> /accept"} {
		who, text, _ := strings.Cut(l, "> ")
		k.say(t, who, text)
	}
	a, _ := k.say(t, "eve", "/sgf")
	if a.File == nil {
		t.Fatal(a.Text)
	}
	file := string(a.File.Data)
	for _, want := range []string{"PB[Ada]", "PW[Bob]", "OT[3 days for every turn", "Ada, 2026-11-01 12:07 UTC", "a pass hands the opponent a pass stone"} {
		if !strings.Contains(file, want) {
			t.Errorf("no %q in\n%s", want, file)
		}
	}
	rec, err := sgf.Read(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := rec.Ruleset()
	if err != nil {
		t.Fatal(err)
	}
	g, err := rec.Play(r, rec.Setup.Komi)
	if err != nil || g.Turns() != 3 || g.Result() != rec.Info.Result || g.Result() == "" {
		t.Errorf("%d turns, %q and %q, %v", g.Turns(), g.Result(), rec.Info.Result, err)
	}
}
