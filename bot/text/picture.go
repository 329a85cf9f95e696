package text

import (
	"strings"
	"sync"

	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

var pictureWords sync.Map // of *render.Words by *Language

// PictureWords returns the words of pictures and of their descriptions.
func (l *Language) PictureWords() *render.Words {
	if l == English {
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
	w.Told = func(t rules.Turn) string { return l.Say(Turn(t)) }
	w.Sentence = func(s rules.Saying) string { return l.Say(Sentence(s)) }
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

// pictureFields returns the words of pictures by their keys in the files of
// languages.
func pictureFields(w *render.Words) map[string]*string {
	fields := map[string]*string{
		"black": &w.Black, "white": &w.White, "one.point": &w.OnePoint, "half.point": &w.HalfPoint, "one.delay": &w.OneDelay,
		"placements": &w.Placements, "others": &w.Others, "leads": &w.Leads, "even": &w.Even, "wins": &w.Wins,
		"draw": &w.Draw, "no.result": &w.NoResult, "now": &w.Now, "about": &w.About, "about.even": &w.AboutEven, "heard": &w.Heard, "heard.even": &w.HeardEven, "marked": &w.Marked, "start": &w.Start, "position": &w.Position, "trial": &w.Trial, "trial.is": &w.TrialIs,
		"move": &w.Move, "takes": &w.Takes, "to.play": &w.ToPlay, "stopped": &w.Stopped, "over": &w.Over,
		"if.agreed": &w.IfAgreed, "accepted": &w.Accepted, "forbidden": &w.Forbidden, "in.seki": &w.InSeki,
		"may.draw": &w.MayDraw, "step": &w.Step, "legend": &w.Legend, "dead.are": &w.DeadAre,
		"stop": &w.Stop, "point.empty": &w.Lies[rules.None], "point.black": &w.Lies[rules.Black], "point.white": &w.Lies[rules.White],
		"point.comma": &w.Comma, "point.captured": &w.Captured, "point.dead": &w.Dead, "point.owned": &w.Owned, "point.seki": &w.Seki,
		"point.ko": &w.Ko, "point.last": &w.LastTurn, "point.newest": &w.Newest,
	}
	for i := range w.Things {
		fields["row."+rules.Thing(i).String()] = &w.Things[i]
	}
	for i := range w.Worth {
		fields["worth."+rules.Thing(i).String()] = &w.Worth[i]
	}
	for i := range w.Turns {
		if k := rules.Kind(i); k != rules.Place {
			fields["turn."+k.String()] = &w.Turns[i]
		}
	}
	return fields
}

// Color is an argument for the name of a colour.
func Color(c rules.Color) Message { return Say("color." + strings.ToLower(c.String())) }

// Thing is an argument for a number of things: "2 prisoners".
func Thing(t rules.Thing, n int) Message { return Say("thing."+t.String(), n) }

// Turn words a turn: "Black D4".
func Turn(t rules.Turn) Message {
	switch {
	case t.Kind == rules.Place:
		return Say("turn.place", Color(t.By), t.At)
	case t.Kind == rules.Pass && len(t.Dead) > 0:
		return Say("turn.pass.dead", Color(t.By), rules.Names(t.Dead))
	}
	return Say("turn."+t.Kind.String(), Color(t.By), rules.Names(t.Dead))
}
