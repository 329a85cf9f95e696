package sgf

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
	"github.com/halfpoint-go/halfpoint/rules"
)

func write(t testing.TB, g *rules.Game, info Info) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, g, info); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const writtenRecord = `(;FF[4]GM[1]CA[UTF-8]AP[Halfpoint:1.0\:b\]]
SZ[5]RU[two-button@1]KM[6.5]HA[2]AB[dd][bb]
PB[a\]b\\]BR[1d]PW[c: d]DT[2026-02-01]RE[B+16.5]
;W[cc]
;B[cb]
;W[]C[White gives Black 1 pass stone: a pass gives your opponent a pass stone
White gets 1 button: the first player to pass gets a button]
;B[]C[Black gives White 1 pass stone: a pass gives your opponent a pass stone]
;W[]XT[resume]C[White gives Black 1 pass stone: a pass gives your opponent a pass stone]
;B[]C[Black gives White 1 pass stone: a pass gives your opponent a pass stone]
;XD[C3]XT[accept]TB[ae][be][ce][de][ee][ad][bd][cd][ed][ac][bc][cc][dc][ec][ab][db][eb][aa][ba][ca][da][ea]C[Black gets 1 prisoner: stones agreed to be dead become prisoners
Black gets 1 button: the last player to pass gets a button
B+16.5: Black has 25½, White has 9])
`

func TestWrittenRecord(t *testing.T) {
	rec := read(t, "(;SZ[5]KM[6.5]HA[2]AB[bb][dd];W[cc];B[cb];W[];B[];W[]XT[resume];B[];XD[C3]XT[accept])")
	g, err := rec.Play(find(t, "two-button@1"), rec.Setup.Komi)
	if err != nil {
		t.Fatal(err)
	}
	got := write(t, g, Info{Version: "1.0:b]", Black: `a]b\`, BlackRank: "1d", White: " c:\nd ", Date: "2026-02-01", Result: "W+T"})
	if got != writtenRecord {
		t.Errorf("%s\nwant\n%s", got, writtenRecord)
	}
}

// The comment of a turn begins with what is said about it, line by line, before what the
// ledger says.
func TestWrittenComments(t *testing.T) {
	g, err := read(t, "(;SZ[5]KM[0];B[cc];W[];B[dd];W[bb])").Play(&rules.TwoButton, 0)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Write(&b, g, Info{}, "Ada, at noon\n\n“centre”\t", "Bob", ""); err != nil {
		t.Fatal(err)
	}
	const want = `;B[cc]C[Ada, at noon
“centre”]
;W[]C[Bob
White gives Black 1 pass stone: a pass gives your opponent a pass stone
White gets 1 button: the first player to pass gets a button]
;B[dd]
;W[bb])
`
	if _, got, _ := strings.Cut(b.String(), "]\n;"); ";"+got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Whatever people are called and say, the record that is written is read as it was meant, and
// nothing in it has to be guessed.
func TestWrittenTextStaysText(t *testing.T) {
	g, err := read(t, "(;SZ[5]KM[0];B[cc];W[];B[dd];W[bb])").Play(&rules.TwoButton, 0)
	if err != nil {
		t.Fatal(err)
	}
	chatter := append([]string{"B[", "W[a", "KM[0"}, chatter...) // which ends with the value
	rnd := rand.New(rand.NewPCG(5, 6))
	said := func() string {
		s := "so"
		for range 1 + rnd.IntN(4) {
			s += chatter[rnd.IntN(len(chatter))]
		}
		return s
	}
	for range tier.Pick(2_000, 5_000, 1_000_000) {
		info := Info{Black: said(), White: said(), Event: said()}
		var b strings.Builder
		if err := Write(&b, g, info, said(), "", said(), said()); err != nil {
			t.Fatal(err)
		}
		rec := read(t, b.String())
		for _, name := range []*string{&info.Black, &info.White, &info.Event} {
			*name = oneLine(*name)
		}
		if rec.Info.Black != info.Black || rec.Info.White != info.White || rec.Info.Event != info.Event ||
			turnsOf(rec) != "B place C3, W pass, B place D2, W place B4" || len(rec.Repairs) > 0 {
			t.Fatalf("%s\n%+v, want %+v; %s %v", b.String(), rec.Info, info, turnsOf(rec), rec.Repairs)
		}
	}
}

// Territory beside a stone in seki is nobody's, whichever way it lies.
func TestWrittenSeki(t *testing.T) {
	for board, want := range map[string]string{
		// A wall of Black from top to bottom: the left side is beside the seki stone.
		"AB[ba][bb][bc]AW[da][db][dc]":               "TB[ac][ab][aa]TW[ec][eb][ea]",
		"AB[ba][bb][bc]AW[da][db][dc]XS[B2]":         "TW[ec][eb][ea]",
		"AB[ba][bb][bc]AW[da][db][dc]XS[B1 D3]":      "",
		"AB[ab][bb][cb][db][eb]XS[C2]":               "",
		"AB[ab][bb][cb][db][eb]":                     "TB[ac][bc][cc][dc][ec][aa][ba][ca][da][ea]",
		"AB[aa][bb][cb][da]AW[ea][eb][ab][ac]XS[A3]": "",
	} {
		xs := ""
		if at := strings.Index(board, "XS"); at >= 0 {
			board, xs = board[:at], board[at:]
		}
		rec := read(t, "(;SZ[5:3]RU[japanese]KM[0]"+board+";B[];W[];"+xs+"XT[accept])")
		g, err := rec.Play(&rules.Japanese, 0)
		if err != nil {
			t.Error(board, xs, err)
			continue
		}
		text := write(t, g, Info{})
		at := strings.Index(text, "TB[")
		if at < 0 {
			at = strings.Index(text, "TW[")
		}
		got := ""
		if at >= 0 {
			got, _, _ = strings.Cut(text[at:], "C[")
		}
		if got != want {
			t.Errorf("%s%s: %s, want %s", board, xs, got, want)
		}
	}
}

// same fails unless two games are the same but for what a record does not keep.
func same(t testing.TB, got, want *rules.Game) {
	t.Helper()
	for _, x := range []struct {
		what      string
		got, want any
	}{
		{"ruleset", got.Rules().ID(), want.Rules().ID()},
		{"proof", got.Proof(), want.Proof()},
		{"turns", got.Turns(), want.Turns()},
		{"phase", got.Phase(), want.Phase()},
		{"player to move", got.ToPlay(), want.ToPlay()},
		{"result", got.Result(), want.Result()},
		{"reason", got.Decided().String(), want.Decided().String()},
		{"score", got.Score(), want.Score()},
		{"ledger", fmt.Sprint(got.Entries()), fmt.Sprint(want.Entries())},
		{"dead", marks(got, got.Dead()), marks(want, want.Dead())},
		{"seki", marks(got, got.Seki()), marks(want, want.Seki())},
		{"suggested", rules.Names(got.Suggested()), rules.Names(want.Suggested())},
		{"legal turns", fmt.Sprint(got.Legal()), fmt.Sprint(want.Legal())},
	} {
		if !reflect.DeepEqual(x.got, x.want) {
			t.Errorf("%s: %v, want %v", x.what, x.got, x.want)
		}
	}
}

// marks returns marked stones; those that lay there when somebody resigned are
// not kept.
func marks(g *rules.Game, ps []rules.Point) string {
	if strings.HasSuffix(g.Result(), "+R") {
		return ""
	}
	return rules.Names(ps)
}

// again writes a game, reads it and plays it.
func again(t testing.TB, g *rules.Game) *rules.Game {
	t.Helper()
	text := write(t, g, Info{})
	rec, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	r, note, err := rec.Ruleset()
	if err != nil || note != "" || !rec.HasKomi {
		t.Fatal(r, note, err)
	}
	back, err := rec.Play(r, rec.Setup.Komi)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if rec.Info.Result != g.Result() {
		t.Errorf("RE[%s], want %s", rec.Info.Result, g.Result())
	}
	return back
}

// Every game, wherever it stands and however it got there, is the same after
// writing, reading and playing it.
func TestRecordsKeepTheGame(t *testing.T) {
	seen := make(map[string]int)
	for _, r := range rules.Catalogue {
		t.Run(r.Name, func(t *testing.T) {
			for seed := range tier.Pick(150, 300, 3000) {
				rnd := rand.New(rand.NewPCG(uint64(seed), 1))
				g := randomGame(t, rnd, r)
				if same(t, again(t, g), g); t.Failed() {
					t.Fatalf("seed %d: %s\n%s", seed, words(g), write(t, g, Info{}))
				}
				if g.Phase() != rules.Settling { // Of keeps no marks that are not agreed
					of, err := Of(g).Play(r, g.Setup().Komi)
					if err != nil {
						t.Fatalf("seed %d: %v: %s", seed, err, words(g))
					}
					same(t, of, g)
				}
				seen[g.Phase().String()]++
				seen[g.Result()]++
				for _, turn := range g.Log() {
					seen[turn.Kind.String()]++
				}
			}
		})
	}
	for _, what := range []string{"playing", "settling", "over", "0", "Draw", "B+R", "W+R",
		"place", "pass", "accept", "button", "delay", "draw", "resign", "dead", "seki", "alive", "agree", "resume"} {
		if seen[what] == 0 {
			t.Errorf("no random game met %q: %v", what, seen)
		}
	}
}

// A game that ends without a result, which random ones do not reach; also one under the
// reading of the first release.
func TestRecordOfNoResult(t *testing.T) {
	for _, id := range []string{"japanese@1", "japanese@2"} {
		r, err := rules.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		g, err := rules.New(r, rules.Setup{W: 2, H: 1})
		if err != nil {
			t.Fatal(err)
		}
		stop := "pass; pass; resume; "
		for turn := range strings.SplitSeq("place A1; place B1; "+stop+"place A1; "+stop+"place B1; "+stop+"place A1; no-result; no-result", "; ") {
			by := g.ToPlay()
			if turn == "no-result" && g.AcceptedNoResult(by) {
				by = by.Opponent()
			}
			parsed, err := rules.ParseTurn(by.Letter()+" "+turn, 2, 1)
			if err != nil {
				t.Fatal(err)
			}
			if g, err = g.Play(parsed); err != nil {
				t.Fatal(id, err)
			}
		}
		if g.Result() != "Void" {
			t.Errorf("%s: %s", id, g.Result())
		}
		back := again(t, g)
		same(t, back, g)
		if back.Rules() != r {
			t.Errorf("%s is read as %s", id, back.Rules().ID())
		}
	}
}

// randomGame plays some turns, with any that the ruleset knows.
func randomGame(t testing.TB, rnd *rand.Rand, r *rules.Ruleset) *rules.Game {
	w, h := 1+rnd.IntN(6), 1+rnd.IntN(6)
	s := rules.Setup{W: w, H: h, Komi: rules.Points(2 * (rnd.IntN(9) - 4))}
	if r != &rules.Ultimate {
		s.Komi += rules.Points(rnd.IntN(2))
	}
	anywhere := func() rules.Point { return rules.Point{X: int8(rnd.IntN(w)), Y: int8(rnd.IntN(h))} }
	if rnd.IntN(3) == 0 {
		board, _ := rules.NewBoard(w, h)
		for range 1 + rnd.IntN(4) {
			if p := anywhere(); board.At(p) == rules.None {
				board.Put(p, rules.Black)
				s.Black = append(s.Black, p)
			}
			if p := anywhere(); rnd.IntN(3) == 0 && board.At(p) == rules.None {
				board.Put(p, rules.White)
				s.White = append(s.White, p)
			}
		}
		if n := len(s.Black); n >= 2 && rnd.IntN(2) == 0 {
			s.Handicap = n
		}
		s.First = []rules.Color{rules.None, rules.Black, rules.White}[rnd.IntN(3)]
	}
	g, err := rules.New(r, s)
	if err != nil { // a setup without liberties
		if g, err = rules.New(r, rules.Setup{W: w, H: h, Komi: s.Komi}); err != nil {
			t.Fatal(err)
		}
	}
	stones := func() (ps []rules.Point) {
		board := g.Board()
		for range 1 + rnd.IntN(3) {
			if p := anywhere(); board.At(p) != rules.None {
				ps = append(ps, p)
			}
		}
		return ps
	}
	resigns := rnd.IntN(4) == 0
	for range rnd.IntN(30 + 6*w*h) {
		turn := rules.Turn{Kind: rules.Place, By: g.ToPlay(), At: anywhere()}
		if rnd.IntN(2) == 0 || g.Phase() == rules.Settling {
			turn.Kind = []rules.Kind{rules.Pass, rules.Pass, rules.AcceptSuggestion, rules.Button, rules.Delay, rules.Draw, rules.Resign, rules.MarkDead, rules.MarkSeki,
				rules.Unmark, rules.AcceptScore, rules.AcceptScore, rules.Resume, rules.NoResult}[rnd.IntN(14)]
		}
		switch turn.Kind {
		case rules.Pass:
			if g.Times(rules.Pass) == 0 && r == &rules.HalfPassAgreement && rnd.IntN(4) > 0 {
				turn.Dead = stones()
			}
		case rules.MarkDead, rules.MarkSeki, rules.Unmark:
			turn.Dead = stones()
		}
		if !turn.Kind.IsTurn() || turn.Kind == rules.Resign {
			turn.By = []rules.Color{rules.Black, rules.White}[rnd.IntN(2)]
		}
		if turn.Kind == rules.Resign && !resigns {
			continue
		}
		if next, err := g.Play(turn); err == nil {
			g = next
		}
		if void, err := g.Replay([]rules.Turn{{Kind: rules.NoResult, By: rules.White}, {Kind: rules.NoResult, By: rules.Black}}); err == nil && rnd.IntN(2) == 0 {
			g = void
		}
	}
	return g
}

// The longest games fit into a record that Read takes.
func TestLongestGames(t *testing.T) {
	for _, x := range []struct {
		id    string
		turns []rules.Kind // again and again
		size  int
	}{
		{"two-button-separate", []rules.Kind{rules.Pass}, 25},
		{"two-button-separate@1", []rules.Kind{rules.Pass, rules.Pass, rules.Button, rules.Resume}, 25},
		{"aga@1", []rules.Kind{rules.Pass, rules.Pass, rules.Resume}, 25},
		{"tromp-taylor", []rules.Kind{rules.Place}, 25},
	} {
		g, err := rules.New(find(t, x.id), rules.Setup{W: x.size, H: x.size})
		if err != nil {
			t.Fatal(err)
		}
		rnd := rand.New(rand.NewPCG(1, 1))
		var log []rules.Turn
		now := g
		for i := 0; len(log) < rules.MaxTurns; i++ {
			turn := rules.Turn{Kind: x.turns[i%len(x.turns)], By: now.ToPlay()}
			if turn.Kind == rules.Place {
				turn.At = rules.Point{X: int8(rnd.IntN(x.size)), Y: int8(rnd.IntN(x.size))}
			}
			next, err := now.Play(turn)
			if err == nil {
				now, log = next, append(log, turn)
			} else if i > 100*rules.MaxTurns {
				t.Fatalf("%s: %d turns and no more", x.id, len(log))
			}
		}
		text := write(t, now, Info{})
		t.Logf("%s: %d turns in %d KiB", x.id, now.Turns(), len(text)>>10)
		same(t, again(t, now), now)
	}
}

func TestWritingFails(t *testing.T) {
	g, _ := rules.New(&rules.AGA, rules.Setup{W: 9, H: 9})
	if err := Write(full{}, g, Info{}); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

var errFull = errors.New("no space left")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// The last node has the marks that count, or that are being talked about, and no others.
func TestMarksAtTheEnd(t *testing.T) {
	for marks, want := range map[string]string{
		"XD[E5]": "XD[E5]", "XS[G3]": "XS[G3]", "XD[E5]XS[G3]": "XD[E5]XS[G3]", "XD[E5]XT[accept]": "XD[E5]XT[accept]", "XD[E5] and resigned": "XT[resign]",
	} {
		marks, resigned := strings.CutSuffix(marks, " and resigned")
		g, err := read(t, "(;SZ[9];B[ee];W[gg];B[];W[];"+marks+")").Play(&rules.Japanese, 0)
		if resigned && err == nil {
			g, err = g.Play(rules.Turn{Kind: rules.Resign, By: rules.Black})
		}
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := Write(&b, g, Info{}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(regexp.MustCompile(`X[DST]\[[a-zE5G3]*\]`).FindAllString(b.String(), -1), ""); got != want {
			t.Errorf("%s: %s, want %s", marks, got, want)
		}
	}
}
