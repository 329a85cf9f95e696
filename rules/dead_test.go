package rules

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A drawing is a board with what is true of its stones.
type drawing struct {
	name  string
	board Board
	truth map[Point]byte // of a stone: X O, x o, B W as the file explains them
}

// drawings reads a file of testdata/dead: after "= " a name, then the rows, and
// an empty line. What begins with # is a comment.
func drawings(t testing.TB, file string) (ds []drawing) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "dead", file))
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq(string(text), "\n\n") {
		lines := strings.Split(strings.TrimSpace(block), "\n")
		name, ok := strings.CutPrefix(lines[0], "= ")
		if !ok {
			continue
		}
		ds = append(ds, readDrawing(name, lines[1:]))
	}
	if len(ds) == 0 {
		t.Fatal("no boards in " + file)
	}
	return ds
}

func readDrawing(name string, rows []string) drawing {
	d := drawing{name: name, truth: map[Point]byte{}}
	stones := strings.NewReplacer("x", "X", "o", "O", "B", "X", "W", "O")
	d.board = boardOf(strings.Split(stones.Replace(strings.Join(rows, "\n")), "\n")...)
	for i, row := range rows {
		for x, c := range []byte(row) {
			if c != '.' {
				d.truth[Point{int8(x), int8(len(rows) - 1 - i)}] = c
			}
		}
	}
	return d
}

// seen returns the drawing as it looks from one of eight sides, with the colours
// changed or not.
func (d drawing) seen(side int, swap bool) drawing {
	w, h := d.board.Size()
	if side&4 != 0 {
		w, h = h, w
	}
	rows := make([][]byte, h)
	for i := range rows {
		rows[i] = []byte(strings.Repeat(".", w))
	}
	for p, c := range d.truth {
		if swap {
			c = "XOxoBW"[strings.IndexByte("OXoxWB", c)]
		}
		x, y := int(p.X), int(p.Y)
		if side&4 != 0 {
			x, y = y, x
		}
		if side&1 != 0 {
			x = w - 1 - x
		}
		if side&2 != 0 {
			y = h - 1 - y
		}
		rows[y][x] = c
	}
	var text []string
	for _, row := range rows {
		text = append(text, string(row))
	}
	return readDrawing(d.name, text)
}

// wrong judges a drawing and gives the chains, by one stone of each, of which
// the judgement is not true, and the number of chains.
func (d drawing) wrong(t *testing.T, seed uint64) (wrong []Point, chains int) {
	t.Helper()
	j := Judge(d.board, seed)
	for _, chain := range d.board.allChains() {
		p := chain[0]
		for _, q := range chain {
			if d.board.Liberties(q) == 0 || d.truth[q] != d.truth[p] {
				t.Fatalf("%s: %v cannot be so", d.name, q)
			}
		}
		chains++
		dead, seki := strings.IndexByte("xo", d.truth[p]) >= 0, strings.IndexByte("BW", d.truth[p]) >= 0
		if slices.Contains(j.Dead, p) != dead || slices.Contains(j.Seki, p) != seki {
			wrong = append(wrong, p)
		}
	}
	return wrong, chains
}

// Every chain of the boards that were drawn by hand is judged as it is.
func TestJudge(t *testing.T) {
	chains := 0
	for _, file := range []string{"shapes.txt", "whole.txt"} {
		for _, d := range drawings(t, file) {
			wrong, n := d.wrong(t, 1)
			if len(wrong) > 0 {
				t.Errorf("%s: wrong of %v\n%v", d.name, Names(wrong), d.board)
			}
			chains += n
		}
	}
	t.Logf("%d chains", chains)
}

// From all sides, with the colours changed and with other seeds.
func TestJudgeFromAllSides(t *testing.T) {
	for i, d := range drawings(t, "shapes.txt") {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			for side := range 8 {
				if tier.Pick(side != i%8, false, false) {
					continue
				}
				e := d.seen(side, side%2 == 1)
				if wrong, _ := e.wrong(t, uint64(side)); len(wrong) > 0 {
					t.Errorf("side %d: wrong of %v\n%v", side, Names(wrong), e.board)
				}
			}
		})
	}
}

// A position that depends on the player to move is unsettled; a board of walls is not.
func TestUnsettled(t *testing.T) {
	for _, d := range drawings(t, "unsettled.txt") {
		unsettled := Judge(d.board, 1).Unsettled
		for p, c := range d.truth {
			if (c == 'x' || c == 'o') != slices.Contains(unsettled, p) {
				t.Errorf("%s: %v\n%v", d.name, p, d.board)
			}
		}
	}
	d := drawings(t, "shapes.txt")[0]
	if ps := Judge(d.board, 1).Unsettled; slices.Contains(ps, Point{2, 0}) || slices.Contains(ps, Point{3, 0}) {
		t.Errorf("%s: %v\n%v", d.name, Names(ps), d.board)
	}
}

// Any board can be judged: empty, tiny, long, the largest, in the middle of a
// game. The judgement is about whole chains, sorted, and the same every time.
func TestJudgeAnyBoard(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	for _, size := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {2, 2}, {1, 25}, {25, 1}, {3, 2}, {5, 7}, {13, 4}, {25, 25}} {
		for _, part := range []float64{0, 0.3, 1} {
			b, _ := NewBoard(size[0], size[1])
			p := newPlayout(&b, rnd.Uint64())
			c := Black
			for range int(part * float64(size[0]*size[1])) {
				p.random(c, false)
				c = c.Opponent()
			}
			judged(t, p.Board)
		}
	}
}

func judged(t *testing.T, b Board) {
	t.Helper()
	j := Judge(b, 1)
	again := Judge(b, 1)
	for i, ps := range [][]Point{j.Dead, j.Seki, j.Unsettled} {
		if !slices.IsSortedFunc(ps, comparePoints) || !slices.Equal(ps, [][]Point{again.Dead, again.Seki, again.Unsettled}[i]) {
			t.Errorf("%v\n%v", b, Names(ps))
		}
		for _, p := range ps {
			for _, q := range b.Chain(p) {
				if !slices.Contains(ps, q) {
					t.Errorf("%v without %v\n%v", p, q, b)
				}
			}
			if b.At(p) == None || i == 1 && slices.Contains(j.Dead, p) {
				t.Errorf("%v\n%v", p, b)
			}
		}
	}
}

// Eyes that are one or two: whether the opponent who plays first kills, and
// where. The space is drawn with dots and, where the vital point is, with a +.
func TestVital(t *testing.T) {
	for _, rows := range []string{
		"OOOOO O.+.O OOOOO", "OOOO O+.O O.OO OOOO",
		"OOOOO O.+.O OO.OO OOOOO", "OOOOO OO.OO O.+.O OO.OO OOOOO",
		"OOOOO O.+.O O..OO OOOOO", "OOOOO OO.OO O.+.O O..OO OOOOO",
		".+.O .OOO OOOO", "..OO +OOO .OOO OOOO", // in the corner, from both sides
		"OOOO O..O O..O OOOO", // one eye as it is
	} {
		checkVital(t, strings.Fields(rows), true)
	}
	for _, rows := range []string{
		"OOOOOO O....O OOOOOO", "OOOOO O...O O.OOO OOOOO", "OOOOO O..OO OO..O OOOOO",
		"OOOOOOO O.....O OOOOOOO", "OOOOO O...O O...O OOOOO", "OOOOO O...O O.OOO O.OOO OOOOO",
		".OOO ..OO O.OO OOOO",
	} {
		checkVital(t, strings.Fields(rows), false)
	}
}

func checkVital(t *testing.T, rows []string, kills bool) {
	t.Helper()
	b := boardOf(strings.Split(strings.ReplaceAll(strings.Join(rows, "\n"), "+", "."), "\n")...)
	var shape []int16
	want := 0
	for y, row := range rows {
		for x, c := range []byte(row) {
			i := b.index(Point{int8(x), int8(len(rows) - 1 - y)})
			if c != 'O' {
				shape = append(shape, int16(i))
			}
			if c == '+' {
				want = i
			}
		}
	}
	point, ok := b.nakadePoint(shape)
	if ok != kills || kills && point != want {
		t.Errorf("%v %v, want %v\n%v", b.point(point), ok, kills, strings.Join(rows, "\n"))
	}
}

// Boards that no game can reach are judged as well.
func FuzzJudge(f *testing.F) {
	f.Add(uint8(3), uint8(3), []byte{1, 2, 1, 2, 1, 2, 1, 2, 1})
	f.Add(uint8(5), uint8(1), []byte{1, 1, 0, 2, 2})
	f.Fuzz(func(t *testing.T, w, h uint8, stones []byte) {
		b, _ := NewBoard(1+int(w)%6, 1+int(h)%6)
		for i, p := range b.Points() {
			if i < len(stones) {
				b.Put(p, Color(stones[i]%3))
			}
		}
		judged(t, b)
	})
}

// BenchmarkJudge judges a finished game on 19×19.
func BenchmarkJudge(b *testing.B) {
	for _, d := range drawings(b, "whole.txt") {
		if w, _ := d.board.Size(); w == 19 {
			for b.Loop() {
				Judge(d.board, 1)
			}
			return
		}
	}
}

// BenchmarkJudgeEmpty judges an empty 19×19, the most there is to play out.
func BenchmarkJudgeEmpty(b *testing.B) {
	board, _ := NewBoard(19, 19)
	for b.Loop() {
		Judge(board, 1)
	}
}
