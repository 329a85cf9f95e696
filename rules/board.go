package rules

import (
	"fmt"
	"slices"
	"strings"
)

// cells holds the largest board with one row of edge below and above and one
// column of edge, shared by the end of a row and the start of the next.
const cells = (MaxLines+2)*(MaxLines+1) + 1

// A Board is stones on a rectangle of lines, 1 to 25 a side. It is a value:
// assigning copies it, and == tells whether two boards are the same position.
type Board struct {
	w, h int8
	key  uint64 // Zobrist key of the stones, kept up to date
	cell [cells]Color
}

// NewBoard returns an empty board of w columns and h rows.
func NewBoard(w, h int) (Board, error) {
	var b Board
	if w < 1 || h < 1 || w > MaxLines || h > MaxLines {
		return b, fmt.Errorf("a board has 1 to %d lines a side, not %d×%d", MaxLines, w, h)
	}
	b.w, b.h = int8(w), int8(h)
	for i := range b.cell {
		b.cell[i] = edge
	}
	for y := range h {
		for x := range w {
			b.cell[b.index(Point{int8(x), int8(y)})] = None
		}
	}
	return b, nil
}

// Size returns the number of columns and rows.
func (b *Board) Size() (w, h int) { return int(b.w), int(b.h) }

// Has reports whether p is on the board.
func (b *Board) Has(p Point) bool { return p.X >= 0 && p.Y >= 0 && p.X < b.w && p.Y < b.h }

// At returns the stone on p, None when it is empty or off the board.
func (b *Board) At(p Point) Color {
	if !b.Has(p) {
		return None
	}
	return b.cell[b.index(p)]
}

// Points returns every point of the board, row by row from A1.
func (b *Board) Points() []Point {
	ps := make([]Point, 0, int(b.w)*int(b.h))
	for y := range b.h {
		for x := range b.w {
			ps = append(ps, Point{x, y})
		}
	}
	return ps
}

// Stones returns the number of stones of colour c.
func (b *Board) Stones(c Color) int {
	n := 0
	for _, s := range &b.cell {
		if s == c {
			n++
		}
	}
	return n
}

// Rows draws the board in letters, the top row first: X black, O white.
func (b *Board) Rows() []string {
	rows := make([]string, 0, b.h)
	for y := b.h - 1; y >= 0; y-- {
		row := make([]byte, b.w)
		for x := range b.w {
			row[x] = ".XO"[b.At(Point{x, y})]
		}
		rows = append(rows, string(row))
	}
	return rows
}

// String draws the board in lines of letters.
func (b Board) String() string { return strings.Join(b.Rows(), "\n") }

// Chain returns the stones connected to the one on p, none when p is empty.
func (b *Board) Chain(p Point) []Point {
	if b.At(p) == None {
		return nil
	}
	var f flood
	f.from(b, b.index(p))
	return b.pointsOf(f.found[:f.n])
}

// Liberties returns the number of empty points next to the chain on p.
func (b *Board) Liberties(p Point) int {
	if b.At(p) == None {
		return 0
	}
	var f flood
	f.from(b, b.index(p))
	n := 0
	for _, i := range f.found[:f.n] {
		for _, d := range b.around(int(i)) {
			if b.cell[d] == None && !f.seen[d] {
				f.seen[d] = true
				n++
			}
		}
	}
	return n
}

// Play places a stone of colour c on the empty point p, removes opponent
// stones left without a liberty and then, if they have none, the chain of c
// itself. It knows no rules: repetition and suicide are for a [Ruleset] to
// judge. It reports the points taken from each colour.
func (b *Board) Play(p Point, c Color) (opponents, own []Point) {
	i := b.index(p)
	b.put(i, c)
	return b.removeAround(i, c.Opponent()), b.removeSurrounded(i)
}

// removeAround takes the chains of colour c next to i that have no liberty.
func (b *Board) removeAround(i int, c Color) []Point {
	return b.pointsOf(b.capture(i, c, nil, nil))
}

// removeSurrounded takes the chain on i if it has no liberty.
func (b *Board) removeSurrounded(i int) []Point {
	if b.hasLiberty(i) {
		return nil
	}
	return b.pointsOf(b.take(i, nil))
}

// capture takes the chains of colour c next to i that have no liberty, and
// adds the points they stood on to taken. Who plays many stones keeps chains,
// which know at once what has none; for others they are nil.
func (b *Board) capture(i int, c Color, chains *chains, taken []int16) []int16 {
	for _, d := range b.around(i) {
		if b.cell[d] != c {
			continue
		}
		if chains != nil && chains.of(d).n > 0 || chains == nil && b.hasLiberty(d) {
			continue
		}
		taken = b.take(d, taken)
	}
	return taken
}

// take takes the chain on i, and adds the points it stood on to taken.
func (b *Board) take(i int, taken []int16) []int16 {
	c, at := b.cell[i], len(taken)
	b.put(i, None)
	for taken = append(taken, int16(i)); at < len(taken); at++ {
		for _, d := range b.around(int(taken[at])) {
			if b.cell[d] == c {
				b.put(d, None)
				taken = append(taken, int16(d))
			}
		}
	}
	return taken
}

// hasLiberty stops at the first empty point it meets, which in a game is
// nearly always next to the stone.
func (b *Board) hasLiberty(i int) bool {
	for _, d := range b.around(i) {
		if b.cell[d] == None {
			return true
		}
	}
	c := b.cell[i]
	var seen [cells]bool
	var found [cells]int16
	found[0], seen[i] = int16(i), true
	for at, n := 0, 1; at < n; at++ {
		for _, d := range b.around(int(found[at])) {
			if b.cell[d] == None {
				return true
			}
			if b.cell[d] == c && !seen[d] {
				seen[d] = true
				found[n] = int16(d)
				n++
			}
		}
	}
	return false
}

// quiet reports whether a stone of colour c on the empty point i has an empty point beside it,
// takes nothing, and leaves a board with a key that is not one of before.
func (b *Board) quiet(i int, c Color, before map[uint64]bool) bool {
	around := b.around(i)
	if !slices.ContainsFunc(around[:], func(d int) bool { return b.cell[d] == None }) {
		return false
	}
	b.put(i, c)
	defer b.put(i, None)
	for _, d := range around {
		if b.cell[d] == c.Opponent() && !b.hasLiberty(d) {
			return false
		}
	}
	return !before[b.key]
}

// A flood is a connected set of points of one colour.
type flood struct {
	seen  [cells]bool
	found [cells]int16
	n     int
}

func (f *flood) from(b *Board, i int) {
	c := b.cell[i]
	start := f.n
	f.found[f.n], f.seen[i] = int16(i), true
	f.n++
	for at := start; at < f.n; at++ {
		for _, d := range b.around(int(f.found[at])) {
			if b.cell[d] == c && !f.seen[d] {
				f.seen[d] = true
				f.found[f.n] = int16(d)
				f.n++
			}
		}
	}
}

// A Region is a connected set of empty points, as large as can be, and the
// colours it reaches.
type Region struct {
	Points       []Point
	Black, White bool
}

// Owner returns the only colour that the region reaches, None when it reaches
// both or neither: its naive territory.
func (r Region) Owner() Color {
	switch {
	case r.Black && !r.White:
		return Black
	case r.White && !r.Black:
		return White
	}
	return None
}

// Regions returns the empty regions of the board.
func (b *Board) Regions() []Region {
	var regions []Region
	b.regions(func(r Region, cells []int16) {
		r.Points = b.pointsOf(cells)
		regions = append(regions, r)
	})
	return regions
}

// regions calls see with every empty region, without its points, and its cells,
// which do not stay as they are.
func (b *Board) regions(see func(Region, []int16)) {
	var f flood
	for y := range b.h {
		for x := range b.w {
			i := b.index(Point{x, y})
			if b.cell[i] != None || f.seen[i] {
				continue
			}
			start := f.n
			f.from(b, i)
			var r Region
			for _, j := range f.found[start:f.n] {
				for _, d := range b.around(int(j)) {
					r.Black = r.Black || b.cell[d] == Black
					r.White = r.White || b.cell[d] == White
				}
			}
			see(r, f.found[start:f.n])
		}
	}
}

// Territory returns the number of points of naive territory of each colour: the
// empty points of regions that reach only that colour. Dead or alive, seki or
// not, plays no part.
func (b *Board) Territory() (black, white int) {
	b.regions(func(r Region, cells []int16) {
		switch r.Owner() {
		case Black:
			black += len(cells)
		case White:
			white += len(cells)
		}
	})
	return black, white
}

// Area returns Black's stones and naive territory less White's, in whole points.
func (b *Board) Area() int {
	black, white := b.Territory()
	return black + b.Stones(Black) - white - b.Stones(White)
}

// Lift takes stones off the board, whatever they are.
func (b *Board) Lift(ps []Point) {
	for _, p := range ps {
		if b.Has(p) {
			b.put(b.index(p), None)
		}
	}
}

// Put sets up a stone, or clears a point with None. It removes nothing.
func (b *Board) Put(p Point, c Color) {
	if b.Has(p) {
		b.put(b.index(p), c)
	}
}

func (b *Board) index(p Point) int { return (int(p.Y)+1)*(int(b.w)+1) + int(p.X) + 1 }

func (b *Board) point(i int) Point {
	s := int(b.w) + 1
	return Point{int8(i%s - 1), int8(i/s - 1)}
}

func (b *Board) pointsOf(is []int16) []Point {
	if len(is) == 0 {
		return nil
	}
	ps := make([]Point, len(is))
	for n, i := range is {
		ps[n] = b.point(int(i))
	}
	return ps
}

func (b *Board) around(i int) [4]int {
	s := int(b.w) + 1
	return [4]int{i - s, i - 1, i + 1, i + s}
}

func (b *Board) put(i int, c Color) {
	b.key ^= zobrist[b.cell[i]][i] ^ zobrist[c][i]
	b.cell[i] = c
}

// zobrist holds the keys of stones. They are constants of the program: keys
// and proofs stored today must be found again by every later version.
var zobrist = func() (keys [edge][cells]uint64) {
	for _, c := range []Color{Black, White} {
		for i := range keys[c] {
			keys[c][i] = mix(uint64(i)<<8 | uint64(c))
		}
	}
	return keys
}()

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
