package sgf

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

// The changes from row to row add up to the difference of the margins, and the
// sentence names every one of them, in every record of the repository and in
// games played at random.
func TestWhy(t *testing.T) {
	sentences := 0
	for file, rec := range everyRecord(t) {
		sentences += checkWhy(t, file, rec.Compare(Count{}))
		sentences += checkWhy(t, file, rec.Compare(Count{DefaultKomi: true}))
	}
	for seed := range uint64(100) {
		r := rules.Catalogue[seed%uint64(len(rules.Catalogue))]
		sentences += checkWhy(t, r.Name, Of(randomGame(t, rand.New(rand.NewPCG(seed, 5)), r)).Compare(Count{}))
	}
	if sentences < 1000 {
		t.Errorf("only %d sentences", sentences)
	}
}

func checkWhy(t *testing.T, name string, rows []Row) (sentences int) {
	t.Helper()
	var above *Row
	for i := range rows {
		row := &rows[i]
		why := row.Why()
		if row.Err != nil || above == nil {
			if why != "" || row.Err != nil && (row.Moved != nil || row.Flip != NoFlip) {
				t.Errorf("%s: %s says %q of nothing", name, row.Rules.Name, why)
			}
			if row.Err == nil {
				above = row
			}
			continue
		}
		sentences++
		was, is := above.Game.Score(), row.Game.Score()
		d := is.Margin() - was.Margin()
		for _, c := range row.Since(*above) {
			d -= c.Is - c.Was
			if c.Is == c.Was || !strings.Contains(why, things[c.Thing]) || c.Lost && c.Is != 0 || c.Found && c.Was != 0 {
				t.Errorf("%s: %s: %+v: %s", name, row.Rules.Name, c, why)
			}
		}
		if d != 0 {
			t.Errorf("%s: %s: the changes leave out %v: %s", name, row.Rules.Name, d, why)
		}
		head := "the same margin as " + above.Rules.Name
		switch d := is.Margin() - was.Margin(); {
		case d > 0:
			head = d.String() + " better for Black than " + above.Rules.Name
		case d < 0:
			head = (-d).String() + " better for White than " + above.Rules.Name
		}
		if !strings.HasPrefix(why, head) {
			t.Errorf("%s: %s: %s", name, row.Rules.Name, why)
		}
		// Every rule quoted is one of the book, as the ledger has it.
		for _, quoted := range regexp.MustCompile("“([^”]*)”").FindAllStringSubmatch(why, -1) {
			if !strings.Contains(row.Rules.Book(), quoted[1]+"\n") && quoted[1] != rules.LiftedDead {
				t.Errorf("%s: %s does not say %q", name, row.Rules.Name, quoted[1])
			}
		}
		n := map[rules.Thing]int{}
		for _, l := range row.Moved {
			n[l.Thing]++
			if l.N == 0 || l.Thing != rules.Adjustment && row.Game.Phase() == rules.Over && row.Game.Holds(l.Player, l.Thing) != l.N {
				t.Errorf("%s: %s: moved %+v", name, row.Rules.Name, l)
			}
		}
		for _, thing := range []rules.Thing{rules.PassStone, rules.ButtonThing, rules.HalfPassStone} {
			held := 0
			for _, c := range []rules.Color{rules.Black, rules.White} {
				if row.Game.Holds(c, thing) != 0 {
					held++
				}
			}
			if n[thing] != held && row.Game.Phase() == rules.Over && row.Game.Score() != nil && strings.Contains(row.Rules.Book(), "is worth ½") {
				t.Errorf("%s: %s: %d of %v moved, %d hold some", name, row.Rules.Name, n[thing], thing, held)
			}
		}
		above = row
	}
	return sentences
}

// The texts about the published game, row by row.
func TestWhyOfG1(t *testing.T) {
	var why strings.Builder
	for _, row := range readFile(t, "testdata/g1-two-button.sgf").Compare(Count{}) {
		fmt.Fprintf(&why, "%s: %s\n", row.Rules.Name, row.Why())
	}
	golden(t, "testdata/g1/why.txt", why.String())
}

// Komi 4½ lies between the counts of the published game, komi 4 on one of them;
// what was resigned no count can flip.
func TestFlipsOfG1(t *testing.T) {
	rec := readFile(t, "testdata/g1-two-button.sgf") // Black +4 by two-button
	flips := func(rec *Record, komi rules.Points) string {
		var out []string
		for _, row := range rec.Compare(Count{Komi: &komi}) {
			if row.Flip != NoFlip {
				out = append(out, row.Rules.Name+":"+string(row.Flip))
			}
		}
		return strings.Join(out, " ")
	}
	var said strings.Builder
	for _, komi := range []rules.Points{0, 8, 9} {
		fmt.Fprintf(&said, "komi %v: %s\n", komi, flips(rec, komi))
	}
	golden(t, "testdata/g1/flips.txt", said.String())
	conceded := *rec
	conceded.Ending = Ending{}
	conceded.Turns = append(conceded.Turns[:60:60], Turn{Turn: rules.Turn{Kind: rules.Resign, By: rules.Black}})
	if got := flips(&conceded, 9); got != "" {
		t.Errorf("resigned: %s", got)
	}
}

// A game of 300 turns on 19×19 under every ruleset, with the reasons.
func BenchmarkCompare(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 31))
	g, err := rules.New(&rules.TwoButton, rules.Setup{W: 19, H: 19, Komi: 13})
	if err != nil {
		b.Fatal(err)
	}
	for g.Turns() < 300 {
		t := rules.Turn{Kind: rules.Place, By: g.ToPlay(), At: rules.Point{X: int8(rnd.IntN(19)), Y: int8(rnd.IntN(19))}}
		if next, err := g.Play(t); err == nil {
			g = next
		}
	}
	rec := Of(g)
	for b.Loop() {
		n := 0
		for _, row := range rec.Compare(Count{}) {
			if row.Why() != "" {
				n++
			}
		}
		if n != len(rules.Catalogue)-2 {
			b.Fatalf("%d rows differ", n)
		}
	}
}
