package bot

import (
	"strings"
	"sync"

	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

var pictureWords sync.Map // of *render.Words by *language

// wordsOf gives the words of pictures and of their descriptions in a language.
func wordsOf(l *language) *render.Words {
	if l == inEnglish {
		return &render.English
	}
	if known, ok := pictureWords.Load(l); ok {
		return known.(*render.Words)
	}
	w := render.English
	for key, into := range pictureFields(&w) {
		if text, ok := l.Picture[key]; ok {
			*into = verbs(text)
		}
	}
	w.Told = func(t rules.Turn) string { return turnText(t).in(l) }
	w.Sentence = func(s string) string { return say("sentence", s).in(l) }
	known, _ := pictureWords.LoadOrStore(l, &w)
	return known.(*render.Words)
}

// verbs writes {0}, {1} … as fmt does, for words that have arguments.
func verbs(text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	return strings.NewReplacer("%", "%%", "{0}", "%[1]v", "{1}", "%[2]v").Replace(text)
}

// pictureFields gives the words of pictures by their keys in the files of
// languages.
func pictureFields(w *render.Words) map[string]*string {
	fields := map[string]*string{
		"black": &w.Black, "white": &w.White, "area": &w.Area, "area.count": &w.AreaCount, "total": &w.Total,
		"placements": &w.Placements, "others": &w.Others, "leads": &w.Leads, "even": &w.Even, "wins": &w.Wins,
		"draw": &w.Draw, "no.result": &w.NoResult, "naive": &w.Naive, "marked": &w.Marked, "start": &w.Start,
		"move": &w.Move, "takes": &w.Takes, "to.play": &w.ToPlay, "stopped": &w.Stopped, "over": &w.Over,
		"if.agreed": &w.IfAgreed, "accepted": &w.Accepted, "forbidden": &w.Forbidden, "in.seki": &w.InSeki,
		"may.draw": &w.MayDraw, "step": &w.Step, "legend": &w.Legend, "dead.are": &w.DeadAre,
		"stop": &w.Stop,
	}
	for i := range w.Things {
		fields["row."+rules.Thing(i).String()] = &w.Things[i]
	}
	for i := range w.Turns {
		if k := rules.Kind(i); k != rules.Place {
			fields["turn."+k.String()] = &w.Turns[i]
		}
	}
	for i, name := range []string{"letter", "triangle", "square", "circle", "cross"} {
		fields["mark."+name] = &w.Marks[i]
	}
	return fields
}
