package bot_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/render"
)

// In whatever language a game is spoken of, and whenever that changes, what is
// kept of it is the same.
func TestLanguageChangesNothingThatIsKept(t *testing.T) {
	lines := []string{"ada> /new two-button 5x5 clock:3d", "bob> /join", "ada> /place C3", "", "bob> /place B2", "ada> /undo", "bob> /accept",
		"ada> /place D4", "", "bob> /pass", "ada> /pass", "bob> /dead D4", "bob> /accept", "ada> /accept", "ada> /comment Fine."}
	kept := func(change func(k *talk, n int)) string {
		k := newTalk(t)
		for i, l := range lines {
			if l == "" {
				now := k.now
				change(k, i)
				k.now = now
				continue
			}
			who, text, _ := strings.Cut(l, "> ")
			k.say(t, who, text)
		}
		ms, err := k.store.Matches(t.Context(), bot.Query{})
		if err != nil || len(ms) != 1 {
			t.Fatal(ms, err)
		}
		m, events, err := k.store.Match(t.Context(), ms[0].ID)
		if err != nil || m.Result == "" {
			t.Fatal(m, err)
		}
		return strings.NewReplacer(string(m.Black), "Ada", string(m.White), "Bob").Replace(fmt.Sprint(m.Standing, events))
	}
	english := kept(func(*talk, int) {})
	other := kept(func(k *talk, i int) {
		k.speaks = map[string]string{"ada": "de", "bob": "ja", "": []string{"de", "ja"}[i%2]}
		k.say(t, "mod", "/settings language:"+[]string{"ja", "de"}[i%2])
	})
	if english != other {
		t.Errorf("in English\n%s\nand with changes of language\n%s", english, other)
	}
}

// A post that was owed before the language of its room changed is worded in that
// of now.
func TestPostsAreWordedWhenTheyAreDelivered(t *testing.T) {
	k := newTalk(t)
	r, err := k.request("ada", "/new aga 5x5 opponent:me")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.bot.Ask(t.Context(), r); err != nil { // nothing is delivered yet
		t.Fatal(err)
	}
	_, posts := k.say(t, "mod", "/settings language:de")
	if len(posts) != 2 || !strings.HasPrefix(posts[0].Text, "Partie 1 beginnt: AGA") || posts[0].Lang != "de" || posts[1].Controls[1].Label != "Passen" {
		t.Errorf("%+v", posts)
	}
}

// Two people who share a room are each told alone in their own language, and
// together in that of the room. Nobody's is that of the room by accident.
func TestTwoLanguages(t *testing.T) {
	k := newTalk(t)
	k.speaks = map[string]string{"ada": "ja-JP", "bob": "de"}
	k.say(t, "ada", "/new aga 5x5")
	_, posts := k.say(t, "bob", "/join")
	if len(posts) != 2 || !strings.HasPrefix(posts[0].Text, "Game 1 begins") || posts[0].Lang != "en" {
		t.Errorf("%+v", posts)
	}
	for who, want := range map[string]string{"ada": "対局1：AGA。", "bob": "Partie 1: AGA.", "eve": "Game 1: AGA."} {
		a, _ := k.say(t, who, "/board")
		if !strings.HasPrefix(a.Text, want) || !strings.Contains(render.Text(*a.Scene), map[string]string{"ada": "黒の番。", "bob": "Schwarz am Zug.", "eve": "Black to play."}[who]) {
			t.Errorf("%s is told %q, %q", who, a.Text, render.Text(*a.Scene))
		}
		shared, _ := k.say(t, who, "/board share:yes")
		if shared.Private || !strings.HasPrefix(shared.Text, "Game 1: AGA.") || shared.Lang != "en" {
			t.Errorf("%s shows everybody %+v", who, shared)
		}
		if _, err := k.request(who, "/plaice D4"); err == nil || bot.Explain(err, k.speaks[who]) == "" {
			t.Error("no mistake")
		}
	}
	// Suggestions are in the language of who types.
	r, err := k.request("bob", "/help")
	if err != nil {
		t.Fatal(err)
	}
	if got := k.bot.Suggest(t.Context(), r, "command", "pass"); len(got) != 1 || got[0] != (bot.Choice{Label: "Passen", Value: "pass"}) {
		t.Errorf("%+v", got)
	}
	r.Command = "settings"
	if got := k.bot.Suggest(t.Context(), r, "opens", ""); !slices.Contains(got, bot.Choice{Label: "Moderation", Value: "moderators"}) {
		t.Errorf("%+v", got)
	}
	// Somebody whose program does not say reads the room's language.
	k.say(t, "mod", "/settings language:de")
	if a, _ := k.say(t, "eve", "/score game:9"); !strings.HasPrefix(a.Text, "Eine Partie 9 gibt es hier nicht") {
		t.Errorf("%q", a.Text)
	}
	k.speaks["fay"] = "fr" // which the bot does not speak
	if a, _ := k.say(t, "fay", "/score game:9"); !strings.HasPrefix(a.Text, "There is no game 9") {
		t.Errorf("%q", a.Text)
	}
}

// A reminder that somebody alone gets is in the language that they have chosen.
func TestReminderInOnesOwnLanguage(t *testing.T) {
	k := newTalk(t)
	for _, l := range []string{"ada> /remind direct", "ada> /settings language:ja whose:mine", "ada> /new aga 5x5 clock:3d opponent:bob", "bob> /join"} {
		who, text, _ := strings.Cut(l, "> ")
		k.say(t, who, text)
	}
	for _, p := range k.wait(t, 70*time.Hour) {
		if p.Private && p.Kind == match.Status {
			if !strings.HasPrefix(p.Text, "対局1：あなたの番です（黒）。") || p.Lang != "ja" {
				t.Errorf("%q", p.Text)
			}
			return
		}
	}
	t.Error("no reminder")
}

// What one person alone sees is drawn in the theme that they have chosen, and
// what everybody sees in that of the room.
func TestOnesOwnTheme(t *testing.T) {
	k := newTalk(t)
	k.say(t, "mod", "/settings theme:book coordinates:numbers")
	k.say(t, "ada", "/settings theme:slate whose:mine")
	_, posts := k.say(t, "ada", "/new aga 5x5 opponent:me")
	look := func(s *render.Scene) string { return s.Look.Theme + " " + s.Look.Coordinates }
	if got := look(posts[1].Scene); got != "book numbers" {
		t.Errorf("the room sees %s", got)
	}
	for line, want := range map[string]string{
		"ada> /board":             "slate numbers",
		"ada> /board share:yes":   "book numbers",
		"ada> /review 0":          "slate numbers",
		"bob> /board":             "book numbers",
		"ada> /show .X./XO.":      "book numbers", // for everybody, unless they say
		"ada> /show share:no .X.": "slate numbers",
		"ada> /demo 1":            "slate numbers",
		"bob> /demo 1 share:yes":  "book numbers",
	} {
		who, text, _ := strings.Cut(line, "> ")
		a, _ := k.say(t, who, text)
		switch {
		case a.Scene == nil:
			t.Errorf("%s: no picture: %q", line, a.Text)
		case look(a.Scene) != want:
			t.Errorf("%s: drawn as %s, want %s", line, look(a.Scene), want)
		}
	}
}
