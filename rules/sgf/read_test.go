package sgf

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/unicode"

	"github.com/halfpoint-go/halfpoint/internal/tier"
	"github.com/halfpoint-go/halfpoint/rules"
)

func read(t testing.TB, s string) *Record {
	t.Helper()
	rec, err := Read(strings.NewReader(s))
	if err != nil {
		t.Fatalf("%q: %v", cut(s, 80), err)
	}
	return rec
}

// turnsOf returns the turns of a record in one line.
func turnsOf(rec *Record) string {
	var words []string
	for _, t := range rec.Turns {
		if t.Resumed {
			words = append(words, "resumed")
		}
		words = append(words, t.String())
	}
	return strings.Join(words, ", ")
}

func TestTurnsOfSloppyRecords(t *testing.T) {
	for name, x := range map[string]struct{ record, turns string }{
		"as it should be":                    {"(;GM[1]FF[4]SZ[9];B[ee];W[gc];B[])", "B place E5, W place G7, B pass"},
		"small letters":                      {"(;gm[1]sz[9];b[ee];w[gc])", "B place E5, W place G7"},
		"no header at all":                   {"(;B[pd])", "B place Q16"},
		"no turns":                           {"(;SZ[9])", ""},
		"Windows line breaks":                {"(;GM[1]\r\nSZ[9]\r\n;B[ee]\r\n;W[gc]\r\n)\r\n", "B place E5, W place G7"},
		"byte order mark":                    {"\ufeff(;SZ[9];B[ee])", "B place E5"},
		"a mail before the record":           {"From: me (myself)\nSubject: a game [9x9]\n\n(\n ;SZ[9];B[ee])", "B place E5"},
		"text after the record":              {"(;SZ[9];B[ee]) thanks :) (;SZ[9];B[aa])", "B place E5"},
		"long names of FF[3]":                {"(;GaMe[1]SiZe[9];Black[ee];White[gc])", "B place E5, W place G7"},
		"blanks everywhere":                  {" ( ; SZ [ 9 ] ; B [ ee ]\n\t; W\n[gc] ) ", "B place E5, W place G7"},
		"a bracket in a comment":             {`(;SZ[9]C[smile :\] (;B[aa\])];B[ee]C[\\];W[gc])`, "B place E5, W place G7"},
		"variations: the first is played":    {"(;SZ[9];B[ee](;W[gc](;B[cc])(;B[aa];W[bb]))(;W[gg];B[hh]))", "B place E5, W place G7, B place C7"},
		"a first variation that is shorter":  {"(;SZ[9];B[ee](;W[gc])(;W[gg];B[hh]))", "B place E5, W place G7"},
		"tt is a pass up to 19×19":           {"(;SZ[19];B[tt];W[])", "B pass, W pass"},
		"tt is a point on larger boards":     {"(;SZ[21];B[tt])", "B place U2"},
		"25 lines":                           {"(;SZ[25];B[aa];W[yy])", "B place A25, W place Z1"},
		"a rectangle":                        {"(;SZ[9:5];B[aa];W[ie])", "B place A5, W place J1"},
		"a property twice":                   {"(;SZ[9]C[a]C[b];B[ee]N[a]N[b])", "B place E5"},
		"the button":                         {"(;SZ[9];B[]XT[button];W[])", "B button, W pass"},
		"ultimate":                           {"(;SZ[9];B[]XT[delay];W[tt]XT[delay];B[]XT[draw])", "B delay, W delay, B draw"},
		"resignation":                        {"(;SZ[9];B[ee];B[]XT[resign])", "B place E5, B resign"},
		"a pass that names dead chains":      {"(;SZ[9];B[ee];W[]XT[pass E5 d4];B[]XT[accept])", "B place E5, W pass E5 D4, B accept"},
		"play resumed with a button":         {"(;SZ[9];B[];W[];B[]XT[resume][button])", "B pass, W pass, resumed, B button"},
		"handicap stones played in a row":    {"(;SZ[9]HA[2];B[cc];B[gg];W[ee])", "W place E5"},
		"stones in a row, and no HA":         {"(;SZ[9]HA[0];B[cc];B[gg];W[ee];B[aa])", "W place E5, B place A9"},
		"stones in a row, and nothing else":  {"(;SZ[9];B[cc];B[gg])", "B place C7, B place G3"},
		"stones in a row after setup":        {"(;SZ[9]AW[aa];B[cc];B[gg];W[ee])", "B place C7, B place G3, W place E5"},
		"one handicap stone set up, one not": {"(;SZ[9]HA[2]AB[cc];B[gg];W[ee];B[aa])", "W place E5, B place A9"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := turnsOf(read(t, x.record)); got != x.turns {
				t.Errorf("%s\nwant %s", got, x.turns)
			}
		})
	}
}

func TestSetupOfRecords(t *testing.T) {
	for name, x := range map[string]struct {
		record       string
		w, h         int
		komi         string
		handicap     int
		black, white string
		first        rules.Color
	}{
		"nothing":                       {"(;)", 19, 19, "0", 0, "", "", rules.None},
		"handicap":                      {"(;SZ[9]HA[2]KM[0.5]AB[cg][gc];W[ee])", 9, 9, "½", 2, "C3 G7", "", rules.None},
		"stones without HA":             {"(;SZ[9]AB[cg][gc]AW[ee])", 9, 9, "0", 0, "C3 G7", "E5", rules.None},
		"stones without HA, White":      {"(;SZ[9]AB[cg][gc];W[ee])", 9, 9, "0", 0, "C3 G7", "", rules.White},
		"HA[0]":                         {"(;SZ[9]HA[0];B[ee])", 9, 9, "0", 0, "", "", rules.None},
		"HA[1] is none":                 {"(;SZ[9]HA[1];B[ee])", 9, 9, "0", 0, "", "", rules.None},
		"more stones than HA":           {"(;SZ[9]HA[2]AB[aa][bb][cc])", 9, 9, "0", 2, "C7 B8 A9", "", rules.None},
		"handicap that HA leaves out":   {"(;SZ[9]HA[0];B[cc];B[gg];B[cg];W[ee])", 9, 9, "0", 3, "C3 G3 C7", "", rules.None},
		"handicap, but Black moves":     {"(;SZ[9]HA[2]AB[cg][gc];B[ee])", 9, 9, "0", 2, "C3 G7", "", rules.Black},
		"PL":                            {"(;SZ[9]PL[W])", 9, 9, "0", 0, "", "", rules.White},
		"PL in words":                   {"(;SZ[9]HA[2]AB[cg][gc]PL[black])", 9, 9, "0", 2, "C3 G7", "", rules.Black},
		"PL in numbers":                 {"(;SZ[9]PL[2])", 9, 9, "0", 0, "", "", rules.White},
		"PL that says the usual":        {"(;SZ[9]PL[B])", 9, 9, "0", 0, "", "", rules.None},
		"the first turn is above PL":    {"(;SZ[9]PL[W];B[ee])", 9, 9, "0", 0, "", "", rules.None},
		"resigning is not a first":      {"(;SZ[9];W[]XT[resign])", 9, 9, "0", 0, "", "", rules.None},
		"compressed list":               {"(;SZ[9]AB[aa:cb]AW[ii])", 9, 9, "0", 0, "A8 B8 C8 A9 B9 C9", "J1", rules.None},
		"corners the other way round":   {"(;SZ[9]AB[cb:aa])", 9, 9, "0", 0, "A8 B8 C8 A9 B9 C9", "", rules.None},
		"cleared again":                 {"(;SZ[9]AB[aa:cc]AE[bb][ca]AW[ca])", 9, 9, "0", 0, "A7 B7 C7 A8 C8 A9 B9", "C9", rules.None},
		"setup in a node of its own":    {"(;SZ[9];AB[aa];AW[bb]AE[aa];B[ee])", 9, 9, "0", 0, "", "B8", rules.None},
		"information in a second node":  {"(;GM[1];SZ[9]KM[6.5]PB[x];B[ee])", 9, 9, "6½", 0, "", "", rules.None},
		"a rectangle":                   {"(;SZ[9:5]AB[ie])", 9, 5, "0", 0, "J1", "", rules.None},
		"komi of a server":              {"(;SZ[9]KM[7.50])", 9, 9, "7½", 0, "", "", rules.None},
		"komi 0.00":                     {"(;SZ[9]KM[0.00])", 9, 9, "0", 0, "", "", rules.None},
		"komi with a comma":             {"(;SZ[9]KM[6,5])", 9, 9, "6½", 0, "", "", rules.None},
		"negative komi":                 {"(;SZ[9]KM[-3])", 9, 9, "−3", 0, "", "", rules.None},
		"komi of Fox, in stones":        {"(;SZ[9]KM[375])", 9, 9, "7½", 0, "", "", rules.None},
		"komi in 375 of our own points": {"(;AP[Halfpoint]SZ[9]KM[375])", 9, 9, "375", 0, "", "", rules.None},
		"an empty KM is none":           {"(;SZ[9]KM[])", 9, 9, "0", 0, "", "", rules.None},
	} {
		t.Run(name, func(t *testing.T) {
			rec := read(t, x.record)
			s := rec.Setup
			if s.W != x.w || s.H != x.h || s.Komi.String() != x.komi || s.Handicap != x.handicap || s.First != x.first ||
				rules.Names(s.Black) != x.black || rules.Names(s.White) != x.white {
				t.Errorf("%+v, black %s, white %s", s, rules.Names(s.Black), rules.Names(s.White))
			}
			if rec.HasKomi != strings.Contains(strings.ReplaceAll(x.record, "KM[]", ""), "KM") {
				t.Error("has a komi:", rec.HasKomi)
			}
		})
	}
}

func TestTextOfRecords(t *testing.T) {
	for name, x := range map[string]struct{ record, black string }{
		"plain":                      {"(;PB[Go Seigen])", "Go Seigen"},
		"escapes":                    {`(;PB[a\]b\\c\:d])`, `a]b\c:d`},
		"a bracket alone":            {`(;PB[\]])`, "]"},
		"a letter and a line break":  {"(;PB[A\n])", "A"},
		"soft line break":            {"(;PB[Go Sei\\\ngen])", "Go Seigen"},
		"soft line break of Windows": {"(;PB[Go Sei\\\r\ngen])", "Go Seigen"},
		"hard line breaks and tabs":  {"(;PB[ Go\r\nSeigen\tA ])", "Go Seigen A"},
		"UTF-8":                      {"(;CA[UTF-8]PB[呉清源])", "呉清源"},
		"UTF-8 unsaid":               {"(;PB[Müller])", "Müller"},
		"UTF-8 said but not so":      {"(;CA[utf-8]PB[M\xfcller])", "Müller"},
		"Latin-1":                    {"(;CA[ISO-8859-1]PB[M\xfcller])", "Müller"},
		"Latin-1 said, but UTF-8":    {"(;CA[Latin-1]PB[\xc3\xbc])", "ü"},
		"Windows":                    {"(;CA[windows-1252]PB[\x93M\xfcller\x94 \x80])", "“Müller” €"},
		"Latin-1 unsaid":             {"(;PB[M\xfcller])", "Müller"},
		"ASCII said but not so":      {"(;CA[ASCII]PB[M\xfcller])", "Müller"},
		"control characters":         {"(;PB[a\x1b\\\x00b])", "a  b"},
		"very long":                  {"(;PB[" + strings.Repeat("é", 1000) + "])", strings.Repeat("é", MaxText)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := read(t, x.record).Info.Black; got != x.black {
				t.Errorf("%q, want %q", got, x.black)
			}
		})
	}
	info := read(t, "(;PB[b]BR[1d]PW[w]WR[2k]GN[n]EV[e]RO[r]PC[p]DT[1968-01-01]RE[B+4.0])").Info
	if want := (Info{Black: "b", White: "w", BlackRank: "1d", WhiteRank: "2k", Name: "n", Event: "e", Round: "r", Place: "p", Date: "1968-01-01", Result: "B+4.0"}); info != want {
		t.Errorf("%+v", info)
	}
}

func TestEndingOfRecords(t *testing.T) {
	rec := read(t, "(;SZ[9];B[ee];W[gc];B[];W[];XD[E5 g7]XS[A1]XT[accept]TB[aa]TW[bb])")
	e := rec.Ending
	if rules.Names(e.Dead) != "E5 G7" || rules.Names(e.Seki) != "A1" || !e.Accepted || e.Resumed || e.NoResult || rules.Names(rec.Dead()) != "E5 G7" {
		t.Errorf("%+v", e)
	}
	if e := read(t, "(;SZ[9];B[];W[];XD[E5])").Ending; rules.Names(e.Dead) != "E5" || e.Accepted {
		t.Errorf("%+v", e)
	}
	if e := read(t, "(;SZ[9];B[];W[];XT[resume])").Ending; !e.Resumed {
		t.Errorf("%+v", e)
	}
	if e := read(t, "(;SZ[9];XT[no-result])").Ending; !e.NoResult {
		t.Errorf("%+v", e)
	}
	if got := rec.Cut(2); turnsOf(got) != "B place E5, W place G7" || got.Ending.Accepted || len(rec.Turns) != 4 {
		t.Errorf("cut: %+v", got)
	}
	for _, n := range []int{4, 5} { // all the turns, but nothing of what was said after them
		if got := rec.Cut(n); len(got.Turns) != 4 || got.Ending.Accepted {
			t.Errorf("cut at %d: %+v", n, got)
		}
	}
	if len(rec.Cut(-1).Turns) != 0 {
		t.Error("cut before the first turn")
	}
}

// Marks of territory are kept, wherever the end of a record has them, and what is no mark is not.
func TestMarksOfTerritory(t *testing.T) {
	for record, want := range map[string]bool{
		"(;SZ[5];B[cc])":             false,
		"(;SZ[5];B[cc]TB[zz])":       false,
		"(;SZ[5];B[cc]TB[aa])":       true,
		"(;SZ[5];B[cc];TB[aa])":      true,
		"(;SZ[5];B[cc]TB[aa];W[bb])": false,
	} {
		if rec := read(t, record); (rec.territory != nil) != want {
			t.Errorf("%s: %v", record, rec.territory)
		}
	}
}

// Dead are the stones that a pass named and the other player accepted.
func TestDeadByAPass(t *testing.T) {
	accepts := "XT[" + rules.AcceptSuggestion.String() + "]"
	for record, want := range map[string]string{
		"(;SZ[9];B[ee];W[]XT[pass E5];B[]" + accepts + ")": "E5",
		"(;SZ[9];W[]XT[pass E5];B[]" + accepts + ")":       "E5",
		"(;SZ[9];B[ee];W[]XT[pass E5];B[])":                "",
		"(;SZ[9];B[]" + accepts + ")":                      "",
	} {
		if got := rules.Names(read(t, record).Dead()); got != want {
			t.Errorf("%s: %s, want %s", record, got, want)
		}
	}
}

// A record tells whether its size and its komi are its own.
func TestItsOwnSize(t *testing.T) {
	for record, want := range map[string]string{
		"(;B[cc])": "19 false, 0 false", "(;SZ[19];B[cc])": "19 true, 0 false", "(;SZ[]KM[];B[cc])": "19 false, 0 false", "(;SZ[9]KM[0];B[cc])": "9 true, 0 true",
	} {
		rec := read(t, record)
		if got := fmt.Sprintf("%d %v, %v %v", rec.Setup.W, rec.HasSize, rec.Setup.Komi, rec.HasKomi); got != want {
			t.Errorf("%s: %s, want %s", record, got, want)
		}
	}
}

// Black's stones in a row on an empty board are the handicap, whatever HA says, but not without
// HA if nobody else moves.
func TestHandicapInARow(t *testing.T) {
	const anyway, as = ": Black begins with ", " stones in a row: they are read as handicap"
	for record, want := range map[string]string{
		"(;SZ[9];B[cc];B[gg];W[ee])":             "2" + anyway + "2" + as,
		"(;SZ[9]HA[1];B[cc];B[gg];W[ee])":        "2" + anyway + "2" + as,
		"(;SZ[9]HA[2];B[cc];B[gg];W[ee])":        "2",
		"(;SZ[9]HA[2];B[cc];B[gg];B[cg];W[ee])":  "3: HA[2], but there are 3 such stones: they are read as the handicap",
		"(;SZ[9];B[cc];B[gg])":                   "0",
		"(;SZ[9]HA[1];B[cc];B[gg])":              "0",
		"(;SZ[9]HA[2];B[cc];B[gg])":              "2",
		"(;SZ[9]HA[2];B[cc];B[gg];B[cg])":        "3: HA[2], but there are 3 such stones: they are read as the handicap",
		"(;SZ[9]AB[aa]AW[bb];B[cc];B[gg];W[ee])": "0",
		"(;SZ[9]AB[aa]AW[bb]HA[2];B[cc];W[ee])":  "2",
	} {
		rec := read(t, record)
		got := fmt.Sprint(rec.Setup.Handicap)
		for _, r := range rec.Repairs {
			got += ": " + r.String()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", record, got, want)
		}
	}
}

// What follows the first game is passed over, and Record.More says so.
func TestMore(t *testing.T) {
	for record, want := range map[string]bool{
		"(;SZ[9];B[ee])(;SZ[9];B[cc])":               true,
		"(;SZ[9];B[ee](;W[cc])(;W[gg]))\n\n(;B[cc])": true,
		"(;SZ[9];B[ee]) thanks (;-)":                 false,
		"(;SZ[9];B[ee]) (;-) (;SZ[9])":               true,
		"(;SZ[9];B[ee])":                             false,
		"(;SZ[9];B[ee](;W[cc])(;W[gg]))":             false,
		"(;SZ[9];B[ee]) (see (above))":               false,
		"(;SZ[9];B[ee](;W[cc]":                       false,
		"(;SZ[9](;B[ee])(;W[cc]C[x":                  false,
		"(;SZ[9](;B[ee]) (;W[cc]C[x":                 false,
		"(;SZ[9];B[ee]C[)(;])":                       false,
		"(;SZ[9];B[ee](;W[cc]C[)(;]))":               false,
		"(;SZ[9];B[ee];W[cc];B[dd]SZ[9])":            false,
	} {
		if rec := read(t, record); rec.More != want {
			t.Errorf("%s: %v", record, rec.More)
		}
	}
}

// Every error is one line that says what is wrong.
func TestUnreadableRecords(t *testing.T) {
	for record, want := range map[string]string{
		"":                             "there is no game record in it: one begins with “(;” and a property",
		"hello (world)":                "there is no game record in it: one begins with “(;” and a property",
		"\\[GAMEBLACKNAME=x\\]\nSTO 0": "it is a file in the format GIB, and only SGF is read",
		"\\HS\n\\HE\nSTO 0 2 1 15 3":   "it is a file in the format GIB, and only SGF is read",
		"I played B[ee] and PB[x]":     "there is no game record in it: one begins with “(;” and a property",
		"a list; PB[x]":                "there is no game record in it: one begins with “(;” and a property",
		"hello (;-)":                   "there is no game record in it: one begins with “(;” and a property",
		"hello (;-( and (;-)":          "there is no game record in it: one begins with “(;” and a property",
		"(; B W )":                     "there is no game record in it: one begins with “(;” and a property",
		"(;":                           "the record ends before its first move",
		"(;AP[Halfpoint]KM[6.3])":      "KM[6.3]: 6.3 is not a multiple of ½",
		"(;GM[2])":                     "GM[2] is not read as Go, which is GM[1]",
		"(;GM[0])":                     "GM[0] is not read as Go, which is GM[1]",
		"(;GM[Chess])":                 "GM[Chess] is not read as Go, which is GM[1]",
		"(;GM[Othello])":               "GM[Othello] is not read as Go, which is GM[1]",
		"(;SZ[9:])":                    "SZ[9:] is not the size of a board: write 19, or 9:13",
		"(;SZ[19x19])":                 "SZ[19x19] is not the size of a board: write 19, or 9:13",
		"(;SZ[１９])":                    "SZ[１９] is not the size of a board: write 19, or 9:13",
		"(;SZ[9]":                      "the record ends before its first move",
		`(;C[\])`:                      "the record ends before its first move",
		"(;SZ[0])":                     "a board has 1 to 25 lines a side, not 0×0",
		"(;SZ[0:9])":                   "a board has 1 to 25 lines a side, not 0×9",
		"(;SZ[9:0])":                   "a board has 1 to 25 lines a side, not 9×0",
		"(;SZ[26])":                    "a board has 1 to 25 lines a side, not 26×26",
		"(;SZ[9:99])":                  "a board has 1 to 25 lines a side, not 9×99",
		"(;SZ[big\nger])":              "SZ[big ger] is not the size of a board: write 19, or 9:13",
		"(;SZ[123456789012345678901])": "SZ[12345678901234567890…] is not the size of a board: write 19, or 9:13",
	} {
		rec, err := Read(strings.NewReader(record))
		if err == nil {
			t.Errorf("%q was read: %+v", record, rec)
		} else if err.Error() != want {
			t.Errorf("%q: %q, want %q", record, err, want)
		}
	}
}

// endless returns a record that never ends, and counts what is taken of it.
type endless struct{ taken int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = "(;C[x]"[(e.taken+i)%6]
	}
	e.taken += len(p)
	return len(p), nil
}

func TestTooLargeARecordIsNotReadThrough(t *testing.T) {
	var source endless
	_, err := Read(io.LimitReader(&source, 2*MaxSize))
	if !errors.Is(err, ErrTooLarge) || err.Error() != "the record is larger than 16 MiB" {
		t.Error(err)
	}
	if source.taken > MaxSize+1 {
		t.Errorf("%d bytes were taken", source.taken)
	}
	full := "(;SZ[9]C[" + strings.Repeat("x", MaxSize-11) + "])"
	if rec := read(t, full); rec.Setup.W != 9 {
		t.Error("a record of the largest size:", rec)
	}
	if _, err := Read(strings.NewReader(full + "\n")); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

// Programs that analyse write every move as a variation within the one before.
func TestNesting(t *testing.T) {
	for _, n := range []int{64, 65, 10000} {
		if got := turnsOf(read(t, strings.Repeat("(;B[aa]", n)+strings.Repeat(")", n))); strings.Count(got, "place") != n {
			t.Errorf("%d moves, want %d", strings.Count(got, "place"), n)
		}
	}
	wide := "(;SZ[9]" + strings.Repeat("(;B[aa])", 10000) + ")"
	if got := turnsOf(read(t, wide)); got != "B place A9" {
		t.Error("10,000 variations side by side:", got)
	}
}

// Nothing that fits into a record takes long.
func TestHostileRecords(t *testing.T) {
	fill := func(head, again, tail string) string {
		return head + strings.Repeat(again, (MaxSize-len(head)-len(tail))/len(again)) + tail
	}
	refused := map[string]error{
		"passes for ever": ErrTooLong, "passes, and then a placement": ErrTooLong, "setup for ever": ErrTooLong,
		"many properties": ErrTooLong, "never a record": ErrNoRecord, "never a bracket": ErrNoRecord, "properties without values": ErrNoRecord, "properties of one name": ErrTooLong,
	}
	for name, record := range map[string]string{
		"passes for ever":              fill("(;SZ[25]", ";B[];W[]", ")"),
		"passes, and then a placement": fill("(;SZ[25]", ";B[];W[]", ";B[aa])"),
		"marks for ever":               fill("(;SZ[25]AB[aa:yx];W[yy];B[];W[];XD[", "A2 ", "])"),
		"setup for ever":               fill("(;SZ[25]", "AB[aa:yy]", ")"),
		"empty nodes":                  fill("(", ";", ")"),
		"properties without values":    fill("(;", ";B", ")"),
		"one line beyond ASCII":        fill("(;C[", "\x88\xa1\xb0\xa3", "])"),
		"many properties":              fill("(;", "A[]B[]C[]", ")"),
		"open brackets in text":        fill("(;C[", "(;[", "])"),
		"never a record":               fill("", "( ", ""),
		"never a bracket":              fill("", "KM[x ", ""),
		"a record after smiles":        fill("", "(;-", "(;SZ[9];B[ee])"),
		"properties of one name":       fill("(;", "SZ[9]x[1]B7[]", ")"),
		"empty variations":             fill("(;B[aa]", "()", ")"),
		"a header of no record":        fill("", "SZ[9]\n", "(;B[ee])"),
		"text after the record":        fill("(;B[ee])", ";B[aa]C[x] y ", ""),
		"a name for ever":              fill("(;", "size", "[9])"),
		"a number for ever":            fill("(;B", "1", "[aa])"),
		"brackets within values":       fill("(;", "C[[]", ")"),
		"text after values":            fill("(;", "C[]x ", ")"),
		"values that speak of a game":  fill("(;", "C[(;W[a]", ")"),
		"brackets after a backslash":   fill("(;", `C[\]B[`, "])"),
		"brackets with no end":         fill("(;C[", "[]x ", ")"),
		"values with nothing after":    fill("(;", "C[[]!", ")"),
	} {
		start := time.Now()
		rec, err := Read(strings.NewReader(record))
		if err == nil {
			_, _ = rec.Play(&rules.AGA, 0)
			_, _ = rec.Under(&rules.Japanese, 0, rec.Dead(), nil)
		}
		t.Logf("%s: %v (%v)", name, time.Since(start), err)
		if !errors.Is(err, refused[name]) {
			t.Errorf("%s: %v, want %v", name, err, refused[name])
		}
	}
}

// A record takes no more than three and a half times its size in memory, and little more, all that
// is allocated while it is read taken together: 58 MiB at most.
func TestMemoryOfRecords(t *testing.T) {
	size := tier.Pick(2<<20, 4<<20, MaxSize)
	fill := func(head, again string) string {
		const tail = "];B[ee])"
		return head + strings.Repeat(again, (size-len(head)-len(tail))/len(again)) + tail
	}
	for name, record := range map[string]string{
		"ASCII":                       fill("(;C[", "x "),
		"Shift_JIS":                   fill("(;C[", "\x88\xe4\x8eR\x97T\x91\xbe"),
		"Shift_JIS, said":             fill("(;CA[Shift_JIS]C[", "\x88\xe4\x8eR\x97T\x91\xbe"),
		"Shift_JIS, said as EUC-KR":   fill("(;CA[EUC-KR]C[", "\x88\xe4\x8eR\x97T\x91\xbe"),
		"EUC-JP":                      fill("(;C[", "\xb0\xe6\xbb\xb3\xcd\xb5\xc2\xc0"),
		"GB18030":                     fill("(;C[", "\xc0\xee\xb2\xfd\xb8\xe4"),
		"Windows-1251":                fill("(;C[", "\xc8\xe2\xe0\xed\xee\xe2 "),
		"Windows-1252":                fill("(;C[", "M\xfcller "),
		"half a character in each":    fill("(;CA[UTF-8]C[", "\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4 "),
		"UTF-8 that nothing is right": fill("\ufeff(;C[", "\xfc\x80 "),
		"UTF-16":                      encoded(t, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "(;C["+strings.Repeat("x ", size/4-10)+"];B[ee])"),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rec, err := Read(strings.NewReader(record))
		runtime.ReadMemStats(&after)
		if err != nil || len(rec.Turns) != 1 {
			t.Errorf("%s: %v", name, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 7*uint64(size)/2+2<<20 {
			t.Errorf("%s of %d bytes takes %d", name, len(record), took)
		}
	}
}

func TestReadingFails(t *testing.T) {
	broken := errors.New("the disk is broken")
	if _, err := Read(io.MultiReader(strings.NewReader("(;"), failing{broken})); !errors.Is(err, broken) {
		t.Error(err)
	}
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

func TestRulesetOfRecords(t *testing.T) {
	for ru, want := range map[string]string{
		"":                      "aga: the record names no rules: they are read as aga",
		"two-button":            "two-button: ",
		"two-button@1":          "two-button: ",
		"Two-Button@1":          "two-button: ",
		"AGA":                   "aga: ",
		"Japanese":              "japanese: ",
		"japanese rules":        `japanese: the record's rules "japanese rules" are read as japanese`,
		"Korean":                `japanese: the record's rules "Korean" are read as japanese`,
		"Chinese":               `area-agreement: the record's rules "Chinese" are read as area-agreement`,
		"BGA":                   `aga: the record's rules "BGA" are read as aga`,
		"New Zealand":           `area-agreement: the record's rules "New Zealand" are read as area-agreement`,
		"NZ":                    `area-agreement: the record's rules "NZ" are read as area-agreement`,
		"Tromp-Taylor":          "tromp-taylor: ",
		"Tromp–Taylor":          `tromp-taylor: the record's rules "Tromp–Taylor" are read as tromp-taylor`,
		"Tromp Taylor":          `tromp-taylor: the record's rules "Tromp Taylor" are read as tromp-taylor`,
		"Calvinball":            `aga: the record's rules "Calvinball" are unknown: they are read as aga`,
		"Territory II":          `aga: the record's rules "Territory II" are unknown: they are read as aga`, // not a misspelling of another
		"ter":                   `aga: the record's rules "ter" are unknown: they are read as aga`,
		"ing":                   `area-agreement: the record's rules "ing" are read as area-agreement`,
		"SST":                   `area-agreement: the record's rules "SST" are read as area-agreement`,
		"Japanese/Korean":       `japanese: the record's rules "Japanese/Korean" are read as japanese`,
		"jap":                   `japanese: the record's rules "jap" are read as japanese`,
		"Japanese with superko": `japanese: the record's rules "Japanese with superko" are read as japanese`,
		"Japanese, 6.5 komi":    `japanese: the record's rules "Japanese, 6.5 komi" are read as japanese`,
		"Japaneese":             `japanese: the record's rules "Japaneese" are read as japanese`,
		"Nihon":                 `japanese: the record's rules "Nihon" are read as japanese`,
		"Nippon":                `japanese: the record's rules "Nippon" are read as japanese`,
		"japanisch":             `japanese: the record's rules "japanisch" are read as japanese`,
		"日本ルール(6目半)":            `japanese: the record's rules "日本ルール(6目半)" are read as japanese`,
		"Territory":             `japanese: the record's rules "Territory" are read as japanese`,
		"Hanguk Kiwon":          `japanese: the record's rules "Hanguk Kiwon" are read as japanese`,
		"JPN":                   `japanese: the record's rules "JPN" are read as japanese`,
		"японские":              `japanese: the record's rules "японские" are read as japanese`,
		"IGS":                   `japanese: the record's rules "IGS" are read as japanese`,
		"Chinese, 7.5 komi":     `area-agreement: the record's rules "Chinese, 7.5 komi" are read as area-agreement`,
		"two-button@9":          `RU[two-button@9]: no such ruleset: two-button has no version "9"`,
		"house-of-cards@1":      `RU[house-of-cards@1]: no such ruleset: "house-of-cards@1"`,
	} {
		r, note, err := read(t, "(;RU["+ru+"])").Ruleset()
		got := fmt.Sprint(err)
		if err == nil {
			got = r.Name + ": " + note
		} else if !errors.Is(err, rules.ErrNoSuchRuleset) {
			t.Errorf("%q: %v", ru, err)
		}
		if got != want {
			t.Errorf("%q: %s\nwant %s", ru, got, want)
		}
	}
	for _, r := range rules.Catalogue {
		if got, note, err := read(t, "(;RU["+r.ID()+"])").Ruleset(); got != r || note != "" || err != nil {
			t.Error(r.ID(), got, note, err)
		}
	}
	if !slices.Contains(rules.Catalogue, &rules.AGA) {
		t.Error("the ruleset of unnamed records is not in the catalogue")
	}
}

// Messages quote twenty characters of a record, and no more.
func TestQuotedValuesAreCut(t *testing.T) {
	for _, record := range []string{
		"(;GM[%s])", "(;SZ[%s])", "(;SZ[9];B[%s])", "(;SZ[9]KM[%s])", "(;SZ[9]HA[%s])", "(;SZ[9];B[ee]XT[%s])", "(;SZ[9];B[]XT[%s])", "(;SZ[9]XT[%s];B[ee])",
		"(;SZ[9]PL[%s];B[ee])", "(;SZ[9]CA[%s]PB[Müller])", "(;SZ[9]CA[%s]PB[M\xfcller])",
	} {
		for n, want := range map[int]string{20: strings.Repeat("x", 20), 21: strings.Repeat("x", 20) + "…"} {
			said := ""
			rec, err := Read(strings.NewReader(fmt.Sprintf(record, strings.Repeat("x", n))))
			if err != nil {
				said = err.Error()
			} else {
				said = fmt.Sprint(rec.Repairs, rec.Stopped)
			}
			if !strings.Contains(said, want) || strings.Contains(said, "…") != strings.Contains(want, "…") || strings.Contains(said, strings.Repeat("x", 21)) {
				t.Errorf("%s with %d: %s", record, n, said)
			}
		}
	}
}

// What is wrong before the first move costs no more than itself: the rest of the setup is
// read, and the game from there.
func TestFlawsBeforeTheFirstMove(t *testing.T) {
	const unknown = ": the record does not say where the handicap stones stand: it is read without them"
	for record, want := range map[string]string{
		"(;SZ[9]AB[]AW[];B[ee];W[cc])":                     " / : Black E5 C7 / AB: [] is not a point: it is passed over; AW: [] is not a point: it is passed over",
		"(;SZ[9]AB[tt]AW[aa];B[ee])":                       " / A9: Black E5 / AB: [tt] is not on the board: it is passed over",
		"(;SZ[9]AB[jj]AW[aa];PL[B];B[ee])":                 " / A9: Black E5 / AB: [jj] is not on the board: it is passed over",
		"(;SZ[9]AW[x]AB[aa]B[ee])":                         "A9 / : Black / stones are set up in the node of the first move: they stand before it; AW: [x] is not a point: it is passed over; stopped: move 1: the position before it lacks a stone: AW: [x] is not a point",
		"(;SZ[9]AB[aa]AE[jj];B[ee])":                       "A9 / : Black E5 / AE: [jj] is not on the board: it is passed over",
		"(;SZ[9]AB[aa][bb]AW[cc];B[A!];W[dd])":             "B8 A9 / C7: Black / stopped: move 1: [A!] is not a point",
		"(;SZ[9]AB[aa];AW[cc];W[ss];B[dd])":                "A9 / C7: Black / stopped: move 1: [ss] is not on the board of 9×9",
		"(;SZ[9]AB[ba][ab]AW[aa];B[ee])":                   "a setup stone without a liberty: A9",
		"(;SZ[9]AB[ba][ab]AW[aa];AE[ba];B[ee])":            "A8 / A9: Black E5 / ",
		"(;SZ[19]HA[2];W[pd];B[dp])":                       " / : White Q16 D4 / HA[2]" + unknown,
		"(;SZ[9]HA[2];W[gc])":                              " / : White G7 / HA[2]" + unknown,
		"(;SZ[9]HA[10];W[ee])":                             " / : White E5 / HA[10]" + unknown,
		"(;SZ[5]HA[2];W[cc])":                              " / : White C3 / HA[2]" + unknown,
		"(;SZ[5]HA[2])":                                    " / : Black / HA[2]" + unknown,
		"(;SZ[9]HA[2];B[E5!])":                             " / : Black / HA[2]: the record does not say where the handicap stones stand: it is read without them; stopped: move 1: [E5!] is not a point",
		"(;SZ[9]AB[jj])":                                   " / : Black / AB: [jj] is not on the board: it is passed over",
		"(;SZ[9]AB[aa:])":                                  " / : Black / AB: [] is not a point: it is passed over",
		"(;SZ[9]AW[aa:jj])":                                " / : Black / AW: [aa:jj] is not on the board: it is passed over",
		"(;SZ[9]AE[E5!])":                                  " / : Black / AE: [E5!] is not a point: it is passed over",
		"(;SZ[9];B[E5!])":                                  " / : Black / stopped: move 1: [E5!] is not a point",
		"(;SZ[9];B[ee]XT[button])":                         " / : Black / stopped: move 1: XT[button] stands on what is no pass",
		"(;SZ[9];B[]XT[button][delay])":                    " / : Black / stopped: move 1: XT[delay] stands on what is no pass",
		"(;SZ[9];B[ee];W[]XT[pass E5][button])":            " / : Black E5 / stopped: move 2: XT[button] stands on what is no pass",
		"(;SZ[9];B[]XT[dance])":                            " / : Black / stopped: move 1: XT[dance] is not a turn",
		"(;SZ[9];B[]XT[pass K1])":                          " / : Black / stopped: move 1: K1 is not on this board: its columns go from A to J, its rows from 1 to 9",
		"(;SZ[9];XT[button])":                              " / : Black / stopped: XT[button] stands on a node without a turn",
		"(;SZ[9];XS[" + strings.Repeat("A1 ", 6000) + "])": " / : Black / stopped: XS names more stones than a board has",
		"(;SZ[9];XD[I1])":                                  " / : Black / stopped: XD: Go boards have no column I: did you mean J1?",
		"(;SZ[9];XT[accept];B[ee])":                        " / : Black / stopped: move 1: a turn comes after the node that ends the game",
		"(;SZ[9];B[ee];W[];B[];AE[])":                      " / : Black E5 pass pass / move 3: AE: [] is not a point: it is passed over",
		"(;SZ[9];B[ee];W[cc];B[];W[];AE[jj][ee])":          " / : Black E5 C7 pass pass / move 4: AE: [jj] is not on the board: it is passed over; move 4: stones that are taken off the board after the last pass are read as dead",
		"(;SZ[9];B[ee];AB[];W[cc])":                        " / : Black E5 C7 / move 1: AB: [] is not a point: it is passed over",
		"(;SZ[2]AB[aa:bb])":                                "a setup stone without a liberty: A1",
	} {
		rec := read(t, record)
		if got := seen(t, rec); got != want {
			t.Errorf("%s: %s\nwant %s", record, got, want)
		}
	}
}

// seen describes a record that can be played: its setup, who moves first, the points of its
// turns, and its repairs.
func seen(t *testing.T, rec *Record) string {
	t.Helper()
	start, err := rec.Cut(0).Play(&rules.AGA, 0)
	if err != nil {
		return err.Error()
	}
	if _, err := rec.Play(&rules.AGA, 0); err != nil {
		return err.Error()
	}
	got := fmt.Sprintf("%s / %s: %v", rules.Names(rec.Setup.Black), rules.Names(rec.Setup.White), start.ToPlay())
	for _, turn := range rec.Turns {
		got += " " + strings.TrimPrefix(turn.String()[2:], "place ")
	}
	var said []string
	for _, r := range rec.Repairs {
		said = append(said, r.String())
	}
	if rec.Stopped != nil {
		said = append(said, "stopped: "+rec.Stopped.Error())
	}
	return got + " / " + strings.Join(said, "; ")
}

// The point beyond the last corner is a pass of some programs.
func TestPassBeyondTheCorner(t *testing.T) {
	for record, want := range map[string]string{
		"(;SZ[18];B[aa];W[ss];B[bb])": "B place A18, W pass, B place B17; move 2: [ss] is off the board: it is read as a pass",
		"(;SZ[9];B[aa];W[jj])":        "B place A9, W pass; move 2: [jj] is off the board: it is read as a pass",
		"(;SZ[9:5];B[aa];W[jf])":      "B place A5, W pass; move 2: [jf] is off the board: it is read as a pass",
		"(;SZ[19];B[aa];W[tt])":       "B place A19, W pass",
		"(;SZ[9];B[aa];W[ji])":        "B place A9; stopped: move 2: [ji] is not on the board of 9×9",
	} {
		rec := read(t, record)
		got := turnsOf(rec)
		for _, r := range rec.Repairs {
			got += "; " + r.String()
		}
		if rec.Stopped != nil {
			got += "; stopped: " + rec.Stopped.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", record, got, want)
		}
	}
}

// Turns that a program spells out in its own way are read.
func TestSpelledTurns(t *testing.T) {
	for record, want := range map[string]string{
		"(;SZ[9];B[pass];W[PASS])":          " / : Black pass pass / move 1: [pass] is read as a pass; move 2: [PASS] is read as a pass",
		"(;SZ[9];B[ee];W[resign])":          " / : Black E5 resign / move 2: [resign] is read as a resignation",
		"(;SZ[19];B[QD];W[DP];B[TT])":       " / : Black / stopped: move 1: [QD] is not on the board of 19×19",
		"(;SZ[9]AB[CC]HA[2];B[GG];W[ee])":   " / : Black / AB: [CC] is not on the board: it is passed over; HA[2]: the record does not say where the handicap stones stand: it is read without them; stopped: move 1: the position before it lacks a stone: AB: [CC] is not on the board",
		"(;SZ[9];B[D4];W[e5];B[J9];W[A10])": " / : Black D4 E5 J9 / move 1: [D4] is read as the point D4; move 2: [e5] is read as the point E5; move 3: [J9] is read as the point J9; stopped: move 4: [A10] is not a point",
		"(;SZ[9]AB[C3][G7]HA[2];W[E5])":     "C3 G7 / : White E5 / [C3] is read as the point C3; [G7] is read as the point G7; move 1: [E5] is read as the point E5",
		"(;SZ[25];B[Z25];W[I3])":            " / : Black Z25 / move 1: [Z25] is read as the point Z25; stopped: move 2: [I3] is not a point",
		"(;SZ[9];B[4-4])":                   " / : Black / stopped: move 1: [4-4] is not a point",
	} {
		if got := seen(t, read(t, record)); got != want {
			t.Errorf("%s: %s\nwant %s", record, got, want)
		}
	}
}

// A record may end anywhere: within a name, a value, a character.
func TestCutAnywhere(t *testing.T) {
	for _, text := range []string{
		"(;GM[1]SZ[9]KoMi[6.5]PB[Ada [2d]]C[a [b] \\] c](;B1[ee]KO;W[cc]CoMment[x])(;B[aa]))",
		"(;CA[GBK]SZ[9]PB[\xc1\xd6\xba\xa3\x80]PW[x];B[ee];W[cc])",
		"(;SZ[9]C[[abc",
	} {
		for n := range len(text) + 1 {
			rec, err := Read(strings.NewReader(text[:n]))
			if (rec == nil) == (err == nil) {
				t.Errorf("%q: %v, %v", text[:n], rec, err)
			}
		}
	}
}

func TestNarrow(t *testing.T) {
	if got := narrow("！０９ＡＺ～　日"); got != "!09AZ~ 日" {
		t.Error(got)
	}
}
