package sgf

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A value ends with its first bracket that is not escaped, whatever it says, as SGF has it. Brackets that
// close nothing, and texts outside of values, are said.
func TestBracketsInTexts(t *testing.T) {
	for record, want := range map[string]string{
		`(;C[\];B[aa];W[bb])`:                                               "B18 / ", // one move, of White
		`(;SZ[9]SO[C:\games\];B[ee];W[cc];B[gg])`:                           "C7 G3 / ",
		`(;SZ[9];B[ee]C[so W[cc [x\] y];W[cc];B[gg])`:                       "E5 C7 G3 / ",
		"(;SZ[9];B[ee]C[nice :] thanks];W[cc])":                             "E5 C7 / move 1: text between values is passed over; unknown properties, and those without a value, are passed over: thanks",
		"(;SZ[9]PB[Ada [2d]]PW[Bob];B[ee];W[cc])":                           "E5 C7 / text between values is passed over",
		"(;SZ[9];B[ee]C[see ;B[aa]) there];W[cc])":                          "E5 / text after the main line is passed over",
		"(;SZ[9];B[ee];W[cc])\n/* x] */":                                    "E5 C7 / text after the main line is passed over",
		"(;SZ[9];B[ee]C[cut [ here];W[cc];B[gg])(;SZ[9];B[aa]C[odd ] end])": "E5 C7 G3 / ", // of the other game
		"(;SZ[9];B[ee];W[cc]!;B[gg])":                                       "E5 C7 G3 / move 2: text between values is passed over",
		"(;SZ[9];B/[ee];W[cc])":                                             "E5 C7 / text between values is passed over; unknown properties, and those without a value, are passed over: B",
		"(;SZ[9];B[ee](;W[cc])\t(;W[dd]))":                                  "E5 C7 / ",
		`(;SZ[9];B[ee]C[x]\n`:                                               "E5 / the record ends before its brackets close",
		"(;SZ[9];B[ee](;W[cc]) hello)":                                      "E5 C7 / text after the main line is passed over",
		"(;SZ[9];B[ee](;W[cc]) /* C[x] */":                                  "E5 C7 / text after the main line is passed over",
		"(;SZ[9];B[ee];W[cc]) and ;W[aa] /* C[x] */":                        "E5 C7 / text after the main line is passed over",
		"(;SZ[9];B[ee];W[cc]) and ;W[aa] [x":                                "E5 C7 / text after the main line is passed over",
		"(;SZ[9];B[ee];W[cc])\n/* C[x] */":                                  "E5 C7 / text after the main line is passed over",
		"(;SZ[9];B[ee];W[cc]);B[gg])(;B[dd];W[ee]);W[ff])":                  "E5 C7 / moves after the main line are passed over",
		"(;SZ[9]C[x] and so on;B[ee];W[cc])":                                "E5 C7 / unknown properties, and those without a value, are passed over: and, so, on",
		"(;SZ[9];B[ee]C[cut [ here];W[cc];B[gg])":                           "E5 C7 G3 / ",
		`(;SZ[9];B[ee]C[a [b\] c];W[cc];B[gg])`:                             "E5 C7 G3 / ",
		`(;SZ[9];B[ee]C[see (;SZ[9\];B[aa\];W[bb\]) there];W[cc];B[gg])`:    "E5 C7 G3 / ",
		`(;SZ[9];B[ee]LB[aa:[][bb:x];W[cc]C[:[ ]LB[dd:[];B[gg])`:            "E5 C7 G3 / ",
		"(;SZ[9];B[ee]C[cut [ here](;W[cc]C[and [ there];B[gg])(;W[aa]))":   "E5 C7 G3 / ",
		`(;SZ[9]SO[C:\\games\\];B[ee];W[cc])`:                               "E5 C7 / ",
		"(;SZ[9];B[ee]C[x]\n\t; W [cc]\n;B[gg])\n-- \nme [you]":             "E5 C7 G3 / text after the main line is passed over",
	} {
		rec := read(t, record)
		var at, repairs []string
		for _, turn := range rec.Turns {
			at = append(at, turn.At.String())
		}
		for _, r := range rec.Repairs {
			repairs = append(repairs, r.String())
		}
		if got := strings.Join(at, " ") + " / " + strings.Join(repairs, "; "); got != want {
			t.Errorf("%s: %s\nwant %s", record, got, want)
		}
	}
}

// A value ends at the mark.
func TestEndOfValue(t *testing.T) {
	for _, text := range []string{"[]‸", "[ee]‸;W[cc]", `[C:\games\];B[ee]‸;W[cc]`, `[a\]]‸;B[ee]`, `[a [b\] c]‸;B[ee]`, `[a\\]‸;B[ee]`, "[a [b]‸ c];B[ee]"} {
		before, after, _ := strings.Cut(text, "‸")
		if n := endOf([]byte(before + after)); n != len(before) {
			t.Errorf("%s: at %d", text, n)
		}
	}
	for _, text := range []string{"[", "[a", `[a\]`, `[a\`, "[a long text that goes on and on"} {
		if n := endOf([]byte(text)); n != -1 {
			t.Errorf("%s ends at %d", text, n)
		}
	}
}

// chatter is what people write into comments, escaped or not.
var chatter = []string{"[", "]", "(", ")", ";", `\`, ":)", ":]", ":[", "[2]", "[a [b] c]", "W[aa]", ";B[bb]", "(;W[cc];B[dd])", "SZ[19]", "AB[ee]", "x", " ", "\n", "1.", "好"}

// A record has the moves that were written into it, whatever its comments say, if their brackets
// are escaped. If they are not, the text may be SGF that says something else.
func TestChatter(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	all := tier.Pick(5_000, 20_000, 500_000)
	for range all {
		var want []string
		var text strings.Builder
		text.WriteString("(;SZ[9]")
		comment := func() {
			if rnd.IntN(3) > 0 {
				return
			}
			said := "so"
			for range 1 + rnd.IntN(4) {
				said += chatter[rnd.IntN(len(chatter))]
			}
			said += "so"
			said = strings.NewReplacer(`\`, `\\`, `]`, `\]`).Replace(said) // as most programs do
			if rnd.IntN(2) == 0 {
				said = strings.ReplaceAll(said, "好", "[") // which nobody has to escape
			}
			fmt.Fprintf(&text, "%s[%s]", []string{"C", "GC", "PB"}[rnd.IntN(3)], said)
		}
		comment()
		points := rnd.Perm(9)[:1+rnd.IntN(8)]
		branches := rnd.IntN(2) == 0
		for k, p := range points {
			if branches && k == len(points)/2 {
				text.WriteString("(")
			}
			at := fmt.Sprintf("%c%c", 'a'+p, 'a'+k)
			want = append(want, at)
			fmt.Fprintf(&text, ";%c[%s]", "BW"[k%2], at)
			comment()
			if rnd.IntN(8) == 0 {
				text.WriteString("CR[aa][bb]")
			}
		}
		if branches {
			for range 2 {
				text.WriteString(")(;B[ia]")
				comment()
				text.WriteString(";W[ib]")
				comment()
			}
			text.WriteString(")")
		}
		text.WriteString(")")
		rec, err := Read(strings.NewReader(text.String()))
		if err != nil {
			t.Fatalf("%v: %s", err, text.String())
		}
		var got []string
		for _, turn := range rec.Turns {
			got = append(got, name(turn.At, 9))
		}
		same := slices.Equal(got, want) && rec.Setup.W == 9 && len(rec.Setup.Black)+len(rec.Setup.White) == 0
		if !same || len(rec.Repairs) > 0 {
			t.Fatalf("read as %v, %v: %s", got, rec.Repairs, text.String())
		}
	}
}
