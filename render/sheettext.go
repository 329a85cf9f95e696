package render

import (
	"fmt"
	"strings"

	"github.com/halfpoint-go/halfpoint/rules"
)

// Lines returns every row of the sheet, without those below it, as a line to be read aloud:
// "1 Anna (3d): score 5½, SODOS 12. Ben: won by 3½."
func (t Sheet) Lines() []string {
	lines := make([]string, len(t.Rows))
	for i := range t.Rows {
		r := &t.Rows[i]
		lines[i] = strings.TrimSpace(t.said(r, len(t.Totals)) + t.games(r))
	}
	return lines
}

// said returns a row in words, with its first totals and without its games.
func (t *Sheet) said(r *SheetRow, totals int) string {
	w := t.words()
	said := strings.TrimSpace(r.Number + " " + isolated(clean(r.Name, "–")))
	if r.Rank != "" {
		said += " (" + r.Rank + ")"
	}
	if r.Withdrawn != "" {
		said += w.Comma + r.Withdrawn
	}
	var numbers []string
	for i, n := range r.Totals[:min(len(r.Totals), totals)] {
		if !n.Blank {
			numbers = append(numbers, t.Totals[i].heard()+" "+n.String())
		}
	}
	if len(numbers) > 0 {
		said += ": " + strings.Join(numbers, w.Comma)
	}
	return w.ended(said)
}

// games returns the games of a row in words.
func (t *Sheet) games(r *SheetRow) string {
	said := ""
	for i, g := range r.Games[:min(len(r.Games), len(t.Games))] {
		if g.Said != "" {
			said += t.words().ended(t.Games[i].heard() + ": " + g.Said)
		}
	}
	return said
}

// Text returns the sheet in words, in at most [MaxText] characters: the titles, the rows, the
// notes. Where that is too long it leaves out the notes, then the games of a row and of
// those below it, then the tie-breaks, and at last the rows at the end. The tables below it
// have as much room each.
func (t Sheet) Text() string {
	all := append([]Sheet{t}, t.Below...)
	said := make([]string, len(all))
	for i := range all {
		said[i] = all[i].text(MaxText / len(all))
	}
	return cut(strings.Join(said, " "), MaxText)
}

// text returns a sheet, without those below it, in so many characters.
func (t *Sheet) text(most int) string {
	w := t.words()
	head, notes := w.ended(t.Title)+w.ended(t.Subtitle), ""
	for _, n := range t.Notes {
		notes += w.stopped(n)
	}
	rows, games := make([]string, len(t.Rows)), make([]string, len(t.Rows))
	for i := range t.Rows {
		rows[i], games[i] = t.said(&t.Rows[i], len(t.Totals)), t.games(&t.Rows[i])
	}
	room := most - length(head) - lengths(rows)
	if lengths(games)+length(notes) > room {
		notes = ""
	}
	for i := range rows {
		if room < 0 {
			rows[i] = t.said(&t.Rows[i], 1)
		} else if room -= length(games[i]); room >= length(notes) {
			rows[i] += games[i]
		} else {
			break
		}
	}
	n, more := len(rows), ""
	for n > 0 && length(head)+lengths(rows[:n])+length(more) > most {
		if n--; n == len(rows)-1 {
			n = max(n-1, 0) // the words for more rows are plural
		}
		more = w.stopped(t.more(len(rows) - n))
	}
	return cut(strings.TrimSpace(head+strings.Join(rows[:n], "")+more+notes), most)
}

// maxPrintedName is how many columns of a terminal a name takes.
const maxPrintedName = 20

// Letters returns the rows of the picture in columns, for a terminal.
func (t Sheet) Letters() string {
	table := [][]string{append(append([]string{"", "", ""}, shorts(t.Games)...), shorts(t.Totals)...)}
	n := t.shown()
	for i := range t.Rows[:n] {
		table = append(table, t.letters(&t.Rows[i]))
	}
	// The columns of numbers end alike, parts of a point hang behind.
	firstTotal := 3 + len(t.Games)
	for x := range table[0] {
		if x != 0 && x < firstTotal {
			continue
		}
		wide := 0
		for _, row := range table {
			wide = max(wide, printed(whole(row[x])))
		}
		for _, row := range table {
			row[x] = strings.Repeat(" ", wide-printed(whole(row[x]))) + row[x]
		}
	}
	widths := make([]int, len(table[0]))
	for _, row := range table {
		for x, s := range row {
			widths[x] = max(widths[x], printed(s))
		}
	}
	var b strings.Builder
	for _, title := range []string{t.Title, t.Subtitle} {
		if title != "" {
			fmt.Fprintln(&b, strings.Join(strings.Fields(title), " "))
		}
	}
	fmt.Fprintln(&b)
	for y, row := range table {
		line := ""
		for x, s := range row {
			if widths[x] > 0 {
				line += pad(s, widths[x]) + "  "
			}
		}
		if y > 0 {
			line += t.Rows[y-1].Withdrawn
		}
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
	}
	if more := t.more(len(t.Rows) - n); more != "" {
		fmt.Fprintln(&b, more)
	}
	for i, note := range t.Notes {
		if i == 0 {
			fmt.Fprintln(&b)
		}
		fmt.Fprintln(&b, note)
	}
	for i := range t.Below {
		fmt.Fprintf(&b, "\n%s\n", t.Below[i].Letters())
	}
	return strings.Trim(b.String(), "\n")
}

func shorts(all []SheetHeading) []string {
	var out []string
	for _, h := range all {
		out = append(out, h.Short)
	}
	return out
}

// letters returns the cells of a row: place, name, rank, games, totals.
func (t *Sheet) letters(r *SheetRow) []string {
	name := clean(r.Name, "–")
	for runes := []rune(name); printed(name) > maxPrintedName; {
		runes = runes[:len(runes)-1]
		name = strings.TrimRight(string(runes), " ") + "…"
	}
	cells := make([]string, 3+len(t.Games)+len(t.Totals))
	cells[0], cells[1], cells[2] = r.Number, isolated(name), r.Rank
	for i := range r.Games[:min(len(r.Games), len(t.Games))] {
		cells[3+i] = r.Games[i].letters()
	}
	for i, n := range r.Totals[:min(len(r.Totals), len(t.Totals))] {
		cells[3+len(t.Games)+i] = n.String()
	}
	return cells
}

// letters returns a game as tables of tournaments have it: "12b+", in a cross-table "+3½".
func (g *SheetGame) letters() string {
	switch {
	case g.State == Self:
		return "×"
	case g.Against == "":
		return g.sign() + g.by()
	case g.Color == rules.Black:
		return g.Against + "b" + g.sign()
	case g.Color == rules.White:
		return g.Against + "w" + g.sign()
	}
	return g.Against + g.sign()
}
