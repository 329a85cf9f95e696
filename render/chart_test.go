package render

import (
	"bytes"
	"image"
	"image/png"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

// twoWinners is a chart with everything that a chart can have.
func twoWinners() Chart {
	return Chart{
		Title: "Go Seigen – Miyamoto Naoki",
		Lead:  []string{"On the board: Black 43, White 38. Komi 0."},
		Rows: []ChartRow{
			{Title: "Two Button Go", Label: "this game", Bar: true, Margin: 4 * rules.One, Value: "Black +4", Why: "White passed first: White +1",
				Same: "The same: Area rules III, Territory rules I, Two Button Go, buttons as turns, Half-pass, Half-pass with agreement, Japanese"},
			{Title: "Tromp–Taylor", Bar: true, Margin: 5 * rules.One, Value: "Black +5", Why: "as on the board: who passes first does not matter", Same: "The same: Area rules II, AGA"},
			{Title: "Button Go", Bar: true, Margin: 9, Value: "Black +4½", Why: "White passed first and so has the button: White +½", Same: "The same: Button with equivalence scoring"},
			{Title: "Reverse Button Go", Bar: true, Margin: 0, Value: "even", Flip: "a draw", Why: "White +½, whoever passes first"},
			{Title: "Area rules I", Bar: true, Margin: -2 * rules.One, Value: "White +2", Flip: "White wins", Why: "territory does not count: White +7"},
			{Title: "A ruleset with a very long title that needs two lines of the table", Label: "custom", Value: "–", Why: "move 12 (White C3): the board would be the same as after move 10"},
		},
		Notes: []string{"Dead stones are taken off in every row, also where the rules would have them captured."},
	}
}

func drawnChart(t testing.TB, chart Chart, o Options) image.Image {
	t.Helper()
	var b bytes.Buffer
	if err := chart.Draw(&b, o); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// The charts of testdata/charts are compared pixel by pixel; -update writes them.
func TestChartGolden(t *testing.T) {
	for name, o := range map[string]Options{
		"wood": {}, "wood-light": {Panel: "light", Size: "small"}, "book": {Theme: "book", Size: "small"}, "large": {Theme: "slate", Size: "large"},
		"contrast": {Theme: "contrast", Size: "small"},
	} {
		file := filepath.Join("testdata", "charts", name+".png")
		got := drawnChart(t, twoWinners(), o)
		golden(t, file, name, got)
	}
}

func TestChartText(t *testing.T) {
	chart := twoWinners()
	if got, want := chart.Text(), "Go Seigen – Miyamoto Naoki. On the board: Black 43, White 38. Komi 0. "+
		"Two Button Go (this game): Black +4. White passed first: White +1. The same: Area rules III, Territory rules I, Two Button Go, buttons as turns, Half-pass, Half-pass with agreement, Japanese. "+
		"Tromp–Taylor: Black +5. As on the board: who passes first does not matter. The same: Area rules II, AGA. "+
		"Button Go: Black +4½. White passed first and so has the button: White +½. The same: Button with equivalence scoring. "+
		"Reverse Button Go: even, a draw. White +½, whoever passes first. "+
		"Area rules I: White +2, White wins. Territory does not count: White +7. "+
		"A ruleset with a very long title that needs two lines of the table (custom): –. Move 12 (White C3): the board would be the same as after move 10. "+
		"Dead stones are taken off in every row, also where the rules would have them captured."; got != want {
		t.Error(got)
	}
	// However much there is to explain, every row is there.
	for range 12 {
		chart.Rows = append(chart.Rows, ChartRow{Title: "Area rules II", Bar: true, Margin: -3, Value: "White +1½", Flip: "White wins", Why: strings.Repeat("why ", 20)})
	}
	got := chart.Text()
	if length(got) > MaxText || strings.Count(got, "White +1½, White wins") != 12 {
		t.Errorf("%d characters: %s", length(got), got)
	}
}

func TestChartLetters(t *testing.T) {
	chart := twoWinners()
	chart.Rows = chart.Rows[2:5]
	if got, want := chart.Letters(), `Go Seigen – Miyamoto Naoki
On the board: Black 43, White 38. Komi 0.

Button Go          Black +4½
  White passed first and so has the button: White +½
  The same: Button with equivalence scoring

Reverse Button Go  even       a draw
  White +½, whoever passes first

Area rules I       White +2   White wins
  territory does not count: White +7

Dead stones are taken off in every row, also where the rules would have them captured.`; got != want {
		t.Error(got)
	}
}

// A bar lies on the side of who is ahead, as long as its margin is large.
func TestChartBars(t *testing.T) {
	k := spritesFor(Options{Theme: "wood", Size: "medium", Layout: "landscape"}, 19, 19)
	for margin, want := range map[rules.Points]image.Rectangle{
		8:  image.Rect(chartZero-barReach, 0, chartZero, barHeight),
		4:  image.Rect(chartZero-barReach/2, 0, chartZero, barHeight),
		-2: image.Rect(chartZero, 0, chartZero+barReach/4, barHeight),
		-8: image.Rect(chartZero, 0, chartZero+barReach, barHeight),
	} {
		l := &chartList{displayList: displayList{palette: k.palette}, k: k}
		l.bar(margin, 8)
		if edge := map[bool]rgb{true: k.theme.blackBorder, false: k.theme.whiteBorder}[margin > 0]; l.ops[1].box() != want || l.ops[1].fill != k.palette.of(edge) {
			t.Errorf("%v: %v, want %v", margin, l.ops[1].box(), want)
		}
	}
	l := &chartList{displayList: displayList{palette: k.palette}, k: k}
	if l.bar(0, 0); len(l.ops) != 2 { // the groove and the zero line
		t.Errorf("even: %d boxes", len(l.ops))
	}
}

// Where a chart is 350 pixels wide, the digits of its margins are 11 pixels high.
func TestChartOnPhones(t *testing.T) {
	if high := 36 * capHeight * 350 / chartWide; high < 11 {
		t.Errorf("%.1f pixels", high)
	}
}

func BenchmarkChart(b *testing.B) {
	chart := twoWinners()
	for b.Loop() {
		if err := chart.Draw(&bytes.Buffer{}, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// Names are shown as beside the board: what no font has is left out, and the colour
// stands for a name of which nothing is left.
func TestChartNames(t *testing.T) {
	for _, x := range []struct{ black, white, drawn, text string }{
		{"", "", "", "By other rules. One."},
		{"Ada 🦊", "Bob", "Ada – Bob", "By other rules. Ada 🦊 – Bob. One."},
		{"\u202eAda\n", "🦊", "Ada – White", "By other rules. Ada – 🦊. One."},
		{"شطرنج", "Bob", "Black – Bob", "By other rules. \u2068شطرنج\u2069 – Bob. One."},
	} {
		c := Chart{Title: "By other rules", Black: x.black, White: x.white, Lead: []string{"One."}}
		if got := c.players(drawable); got != x.drawn {
			t.Errorf("%q and %q are drawn as %q, want %q", x.black, x.white, got, x.drawn)
		}
		if got := c.Text(); got != x.text {
			t.Errorf("%q and %q: %q, want %q", x.black, x.white, got, x.text)
		}
	}
}
