package render

import (
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

// A pictured is a scene with a name, and how it is drawn.
type pictured struct {
	name  string
	scene Scene
	o     Options
}

// longGame is a game of 250 turns on 19×19.
func longGame(t testing.TB, id string) *rules.Game { return random(t, id, 19, 19, 250, 5) }

// rulesetCases are a game under every ruleset: as it begins, in the middle with
// a stone just taken, and at the end.
func rulesetCases(t testing.TB) []pictured {
	var out []pictured
	n := Names{"Aoi", "Marten"}
	for _, r := range rules.Catalogue {
		setup := k(9, 9, r.Komi)
		if r.Name == "ultimate" {
			setup.Komi = 3 * rules.One
		}
		out = append(out,
			pictured{"new " + r.Name, Of(play(t, r.Name, setup, ""), n), Options{}},
			pictured{"play " + r.Name, Of(play(t, r.Name, setup, e1[:strings.Index(e1, " F1")]), n), Options{}})
		g := play(t, r.Name, setup, e1)
		for _, kind := range r.Closing {
			next, err := g.Play(rules.Turn{Kind: kind, By: g.ToPlay()})
			if err != nil {
				t.Fatal(r.Name, err)
			}
			g = next
			out = append(out, pictured{"closing " + r.Name, Of(g, n), Options{}})
		}
		if g.Phase() == rules.Settling {
			g = then(t, g, "B dead J8 J2", "W agree", "B agree")
			out = append(out, pictured{"over " + r.Name, Of(g, n), Options{}})
		}
		if r.Name == "ultimate" {
			g = play(t, r.Name, setup, e1+"delay delay C5 delay")
			out = append(out, pictured{"bowls " + r.Name, Of(g, n), Options{}})
		}
	}
	return out
}

// then plays lines of a log on.
func then(t testing.TB, g *rules.Game, lines ...string) *rules.Game {
	t.Helper()
	w, h := g.Setup().W, g.Setup().H
	for _, l := range lines {
		turn, err := rules.ParseTurn(l, w, h)
		if err != nil {
			t.Fatal(err)
		}
		if g, err = g.Play(turn); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
	}
	return g
}

// stateCases are the states that a picture can show.
func stateCases(t testing.TB) []pictured {
	n := Names{"Aoi", "Marten"}
	of := func(g *rules.Game) Scene { return Of(g, n) }
	lesson := of(play(t, "button", k(13, 13, 14), "C3 K11 K3 C11 F3 C6"))
	lesson.Step, lesson.Steps = 3, 12
	lesson.Comment = "White approaches from the wide side. Black may pincer at C8, or take the corner and let White settle. Whoever fills the last neutral point cannot take the button as well."
	long := longGame(t, "two-button")
	estimated := Of(long, Names{"Miyamoto Naoki of Kansai", "Go Seigen"}).Estimated(9)
	crowded := of(longGame(t, "area-2"))
	for i := range 14 {
		p := rules.Points(i + 1)
		crowded.Rows = append([]Row{{Label: "Line " + string(rune('A'+i)), Black: Cell{Value: p, Delta: p % 2}, White: Cell{Value: 2 * p}}}, crowded.Rows...)
	}
	return []pictured{
		{"new game", of(play(t, "two-button", k(19, 19, 13), "")), Options{}},
		{"capture", of(random(t, "button", 19, 19, 281, 7)), Options{}},
		{"ko", of(play(t, "area-2", k(9, 9, 14), "D5 E5 C4 F4 D3 E3 E4 D4x")), Options{}},
		{"last pass", of(play(t, "aga", k(9, 9, 15), e1+"pass")), Options{}},
		{"button taken", of(play(t, "button", k(9, 9, 14), e1+"button")), Options{}},
		{"button on the table", of(play(t, "button", k(9, 9, 14), e1)), Options{}},
		{"half-passes", of(play(t, "half-pass", k(9, 9, 13), e1+"pass pass")), Options{}},
		{"half-passes over", of(play(t, "half-pass", k(9, 9, 13), e1+"pass pass pass")), Options{}},
		{"suggested", of(play(t, "half-pass-agreement", k(9, 9, 0), g1+"pass:B9,D9")), Options{}},
		{"settling", of(then(t, play(t, "aga", k(9, 9, 15), e1+"pass pass dead:J8,J2"), "W agree")), Options{}},
		{"finished", of(play(t, "two-button", k(9, 9, 13), e1+"pass pass dead:J8,J2 agree")), Options{}},
		{"resigned", of(play(t, "aga", k(19, 19, 15), "D4 Q16 Q4 D16 resign")), Options{}},
		{"seki", of(play(t, "japanese", k(9, 9, 0), g1+"pass pass seki:A7")), Options{}},
		{"ultimate", of(play(t, "ultimate", k(9, 9, 8), e1+"delay C5 delay B4")), Options{}},
		{"ultimate 19", of(random(t, "ultimate", 19, 19, 200, 9)), Options{}},
		{"lesson", lesson, Options{}},
		{"full board", of(full(t, "two-button", 19, 19, 3)), Options{}},
		{"25x25", of(random(t, "aga", 25, 25, 300, 3)), Options{}},
		{"5x25", of(random(t, "aga", 25, 5, 60, 3)), Options{}},
		{"1x1", of(play(t, "tromp-taylor", k(1, 1, 0), "")), Options{}},
		{"2x2", of(play(t, "area-2", k(2, 2, 0), "A1")), Options{}},
		{"handicap", of(handicapGame(t)), Options{}},
		{"crowded", crowded, Options{}},
		{"estimated", estimated, Options{}},
		{"ended now", EndedNow(long, n), Options{}},
		{"portrait estimated", estimated, Options{Layout: "portrait"}},
		{"portrait settling", of(then(t, play(t, "two-button", k(9, 9, 13), e1+"pass pass dead:J8,J2"), "W agree")), Options{Layout: "portrait"}},
		{"portrait finished", of(play(t, "half-pass", k(9, 9, 13), e1+"pass pass pass")), Options{Layout: "portrait", Theme: "slate"}},
	}
}

// cardCases are pictures for previews.
func cardCases(t testing.TB) []pictured {
	trial := Of(random(t, "two-button", 25, 25, 300, 3), Names{"井山裕太と申眞諝と柯潔とひらがな棋士", "שלום עולם"}).Trial()
	finished := Of(play(t, "two-button", k(9, 9, 13), e1+"pass pass dead:J8,J2 agree"), Names{"Aoi", "Marten"})
	position := Of(play(t, "area-2", rules.Setup{W: 2, H: 2, Komi: 14, Black: []rules.Point{{}}}, ""), Names{}).Position()
	return []pictured{
		{"card finished", finished, Options{Layout: "card"}},
		{"card trial", trial, Options{Layout: "card", Coordinates: "kanji", Theme: "slate"}},
		{"card position", position, Options{Layout: "card", Theme: "contrast", Panel: "light", Coordinates: "none"}},
	}
}

func handicapGame(t testing.TB) *rules.Game {
	t.Helper()
	points, err := rules.HandicapPoints(19, 19, 5)
	if err != nil {
		t.Fatal(err)
	}
	g, err := rules.New(ruleset(t, "aga"), rules.Setup{W: 19, H: 19, Komi: rules.Half, Handicap: 5, Black: points})
	if err != nil {
		t.Fatal(err)
	}
	return then(t, g, "W place C3", "B place C4", "W place D3", "B place F3")
}

func point(t testing.TB, name string) rules.Point {
	t.Helper()
	p, err := rules.ParsePoint(name, 25, 25)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// nameCases are names as people type them.
func nameCases(t testing.TB) []pictured {
	var out []pictured
	for i, n := range []Names{
		{"井山裕太", "申眞諝"}, {"신진서", "柯潔"}, {"Александр", "Ελευθερία"}, {"Miyamoto Naoki of Kansai", "Ngô Bảo Châu"},
		{"🌸 hana 🌸", "שלום"}, {"ひらがなカタカナ棋士", "龘靐 ẞßø"}, {strings.Repeat("W", 40), "i"},
	} {
		g := random(t, rules.Catalogue[2*i].Name, 13, 13, 60, uint64(i))
		out = append(out, pictured{"names " + n.Black, Of(g, n), Options{}})
	}
	return out
}

// lookCases are two states in every theme and panel, and all coordinates.
func lookCases(t testing.TB) []pictured {
	n := Names{"Aoi", "Marten"}
	capture := Of(random(t, "button", 19, 19, 281, 7), n)
	settling := Of(then(t, play(t, "button-equivalence", k(9, 9, 14), e1+"button pass pass dead:J8,J2"), "W agree"), n)
	var out []pictured
	for _, theme := range Themes() {
		for _, panel := range []string{"dark", "light"} {
			o := Options{Theme: theme, Panel: panel}
			out = append(out, pictured{"capture " + theme + " " + panel, capture, o}, pictured{"settling " + theme + " " + panel, settling, o})
		}
	}
	for _, c := range Coordinates() {
		out = append(out, pictured{"coordinates " + c, capture, Options{Coordinates: c}})
	}
	return out
}

// allCases are everything that there is to look at.
func allCases(t testing.TB) []pictured {
	return slices.Concat(stateCases(t), rulesetCases(t), lookCases(t), nameCases(t), cardCases(t))
}
