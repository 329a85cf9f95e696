package sgf

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkRead reads a game of 250 moves, as a server writes it, and one that an engine
// has analysed: each move with a comment, and most with variations.
func BenchmarkRead(b *testing.B) {
	var plain, analysed strings.Builder
	plain.WriteString("(;GM[1]FF[4]CA[UTF-8]SZ[19]KM[6.5]RU[Japanese]PB[Ada]PW[Bob]RE[B+R]")
	analysed.WriteString(plain.String())
	variation := "(;B[aa]C[" + strings.Repeat("winrate 51.2 % visits 1600 \\] score 0.3; ", 10) + "];W[bb];B[cc])"
	for k := range 250 {
		turn := fmt.Sprintf(";%c[%c%c]", "BW"[k%2], 'a'+k%19, 'a'+k/19)
		fmt.Fprintf(&plain, "%sBL[%d.5]\n", turn, 600-k)
		fmt.Fprintf(&analysed, "(%sC[%s]", turn, strings.Repeat("Move from the policy, 3.2 % behind. ", 20))
	}
	plain.WriteString(")")
	for range 250 {
		analysed.WriteString(")" + strings.Repeat(variation, 5))
	}
	analysed.WriteString(")")
	for name, text := range map[string]string{"plain": plain.String(), "analysed": analysed.String()} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if rec, err := Read(strings.NewReader(text)); err != nil || len(rec.Turns) != 250 {
					b.Fatal(err, len(rec.Turns))
				}
			}
		})
	}
}
