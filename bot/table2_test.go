package bot

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The lesson on Ikeda's Table 2 tells the numbers of that table, and what it
// reckons from them is what his formulas make of them. (That the formulas are
// right is what the tests of rules find out.) A picture has room for about 190
// characters of a step, so the table takes two.
func TestLessonTellsTable2(t *testing.T) {
	// Moves, then stones and passes in the final stage, stones in the end, territory.
	type side struct{ m, t, p, q, s int }
	black, white := side{40, 2, 1, 33, 10}, side{39, 2, 1, 27, 11}
	lost := func(x side) int { return x.m + x.t - x.q + x.p }
	last := black.m - white.m
	territory := (black.s - lost(black)) - (white.s - lost(white))
	area := (black.q + black.s) - (white.q + white.s) - last
	want := [][]int{
		{black.m, white.m, black.t, black.p, black.q, white.q, black.s, white.s},
		slices.Concat(
			[]int{black.m, black.t, black.q, black.p, lost(black), white.m, white.t, white.q, white.p, lost(white)},
			[]int{black.s, lost(black), white.s, lost(white), territory},
			[]int{last, black.q, black.s, white.q, white.s, last, area},
		),
	}
	if black.t != white.t || black.p != white.p || territory != area {
		t.Fatal("each made as many moves after the preliminary end, and both books give one number")
	}

	i := slices.IndexFunc(lessons(), func(l lesson) bool { return l.id == "ikeda" })
	steps := lessons()[i].steps
	at := slices.IndexFunc(steps, func(s lessonStep) bool { return strings.HasPrefix(s.says, "Ikeda's table") })
	if at < 0 || at+len(want) > len(steps) {
		t.Fatalf("no step tells the table: %d", at)
	}
	for n, want := range want {
		says := steps[at+n].says
		var got []int
		for _, word := range regexp.MustCompile(`\d+`).FindAllString(says, -1) {
			number, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, number)
		}
		if !slices.Equal(got, want) {
			t.Errorf("step %d tells\n%v, the table gives\n%v\n%s", at+n+1, got, want, says)
		}
		if len([]rune(says)) > 190 {
			t.Errorf("step %d has %d characters", at+n+1, len([]rune(says)))
		}
	}
}
