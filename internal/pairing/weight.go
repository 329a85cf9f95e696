package pairing

// A Weight says what speaks for a pair. The sum of its parts, and 1, is what counts.
type Weight struct{ New, Score, Drawn, Seed, Colors int }

// Total is the weight of a pair that may be paired: at least 1.
func (w Weight) Total() int { return 1 + w.New + w.Score + w.Drawn + w.Seed + w.Colors }

// plus adds the parts of other to those of w, so many times.
func (w Weight) plus(other Weight, times int) Weight {
	return Weight{w.New + times*other.New, w.Score + times*other.Score, w.Drawn + times*other.Drawn, w.Seed + times*other.Seed, w.Colors + times*other.Colors}
}

// Weight says what speaks for a pair of two who play.
func (d *Draw) Weight(p, q int) (w Weight) {
	if !d.met[[2]int{p, q}] {
		w.New = d.sizes.New
	}
	// A difference of half of all scores costs five eighths of it: two small ones are better
	// than a large one.
	apart, span := max(d.scores[p]-d.scores[q], d.scores[q]-d.scores[p]), d.span
	w.Score = d.sizes.Score * (span - apart) * (2*span + apart) / (2 * span * span)
	if apart == 0 {
		w.Seed = d.seed(d.within[p], d.within[q])
	} else {
		w.Drawn = d.drawn(p, q)
	}
	switch a, b := d.whites[p], d.whites[q]; {
	case d.handicap(p, q) > 0:
	case a*b < 0:
		w.Colors = d.sizes.Colors
	case a == 0 && (b > 1 || b < -1), b == 0 && (a > 1 || a < -1):
		w.Colors = d.sizes.Colors / 2
	}
	return w
}

// seed is what speaks for a pair with equal scores: that the upper half meets the lower, the
// first the first of it; or in later rounds that the first meets the last.
func (d *Draw) seed(p, q placed) int {
	off, of := 2*max(p.at-q.at, q.at-p.at)-p.of, p.of
	if d.sizes.Fold > 0 && d.round >= d.sizes.Fold {
		off, of = p.at+q.at-(p.of-1), p.of-1
	}
	return d.sizes.Seed - d.sizes.Seed*off*off/(of*of)
}

// drawn is what speaks for a pair with different scores: that both are in the middle of those
// with theirs, and that it makes good for an earlier game and is not one more of its kind.
func (d *Draw) drawn(p, q int) int {
	higher, lower := p, q
	if d.scores[q] > d.scores[p] {
		higher, lower = q, p
	}
	good := 2
	if d.down[higher] > 0 {
		good--
	}
	if d.up[lower] > 0 {
		good--
	}
	if good > 0 && d.up[higher] > d.down[higher] {
		good++
	}
	if good > 0 && d.down[lower] > d.up[lower] {
		good++
	}
	unit := d.sizes.Drawn / 5
	sum := good * unit
	for _, in := range []placed{d.within[higher], d.within[lower]} {
		off := max(2*in.at-in.of+1, in.of-1-2*in.at)
		sum += unit * (in.of - 1 - off) / (2 * in.of)
	}
	return sum
}
