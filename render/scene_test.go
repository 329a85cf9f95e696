package render

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/halfpoint-go/halfpoint/rules"
)

func k(w, h int, komi rules.Points) rules.Setup { return rules.Setup{W: w, H: h, Komi: komi} }

// row returns the row with a label, which must be there.
func row(t *testing.T, s Scene, label string) Row {
	t.Helper()
	for _, r := range s.Rows {
		if r.Label == label {
			return r
		}
	}
	t.Fatalf("no row %q in %v", label, s.Rows)
	return Row{}
}

// The example E1 with its dead stones marked.
func TestSettling(t *testing.T) {
	g := play(t, "button-equivalence", k(9, 9, 14), e1+"button pass pass")
	s := Of(g, Names{"Aoi", "Marten"})
	if got, want := s.Turn+"|"+s.Next+"|"+s.Headline, "pass|play has stopped|Black +22½"; got != want {
		t.Errorf("before the marks: %q, want %q", got, want)
	}
	if !s.Black.Due || !s.White.Due {
		t.Error("both must answer while settling")
	}
	g = play(t, "button-equivalence", k(9, 9, 14), e1+"button pass pass dead:J8,J2")
	s = Of(g, Names{"Aoi", "Marten"})
	if s.Headline != "White +2½" || s.Caption != "dead stones not agreed yet" {
		t.Errorf("headline %q, %q", s.Headline, s.Caption)
	}
	if want := []Stone{{rules.Point{X: 8, Y: 1}, rules.Black}, {rules.Point{X: 8, Y: 7}, rules.Black}}; !slices.Equal(s.Dead, want) {
		t.Errorf("dead %v", s.Dead)
	}
	if s.Board[1] != "...XO..O." {
		t.Errorf("a dead stone stands: %q", s.Board[1])
	}
	var n [3]int
	for _, p := range s.Territory {
		n[p.Color]++
	}
	if n != [3]int{0, 28, 23} {
		t.Errorf("territory %v", n)
	}
	if r := row(t, s, "Territory"); r.White.Value != 46 || r.White.Delta <= 0 {
		t.Errorf("territory row %+v", r)
	}
	g = play(t, "button-equivalence", k(9, 9, 14), e1+"button pass pass dead:J8,J2 agree")
	over := Of(g, Names{})
	if over.Result != "W+2.5" || over.Headline != "White +2½" || over.Next != "game over" || over.Black.Due || over.White.Due {
		t.Errorf("over: %+v", over)
	}
	if !slices.Equal(over.Dead, s.Dead) || !slices.Equal(over.Board, s.Board) || !slices.Equal(over.Territory, s.Territory) {
		t.Error("agreeing changes the board that is shown")
	}
}

func TestDeltasAndGhosts(t *testing.T) {
	g := play(t, "aga", k(9, 9, 15), "A2 A1 B1x")
	s := Of(g, Names{})
	if want := []Stone{{rules.Point{}, rules.White}}; !slices.Equal(s.Ghosts, want) {
		t.Errorf("ghosts %v", s.Ghosts)
	}
	if s.Told != "Move 3: Black B1, takes 1" || s.Next != "White to play" {
		t.Errorf("%q, %q", s.Told, s.Next)
	}
	if r := row(t, s, "Prisoners"); r.Black != (Cell{Value: 2, Delta: 2}) || r.White != (Cell{}) {
		t.Errorf("prisoners %+v", r)
	}
	if r := row(t, s, "Komi"); !r.Black.Blank || r.White.Value != 15 {
		t.Errorf("komi %+v", r)
	}
	// After a pass the stone placed last is still marked, while it stands and play goes on.
	for turns, want := range map[string]string{"E5 pass": "E5", "E5 D4 pass": "D4", "A2 A1 B1x pass": "B1", "B1 A1 A2x pass": "A2", "pass": "", "E5 pass pass": "", "E5": ""} {
		got := ""
		if s := Of(play(t, "aga", k(9, 9, 15), turns), Names{}); s.Newest != nil {
			got = s.Newest.String()
		}
		if got != want {
			t.Errorf("after %s %q is marked, want %q", turns, got, want)
		}
	}
	// The stone that a suicide takes along was not there before.
	g = play(t, "tromp-taylor", k(5, 5, 0), "A1 B2 C5 A3 D5 C1 A2 E5 B1")
	s = Of(g, Names{})
	if len(s.Ghosts) != 3 || s.Last == nil || s.at(*s.Last) != rules.None {
		t.Errorf("suicide: ghosts %v, last %v", s.Ghosts, s.Last)
	}
	for _, st := range s.Ghosts {
		if st.Color != rules.Black {
			t.Errorf("ghost %v", st)
		}
	}
}

func TestNotes(t *testing.T) {
	for _, x := range []struct{ id, turns, notes, why string }{
		{"aga", "E5 pass", "one more pass stops play", "a pass gives your opponent a pass stone"},
		{"button", "E5", "the button is on the table", ""},
		{"two-button", "E5 pass", "one more pass stops play/the last button is on the table",
			"a pass gives your opponent a pass stone/the first player to pass gets a button"},
		{"aga", "E5 pass pass", "White must still make the last pass/if you agree: White makes the last pass and gives Black a pass stone",
			"a pass gives your opponent a pass stone"},
	} {
		s := Of(play(t, x.id, k(9, 9, 0), x.turns), Names{})
		if got := strings.Join(s.Notes, "/"); got != x.notes {
			t.Errorf("%s %s: %q", x.id, x.turns, got)
		}
		if got := strings.Join(s.Why, "/"); got != x.why {
			t.Errorf("%s %s: because %q", x.id, x.turns, got)
		}
	}
}

// The bowls and the table show the objects that the players hold.
func TestObjects(t *testing.T) {
	for _, x := range []struct {
		id, turns    string
		black, white Bowl
		table        Table
	}{
		{"two-button", "E5", Bowl{}, Bowl{}, Table{Buttons: 2}},
		{"two-button", "E5 pass", Bowl{Stones: 1}, Bowl{Buttons: 1}, Table{Buttons: 1}},
		{"button", "E5 button", Bowl{}, Bowl{Buttons: 1}, Table{}},
		{"half-pass", "E5 pass", Bowl{HalfPasses: 1}, Bowl{}, Table{Zone: true}},
		{"half-pass", "E5 pass pass", Bowl{HalfPasses: 1}, Bowl{Stones: 1}, Table{Zone: true}},
		{"ultimate", "C3 delay", Bowl{Stones: 1, Prisoners: 1, Ultimate: 1}, Bowl{}, Table{}},
		{"aga", "A2 A1 B1x", Bowl{Stones: 1, Prisoners: 1}, Bowl{}, Table{}},
	} {
		s := Of(play(t, x.id, k(9, 9, 0), x.turns), Names{})
		if s.Black.Bowl != x.black || s.White.Bowl != x.white || s.Table != x.table {
			t.Errorf("%s %s: %+v, %+v, %+v", x.id, x.turns, s.Black.Bowl, s.White.Bowl, s.Table)
		}
	}
}

func TestKo(t *testing.T) {
	ko := []rules.Point{point(t, "E4")}
	s := Of(play(t, "area-2", k(9, 9, 0), "D5 E5 C4 F4 D3 E3 E4 D4x"), Names{})
	if !slices.Equal(s.Ko, ko) || !strings.Contains(Text(s), "May not take at E4 (repetition)") {
		t.Errorf("ko %v: %s", s.Ko, Text(s))
	}
	if over := s.Ended("W+T", "time"); len(over.Ko) != 0 {
		t.Errorf("over: %v", over.Ko)
	}
	s = Of(play(t, "area-2", k(9, 9, 0), "D5 E5 C4 F4 D3 E3 E4 D4x A1 B1"), Names{})
	if len(s.Ko) != 0 {
		t.Errorf("after a threat: %v", s.Ko)
	}
	// Where one may not play for want of a liberty there is no ko.
	s = Of(play(t, "area-2", k(5, 5, 0), "A2 E5 B1 E4"), Names{})
	if len(s.Ko) != 0 {
		t.Errorf("an eye: %v", s.Ko)
	}
}

func TestAccepted(t *testing.T) {
	g := then(t, play(t, "aga", k(9, 9, 15), e1+"pass pass dead:J8,J2"), "W agree")
	s := Of(g, Names{})
	if s.Black.Accepted || !s.White.Accepted || !s.Black.Due || s.White.Due || !strings.Contains(Text(s), "White has accepted.") {
		t.Errorf("%+v, %+v: %s", s.Black, s.White, Text(s))
	}
	if s = Of(then(t, g, "B agree"), Names{}); s.Black.Accepted || s.White.Accepted || s.Winner != rules.White {
		t.Errorf("over: %+v, %+v, %v", s.Black, s.White, s.Winner)
	}
}

func TestSuggestion(t *testing.T) {
	g := play(t, "half-pass-agreement", k(9, 9, 0), g1+"pass:B9,D9")
	s := Of(g, Names{})
	if len(s.Dead) != 2 || len(s.Territory) != 0 || s.Board[0] != "..O..OX.." {
		t.Errorf("dead %v, territory %v, board %v", s.Dead, s.Territory, s.Board)
	}
	g = play(t, "half-pass-agreement", k(9, 9, 0), g1+"pass:B9,D9 accept")
	over := Of(g, Names{})
	if len(over.Dead) != 2 || len(over.Territory) == 0 || over.Result != "B+4" {
		t.Errorf("dead %v, territory %v, result %v", over.Dead, over.Territory, over.Result)
	}
}

func TestSekiHasNoTerritory(t *testing.T) {
	g := play(t, "japanese", k(9, 9, 0), g1+"pass pass seki:A7")
	s := Of(g, Names{})
	n := rules.Points(0)
	for _, p := range s.Territory {
		if p.Color == rules.Black {
			n++
		}
	}
	if r := row(t, s, "Territory"); n*rules.One != r.Black.Value || n == 0 || r.Black.Delta >= 0 {
		t.Errorf("%d points marked, %+v", n, r)
	}
}

func TestBowls(t *testing.T) {
	s := Of(play(t, "ultimate", k(5, 5, 0), "C3 delay"), Names{"Aoi", "Marten"})
	if s.Counted || s.Headline != "" {
		t.Errorf("a score: %+v", s)
	}
	if r := row(t, s, "Ultimate stone"); r.Black != (Cell{Value: 2, Delta: 2}) {
		t.Errorf("%+v", r)
	}
	if !slices.Contains(s.Notes, "only White may declare a draw") || s.Black.Right != "" || s.White.Right != "may draw" {
		t.Errorf("notes %q, %q, %q", s.Notes, s.Black.Right, s.White.Right)
	}
	if s = Of(play(t, "ultimate", k(5, 5, 0), "delay C3"), Names{}); s.Black.Right != "may draw" || s.White.Right != "" {
		t.Errorf("%q, %q", s.Black.Right, s.White.Right)
	}
	if s = s.Ended("W+T", "time"); s.Black.Right != "" {
		t.Errorf("over, and Black %s", s.Black.Right)
	}
}

// Counts add up, in every ruleset, at every moment; and nothing is
// counted while stones are in play, unless somebody asks.
func TestRowsAddUp(t *testing.T) {
	for _, r := range rules.Catalogue {
		for seed := range uint64(6) {
			g := random(t, r.Name, 7, 7, int(seed)*12, seed)
			for _, kind := range append([]rules.Kind{rules.Place}, r.Closing...) {
				if kind != rules.Place {
					next, err := g.Play(rules.Turn{Kind: kind, By: g.ToPlay()})
					if err != nil {
						t.Fatal(err)
					}
					g = next
				}
				s, score := Of(g, Names{}), g.Score()
				if g.Phase() == rules.Playing {
					certain(t, s)
					s = EndedNow(g, Names{})
				}
				if score == nil {
					if s.Counted {
						t.Fatalf("%s: counted", r.Name)
					}
					continue
				}
				var black, white rules.Points
				for _, row := range s.Rows {
					if row.Kind == Counts {
						black += row.Black.Value
						white += row.White.Value
					}
					if row.Black.Value == 0 && row.White.Value == 0 && row.Black.Delta == 0 && row.White.Delta == 0 {
						t.Errorf("%s: a row of nothing: %+v", r.Name, row)
					}
				}
				if black != score.Black || white != score.White || s.Black.Total != black || s.White.Total != white {
					t.Fatalf("%s, move %d: rows %v %v, score %v %v", r.Name, g.Turns(), black, white, score.Black, score.White)
				}
			}
		}
	}
}

// certain reports what a scene of a game in play claims to know of its end.
func certain(t *testing.T, s Scene) {
	t.Helper()
	if !s.Playing || s.Counted || s.Headline != "" || s.Caption != "" || s.Winner != rules.None || s.Territory != nil || s.Black.Total != 0 || s.White.Total != 0 {
		t.Fatalf("%s, move %d: it claims %q %q %v", s.Ruleset, s.Move, s.Headline, s.Caption, s.Winner)
	}
	for _, row := range s.Rows {
		if slices.Contains([]string{"Stones", "Territory", "Area", "Total"}, row.Label) {
			t.Fatalf("%s, move %d: it counts %+v", s.Ruleset, s.Move, row)
		}
	}
}

// The count that somebody asks for says what it is, and is that of the board as
// it stands.
func TestEndedNow(t *testing.T) {
	g := play(t, "two-button", k(9, 9, 13), e1[:strings.Index(e1, " F1")])
	now := EndedNow(g, Names{})
	if now.Caption != "if the game ended now" || now.Headline == "" || !now.Playing || now.Winner == rules.None {
		t.Errorf("%q, %q", now.Headline, now.Caption)
	}
	if m := now.Black.Total - now.White.Total; m != g.Score().Margin() {
		t.Errorf("counted %v", m)
	}
	if again := now.Estimated(40); again.Headline != now.Headline || again.Estimate {
		t.Errorf("an estimate instead of a count: %q", again.Headline)
	}
	over := play(t, "two-button", k(9, 9, 13), e1+"pass pass dead:J8,J2 agree")
	if d := cmp.Diff(Of(over, Names{}), EndedNow(over, Names{}), cmpopts.IgnoreFields(Scene{}, "Words")); d != "" {
		t.Error(d)
	}
	resigned := play(t, "aga", k(9, 9, 15), "C3 resign")
	if s := Of(resigned, Names{}); s.Counted || s.Rows[len(s.Rows)-1].Label != "Komi" {
		t.Errorf("a game that nobody counted is counted: %+v", s.Rows)
	}
}

func TestEstimated(t *testing.T) {
	s := Of(play(t, "aga", k(9, 9, 15), "C3"), Names{})
	for margin, want := range map[rules.Points]string{
		8: "≈ Black +4", -8: "≈ White +4", 7: "≈ Black +4", -7: "≈ White +4", 1: "≈ Black +1", 0: "≈ even", -799: "≈ White +400",
	} {
		e := s.Estimated(margin)
		if e.Headline != want || !e.Estimate || e.Winner != rules.None || e.Counted || s.Headline != "" {
			t.Errorf("%v: %q", margin, e.Headline)
		}
		heard := map[bool]string{true: "Black", false: "White"}[margin > 0] + " ahead by about " + strings.TrimLeft(want, "≈ BlackWhite+")
		if margin == 0 {
			heard = "About even"
		}
		if text := Text(e); !strings.Contains(text, ". "+heard+".") {
			t.Errorf("%v: %s", margin, text)
		}
		if over := e.Ended("W+T", "time"); over.Headline != "White wins" || over.Estimate {
			t.Errorf("over: %q", over.Headline)
		}
	}
	settling := play(t, "button-equivalence", k(9, 9, 14), e1+"button pass pass")
	if e := Of(settling, Names{}).Estimated(-90); e.Headline != "Black +22½" || e.Estimate {
		t.Errorf("an estimate instead of a count: %q", e.Headline)
	}
	if over := s.Ended("B+R", "").Estimated(-90); over.Headline != "Black wins" {
		t.Errorf("an estimate instead of a result: %q", over.Headline)
	}
}

func TestEnded(t *testing.T) {
	s := Of(play(t, "aga", k(9, 9, 15), "C3"), Names{})
	for result, want := range map[string]string{
		"W+2.5": "White +2½", "B+R": "Black wins", "W+T": "White wins", "B+F": "Black wins",
		"0": "Even", "Draw": "Draw", "Void": "No result",
	} {
		e := s.Ended(result, "so it is")
		if e.Headline != want || e.Caption != "so it is" || e.Result != result || e.Next != "game over" || e.White.Due {
			t.Errorf("%s: %q, %q, %q, %v", result, e.Headline, e.Caption, e.Next, e.White.Due)
		}
	}
	if s = Of(play(t, "aga", k(9, 9, 15), "C3 resign"), Names{}); s.Headline != "White wins" && s.Headline != "Black wins" || !strings.HasSuffix(s.Caption, "resigned") {
		t.Errorf("resigned: %q, %q", s.Headline, s.Caption)
	}
}

// Every word of a scene is one of Words or a sentence of the rulebook.
func TestOtherWords(t *testing.T) {
	w := English
	w.Black, w.White, w.ToPlay, w.Things[rules.Komi] = "Schwarz", "Weiß", "%s ist am Zug", "Vorgabe"
	w.Told = func(turn rules.Turn) string { return "der Zug " + turn.At.String() }
	w.Sentence = func(s rules.Saying) string { return "«" + s.String() + "»" }
	s := w.EndedNow(play(t, "button", k(9, 9, 14), "C3"), Names{"A", "B"})
	got := []string{s.Told, s.Next, s.Headline, s.Rows[len(s.Rows)-1].Label, s.Notes[0]}
	want := []string{"Move 1: der Zug C3", "Weiß ist am Zug", "Schwarz +74", "Vorgabe", "«the button is on the table»"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestClean(t *testing.T) {
	for name, want := range map[string]string{
		"Aoi":                            "Aoi",
		"":                               "Black",
		" \t\n ":                         "Black",
		"  two   words\n":                "two words",
		"a\u202eb\u2066c\u200bd":         "abcd",
		"\x00\x1b[31mred\x7f":            "[31mred",
		"e" + "\u0301\u0301\u0301\u0301": "e\u0301\u0301",
		"\u0301":                         "Black",
		"\xff\xfe":                       "Black",
		"🌸":                              "🌸",
		"👩\u200d👩\u200d👧":                "👩👩👧",
		"שלום":                           "שלום",
		strings.Repeat("x", 32):          strings.Repeat("x", 32),
		strings.Repeat("x", 33):          strings.Repeat("x", 31) + "…",
		strings.Repeat("x y ", 3000):     strings.Repeat("x y ", 7) + "x y…",
	} {
		if got := clean(name, "Black"); got != want {
			t.Errorf("clean(%q) = %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"Aoi🌸": "Aoi", "🌸": "Black", "碁打ち Master": "碁打ち Master", "Zoe\u0308": "Zoë", "Ωmega Жук": "Ωmega Жук", "…!": "Black",
		"井山裕太": "井山裕太", "신진서": "신진서", "Ngô Bảo Châu": "Ngô Bảo Châu", "שלום": "Black", "Bob שלום": "Bob □", "ไทย ok": "□ ok",
		"🇯🇵 a\u20e3": "a", "Ａｏｉ": "Ａｏｉ", "②": "Black",
	} {
		if got := drawable(name, "Black"); got != want {
			t.Errorf("drawable(%q) = %q, want %q", name, got, want)
		}
	}
	for _, c := range []struct{ name, handle, whole, drawn string }{
		{"Aoi", "aoi", "Aoi", "Aoi"},
		{"Bob שלום", "bob", "Bob שלום", "Bob □"},
		{"عمر", "omar_77", "عمر (omar_77)", "omar_77"},
		{"🎉🎉", "ada", "🎉🎉 (ada)", "ada"},
		{"عمر", "🎉", "عمر", "Black"},
		{"عمر", "", "عمر", "Black"},
		{"", "ada", "", "Black"},
		{"עומר (x) (y)", "omar", "עומר (x) (y) (omar)", "omar"},
		{"עומר (carol)", "omar", "עומר (carol) (omar)", "omar"},
		{"🎉 (carol) 🎉", "omar", "🎉 (carol) 🎉 (omar)", "omar"},
		{"עומר (carol", "omar", "עומר (carol (omar)", "omar"},
		{"עומר (carol" + strings.Repeat("l", 30) + ")", "omar", "עומר (caro" + strings.Repeat("l", 15) + " (omar)", "omar"},
		{"עומר", "x(carol)", "עומר (x[carol])", "x[carol]"},
		{"עומר (carol)", "...", "עומר [carol]", "□ [carol]"},
		{"(עומר)", "omar", "(עומר) (omar)", "(□) (omar)"},
		{"(Lee Sedol)", "lee", "(Lee Sedol)", "(Lee Sedol)"},
		{"(JP) Aoi", "aoi", "(JP) Aoi", "(JP) Aoi"},
		{"Aoi (דב)", "aoi", "Aoi (דב)", "Aoi (□)"},
		{strings.Repeat("ع", 50), strings.Repeat("o", 32), strings.Repeat("ع", 9) + " (" + strings.Repeat("o", 20) + ")", strings.Repeat("o", 20)},
	} {
		whole := WithHandle(c.name, c.handle)
		if drawn := nameplate(whole, "Black"); whole != c.whole || drawn != c.drawn {
			t.Errorf("%q with %q is %q and drawn as %q, want %q and %q", c.name, c.handle, whole, drawn, c.whole, c.drawn)
		}
	}
}

// The picture shows a name whole, or a handle that its platform added, never brackets that a person typed.
func TestNobodyShowsTheHandleOfAnother(t *testing.T) {
	signs := []string{"ع", "a", "(", ")", " "}
	for n := range 5 * 5 * 5 * 5 * 5 {
		var name strings.Builder
		for range 5 {
			name.WriteString(signs[n%5])
			n /= 5
		}
		for _, handle := range []string{"omar", strings.Repeat("o", maxHandle), "..."} {
			for _, name := range []string{name.String(), strings.Repeat(name.String(), 5), "ع" + strings.Repeat(" ", 8) + name.String()} {
				whole := WithHandle(name, handle)
				if drawn := nameplate(whole, "Black"); drawn != handle && drawn != drawable(clean(whole, "Black"), "Black") {
					t.Fatalf("%q with %q is %q and drawn as %q", name, handle, whole, drawn)
				}
			}
		}
	}
}

// Under "If you agree" the bowls and the table hold what the rows count.
func TestBowlsHoldWhatIsCounted(t *testing.T) {
	for _, r := range rules.Catalogue {
		if !r.Has(rules.AcceptScore) {
			continue
		}
		g, err := rules.New(r, k(9, 9, 0))
		for i := 0; err == nil && g.Phase() == rules.Playing; i++ {
			turn := rules.Turn{Kind: rules.Pass, By: g.ToPlay()}
			if i < 2 {
				turn = rules.Turn{By: g.ToPlay(), At: point(t, []string{"C3", "D4"}[i])}
			} else if last := (rules.Turn{Kind: rules.Button, By: g.ToPlay()}); i > 3 && g.Allows(last) {
				turn = last
			}
			g, err = g.Play(turn)
		}
		if err == nil {
			g, err = g.Play(rules.Turn{Kind: rules.MarkDead, By: rules.Black, Dead: []rules.Point{point(t, "D4")}})
		}
		if err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
		s := Of(g, Names{})
		counted := map[string][2]rules.Points{}
		for _, row := range s.Rows {
			counted[row.Label] = [2]rules.Points{row.Black.Value, row.White.Value}
		}
		things := s.Table.Buttons
		for c, p := range []Player{s.Black, s.White} {
			things += p.Bowl.Buttons
			if has := counted["Prisoners"][c] + counted["Pass stones"][c]; has != rules.Points(p.Bowl.Stones)*rules.One {
				t.Errorf("%s: %v of stones are counted, and %d lie in a bowl", r.Name, has, p.Bowl.Stones)
			}
			if has := counted["Buttons"][c]; counts(g.Score(), rules.ButtonThing) && has != rules.Points(p.Bowl.Buttons) {
				t.Errorf("%s: %v of buttons are counted, and %d lie at a bowl", r.Name, has, p.Bowl.Buttons)
			}
		}
		if start, err := rules.New(r, k(9, 9, 0)); err != nil || things != start.Table() {
			t.Errorf("%s: %d buttons have become %d", r.Name, start.Table(), things)
		}
	}
}

// The first count has changed nothing: nobody had counted the board before.
func TestFirstCountIsNoChange(t *testing.T) {
	s := Of(play(t, "two-button", k(9, 9, 13), e1+"pass pass"), Names{})
	for _, row := range s.Rows {
		if row.Label == "Territory" && (row.Black.Delta != 0 || row.White.Delta != 0) {
			t.Errorf("%+v", row)
		}
	}
}
