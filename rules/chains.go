package rules

// chains knows the chains of a board on which many stones are placed, and their
// liberties. It is kept beside the Board, which asks it instead of searching; it
// takes nothing off the board itself.
type chains struct {
	head [cells]int16 // of a stone: the stone that represents its chain
	next [cells]int16 // of a stone: another one of its chain, in a circle
	list [cells]chain // by the stone that represents it
}

// A chain counts a liberty once for every stone of it that touches it: how many,
// the sum of their indices and the sum of the squares of these. That is enough
// to know whether there is any, and whether all are the same point.
type chain struct {
	key     uint64 // of its stones
	size    int32
	n, sum  int32
	squares int64
}

func (l *chain) add(i int) {
	l.n++
	l.sum += int32(i)
	l.squares += int64(i * i)
}

func (l *chain) remove(i int) {
	l.n--
	l.sum -= int32(i)
	l.squares -= int64(i * i)
}

// several reports whether the chain has more than one liberty: numbers are all
// the same when their mean square is the square of their mean.
func (l *chain) several() bool {
	return int64(l.n)*l.squares != int64(l.sum)*int64(l.sum)
}

// last returns the only liberty of the chain, 0 if it has several.
func (l *chain) last() int {
	if l.n == 0 || l.several() {
		return 0
	}
	return int(l.sum / l.n)
}

// of returns the chain of the stone on i.
func (x *chains) of(i int) *chain { return &x.list[x.head[i]] }

// placed adds the stone that was put on i.
func (x *chains) placed(b *Board, i int) {
	c := b.cell[i]
	x.head[i], x.next[i] = int16(i), int16(i)
	own := &x.list[i]
	*own = chain{key: zobrist[c][i], size: 1}
	around := b.around(i)
	for _, d := range around {
		switch b.cell[d] {
		case None:
			own.add(d)
		case Black, White:
			x.of(d).remove(i)
		}
	}
	for _, d := range around {
		if b.cell[d] == c {
			x.join(int(x.head[i]), int(x.head[d]))
		}
	}
}

// join makes one chain of two, by the stones that stand for them.
func (x *chains) join(to, from int) {
	if to == from {
		return
	}
	if x.list[to].size < x.list[from].size {
		to, from = from, to
	}
	l, joins := &x.list[to], &x.list[from]
	l.key ^= joins.key
	l.size += joins.size
	l.n += joins.n
	l.sum += joins.sum
	l.squares += joins.squares
	for i := from; ; {
		x.head[i] = int16(to)
		if i = int(x.next[i]); i == from {
			break
		}
	}
	x.next[to], x.next[from] = x.next[from], x.next[to]
}

// taken updates the chains around the points from which others were taken.
func (x *chains) taken(b *Board, points []int16) {
	for _, i := range points {
		for _, d := range b.around(int(i)) {
			if c := b.cell[d]; c == Black || c == White {
				x.of(d).add(int(i))
			}
		}
	}
}
