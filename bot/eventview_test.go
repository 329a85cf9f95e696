package bot_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// event returns the slug of the newest event's page.
func (k *talk) event(t *testing.T) string {
	t.Helper()
	heads, err := k.store.Contests(t.Context(), clubRoom, nil, 1)
	must(t, err)
	return heads[0].Page
}

// points reads "1½".
func points(t *testing.T, s string) float64 {
	t.Helper()
	whole, half := strings.CutSuffix(s, "½")
	n := 0.0
	if whole != "" {
		_, err := fmt.Sscan(whole, &n)
		must(t, err)
	}
	if half {
		n += 0.5
	}
	return n
}

// While a league is organised and played its page shows how it stands; each number is the sum
// of its terms, and these lead to games. Nobody is named unless the room is public.
func TestEventView(t *testing.T) {
	for _, pages := range []match.Pages{match.LinkPages, match.PublicPages} {
		t.Run(string(pages), func(t *testing.T) {
			k := newTalk(t)
			k.start(bot.Config{PublicURL: "https://go.example", Pages: map[string]match.Pages{"chat": pages}})
			var last bot.View
			var league *bot.EventView
			k.retell(t, "event", func(line string) {
				heads, err := k.store.Contests(t.Context(), clubRoom, nil, 1)
				must(t, err)
				if len(heads) == 0 {
					return
				}
				v := k.view(t, bot.Viewing{Event: heads[0].Page})
				if v.Path == last.Path && v.Seq < last.Seq || v.Path != "/e/"+heads[0].Page || v.Public != (pages == match.PublicPages) || v.Title != v.Event.Name {
					t.Errorf("after %s: %s %s %d, before %s %d", line, v.Title, v.Path, v.Seq, last.Path, last.Seq)
				}
				for _, g := range v.Event.Groups {
					for _, row := range g.Rows {
						for _, s := range row.Sums {
							sum := 0.0
							for _, term := range s.Terms {
								if sum += points(t, term.Value); term.Text == "" || strings.HasPrefix(term.Path, "/g/") != strings.Contains(term.Text, " of ") && !strings.Contains(term.Text, "against ") {
									t.Errorf("after %s: a term of %q is %+v", line, s.Title, term)
								}
							}
							if sum != points(t, s.Value) {
								t.Errorf("after %s: %q is %+v", line, s.Title, s.Terms)
							}
						}
						if len(row.Games) != len(g.Columns) || row.Place.Value == "" || (len(row.Place.Terms) == 0) != strings.Contains(row.Place.Why, "before half") {
							t.Errorf("after %s: the row %+v", line, row)
						}
					}
				}
				said, err := json.Marshal([]any{v.Event, v.Title, v.Text})
				must(t, err)
				if named := strings.Contains(string(said), "Ada") || strings.Contains(string(said), "Mod "); named != v.Public && len(v.Event.Seated) > 0 {
					t.Errorf("after %s: named %v: %s", line, named, said)
				}
				if last = v; v.Event.Name == "Spring" {
					league = v.Event
				}
			})
			e := league
			first := e.Groups[0].Rows[0]
			if e.Says != "over" || e.Ends != "" || len(e.Games) != 8 || len(e.Groups) != 1 || len(first.Games) != 4 || first.Sums[0].Value != "2" {
				t.Errorf("at the end: %+v", e)
			}
			if i := slices.IndexFunc(e.Decisions, func(s string) bool { return strings.Contains(s, "Before: Black wins") }); i != 0 {
				t.Errorf("the correction is not the last decision: %q", e.Decisions)
			}
			outcomes := map[string]int{}
			for _, g := range e.Games {
				if g.Open || g.Path == "" {
					t.Errorf("after the end: %+v", g)
				}
				outcomes[g.Says]++
			}
			by := map[match.Pages]string{match.LinkPages: "an organiser", match.PublicPages: "Mod"}[pages]
			if want := map[string]int{"White wins, as " + by + " decides": 1, "White wins (W+T)": 2,
				"It does not count": 2, "White wins by default": 2, "Black wins by default": 1}; !maps.Equal(outcomes, want) {
				t.Errorf("games ended %v, want %v", outcomes, want)
			}
		})
	}
}

// The page of an event is not found where the room has no pages, and for slugs of nothing.
func TestEventViewNotFound(t *testing.T) {
	k := newTalk(t)
	k.start(bot.Config{Pages: map[string]match.Pages{"chat": match.LinkPages}})
	k.lines(t, "mod> /event new title:Spring", "mod> /event publish")
	slug := k.event(t)
	for name, v := range map[string]bot.Viewing{"another slug": {Event: "abc"}, "a game's slug": {Slug: slug}, "another file": {Event: slug, File: "sgf"}} {
		if _, err := k.bot.View(t.Context(), v); !errors.Is(err, bot.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, file := range []string{"json", "csv", "games.csv"} {
		if v := k.view(t, bot.Viewing{Event: slug, File: file}); v.File == nil || len(v.File.Data) == 0 {
			t.Errorf("%s: %+v", file, v.File)
		}
	}
	k.lines(t, "mod> /settings pages:off")
	if _, err := k.bot.View(t.Context(), bot.Viewing{Event: slug}); !errors.Is(err, bot.ErrNotFound) {
		t.Errorf("pages are off: %v", err)
	}
}

// Those who watch the page of an event are told of what happens in the event and in its games.
func TestEventViewChanged(t *testing.T) {
	k := newTalk(t)
	k.start(bot.Config{Pages: map[string]match.Pages{"chat": match.LinkPages}})
	k.lines(t, "mod> /event new title:Spring size:5", "mod> /event publish", "ada> /event join", "bob> /event join", "mod> /event start confirm:yes")
	k.wait(t, time.Minute)
	m := k.matches(t, bot.Query{Where: clubRoom})[0]
	who, err := k.store.People(t.Context(), []match.PersonID{m.Black})
	must(t, err)
	for _, c := range []struct {
		line    string
		changes bool
	}{{who[m.Black].ID + "> /place C3", true}, {"eve> /event", false}, {"mod> /event extend until:3d", true}, {"eve> /new aga 5x5", false}} {
		v := k.view(t, bot.Viewing{Event: k.event(t), Watch: true})
		k.lines(t, c.line)
		changed := false
		select {
		case <-v.Changed:
			changed = true
		default:
		}
		now := k.view(t, bot.Viewing{Event: k.event(t), Watch: true})
		if changed != c.changes || (now.Seq > v.Seq) != c.changes {
			t.Errorf("%s: told %v, %d after %d", c.line, changed, now.Seq, v.Seq)
		}
	}
}

// Somebody finds the pages of the running events that they are in.
func TestViewMyEvents(t *testing.T) {
	k := newTalk(t)
	k.start(bot.Config{Pages: map[string]match.Pages{"chat": match.LinkPages}})
	k.lines(t, "mod> /event new title:Spring", "mod> /event publish", "ada> /event join", "mod@attic> /settings pages:off", "mod@attic> /event new title:Attic",
		"mod@attic> /event publish", "ada@attic> /event join", "mod@hall> /event new title:Old", "mod@hall> /event publish", "ada@hall> /event join", "mod@hall> /event cancel confirm:yes")
	for who, want := range map[string]string{"ada": "Spring: sign-up is open", "bob": ""} {
		got := ""
		for _, e := range k.view(t, bot.Viewing{By: person(who)}).MyEvents {
			if got += e.Text; e.Path != "/e/"+k.event(t) {
				t.Errorf("%s is at %s", e.Text, e.Path)
			}
		}
		if got != want {
			t.Errorf("%s is in %q, want %q", who, got, want)
		}
	}
}

// Somebody from the waiting list has the number of the seat that they took, also in the picture,
// and only the game that began again is shown.
func TestEventViewReplaced(t *testing.T) {
	for system, games := range map[string][]int{"groups": {0, 1, 1, 0}, "swiss": {1, 1}} {
		k := newTalk(t)
		k.start(bot.Config{Pages: map[string]match.Pages{"chat": match.LinkPages}})
		k.lines(t, "mod> /event new seats:2 size:3 system:"+system, "mod> /event publish", "ada> /event join", "bob> /event join", "eve> /event join",
			"mod> /event start confirm:yes", "mod> /event replace player:ada")
		v := k.view(t, bot.Viewing{Event: k.event(t)})
		var page, picture []string
		var shown []int
		for _, row := range v.Event.Groups[0].Rows {
			page = append(page, row.Name)
			for _, g := range row.Games {
				shown = append(shown, len(g))
			}
		}
		for _, row := range v.Sheet.Rows {
			picture = append(picture, row.Name)
		}
		if want := []string{"Player 1", "Player 2"}; !slices.Equal(page, want) || !slices.Equal(picture, want) || !slices.Equal(shown, games) {
			t.Errorf("%s: the page has %q with %v games, the picture %q, want %q with %v", system, page, shown, picture, want, games)
		}
	}
}

// Players who share a place have a number each, by which page and picture refer to opponents.
func TestEventViewOfSharedPlaces(t *testing.T) {
	k := newTalk(t)
	k.start(bot.Config{Pages: map[string]match.Pages{"chat": match.PublicPages}})
	k.lines(t, "mod> /event new size:5 system:swiss rounds:2", "mod> /event publish", "ada> /event join", "bob> /event join", "eve> /event join", "kim> /event join",
		"mod> /event start confirm:yes")
	k.wait(t, time.Minute)
	k.lines(t, "mod> /event result table:1 as:draw confirm:yes", "mod> /event result table:2 as:black confirm:yes")
	v := k.view(t, bot.Viewing{Event: k.event(t)})
	rows, places := v.Event.Groups[0].Rows, []string{"1", "2", "2", "4"}
	for i, row := range rows {
		drawn := v.Sheet.Rows[i]
		if n := strconv.Itoa(i + 1); strconv.Itoa(row.Number) != n || drawn.Number != n || drawn.Name != row.Name || row.Place.Value != places[i] {
			t.Errorf("row %s is number %d, %s in the picture; the place of %s, %s in the picture, is %s", n, row.Number, drawn.Number, row.Name, drawn.Name, row.Place.Value)
		}
		game := row.Games[0][0]
		score, against, _ := strings.Cut(game.Text, " / ")
		n, err := strconv.Atoi(against)
		if must(t, err); places[i] == "2" && score != "½" || drawn.Games[0].Against != against || !strings.Contains(game.Said, rows[n-1].Name) || !strings.Contains(drawn.Games[0].Said, rows[n-1].Name) {
			t.Errorf("%s meets number %s, %s: %q; in the picture %s, %q", row.Name, against, rows[n-1].Name, game.Said, drawn.Games[0].Against, drawn.Games[0].Said)
		}
	}
}

// Before the first result all players share a place. Each place names a few of them.
func TestEventViewOfManyEquals(t *testing.T) {
	k := newTalk(t)
	k.start(bot.Config{Pages: map[string]match.Pages{"chat": match.LinkPages}})
	k.lines(t, "mod> /event new size:5 system:swiss rounds:2", "mod> /event publish")
	for n := range 12 {
		k.lines(t, fmt.Sprintf("p%d> /event join", n+1))
	}
	k.lines(t, "mod> /event start confirm:yes")
	for _, row := range k.view(t, bot.Viewing{Event: k.event(t)}).Event.Groups[0].Rows {
		if n := strings.Count(row.Place.Why, "Player"); n != 8 || !strings.Contains(row.Place.Why, "and 3 more") {
			t.Errorf("the place of %s names %d others: %s", row.Name, n, row.Place.Why)
		}
	}
}
