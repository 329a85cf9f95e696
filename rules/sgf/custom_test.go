package sgf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

// threePasses is AGA with three passes to the end, and prose that SGF must
// escape.
func threePasses(t *testing.T) *rules.Ruleset {
	t.Helper()
	r, err := rules.Custom(rules.Spec{Name: "three-passes", Title: `Three: "passes" [\]`, Base: "aga",
		Moves: map[string][]string{"pass": {"a pass gives your opponent a pass stone", "when 3 passes have been made in a row, play stops"}}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A record of a custom ruleset holds its text: it is read back without the file
// that the ruleset came from.
func TestCustomRecord(t *testing.T) {
	r := threePasses(t)
	for seed := range uint64(20) {
		g := randomGame(t, rand.New(rand.NewPCG(seed, 23)), r)
		var b bytes.Buffer
		if err := Write(&b, g, Info{}); err != nil {
			t.Fatal(err)
		}
		rec, err := Read(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		read, note, err := rec.Ruleset()
		if err != nil || note != "" || read.ID() != r.ID() || read.Stored() != r.Stored() {
			t.Fatalf("%v %q %v", read, note, err)
		}
		again, _, err := rec.Count(Count{})
		if err != nil || again.Proof() != g.Proof() {
			t.Errorf("%v\n%s", err, b.String())
		}
	}
}

// It is compared with the catalogue, and as it is written.
func TestCompareCustom(t *testing.T) {
	r := threePasses(t)
	turn := func(k rules.Kind, by rules.Color) rules.Turn { return rules.Turn{Kind: k, By: by} }
	b, w := rules.Black, rules.White
	g, err := rules.Replay(r, rules.Setup{W: 5, H: 5, Komi: 13}, []rules.Turn{
		{Kind: rules.Place, By: b, At: rules.Point{X: 2, Y: 2}}, turn(rules.Pass, w), turn(rules.Pass, b), turn(rules.Pass, w),
		turn(rules.Resume, b), turn(rules.Pass, b), turn(rules.Pass, w), turn(rules.Pass, b), turn(rules.AcceptScore, b), turn(rules.AcceptScore, w)})
	if err != nil || g.Result() != "B+18.5" { // 24, 4 pass stones to 3, White's last the fourth, less komi 6½
		t.Fatal(g.Result(), err)
	}
	for _, also := range [][]*rules.Ruleset{nil, {threePasses(t)}} {
		rows := Of(g).Compare(Count{Also: also})
		last := rows[len(rows)-1]
		if len(rows) != len(rules.Catalogue)+1 || !sameRules(last.Rules, r) || last.Err != nil || last.Game.Proof() != g.Proof() {
			t.Fatalf("%d rows, the last %+v", len(rows), last)
		}
		komi := rules.Points(49) // between the 25 that it comes to and the 24 of others
		for _, row := range Of(g).Compare(Count{Also: also, Komi: &komi}) {
			if flipped := row.Flip == WholeFlip; row.Err == nil && row.Rules.Name != "area-1" && flipped != (row.Game.Score().Margin() < 0) {
				t.Errorf("%s: %v, flip %q", row.Rules.Name, row.Game.Score().Margin(), row.Flip)
			}
		}
		rows = Of(g.At(2)).Compare(Count{Also: also}) // brought to its end
		if last := rows[len(rows)-1]; last.Err != nil || last.Game.Phase() != rules.Over {
			t.Errorf("%+v", last)
		}
	}
	rows := Of(g).Compare(Count{})
	last := rows[len(rows)-1]
	if !strings.HasPrefix(last.Why(), "1 better for Black than japanese: pass stones (Black +1) count") {
		t.Error(last.Why())
	}
	report, err := json.Marshal(last.Report(g.Setup()))
	if err != nil || !strings.Contains(string(report), `"rules":"custom/three-passes","version":0,`) || !strings.Contains(string(report), `"custom":"`+r.ID()+`"`) {
		t.Errorf("%s %v", report, err)
	}
	// A game of the catalogue under it: closed with three passes.
	rows = readFile(t, "testdata/g1-aga.sgf").Compare(Count{Also: []*rules.Ruleset{r, r}})
	last = rows[len(rows)-1]
	if len(rows) != len(rules.Catalogue)+1 || last.Err != nil || last.Game.Result() != "B+5" || last.Game.Times(rules.Pass) != 3 {
		t.Errorf("%d rows, the last %+v", len(rows), last)
	}
	if checkWhy(t, "custom", rows) != len(rows)-2 {
		t.Error("a row says nothing")
	}
}

// Half-passes are told among what makes a margin, also under a custom ruleset that gives no
// pass stones.
func TestReasonsOfHalfPasses(t *testing.T) {
	r, err := rules.Custom(rules.Spec{Name: "halves", Base: "half-pass",
		Count: []string{"an empty point that reaches only one colour is worth 1 to that colour", "a prisoner is worth 1", "a stone in the half-pass zone is worth ½", "White gets the komi"},
		Moves: map[string][]string{"pass": {"a half-pass puts a stone into the half-pass zone, worth ½ to your opponent", "when 2 passes have been made in a row, play stops"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range read(t, "(;SZ[5];B[cc];W[];B[])").Compare(Count{Also: []*rules.Ruleset{r}}) {
		if row.Rules == r {
			if got := fmt.Sprint(row.Reasons()); row.Err != nil || got != "[prisoners and passes: White +1]" {
				t.Error(got, row.Err)
			}
		}
	}
}
