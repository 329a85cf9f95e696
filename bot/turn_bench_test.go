package bot_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/rules"
)

// placements returns n placements of a game on a board of so many lines, made at
// random without filling eyes.
func placements(tb testing.TB, lines, n int) []string {
	rnd := rand.New(rand.NewPCG(7, 7))
	g, err := rules.New(&rules.AGA, rules.Setup{W: lines, H: lines})
	if err != nil {
		tb.Fatal(err)
	}
	var out []string
	for len(out) < n {
		p := rules.Point{X: int8(rnd.IntN(lines)), Y: int8(rnd.IntN(lines))}
		board := g.Board()
		own := 0
		for _, q := range []rules.Point{{X: p.X - 1, Y: p.Y}, {X: p.X + 1, Y: p.Y}, {X: p.X, Y: p.Y - 1}, {X: p.X, Y: p.Y + 1}} {
			if !board.Has(q) || board.At(q) == g.ToPlay() {
				own++
			}
		}
		next, err := g.Play(rules.Turn{By: g.ToPlay(), At: p})
		if own == 4 || err != nil {
			continue
		}
		g, out = next, append(out, p.String())
	}
	return out
}

// cpu returns the processor time that the process has used.
func cpu(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTurn is the processor time of a turn from the request to its settled
// board, without the picture and an estimate, over a game: at its beginning, late in it, and on
// the average.
func BenchmarkTurn(b *testing.B) {
	for _, test := range []struct {
		lines, turns, early, late int
		clock                     string
	}{{19, 300, 50, 280, ""}, {19, 300, 50, 280, " clock:12h"}, {25, 420, 50, 400, ""}, {25, 420, 50, 400, " clock:12h"}} {
		b.Run(fmt.Sprint(test.lines, " lines", test.clock), func(b *testing.B) {
			moves := placements(b, test.lines, test.turns)
			var all, early, late time.Duration
			for b.Loop() {
				k := inDatabase(b, filepath.Join(b.TempDir(), "bench.db"))
				k.say(b, "ada", fmt.Sprintf("/new aga %[1]dx%[1]d opponent:me hints:no%s", test.lines, test.clock))
				for n, at := range moves {
					r, err := k.request("ada", "/place "+at)
					must(b, err)
					begun := cpu(b)
					a, err := own(k.bot.Ask(b.Context(), r))
					if err == nil {
						err = k.bot.Flush(b.Context(), k.channel)
					}
					if err != nil || a.Text != "" {
						b.Fatal(a.Text, err)
					}
					took := cpu(b) - begun
					all += took
					if d := n + 1 - test.early; -15 <= d && d < 15 {
						early += took
					}
					if d := n + 1 - test.late; -15 <= d && d < 15 {
						late += took
					}
					k.now = k.now.Add(10 * time.Second) // a longer gap would be an outage
					k.channel.posts = nil
				}
			}
			b.ReportMetric(float64(all.Microseconds())/float64(b.N*len(moves)), "cpu-µs/turn")
			b.ReportMetric(float64(late)/float64(early), fmt.Sprintf("turn-%d/turn-%d", test.late, test.early))
		})
	}
}
