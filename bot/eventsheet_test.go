package bot

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
)

// aLeague returns a league whose groups have so many players each, named p1, p2 …, and no games.
func aLeague(sizes ...int) (*contest.Contest, map[match.PersonID]outbox.User) {
	c := &contest.Contest{Terms: contest.Terms{System: contest.Groups, Rules: []string{"aga@1", "button@1", "two-button@1"}}}
	c.Name, c.State, c.Rounds = "Spring", contest.Playing, make([]contest.Round, 1)
	who := map[match.PersonID]outbox.User{}
	for g, n := range sizes {
		c.Drawn = append(c.Drawn, nil)
		for range n {
			c.Drawn[g] = append(c.Drawn[g], len(c.Players)+1)
			name := fmt.Sprint("p", len(c.Players)+1)
			c.Players = append(c.Players, contest.Player{Person: match.PersonID(name), Rank: contest.NoRank})
			who[match.PersonID(name)] = outbox.User{Name: name}
		}
	}
	return c, who
}

// plays adds a table: 0 won, 1 drawn, 2 lost by Black; below 0 it is open.
func plays(c *contest.Contest, book, black, white, lost int, game string) {
	t := contest.Table{Group: 1, Book: book, Black: black, White: white, Game: match.GameID(fmt.Sprint("g", len(c.Rounds[0].Tables)+1))}
	if lost >= 0 {
		t.Result = &contest.Result{Black: 2 - lost, White: lost, Game: game, How: contest.Played}
	}
	c.Rounds[0].Tables = append(c.Rounds[0].Tables, t)
}

func sheetText(s *render.Sheet) string {
	var lines []string
	for line := range strings.Lines(s.Letters()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return strings.Join(lines, "\n")
}

// Two players meet under three rulesets, or again after one of them was replaced: the table
// has one place for that.
func TestSheetOfSeveralGames(t *testing.T) {
	c, who := aLeague(3)
	for book, lost := range []int{0, 2, 0} {
		plays(c, book, 1, 2, lost, "B+R")
	}
	plays(c, 0, 1, 3, -1, "")
	plays(c, 1, 3, 1, 1, "0")
	plays(c, 0, 2, 3, 2, "W+0.5")
	plays(c, 0, 2, 3, 0, "B+12.5")
	c.Rounds[0].Tables[5].Result.How = contest.Annulled
	got := sheetText(sheetOf(c, 0, nil, text.English, who, render.Options{}))
	want := `Spring
5 of 6 games are over

       1     2     3     Score   SOS
1  p1  ×     +2:1  …½:½      2½    7
2  p2  −1:2  ×     +12½      2     8
3  p3  …½:½  −12½  ×          ½    7`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A picture has as many groups as a phone can show, and that of a player has theirs. Whoever
// hears it gets every group in it.
func TestSheetOfManyGroups(t *testing.T) {
	c, who := aLeague(8, 8, 8, 6)
	if shown, all := shownGroups(c); shown != 3 || all != 4 {
		t.Errorf("%d of %d groups", shown, all)
	}
	titles := func(player int) (out []string) {
		s := sheetOf(c, player, nil, text.English, who, render.Options{})
		for _, g := range append([]render.Sheet{*s}, s.Below...) {
			name, _, _ := strings.Cut(g.Subtitle, " · ")
			out = append(out, name)
			if !strings.Contains(s.Text(), name) || !strings.Contains(s.Text(), g.Rows[len(g.Rows)-1].Name) {
				t.Errorf("%s is not told in %q", name, s.Text())
			}
		}
		return out
	}
	for player, want := range map[int][]string{0: {"Group A", "Group B", "Group C"}, 20: {"Group C"}, 30: {"Group D"}} {
		if diff := cmp.Diff(want, titles(player)); diff != "" {
			t.Errorf("player %d: %s", player, diff)
		}
	}
	c.Players = append(c.Players, contest.Player{Person: "late"}) // has joined, and is in no group
	if diff := cmp.Diff([]string{"Group A", "Group B", "Group C"}, titles(31)); diff != "" {
		t.Error(diff)
	}
}

// Somebody who was withdrawn before half of their games were over counts for nobody; the
// signs of results that nobody played for are explained.
func TestSheetExplainsItself(t *testing.T) {
	c, who := aLeague(3)
	plays(c, 0, 1, 2, 0, "B+T")
	plays(c, 0, 2, 3, 0, "B+F")
	plays(c, 0, 3, 1, 2, "W+3.5")
	c.Rounds[0].Tables[1].Result.How = contest.Typed
	s := sheetOf(c, 0, nil, text.English, who, render.Options{})
	if got, want := s.Notes, []string{"T out of time · * an organiser decided"}; !cmp.Equal(got, want) {
		t.Errorf("notes %q", got)
	}
	want := "Spring. all games are over. 1 p1: score 2, SOS 1. p2: won on time. p3: won by 3½. 2 p2: score 1, SOS 2. p3: won, as an organiser decided. 3 p3: score 0, SOS 3. T out of time · * an organiser decided."
	if diff := cmp.Diff(want, s.Text()); diff != "" {
		t.Error(diff)
	}
}
