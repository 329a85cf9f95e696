package render_test

import (
	"regexp"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/internal/tier"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// The panel keeps its order and its numbers in every language, under every
// ruleset, in every phase.
func TestPanelsOfEveryLanguage(t *testing.T) {
	if tier.Race {
		return // it only takes longer
	}
	names := render.Names{Black: "Wilhelmine von Hohenstein-Ost", White: "井山裕太と申眞諝"}
	for _, l := range text.Languages() {
		w := l.PictureWords()
		for _, r := range rules.Catalogue {
			g, err := rules.New(r, rules.Setup{W: 7, H: 7, Komi: 798})
			if err != nil {
				t.Fatal(err)
			}
			var scenes []render.Scene
			show := func() {
				scenes = append(scenes, w.Of(g, names), w.Of(g, names).Estimated(-798), w.EndedNow(g, names))
			}
			show()
			play := func(turn rules.Turn) {
				if turn.By = g.ToPlay(); g.Phase() != rules.Playing {
					return
				}
				if next, err := g.Play(turn); err == nil {
					g = next
					show()
				}
			}
			for i := range int8(20) {
				play(rules.Turn{Kind: rules.Place, At: rules.Point{X: i * 3 % 7, Y: i * 5 % 7}})
			}
			for range 4 {
				for kind := rules.Pass; kind < rules.Resign; kind++ {
					play(rules.Turn{Kind: kind})
				}
			}
			scenes = append(scenes, w.Of(g, names).Ended("W+T", ""), w.Of(g, names).Ended("B+399.5", ""), w.Of(g, names).Ended("Void", ""))
			for _, s := range scenes {
				for _, layout := range render.AllLayouts() {
					o := render.Options{Layout: layout}
					render.KeepsPlaces(t, l.Tag+", "+r.Name, s, o)
					render.NumbersAreLarge(t, l.Tag+", "+r.Name, s, o)
				}
			}
		}
	}
}

// The letters of all words that are said in pictures can be drawn.
func TestLettersOfEveryLanguage(t *testing.T) {
	holes := regexp.MustCompile(`\{\d\}`)
	for _, l := range text.Languages() {
		for _, words := range []map[string]string{l.Picture, l.Sentences} {
			for _, text := range words {
				if !render.CanDraw(holes.ReplaceAllString(text, "")) {
					t.Errorf("%s: %q cannot be drawn", l.Tag, text)
				}
			}
		}
	}
}
