package sgf

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A comment whose brackets are not escaped does not become a part of the game, and that
// it was not is said.
func TestBracketsThatAreNotEscaped(t *testing.T) {
	const (
		said  = ": brackets within a text are not escaped: where it ends is guessed"
		stray = ": text between values is passed over"
	)
	for record, want := range map[string]string{
		"(;SZ[9];B[ee]C[a [b] :) c];W[cc];B[gg])":                           "E5 C7 G3 / move 1" + said,
		"(;SZ[9]C[handicap [2] W[aa] x]RU[Japanese];B[ee];W[cc])":           "E5 C7 / " + said[2:],
		`(;SZ[9]SO[C:\games\];B[ee];W[cc];B[gg])`:                           "E5 C7 G3 / " + said[2:],
		`(;SZ[9]SO[C:\games\]PB[Ada];B[ee])`:                                "E5 / " + said[2:],
		`(;SZ[9]SO[C:\games\] (;B[ee];W[cc])(;B[gg]))`:                      "E5 C7 / " + said[2:],
		"(;SZ[9];B[ee]C[nice :] thanks];W[cc])":                             "E5 C7 / move 1" + said,
		"(;SZ[9];B[ee]C[nice :]];W[cc])":                                    "E5 C7 / move 1" + said,
		"(;SZ[9];B[ee]C[nice :] and [b] too];W[cc])":                        "E5 C7 / move 1" + said,
		"(;SZ[9];B[ee]C[see (;SZ[9];B[aa];W[bb]) there];W[cc])":             "E5 C7 / move 1" + said,
		"(;SZ[9];B[ee]C[see ;B[aa]) there];W[cc])":                          "E5 C7 / move 1" + said,
		"(;SZ[9];B[ee]C[a] b];W[cc])":                                       "E5 C7 / move 1" + said,
		"(;SZ[9]PB[Ada [2d]]PW[Bob];B[ee];W[cc])":                           "E5 C7 / " + said[2:],
		"(;SZ[9];B[ee]C[see ;B[aa];W[bb]) x];W[cc])":                        "E5 B8 / move 1" + said + "; move 2" + said, // another game, but said
		"(;SZ[9];B[ee];W[cc]!;B[gg])":                                       "E5 C7 G3 / move 2" + stray,
		"(;SZ[9];B/[ee];W[cc])":                                             "E5 C7 / " + stray[2:],
		"(;SZ[9];B[ee](;W[cc])\t(;W[dd]))":                                  "E5 C7 / ",
		`(;SZ[9];B[ee]C[x]\n`:                                               "E5 / the record ends before its brackets close",
		"(;SZ[9];B[ee](;W[cc]) hello)":                                      "E5 C7 / text after a variation is passed over",
		"(;SZ[9];B[ee](;W[cc]) /* C[x] */":                                  "E5 C7 / text after a variation is passed over",
		"(;SZ[9];B[ee];W[cc]) and ;W[aa] /* C[x] */":                        "E5 C7 / moves after the record are passed over",
		"(;SZ[9];B[ee];W[cc]) and ;W[aa] [x":                                "E5 C7 / moves after the record are passed over",
		"(;SZ[9];B[ee];W[cc]) as (I (and you) said ;W[aa])":                 "E5 C7 / ",
		"(;SZ[9];B[ee];W[cc]) as ((I) said ;W[aa])":                         "E5 C7 / ",
		"(;SZ[9];B[ee];W[cc])\n/* C[x] */":                                  "E5 C7 / text after the record is passed over",
		"(;SZ[9];B[ee];W[cc]);B[gg])(;B[dd];W[ee]);W[ff])":                  "E5 C7 G3 / the game goes on after a closing bracket, which is passed over; moves after the record are passed over",
		"(;SZ[9];B[ee];W[cc])\n/* x] */":                                    "E5 C7 / move 2" + said,
		"(;SZ[9]C[x] and so on;B[ee];W[cc])":                                "E5 C7 / " + stray[2:],
		"(;SZ[9];B[ee]C[cut [ here];W[cc];B[gg])":                           "E5 C7 G3 / ",
		`(;SZ[9];B[ee]C[a [b\] c];W[cc];B[gg])`:                             "E5 C7 G3 / ",
		`(;SZ[9];B[ee]C[see (;SZ[9\];B[aa\];W[bb\]) there];W[cc];B[gg])`:    "E5 C7 G3 / ",
		`(;SZ[9];B[ee]LB[aa:[][bb:x];W[cc]C[:[ ]LB[dd:[];B[gg])`:            "E5 C7 G3 / ",
		`(;SZ[9];B[ee]C[so W[cc [x\] y];W[cc];B[gg])`:                       "E5 C7 G3 / move 1" + said,
		"(;SZ[9];B[ee]C[cut [ here](;W[cc]C[and [ there];B[gg])(;W[aa]))":   "E5 C7 G3 / ",
		`(;SZ[9]SO[C:\\games\\];B[ee];W[cc])`:                               "E5 C7 / ",
		"(;SZ[9];B[ee]C[x]\n\t; W [cc]\n;B[gg])\n-- \nme [you]":             "E5 C7 G3 / ",
		"(;SZ[9];B[ee]C[cut [ here];W[cc];B[gg])(;SZ[9];B[aa]C[odd ] end])": "E5 C7 G3 / text after the record is passed over", // of the other game
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
	long, longer := strings.Repeat("x", maxWithin/2), strings.Repeat("x", maxWithin)
	for _, x := range []struct{ text, flaw string }{
		{"[]‸", ""},
		{"[ee]‸;W[cc]", ""},
		{"[a long text of one line]‸;W[cc]", ""},
		{"[a]‸ and more;W[cc]", betweenValues},
		{"[a long text of one line]‸ and more;W[cc]", betweenValues},
		{`[C:\games\]‸;B[ee]`, notEscaped},
		{`[C:\games\]‸PB[Ada];B[ee]`, notEscaped},
		{`[C:\games\]‸ (;B[ee])`, notEscaped},
		{`[C:\games\] and ]‸;B[ee]`, ""},
		{`[a\]]‸;B[ee]`, ""},
		{`[a [b\] c]‸;B[ee]`, ""},
		{`[a [[b\] c]‸;B[ee]`, ""},
		{`[a [b\] [c]‸;B[ee]`, ""},
		{`[a [b\];B[ee] c]‸;B[ee]`, notEscaped},
		{`[a\\]‸;B[ee]`, ""},
		{"[a [b] c]‸;B[ee]", notEscaped},
		{"[a] b]‸;B[ee]", notEscaped},
		{"[a]‸ b;W[cc];B[ee]C[x]", betweenValues},
		{"[so W[cc]‸;B[ee]", notEscaped},
		{"[so W[cc] x]‸;B[ee]", notEscaped},
		{"[cut [ here]‸;B[ee]", ""},
		{"[cut (; here]‸;B[ee]", ""},
		{"[a [" + long + "] b" + long[10:] + "]‸;B[ee]", notEscaped},
		{"[a " + longer + " [b] c]‸;B[ee]", notEscaped},
		{"[a [b]‸ " + longer + "];B[ee]", betweenValues},
		{"[a [b]‸ " + longer + longer, betweenValues},
		{"[a [b] ((x) ;W[cc]) d]‸;B[ee]", notEscaped},
		{"[a [b]‸ (x);W[cc] d];B[ee]", ""},
		{"[a [[b] c](d) e]‸;B[ee]", notEscaped},
		{"[a]‸Size\r[9];B[ee]", ""},
		{`[C:\games\]‸PB[];B[ee]`, notEscaped},
		{`[C:\games\]PB[[x]‸;B[ee]`, ""},
		{`[C:\games\]PB[a[;b]‸;B[ee]`, ""},
		{"[a]‸ 1[x];B[ee]", betweenValues},
		{"[a]‸ AB;B[ee]", ""},
		{"[a]‸ ABC;B[ee]", betweenValues},
	} {
		before, after, _ := strings.Cut(x.text, "‸")
		if n, flaw := newEnds().value([]byte(before+after), ""); n != len(before) || flaw != x.flaw {
			t.Errorf("%.60s: at %d, %q", x.text, n, flaw)
		}
	}
	for _, text := range []string{"[", "[a", `[a\]`, `[a\`, "[a [b\\] c", "[a long text that goes on and on"} {
		if n, _ := newEnds().value([]byte(text), ""); n != -1 {
			t.Errorf("%s ends at %d", text, n)
		}
	}
}

// Where the search for an end has cost too much, each value ends with its first bracket.
func TestSearchIsGivenUp(t *testing.T) {
	text := []byte("[a [b] cd];B[ee]") // four bytes after the first bracket
	for search, want := range map[int]int{3: 6, 4: 10} {
		e := &ends{search: search}
		if n, flaw := e.value(text, ""); n != want || flaw != notEscaped {
			t.Errorf("with %d: at %d, %q", search, n, flaw)
		}
		if n, _ := e.value(text, ""); n != 6 {
			t.Errorf("with what is left of %d: at %d", search, n)
		}
	}
}

// Most values are looked at quickly, and that comes to what a closer look says.
func TestQuickLook(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range tier.Pick(20_000, 200_000, 2_000_000) {
		text := "["
		for range rnd.IntN(8) {
			text += append(chatter, "a longer text", "ee", "]", "];W[aa]", "]AB")[rnd.IntN(len(chatter)+5)]
		}
		prop := []string{"", "C", "B"}[rnd.IntN(3)]
		n, flaw := newEnds().value([]byte(text), prop)
		if closer, said := newEnds().odd([]byte(text), plain[prop]); n != closer || flaw != said {
			t.Fatalf("%s%s: at %d, %q, and at %d, %q", prop, text, n, flaw, closer, said)
		}
	}
}

// chatter is what people write into comments, escaped or not.
var chatter = []string{"[", "]", "(", ")", ";", `\`, ":)", ":]", ":[", "[2]", "[a [b] c]", "W[aa]", ";B[bb]", "(;W[cc];B[dd])", "SZ[19]", "AB[ee]", "x", " ", "\n", "1.", "好"}

// A record has the moves that were written into it, whatever its comments say, or what was
// guessed of them is said. Where the brackets are escaped there is nothing to guess. (Of
// more comments than the soak tier's some imitate a record so well that nothing tells.)
func TestChatter(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	right, all := 0, tier.Pick(5_000, 20_000, 500_000)
	for range all {
		escaped := rnd.IntN(3) == 0
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
			if said += "so"; escaped {
				said = strings.NewReplacer(`\`, `\\`, `]`, `\]`).Replace(said) // as most programs do
				if rnd.IntN(2) == 0 {
					said = strings.ReplaceAll(said, "好", "[") // which nobody has to escape
				}
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
			if escaped {
				t.Fatalf("%v: %s", err, text.String())
			}
			continue
		}
		var got []string
		for _, turn := range rec.Turns {
			got = append(got, name(turn.At, 9))
		}
		same := slices.Equal(got, want) && rec.Setup.W == 9 && len(rec.Setup.Black)+len(rec.Setup.White) == 0
		if same {
			right++
		}
		if !same && len(rec.Repairs) == 0 && rec.Stopped == nil && !rec.More { // which is said, too
			t.Fatalf("read as %v, and nothing is said: %s", got, text.String())
		}
		if escaped && (!same || len(rec.Repairs) > 0) {
			t.Fatalf("read as %v, %v: %s", got, rec.Repairs, text.String())
		}
	}
	if t.Logf("%d of %d are read with all their moves", right, all); right < all*8/10 {
		t.Errorf("only %d of %d", right, all)
	}
}
