package bot_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/clock"
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
			k.lines(t, l)
		}
		m, events, err := k.store.Match(t.Context(), k.matches(t, bot.Query{})[0].ID)
		if err != nil || m.Result == "" {
			t.Fatal(m, err)
		}
		m.Head = "" // the proofs cover the id of the game
		for i := range events {
			events[i].Proof = ""
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
	k.ask(t, "ada", "/new aga 5x5 opponent:me") // nothing is delivered yet
	_, posts := k.say(t, "mod", "/settings language:de")
	if len(posts) != 2 || !strings.Contains(posts[0].Text, "Partie 1 beginnt") || !strings.Contains(posts[1].Text, "Wer mehr Punkte hat") || posts[0].Lang != "de" || posts[1].Controls[1].Label != "Passen" {
		t.Errorf("%+v", posts)
	}
}

// A chain to mark is suggested with its colour and how many stones it has.
func TestChainsAreSuggestedWithTheirSize(t *testing.T) {
	k := newTalk(t)
	k.lines(t, "ada> /new aga 5x5 opponent:me", "ada> /place A1", "ada> /place E5", "ada> /place A2", "ada> /pass", "ada> /pass", "ada> /pass")
	for _, x := range []struct {
		language string
		want     bot.Choice
	}{{"en", bot.Choice{Label: "A1, Black, 2 stones", Value: "A1"}}, {"de", bot.Choice{Label: "A1, Schwarz, 2 Steine", Value: "A1"}}} {
		k.speaks = map[string]string{"ada": x.language}
		r, err := k.request("ada", "/compare")
		must(t, err)
		if got := k.bot.Suggest(t.Context(), r, "dead", ""); !slices.Contains(got, x.want) {
			t.Errorf("%s: %+v", x.language, got)
		}
	}
}

// Before anything is typed, points near the last stone are suggested, at first those near the
// centre; time controls come as a whole, with what they mean.
func TestWhatIsSuggestedFirst(t *testing.T) {
	k := newTalk(t)
	first := func(command, option, typed string, n int) (values []string) {
		t.Helper()
		r, err := k.request("ada", command)
		must(t, err)
		for _, c := range k.bot.Suggest(t.Context(), r, option, typed)[:n] {
			values = append(values, c.Value)
		}
		return values
	}
	k.lines(t, "ada> /new aga 9x9 opponent:me")
	for _, x := range []struct {
		line, typed string
		want        []string
	}{
		{"", "", []string{"E5", "E4", "D5", "F5", "E6"}},
		{"ada> /place C3", "", []string{"C2", "B3", "D3", "C4", "B2"}},
		{"ada> /pass", "", []string{"C2", "B3", "D3", "C4", "B2"}},
		{"", "h", []string{"H1", "H2", "H3"}},
	} {
		if x.line != "" {
			k.lines(t, x.line)
		}
		if got := first("/place", "at", x.typed, len(x.want)); !slices.Equal(got, x.want) {
			t.Errorf("after %q and %q: %q, not %q", x.line, x.typed, got, x.want)
		}
	}
	if got := first("/new", "clock", "fischer 7", 1); got[0] != "fischer 7d+1d max 14d" {
		t.Errorf("clocks: %q", got)
	}
	for _, typed := range first("/new", "clock", "", 12) {
		if _, err := clock.Parse(typed); err != nil {
			t.Errorf("%s: %v", typed, err)
		}
	}
}

// Suggestions are in the language of whoever types.
func TestSuggestionsAreTranslated(t *testing.T) {
	k := newTalk(t)
	k.speaks = map[string]string{"bob": "de"}
	for _, x := range []struct {
		command, option, typed string
		want                   bot.Choice
	}{{"/help", "command", "pass", bot.Choice{Label: "Passen", Value: "pass"}}, {"/settings", "opens", "", bot.Choice{Label: "Moderation", Value: "moderators"}}} {
		r, err := k.request("bob", x.command)
		must(t, err)
		if got := k.bot.Suggest(t.Context(), r, x.option, x.typed); !slices.Contains(got, x.want) {
			t.Errorf("%s: %+v", x.command, got)
		}
	}
}
