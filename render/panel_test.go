package render

import (
	"image"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

// rowsText writes rows as "A 1+1 2, Total …".
func rowsText(rows []Row) string {
	var out []string
	for _, r := range rows {
		cell := func(c Cell) string {
			s := cellText(c)
			if c.Delta != 0 {
				s += signed(c.Delta)
			}
			return s
		}
		out = append(out, r.Label+" "+cell(r.Black)+" "+cell(r.White))
	}
	return strings.Join(out, ", ")
}

// Rows that do not fit are omitted or merged, and the rest adds up.
func TestFewerRows(t *testing.T) {
	one := func(v, d int) Cell { return Cell{Value: rules.Points(2 * v), Delta: rules.Points(2 * d)} }
	rows := []Row{
		{"Stones", Counts, one(5, 1), one(3, -2)}, {"Buttons", Counts, one(1, 1), one(0, 0)},
		{"Komi", Counts, Cell{Blank: true}, one(7, 0)}, {"Prisoners", Aside, one(2, 0), one(1, 0)},
	}
	for n, want := range map[int]string{
		9: "Stones 5+1 3−2, Buttons 1+1 0, Komi – 7, Prisoners 2 1",
		3: "Stones 5+1 3−2, Buttons 1+1 0, Komi – 7",
		2: "Stones 5+1 3−2, Others 1+1 7",
		1: "Others 6+2 10−2",
		0: "Others 6+2 10−2", // one is the least
	} {
		if got := rowsText(fewer(rows, n, &English)); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	if got := rowsText(rows); !strings.HasSuffix(got, "Prisoners 2 1") {
		t.Errorf("the rows themselves have changed: %s", got)
	}
}

// panelCases are scenes that need much room, in every phase, ruleset and language,
// on every board.
func panelCases(t *testing.T) []pictured {
	var out []pictured
	long := strings.Repeat("A long sentence that somebody wrote about the last half of a point. ", 8)
	for _, c := range slices.Concat(stateCases(t), rulesetCases(t), nameCases(t), cardCases(t)) {
		out = append(out, c)
		c.scene.Comment = long
		out = append(out, c)
		c.scene.Comment, c.scene.Notes, c.scene.Why = "", []string{long, "short", long}, []string{long, long}
		out = append(out, c)
		c.scene = c.scene.Ended("W+12.5", long)
		out = append(out, c)
	}
	for _, n := range hostile {
		for _, r := range rules.Catalogue {
			c := pictured{name: "hostile " + n.Black, scene: EndedNow(random(t, r.Name, 9, 9, 30, 3), n)}
			out = append(out, c)
			c.scene = Of(random(t, r.Name, 9, 9, 30, 3), n).Estimated(-799)
			c.scene.Black.Accepted, c.scene.White.Accepted = true, true
			out = append(out, c)
		}
	}
	for side := 2; side <= rules.MaxLines; side++ {
		g := random(t, rules.Catalogue[side%len(rules.Catalogue)].Name, side, side, side*side, 3)
		out = append(out, pictured{name: "side " + strconv.Itoa(side), scene: Of(g, Names{}).Estimated(721)})
	}
	big := EndedNow(longGame(t, "area-2"), Names{"Aoi", "Marten"})
	for _, points := range []rules.Points{-799, 799, 1249, 2049, 0} {
		s := big
		s.Rows = nil
		for _, label := range []string{"Territory", "Prisoners", "Pass stones", "Buttons", "Handicap", "Komi"} {
			s.Rows = append(s.Rows, Row{Label: label, Black: Cell{Value: points, Delta: -points}, White: Cell{Value: -points, Delta: points}})
		}
		s.Black.Total, s.White.Total, s.Headline, s.Move = points, points, English.leads(rules.White, points), 1999
		out = append(out, pictured{name: "big " + points.String(), scene: s})
		out = append(out, pictured{name: "big and over " + points.String(), scene: s.Ended("W+1024.5", "")})
	}
	return out
}

// partsOf draws a panel part by part, and gives for each its box and what lies there.
func partsOf(k *sprites, s *Scene) (boxes []image.Rectangle, ops [][]op) {
	l := &displayList{palette: k.palette}
	part := func(box image.Rectangle, draw func()) {
		draw()
		boxes = append(boxes, image.Rect(k.u(box.Min.X), k.u(box.Min.Y), k.u(box.Max.X), k.u(box.Max.Y)))
		ops = append(ops, l.ops)
		l.ops = nil
	}
	w := s.words()
	for color, p := range map[int]*Player{black: &s.Black, white: &s.White} {
		box := k.tiles[color]
		box.Max.Y += tickRadius + 3 // half of it hangs down
		part(box, func() {
			l.player(k, color, p, nameplate(p.Name, w.color(rules.Color(color))), s.Counted)
		})
	}
	var said []string
	part(k.headlineBox.Union(k.captionBox), func() { l.aim(k, s) })
	if len(ops[2]) > 0 {
		with := *s
		s = &with
		s.Aim = s.Aim[1:]
	} else {
		boxes, ops = boxes[:2], ops[:2]
	}
	part(k.headlineBox, func() { l.headline(k, s) })
	part(k.captionBox, func() { said = l.caption(k, s) })
	part(k.ledgerBox, func() { l.ledger(k, s, append(append(said, s.Why...), s.Notes...)) })
	if comment, box, fits := k.comment(s); comment != nil {
		part(box, func() { l.set(k, comment, box) })
		if fits {
			part(k.tableBox, func() { l.table(k, s) })
		}
	} else {
		part(k.tableBox, func() { l.table(k, s) })
		part(k.legendBox, func() { l.legend(k, s) })
	}
	part(k.footerBox, func() { l.footer(k, s) })
	return boxes, ops
}

// However much there is to say, everything keeps to its box, no letter lies on
// another, and the boxes lie apart. Only descenders of the last line may hang out.
func TestPanelPartsKeepTheirPlaces(t *testing.T) {
	for i, c := range panelCases(t) {
		if !some(i) {
			continue
		}
		for _, layout := range AllLayouts() {
			c.o.Layout = layout
			KeepsPlaces(t, c.name, c.scene, c.o)
		}
	}
}

// KeepsPlaces reports what lies outside of its box in the panel of a scene, or on
// something else.
func KeepsPlaces(t *testing.T, name string, s Scene, o Options) {
	t.Helper()
	k, _, err := spritesOf(&s, o)
	if err != nil {
		t.Fatal(err)
	}
	name += ", " + o.Layout
	w, h := k.pixels()
	boxes, parts := partsOf(k, &s)
	for i, box := range boxes {
		if !box.In(image.Rect(0, 0, w, h)) || box.Overlaps(image.Rect(0, 0, k.u(k.board.Max.X), k.u(k.board.Max.Y))) {
			t.Errorf("%s: box %v", name, box)
		}
		for j, other := range boxes[:i] {
			if len(parts[i]) == 0 || len(parts[j]) == 0 {
				continue
			}
			if in := box.Intersect(other); !in.Empty() && in.Dy() > k.u(tickRadius) {
				t.Errorf("%s: boxes %v and %v", name, box, other)
			}
		}
		room := box.Inset(-k.u(2))
		for j, o := range parts[i] {
			a := o.box()
			if o.glyph == nil && !a.In(room) || o.glyph != nil && (a.Min.X < room.Min.X || a.Max.X > room.Max.X || (a.Min.Y+a.Max.Y)/2 > room.Max.Y || a.Min.Y < room.Min.Y-k.u(4)) {
				t.Errorf("%s: something at %v outside of %v", name, a, box)
			}
			for _, other := range parts[i][:j] {
				if over := a.Intersect(other.box()); o.glyph != nil && other.glyph != nil && over.Dx() > 3 && over.Dy() > 3 {
					t.Errorf("%s: letters at %v and %v", name, a, other.box())
				}
			}
		}
	}
}

// On a picture 350 pixels wide, a card 500, every number of the panel is 11 pixels high. The
// numbers that somebody writes, in names, comments and sentences of rules, are no
// part of it.
func TestNumbersCanBeReadOnAPhone(t *testing.T) {
	for i, c := range panelCases(t) {
		if !some(i) {
			continue
		}
		if strings.Contains(c.name, "hostile") {
			c.scene.Black.Name, c.scene.White.Name = "", ""
		}
		c.scene.Comment = ""
		for _, layout := range AllLayouts() {
			for _, size := range Sizes() {
				c.o.Layout, c.o.Size = layout, size
				NumbersAreLarge(t, c.name, c.scene, c.o)
			}
		}
	}
}

// NumbersAreLarge reports the first number of a panel that is too small for a
// phone, or for a preview.
func NumbersAreLarge(t *testing.T, name string, s Scene, o Options) {
	t.Helper()
	for _, sentences := range []*[]string{&s.Notes, &s.Why, &s.Aim} {
		*sentences = slices.DeleteFunc(slices.Clone(*sentences), func(text string) bool { return strings.ContainsAny(text, "0123456789") })
	}
	k, o, err := spritesOf(&s, o)
	if err != nil {
		t.Fatal(err)
	}
	var l displayList
	l.of(k, &s, o)
	digits := map[*glyph]rune{}
	letters.RLock()
	for key, g := range letters.glyphs {
		if key.letter >= '0' && key.letter <= '9' {
			digits[g] = key.letter
		}
	}
	letters.RUnlock()
	w, _ := k.pixels()
	seen := 350
	if o.Layout == "card" {
		seen = 500
	}
	for _, op := range l.ops {
		if digits[op.glyph] == 0 || op.box().Overlaps(image.Rect(0, 0, k.u(k.board.Max.X), k.u(k.board.Max.Y))) {
			continue
		}
		if high := float64(op.glyph.inked()*seen) / float64(w); high < 11 {
			t.Errorf("%s, %s, %s: a %c at %v is %.1f pixels high", name, o.Layout, o.Size, digits[op.glyph], op.box(), high)
			return
		}
	}
}

// inked returns how many rows of a letter somebody sees.
func (g *glyph) inked() int {
	n := 0
	for row := range slices.Chunk(g.mask, g.box.Dx()) {
		if slices.Max(row) >= 128 {
			n++
		}
	}
	return n
}

// Objects on the table, the last move and the player to move keep their places during
// a game and when it is over.
func TestNothingJumpsWhenPlayStops(t *testing.T) {
	n := Names{"Aoi", "Marten"}
	before := Of(play(t, "two-button", k(9, 9, 13), e1+"pass"), n)
	settling := Of(play(t, "two-button", k(9, 9, 13), e1+"pass pass"), n)
	over := Of(play(t, "two-button", k(9, 9, 13), e1+"pass pass agree"), n)
	for _, layout := range AllLayouts() {
		var places []string
		for _, s := range []Scene{before, settling, over} {
			k, _, err := spritesOf(&s, Options{Layout: layout})
			if err != nil {
				t.Fatal(err)
			}
			l := &displayList{palette: k.palette}
			l.panel(k, &s)
			var all []string
			for _, o := range l.ops {
				if slices.Contains([]*sprite{k.tile[black][0], k.tile[black][1], k.tile[white][0], k.tile[white][1], k.bowl.lid, k.turn, k.small}, o.sprite) && o.sprite != nil {
					all = append(all, o.box().String())
				}
			}
			places = append(places, strings.Join(all, " "))
		}
		least := 5
		if layout == "card" { // no bowls
			least = 3
		}
		if places[0] != places[1] || places[1] != places[2] || len(strings.Fields(places[0])) < least {
			t.Errorf("%s: %q", layout, places)
		}
	}
}

// Names lose their middle and not their end, and before that their size.
func TestNamesKeepTheirEnds(t *testing.T) {
	st := style{medium, 18, rgb{}}
	for name, want := range map[string]string{
		"Aoi": "Aoi", "Alexandrina of Kansai the 1st": "Alexandri…the 1st", "Bartholomew-the-Second": "Bartholo…Second",
	} {
		if got := st.elided(name, 116); st.width(got) > 116 || got[len(got)-1] != want[len(want)-1] || !strings.HasPrefix(got, name[:3]) || strings.Contains(got, "…") != strings.Contains(want, "…") {
			t.Errorf("%q is shown as %q", name, got)
		}
	}
}

// A Japanese name of 17 signs is shown whole, in every layout, beside a total or not.
func TestLongJapaneseNames(t *testing.T) {
	name := "井山裕太と申眞諝と柯潔と藤沢里菜"
	name = string([]rune(name + name)[:17])
	for _, layout := range AllLayouts() {
		s := Scene{Board: []string{"."}}
		k, _, err := spritesOf(&s, Options{Layout: layout})
		if err != nil {
			t.Fatal(err)
		}
		inside := k.tiles[black].Inset(7)
		for _, high := range []int{inside.Dy(), nameHigh} {
			inside.Max.Y = inside.Min.Y + high
			p := k.nameIn(name, inside, style{medium, nameSize, rgb{}})
			if got := strings.Join(p.lines, ""); got != name {
				t.Errorf("%s, %d high: %q", layout, high, p.lines)
			}
		}
	}
}

// A line ends after a word.
func TestLinesEndAfterWords(t *testing.T) {
	st, text := style{regular, 20, rgb{}}, "Button with equivalence scoring"
	for w := st.width("Button…") + 2; w < st.width(text); w++ {
		got := st.cut(text, w)
		head, isCut := strings.CutSuffix(got, "…")
		if !isCut || !strings.HasPrefix(text, head+" ") || st.width(got) > w {
			t.Errorf("%d pixels: %q", w, got)
		}
	}
}

// No word is cut, but one that is longer than a line.
func TestSentencesAreWhole(t *testing.T) {
	if race {
		return // it only takes longer
	}
	for i, c := range panelCases(t) {
		if !some(i) {
			continue
		}
		for _, layout := range AllLayouts() {
			c.o.Layout = layout
			k, _, err := spritesOf(&c.scene, c.o)
			if err != nil {
				t.Fatal(err)
			}
			if p, _, _ := k.comment(&c.scene); p != nil {
				for i, line := range p.lines {
					if strings.HasSuffix(line, "…") && i < len(p.lines)-1 {
						t.Errorf("%s: %q", c.name, line)
					}
				}
				if text := strings.TrimSuffix(strings.Join(p.lines, " "), "…"); !strings.HasPrefix(c.scene.Comment, text) {
					t.Errorf("%s: %q is no part of the comment", c.name, text)
				}
			}
		}
	}
}

// Characters missing from every font are omitted.
func TestDrawable(t *testing.T) {
	if got := drawable("a◊", ""); got != "a" {
		t.Errorf("%q", got)
	}
}

// Letters are kept, but not without end.
func TestGlyphsAreBounded(t *testing.T) {
	for size := 10; size < 40; size++ {
		for r := rune('一'); r < '一'+200; r++ {
			letter(glyphKey{regular, size, 0, r})
		}
	}
	if n := len(letters.glyphs); n > maxGlyphs {
		t.Errorf("%d letters", n)
	}
}

func TestKitsAreBounded(t *testing.T) {
	if race {
		return // it only takes longer
	}
	for i := range maxSprites + 20 {
		s := Scene{Board: []string{strings.Repeat(".", 10+i/8%12)}}
		if _, _, err := spritesOf(&s, Options{Theme: Themes()[i%4], Panel: []string{"dark", "light"}[i/4%2], Size: "small"}); err != nil {
			t.Fatal(err)
		}
	}
	spriteCache.RLock()
	defer spriteCache.RUnlock()
	if len(spriteCache.sprites) > maxSprites {
		t.Errorf("%d sets of sprites", len(spriteCache.sprites))
	}
}

func TestWrap(t *testing.T) {
	st := style{regular, 20, rgb{}}
	for _, s := range []string{"a few words that need more than one line", "白番が最後にパスをしたので黒は石を一つ受け取ります", "mixed 白番 words パス", "oneverylongwordthatfitsnowhereatall"} {
		lines := st.wrap(s, 120)
		for _, line := range lines {
			if st.width(line) > 120 || strings.HasSuffix(line, " ") {
				t.Errorf("%q is %d wide", line, st.width(line))
			}
		}
		if len(lines) < 2 && !strings.Contains(s, "very") {
			t.Errorf("%q is not broken", lines)
		}
	}
	if got := strings.Join(words("ab  c 白番 d"), "|"); got != "ab  |c |白|番 |d" {
		t.Errorf("%s", got)
	}
}
