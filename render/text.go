package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/halfpoint-go/halfpoint/rules"
)

// MaxText is the longest result of [Text], in characters: what Discord takes as
// the description of a picture. Characters are counted as UTF-16 does, which
// gives no less than counting them one by one.
const MaxText = 1024

// Accepted returns who has accepted the count as it is marked, in a sentence each.
func (s Scene) Accepted() (who []string) {
	w := s.words()
	for _, p := range []struct {
		Player
		color string
	}{{s.Black, w.Black}, {s.White, w.White}} {
		if p.Player.Accepted {
			who = append(who, fmt.Sprintf(w.Accepted, p.color))
		}
	}
	return who
}

// Text returns the scene in words and letters, for those who hear it instead of
// seeing it and where no picture can be shown: the last turn, who is next, the
// count, what else is to be known, and then the board, top row first. It is at
// most [MaxText] characters long; what does not fit is left out from the end
// of the words, and at last the board.
func Text(s Scene) string {
	w := s.words()
	black, white := seated(s.Black.Name, w.Black), seated(s.White.Name, w.White)
	if s.Counted {
		black, white = black+" "+s.Black.Total.String(), white+" "+s.White.Total.String()
	}
	words := w.stopped(s.Told) + w.stopped(s.Next) + w.ended(black+", "+white)
	margin := cmp.Or(s.Heard, s.Headline)
	if s.Result != "" {
		margin += " (" + s.Result + ")"
	}
	if s.Caption != "" {
		margin += ", " + s.Caption
	}
	words += w.stopped(margin)

	said := slices.Clone(s.Why)
	if s.Steps > 0 {
		said = append(said, fmt.Sprintf(w.Step, s.Step, s.Steps))
	}
	if len(s.Ko) > 0 {
		said = append(said, fmt.Sprintf(w.Forbidden, rules.Names(s.Ko)))
	}
	if len(s.Seki) > 0 {
		said = append(said, fmt.Sprintf(w.InSeki, rules.Names(s.Seki)))
	}
	said = append(append(append(said, s.Accepted()...), s.Comment), s.Notes...)
	more := []string{}
	for _, sentence := range said {
		more = append(more, w.stopped(sentence))
	}
	for _, r := range s.Rows {
		more = append(more, w.stopped(r.text(w)))
	}

	letters := ""
	for _, try := range []string{s.letters(" "), s.letters("")} {
		if letters = try; length(words)+lengths(more)+length(letters) <= MaxText {
			break
		}
	}
	if length(words)+length(letters) > MaxText {
		letters = ""
	}
	for _, m := range more {
		if length(words)+length(m)+length(letters) <= MaxText {
			words += m
		}
	}
	return cut(strings.TrimSpace(words)+letters, MaxText)
}

// seated returns a player's name and colour, or the colour alone if there is no other name.
func seated(name, color string) string {
	if name = clean(name, color); name == color {
		return color
	}
	return isolated(name) + " (" + color + ")"
}

// PointNames returns a function that names each point of a scene with all that the board
// shows there, for [SVGGrid]: "D4, black, last turn".
func PointNames(s Scene) func(rules.Point) string {
	w := s.words()
	lies, more := map[rules.Point]rules.Color{}, map[rules.Point]string{}
	add := func(p rules.Point, words string) { more[p] += w.Comma + words }
	for _, st := range s.Ghosts {
		add(st.At, fmt.Sprintf(w.Captured, w.Lies[st.Color]))
	}
	for _, st := range s.Dead {
		lies[st.At] = st.Color
		add(st.At, w.Dead)
	}
	for _, st := range s.Territory {
		add(st.At, fmt.Sprintf(w.Owned, w.color(st.Color)))
	}
	for _, p := range s.Seki {
		add(p, w.Seki)
	}
	for _, p := range s.Ko {
		add(p, w.Ko)
	}
	if s.Last != nil {
		add(*s.Last, w.LastTurn)
	} else if s.Newest != nil {
		add(*s.Newest, w.Newest)
	}
	return func(p rules.Point) string { return p.String() + w.Comma + w.Lies[max(s.at(p), lies[p])] + more[p] }
}

// TextBoard returns the board in letters, under a legend and with its
// coordinates, for where letters stand in columns. It is empty for a scene that
// cannot be drawn.
func TextBoard(s Scene) string { return strings.TrimPrefix(s.letters(" "), "\n") }

// text returns a row of the ledger in words: "Prisoners: Black 27 (+4), White 26".
func (r *Row) text(w *Words) string {
	var sides []string
	for i, c := range []Cell{r.Black, r.White} {
		if c.Blank {
			continue
		}
		side := []string{w.Black, w.White}[i] + " " + c.Value.String()
		if c.Delta != 0 {
			side += " (" + signed(c.Delta) + ")"
		}
		sides = append(sides, side)
	}
	return r.Label + ": " + strings.Join(sides, ", ")
}

// letters draws the board in letters, under a legend, points kept apart by
// space.
func (s *Scene) letters(space string) string {
	if s.check() != nil {
		return ""
	}
	w, h := s.Size()
	rows := make([][]byte, h)
	for i, row := range s.Board {
		rows[i] = []byte(row)
	}
	legend := s.words().Legend
	if len(s.Dead) > 0 {
		legend += ", " + s.words().DeadAre
	}
	for _, d := range s.Dead {
		if s.has(d.At) {
			rows[h-1-int(d.At.Y)][d.At.X] = ".xo"[d.Color]
		}
	}
	var b strings.Builder
	b.WriteString("\n" + legend + "\n")
	b.WriteString("   " + strings.Join(strings.Split(columnLetters[:w], ""), space))
	for i, row := range rows {
		fmt.Fprintf(&b, "\n%2d %s", h-i, strings.Join(strings.Split(string(row), ""), space))
	}
	return b.String()
}

// stopped makes a sentence of some words: a capital before them, and what stands behind.
func (w *Words) stopped(s string) string {
	if s = w.ended(s); s == "" {
		return ""
	}
	return capital(s)
}

// Sentences joins parts of what is told, as sentences; empty ones are left out.
func (w *Words) Sentences(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(w.stopped(p))
	}
	return strings.TrimSpace(b.String())
}

// ended is stopped without the capital, for words that begin with a name.
func (w *Words) ended(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if s == "" {
		return ""
	}
	return strings.TrimRight(cut(s, 200), ".。") + w.Stop // what is quoted may have a stop of its own
}

// capital returns s with a capital at its start.
func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// cut ends a text that is longer than n characters with "…".
func cut(s string, n int) string {
	long, end := 0, 0 // end is where the last letter ends that leaves room for "…"
	for i, r := range s {
		if long++; r > 0xFFFF {
			long++
		}
		if long > n {
			return s[:end] + "…"
		}
		if long < n {
			end = i + utf8.RuneLen(r)
		}
	}
	return s
}

// length counts as UTF-16 does.
func length(s string) int {
	n := 0
	for _, r := range s {
		if n++; r > 0xFFFF {
			n++
		}
	}
	return n
}

func lengths(all []string) int {
	n := 0
	for _, s := range all {
		n += length(s)
	}
	return n
}
