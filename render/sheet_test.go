package render

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/rules"
)

// groupOfEight is a cross-table in which everything occurs.
func groupOfEight() Sheet {
	names := []string{"Anna", "Ben", "Wilhelmine von Hohenstein-Ost", "Cem 🦊", "井山裕太と申眞諝", "openfoxwq", "مرحبا", "Zoë"}
	ranks := []string{"3d", "1d", "1k", "2k", "5k", "7k", "12k", "20k"}
	t := Sheet{
		Title: "Winter league", Subtitle: "Group A · Two Button Go · until 20 December",
		Totals: []SheetHeading{{"Score", "score"}, {"SODOS", "sum of the scores of beaten opponents"}},
		Notes:  []string{"… in play, ▸ to move, with the number of turns. R: resigned, T: out of time."},
		More:   "and %d more on the page",
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for i, name := range names {
		t.Games = append(t.Games, SheetHeading{strconv.Itoa(i + 1), name})
		t.Rows = append(t.Rows, SheetRow{Number: strconv.Itoa(i + 1), Name: name, Rank: ranks[i], Games: make([]SheetGame, len(names))})
		t.Rows[i].Games[i].State = Self
	}
	for i := range names {
		for j := range i {
			a, b := &t.Rows[j].Games[i], &t.Rows[i].Games[j]
			a.Color, b.Color = rules.Black, rules.White
			if rnd.IntN(2) == 0 {
				a.Color, b.Color = b.Color, a.Color
			}
			switch by := rules.Points(rnd.IntN(50)); {
			case (i+j)%4 == 3:
				a.State, b.State = Open, Open
				a.Due = rnd.IntN(2) == 0
				b.Due = !a.Due
				a.How = strconv.Itoa(10 + rnd.IntN(200))
				b.How = a.How
				a.Said, b.Said = "Black to play, "+a.How+" turns", "Black to play, "+a.How+" turns"
			case by < 4:
				a.State, b.State, a.Said, b.Said = Drawn, Drawn, "draw", "draw"
			case by < 10:
				a.State, b.State, a.How, b.How, a.Said, b.Said = Won, Lost, "R", "R", "won by resignation", "lost by resignation"
			case i == 7 && j == 2:
				a.State, b.State, a.Said, b.Said = Won, Lost, "won", "lost"
			default:
				a.State, b.State, a.Margin, b.Margin = Won, Lost, by, by
				a.Said, b.Said = "won by "+by.String(), "lost by "+by.String()
			}
		}
	}
	for i := range names {
		score := rules.Points(0)
		for _, g := range t.Rows[i].Games {
			score += map[SheetState]rules.Points{Won: 2, Drawn: 1}[g.State]
		}
		t.Rows[i].Totals = []SheetTotal{{Value: score}, {Value: score * 7 / 2}}
	}
	t.Rows[5].Withdrawn = "withdrawn"
	t.Rows[7].Totals[1].Blank = true
	t.Rows[3].Totals[1].Quarter = true
	return t
}

// swiss is a Swiss table of n players after some rounds.
func swiss(n, rounds int) Sheet {
	t := Sheet{
		Title: "Autumn Swiss", Subtitle: fmt.Sprintf("Round %d · Half-pass · 13×13", rounds),
		Totals: []SheetHeading{{"Score", "score"}, {"SOS", "sum of the opponents' scores"}, {"SODOS", "sum of the scores of beaten opponents"}},
		More:   "and %d more on the page",
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for r := range rounds {
		t.Games = append(t.Games, SheetHeading{strconv.Itoa(r + 1), "round " + strconv.Itoa(r+1)})
	}
	for i := range n {
		r := SheetRow{Number: strconv.Itoa(i + 1), Name: fmt.Sprintf("Player %c%d", 'A'+i%26, i), Rank: strconv.Itoa(1+rnd.IntN(20)) + "k"}
		for range rounds {
			g := SheetGame{State: SheetState(int(Open) + rnd.IntN(4)), Against: strconv.Itoa(1 + rnd.IntN(n)), Color: rules.Color(1 + rnd.IntN(2))}
			g.Due = g.State == Open && rnd.IntN(2) == 0
			if rnd.IntN(12) == 0 {
				g = SheetGame{State: Won}
			}
			if rnd.IntN(12) == 0 {
				g = SheetGame{}
			}
			g.Said = "against " + g.Against
			r.Games = append(r.Games, g)
		}
		for j := range t.Totals {
			r.Totals = append(r.Totals, SheetTotal{Value: rules.Points((rounds*2 - i*2*rounds/n) * (1 + 3*j))})
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

func drawnSheet(t testing.TB, s Sheet, o Options) image.Image {
	t.Helper()
	var b bytes.Buffer
	if err := s.Draw(&b, o); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// crossTable is a cross-table of more players than a group has.
func crossTable(n int) Sheet {
	t := swiss(n, n)
	t.Title = "Round robin"
	for i := range t.Rows {
		for j := range t.Rows[i].Games {
			g := &t.Rows[i].Games[j]
			g.Against, g.Margin = "", rules.Points(i+j)
			if i == j {
				*g = SheetGame{State: Self}
			}
		}
	}
	return t
}

// hostileSheet has more of everything than there is room for.
func hostileSheet() Sheet {
	t := swiss(30, 12)
	t.Title, t.Subtitle, t.More = strings.Repeat("W", 500), strings.Repeat("so ", 300), "%s %d %!v"
	t.Notes = []string{"", strings.Repeat("note ", 300), "\u202e\x00\r\n"}
	for i := range t.Rows {
		r, n := &t.Rows[i], hostile[i%len(hostile)]
		r.Name, r.Rank, r.Withdrawn = n.Black, n.White, ""
		if i%2 == 0 {
			r.Name, r.Rank = n.White, ""
		}
		if i%5 == 0 {
			r.Number, r.Withdrawn = strings.Repeat("8", i), n.Black
		}
		r.Games, r.Totals = r.Games[:len(r.Games)-i%4], r.Totals[:len(r.Totals)-i%4]
		for j := range r.Games {
			g := &r.Games[j]
			g.How, g.Said = n.White, n.Black
			g.Against = strings.Repeat("9", j*(i/4%2))
			if j%4 == 0 {
				g.Margin, g.Color, g.State = -7999, rules.Color(3+j), SheetState(j)
			}
		}
		for j := range r.Totals {
			r.Totals[j].Value *= -1e9
		}
	}
	for i := range t.Games {
		t.Games[i] = SheetHeading{hostile[i%len(hostile)].White, hostile[i%len(hostile)].Black}
	}
	return t
}

func sheetCases() map[string]Sheet {
	out := map[string]Sheet{
		"group": groupOfEight(), "swiss 1": swiss(5, 1), "swiss 5": swiss(200, 5), "swiss 20": swiss(24, 20), "round robin": crossTable(12), "large round robin": crossTable(24),
		"hostile": hostileSheet(), "empty": {}, "title": {Title: "Winter league"}, "nobody": {Games: make([]SheetHeading, 3), Totals: make([]SheetHeading, 2)},
	}
	names := groupOfEight()
	for i := range names.Rows {
		names.Rows[i].Rank, names.Rows[i].Games, names.Rows[i].Name = "", nil, hostile[i%len(hostile)].Black
	}
	names.Games = nil
	out["names"] = names
	groups := groupOfEight()
	groups.Below = []Sheet{groupOfEight(), crossTable(12)}
	out["groups"] = groups
	return out
}

// The sheets of testdata/sheets are compared pixel by pixel; -update writes them.
func TestSheetGolden(t *testing.T) {
	for name, x := range map[string]struct {
		sheet Sheet
		o     Options
	}{
		"group":          {groupOfEight(), Options{}},
		"group-light":    {groupOfEight(), Options{Panel: "light", Size: "small"}},
		"group-book":     {groupOfEight(), Options{Theme: "book", Size: "small"}},
		"group-contrast": {groupOfEight(), Options{Theme: "contrast", Size: "large"}},
		"swiss":          {swiss(200, 9), Options{Theme: "slate", Size: "small"}},
		"round-robin":    {crossTable(12), Options{Theme: "book", Panel: "dark", Size: "small"}},
		"hostile":        {hostileSheet(), Options{Theme: "contrast", Panel: "light", Size: "small"}},
	} {
		golden(t, filepath.Join("testdata", "sheets", name+".png"), "sheet-"+name, drawnSheet(t, x.sheet, x.o))
	}
}

// Whatever a sheet says, nothing is drawn over the edge of the picture or of a column.
func TestSheetKeepsPlaces(t *testing.T) {
	for name, sheet := range sheetCases() {
		for _, size := range Sizes() {
			l, err := sheet.list(Options{Size: size})
			if err != nil {
				t.Fatal(err)
			}
			k := l.k
			w, h := l.bounds()
			keeps := func(what string, ops []op, box image.Rectangle) {
				t.Helper()
				for i := range ops {
					if b := ops[i].box(); !b.In(box) {
						t.Fatalf("%s, %s: %s: something at %v outside of %v", name, size, what, b, box)
					}
				}
			}
			keeps("picture", l.ops, image.Rect(0, 0, w, h))
			p := l.plan(&sheet, 0)
			top := 100
			in := func(column image.Rectangle) image.Rectangle {
				return image.Rect(column.Min.X-1, k.u(top-6), column.Max.X+1, k.u(top+sheetPitch))
			}
			last := p.name
			for _, column := range append(append([]image.Rectangle{}, p.games...), p.totals...) {
				if column.Min.X < last.Max.X {
					t.Fatalf("%s, %s: columns %v and %v", name, size, last, column)
				}
				last = column
			}
			if p.name.Dx() < k.u(leastName) || last.Max.X > w-k.u(chartMargin)+1 {
				t.Fatalf("%s, %s: %+v", name, size, p)
			}
			for i := range sheet.Rows {
				r := &sheet.Rows[i]
				l.ops = nil
				l.nameOf(r, p.name, top)
				keeps("name of row "+strconv.Itoa(i), l.ops, in(p.name))
				for j, column := range p.games {
					if p.first+j < len(r.Games) {
						l.ops = nil
						l.game(&r.Games[p.first+j], column, top)
						keeps(fmt.Sprintf("game %d of row %d", j, i), l.ops, in(column))
					}
				}
			}
		}
	}
}

// A cross-table has all its columns, a Swiss has its last rounds and the score.
func TestSheetLeavesOutOldGames(t *testing.T) {
	for name, want := range map[string]struct{ first, games, totals int }{
		"group": {0, 8, 2}, "swiss 1": {0, 1, 3}, "swiss 5": {0, 5, 3}, "swiss 20": {15, 5, 3}, "round robin": {0, 12, 3}, "large round robin": {12, 12, 3},
	} {
		sheet := sheetCases()[name]
		l, err := sheet.list(Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := l.plan(&sheet, 0)
		if p.first != want.first || len(p.games) != want.games || len(p.totals) != want.totals {
			t.Errorf("%s: games from %d on, %d of them, %d totals, want %+v", name, p.first, len(p.games), len(p.totals), want)
		}
	}
}

// Where the table of a group of eight is 350 pixels wide, signs and scores are 10 pixels high,
// margins 7. Its file is small.
func TestSheetOnPhones(t *testing.T) {
	sheet := groupOfEight()
	wide, _, err := sheet.Bounds(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for size, least := range map[int]float64{scoreSize: 10, secondLine: 7} {
		if high := float64(size) * capHeight * 350 / float64(wide); high < least {
			t.Errorf("letters of size %d are %.1f pixels high where the picture of %d is 350 wide", size, high, wide)
		}
	}
	for _, theme := range Themes() {
		var b bytes.Buffer
		if err := sheet.Draw(&b, Options{Theme: theme}); err != nil || b.Len() > 60_000 {
			t.Errorf("%s: %d bytes, %v", theme, b.Len(), err)
		}
	}
}

// A sheet has the same bytes whoever draws it, and what else is drawn at that time.
func TestSheetIsTheSame(t *testing.T) {
	sheet, other := groupOfEight(), swiss(200, 5)
	draw := func(s Sheet) string {
		var b bytes.Buffer
		if err := s.Draw(&b, Options{Size: "small"}); err != nil {
			t.Error(err)
		}
		return b.String()
	}
	first := draw(sheet)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { draw(other) })
		all.Go(func() {
			if draw(sheet) != first {
				t.Error("other bytes")
			}
		})
	}
	all.Wait()
}

func TestSheetRefusesOptions(t *testing.T) {
	if err := groupOfEight().Draw(io.Discard, Options{Theme: "plaid"}); err == nil {
		t.Error("no error")
	}
}

func TestSheetLetters(t *testing.T) {
	if got, want := groupOfEight().Letters(), strings.NewReplacer("<", "\u2068", ">", "\u2069").Replace(`Winter league
Group A · Two Button Go · until 20 December

                              1     2     3     4     5     6     7     8     Score  SODOS
1  Anna                  3d   ×     +15   +19½  …98   +12½  +20½  +22½  …176      5     17½
2  Ben                   1d   −15   ×     …99   +R    +8    +11½  ▸20   +11½      4     14
3  Wilhelmine von Hohe…  1k   −19½  ▸99   ×     +19½  +16   ▸11   +10½  +         4     14
4  Cem 🦊                2k   ▸98   −R    −19½  ×     ▸151  +23½  +13½  +19½      3     10¾
5  井山裕太と申眞諝      5k   −12½  −8    −16   …151  ×     +R    +20½  ▸120      2      7
6  openfoxwq             7k   −20½  −11½  …11   −23½  −R    ×     …68   +20       1      3½  withdrawn
7  <مرحبا>                 12k  −22½  …20   −10½  −13½  −20½  ▸68   ×     +21       1      3½
8  Zoë                   20k  ▸176  −11½  −     −19½  …120  −20   −21   ×         0      –

… in play, ▸ to move, with the number of turns. R: resigned, T: out of time.`); got != want {
		t.Error(cmp.Diff(want, got))
	}
	if got, want := swiss(26, 3).Letters(), `
 1  Player A0   18k  13w−  1b+   11w=      3    12     21
`; !strings.Contains(got, want) || !strings.HasSuffix(got, "\nand 6 more on the page") {
		t.Error(got)
	}
}

func TestSheetLines(t *testing.T) {
	lines := groupOfEight().Lines()
	for i, want := range map[int]string{
		0: "1 Anna (3d): score 5, sum of the scores of beaten opponents 17½. Ben: won by 15. Wilhelmine von Hohenstein-Ost: won by 19½. Cem 🦊: Black to play, 98 turns. " +
			"井山裕太と申眞諝: won by 12½. openfoxwq: won by 20½. \u2068مرحبا\u2069: won by 22½. Zoë: Black to play, 176 turns.",
		5: "6 openfoxwq (7k), withdrawn: score 1, sum of the scores of beaten opponents 3½. Anna: lost by 20½. Ben: lost by 11½. Wilhelmine von Hohenstein-Ost: Black to play, 11 turns. " +
			"Cem 🦊: lost by 23½. 井山裕太と申眞諝: lost by resignation. \u2068مرحبا\u2069: Black to play, 68 turns. Zoë: won by 20.",
	} {
		if lines[i] != want {
			t.Errorf("got  %s\nwant %s", lines[i], want)
		}
	}
	if n := len(swiss(200, 5).Lines()); n != 200 {
		t.Errorf("%d lines", n)
	}
}

// The text of a sheet fits. What explains the scores goes first, and the rows at the end.
func TestSheetText(t *testing.T) {
	one := groupOfEight()
	one.Rows, one.Games, one.Totals = one.Rows[:2], one.Games[:2], one.Totals[:1]
	if got, want := one.Text(), "Winter league. Group A · Two Button Go · until 20 December. 1 Anna (3d): score 5. Ben: won by 15. 2 Ben (1d): score 4. Anna: lost by 15. "+
		"… in play, ▸ to move, with the number of turns. R: resigned, T: out of time."; got != want {
		t.Error(got)
	}
	for name, want := range map[string]string{
		"group":   "7 \u2068مرحبا\u2069 (12k): score 1, sum of the scores of beaten opponents 3½. 8 Zoë (20k): score 0.",
		"swiss 5": "32 Player F31 (3k): score 4½. And 168 more on the page.",
	} {
		if got := sheetCases()[name].Text(); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
	// One row is never "and 1 more".
	for n := range 80 {
		sheet := swiss(n, 1)
		sheet.More = "and %d more"
		if got := sheet.Text(); strings.Contains(got, "nd 1 more") || n >= 50 && !strings.HasSuffix(got, " more.") {
			t.Errorf("%d rows: %s", n, got)
		}
	}
	for name, sheet := range sheetCases() {
		if n := length(sheet.Text()); n > MaxText {
			t.Errorf("%s: %d characters", name, n)
		}
	}
}

// Totals have quarters where SODOS has them.
func TestSheetTotals(t *testing.T) {
	for quarters, want := range map[int]string{-5: "−1¼", -1: "−¼", 0: "0", 1: "¼", 2: "½", 3: "¾", 4: "1", 5: "1¼", 14: "3½", 43: "10¾"} {
		if got := Quarters(quarters).String(); got != want || !CanDraw(got) {
			t.Errorf("%d quarters: %q, want %q", quarters, got, want)
		}
	}
	if got := (SheetTotal{Value: 3, Quarter: true, Blank: true}).String(); got != "–" {
		t.Errorf("blank: %q", got)
	}
}

// States differ by their signs, not by colours alone.
func TestSheetSigns(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range []SheetGame{{State: NoGame}, {State: Open}, {State: Open, Due: true}, {State: Won}, {State: Drawn}, {State: Lost}} {
		if seen[g.sign()] || !CanDraw(g.sign()) {
			t.Errorf("%+v: %q", g, g.sign())
		}
		seen[g.sign()] = true
	}
}

// BenchmarkSheet draws sheets, and beside them a board and a chart:
//
//	go test ./render -run xxx -bench Sheet
func BenchmarkSheet(b *testing.B) {
	for _, x := range []struct {
		name string
		p    Picture
	}{{"board", busy(b)}, {"chart", twoWinners()}, {"group of 8", groupOfEight()}, {"swiss of 200", swiss(200, 5)}} {
		b.Run(x.name, func(b *testing.B) {
			var out bytes.Buffer
			for b.Loop() {
				out.Reset()
				if err := x.p.Draw(&out, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(out.Len()), "bytes")
		})
	}
}
