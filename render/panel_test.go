package render

import (
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

// rowsText writes rows as "A 1+1 2, Total …".
func rowsText(rows []Row) string {
	var out []string
	for _, r := range rows {
		cell := func(c Cell) string {
			if c.Blank {
				return "–"
			}
			s := number(c.Value)
			if c.Delta != 0 {
				s += signed(c.Delta)
			}
			return s
		}
		out = append(out, r.Label+" "+cell(r.Black)+" "+cell(r.White))
	}
	return strings.Join(out, ", ")
}

// What does not fit is left out or taken together, and the rest adds up.
func TestFewerRows(t *testing.T) {
	one := func(v, d int) Cell { return Cell{Value: rules.Points(2 * v), Delta: rules.Points(2 * d)} }
	rows := []Row{
		{"Stones", Counts, one(5, 1), one(3, -2)}, {"Territory", Counts, one(0, 0), one(0, 0)}, {"Area", Sum, one(5, 0), one(3, 0)},
		{"Buttons", Counts, one(1, 1), one(0, 0)}, {"Komi", Counts, Cell{Blank: true}, one(7, 0)},
		{"Total", Sum, one(6, 0), one(10, 0)}, {"Prisoners", Aside, one(2, 0), one(1, 0)},
	}
	for n, want := range map[int]string{
		9: "Stones 5+1 3−2, Territory 0 0, Area 5 3, Buttons 1+1 0, Komi – 7, Total 6 10, Prisoners 2 1",
		6: "Stones 5+1 3−2, Territory 0 0, Area 5 3, Buttons 1+1 0, Komi – 7, Total 6 10",
		5: "Stones 5+1 3−2, Territory 0 0, Buttons 1+1 0, Komi – 7, Total 6 10",
		4: "Stones 5+1 3−2, Buttons 1+1 0, Komi – 7, Total 6 10",
		3: "Stones 5+1 3−2, Others 1+1 7, Total 6 10",
		2: "Others 6+2 10−2, Total 6 10",
		1: "Others 6+2 10−2, Total 6 10", // two are the least
	} {
		if got := rowsText(fewer(rows, n, &English)); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	if got := rowsText(rows); !strings.HasSuffix(got, "Prisoners 2 1") {
		t.Errorf("the rows themselves have changed: %s", got)
	}
}

// However much there is to say, what is said in the panel keeps its place: in
// the middle no letter lies on another or on the footer.
func TestPanelPartsDoNotMeet(t *testing.T) {
	scenes := []pictured{}
	long := strings.Repeat("A long sentence that somebody wrote in a lesson about the last half point. ", 6)
	for _, c := range append(stateCases(t), rulesetCases(t)...) {
		scenes = append(scenes, c)
		c.scene.Comment = long
		scenes = append(scenes, c)
		c.scene.Notes = []string{long, "short", long}
		c.scene.Why = []string{long, long}
		scenes = append(scenes, c)
		c.scene = c.scene.Ended("W+12.5", long)
		scenes = append(scenes, c)
	}
	for i, c := range scenes {
		if race && i%10 > 0 {
			continue
		}
		k, o, err := spritesOf(&c.scene, c.o)
		if err != nil {
			t.Fatal(err)
		}
		var l displayList
		l.palette = k.palette
		top := l.headline(k, &c.scene)
		before := len(l.ops)
		bottom := l.footer(k, &c.scene)
		l.ops = l.ops[:before]
		l.middle(k, &c.scene, top, bottom-10)
		for j := before; j < len(l.ops); j++ {
			a := l.ops[j].box()
			if a.Max.Y > k.u(bottom-2) || a.Min.Y < k.u(top-4) || a.Min.X < k.u(panelLeft-2) || a.Max.X > k.u(panelRight+2) {
				t.Errorf("%s: something at %v lies outside of %d to %d", c.name, a, top, bottom)
			}
			if l.ops[j].glyph == nil {
				continue
			}
			for m := range j {
				b := l.ops[m].box()
				if l.ops[m].glyph == nil || l.ops[m] == l.ops[j] || a.Overlaps(b) {
					// letters of a line may overhang each other
					if over := a.Intersect(b); l.ops[m].glyph != nil && over.Dx() > 3 && over.Dy() > 3 {
						t.Errorf("%s: letters at %v and %v", c.name, a, b)
					}
				}
			}
		}
		_ = o
	}
}

// What no font has is left out.
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
