package sgf

import (
	"fmt"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

// many returns properties of as many unknown names.
func many(n int) (s string) {
	for i := range n {
		s += "sizes" + strings.Repeat("a", i) + "[x]"
	}
	return s
}

// Properties that programs and people call by other names are understood, and that is
// said; what may be one of the board or a move is not passed over without a word.
func TestNamesOfProperties(t *testing.T) {
	const understood = "other names of properties are understood: "
	const passed = "unknown properties are passed over: "
	for record, want := range map[string]string{
		"(;GaMe[1]SiZe[9]KoMi[6.5];Black[ee];White[gc])":                  "9×9 komi 6½: B place E5, W place G7",
		"(;gm[1]sz[9]km[6.5];b[ee];w[gc])":                                "9×9 komi 6½: B place E5, W place G7",
		"(;Size[9]Komi[6.5];Black[ee];White[gc])":                         "9×9 komi 6½: B place E5, W place G7; " + understood + "Size (SZ), Komi (KM)",
		"(;size[9]komi[6.5];black[ee];white[gc])":                         "9×9 komi 6½: B place E5, W place G7; " + understood + "size (SZ), komi (KM), black (B), white (W)",
		"(;BOARDSIZE[9]KOMI[6.5];BLACK[ee];WHITE[gc])":                    "9×9 komi 6½: B place E5, W place G7; " + understood + "BOARDSIZE (SZ), KOMI (KM), BLACK (B), WHITE (W)",
		"(;Sz[9]Km[6.5]Pb[Ada];B[ee]Bl[300];W[gc]Wl[299])":                "9×9 komi 6½ Ada: B place E5, W place G7; " + understood + "Sz (SZ), Km (KM), Pb (PB); " + passed + "Bl, Wl",
		"(;SZ[9];B[ee]Bl[m5];W[gc])":                                      "9×9 komi 0: B place E5, W place G7; " + passed + "Bl",
		"(;SZ[9];Bl[ee];Wl[gc];B[cc]Wl[25])":                              "9×9 komi 0: B place E5, W place G7, B place C7; " + passed + "Wl",
		"(;Size[9]Handicap[2]AddBlack[cg][gc];White[ee])":                 "9×9 komi 0 handicap 2: W place E5; " + understood + "Size (SZ), Handicap (HA)",
		"(;Size[9]Black[Ada]White[Bob];B[ee];W[gc])":                      "9×9 komi 0 Ada: B place E5, W place G7; " + understood + "Size (SZ), Black (PB), White (PW)",
		"(;SZ[9];Black[ee];White[Bob])":                                   "9×9 komi 0: B place E5; stopped: move 2: [Bob] is not a point",
		"(;SZ[9]Black[ee];White[Pass])":                                   "9×9 komi 0: B place E5, W pass; move 2: [Pass] is read as a pass",
		"(;SZ[9];B1[ee];W2[gc];B3[cc])":                                   "9×9 komi 0: B place E5, W place G7, B place C7; " + understood + "B1 (B), W2 (W)",
		"(;SZ[9];B1[ee];W1[gc];B2[cc];W2[gg])":                            "9×9 komi 0: B place E5, W place G7, B place C7, W place G3; " + understood + "B1 (B), W1 (W)",
		"(;SZ[9];B[ee]B7[aa]W8[bb];W[gc])":                                "9×9 komi 0: B place E5, W place G7; " + passed + "B7, W8",
		"(;SZ1[9]KM[6.5]V2[x];B[ee])":                                     "19×19 komi 6½: B place E15; " + passed + "SZ1",
		"(;SizeOfTheBoard[9]KomiPoints[6];BlackStoneAt[ee];NextMove[gc])": "19×19 komi 0: ; " + passed + "SizeOfTheBoard, KomiPoints, BlackStoneAt, NextMove; no move is read, and these properties are unknown: BlackStoneAt, NextMove",
		"(;SZ[9]BlackSpecies[0]MoveNumber[1]TimeLeft[3]Frobnicate[1])":    "9×9 komi 0: ",
		"(;SZ-[9]KM = [6.5];B[ee])":                                       "9×9 komi 6½: B place E5; text between values is passed over",
		"(;SZ [9]KM\r\n[6.5];B\n[ee][]W[gc])":                             "9×9 komi 6½: B place E5, B pass, W place G7; move 2: two turns stand in one node: they are read in their order",
		"(;Size Komi[6.5];B[ee])":                                         "19×19 komi 6½: B place E15; " + understood + "Komi (KM); properties without a value are passed over: SZ",
		"(;SZ[9]BlackStone[ee];WhiteStone[gc])":                           "9×9 komi 0: B place E5, W place G7; " + understood + "BlackStone (B), WhiteStone (W)",
		"(;SZ=9;KM=6.5;B;B[ee])":                                          "19×19 komi 0: B place E15; properties without a value are passed over: SZ, KM, B",
		"(;SZ[9]AW;B[ee])":                                                "9×9 komi 0: B place E5",
		"(;S Z[9]K M[6.5];B[ee])":                                         "9×9 komi 6½: B place E5; " + understood + "S Z (SZ), K M (KM)",
		"(;SZ[9]F F[4]B W[ee])":                                           "9×9 komi 0: W place E5; properties without a value are passed over: F, B",
		"(;SZ[9];Move[ee]Stone[gc])":                                      "9×9 komi 0: ; " + passed + "Move, Stone; no move is read, and these properties are unknown: Stone",
		"(;SZ[9][19]KM[6.5]KM[7.5];B[ee]RU[Japanese]KM[6.5])":             "9×9 komi 6½ japanese: B place E5; SZ has several values: 9 is read; KM has several values: 6.5 is read",
		"(;SZ[9]HA[0]HA[0]SZ[ 9 ][];B[ee])":                               "9×9 komi 0: B place E5",
		"(;SZ[9];X[aa])":                                                  "9×9 komi 0: ; no move is read, and these properties are unknown: X",
		"(;SZ[9]sizeB[xy];B[ee])":                                         "9×9 komi 0: ; stopped: move 1: [xy] is not on the board of 9×9",
		"(;SZ[9]sizeB[xyz];B[ee])":                                        "9×9 komi 0: ; stopped: move 1: [xyz] is not a point",
		"(;SZ[9];Bl[aa])":                                                 "9×9 komi 0: B place A9",
		"(;SZ[9]" + many(13) + ")":                                        "9×9 komi 0: ; " + passed + "sizes, sizesa, sizesaa, sizesaaa, sizesaaaa, sizesaaaaa, sizesaaaaaa, sizesaaaaaaa, sizesaaaaaaaa, sizesaaaaaaaaa, sizesaaaaaaaaaa, sizesaaaaaaaaaaa",
		"(;SZ[9];X[ee];O[gc];X[cc])":                                      "9×9 komi 0: ; no move is read, and these properties are unknown: X, O",
		"(;SZ[9];Zug[ee];Zug[gc];CR[gc])":                                 "9×9 komi 0: ; no move is read, and these properties are unknown: Zug",
		"(;SZ[9]X[ee];LB[gc];CR[cc];TR[dd])":                              "9×9 komi 0: ",
		"(;SZ[9];X[ee];B[cc];X[gc])":                                      "9×9 komi 0: B place C7",
		"(;Size;[9];B[ee])":                                               "19×19 komi 0: B place E15; a value without a property is passed over; properties without a value are passed over: SZ",
		"(;" + strings.Repeat("x", 60) + "size[9];B[ee])":                 "19×19 komi 0: B place E15",
		"(;Size[9]" + strings.Repeat("Size[9]size[9]", 100) + ";B[ee])":   "9×9 komi 0: B place E5; " + understood + "Size (SZ), size (SZ)",
		"(;Size[9]C[Komi[7]" + "]RULES[Japanese]Result[B+R];B[ee];W[gc])": "9×9 komi 0 japanese B+R: B place E5, W place G7; text between values is passed over; a closing bracket outside of a value is passed over; " + understood + "Size (SZ), RULES (RU), Result (RE)",
		"(;SZ[9]Handicapstones[0]kM[6.5];B[ee])":                          "9×9 komi 6½: B place E5; " + understood + "Handicapstones (HA), kM (KM)",
		"(;" + strings.Repeat("x", 56) + "size[9];B[ee])":                 "19×19 komi 0: B place E15; " + passed + "xxxxxxxxxxxxxxxxxxxx…",
		"(;SZ[9]K-M[6.5];B[ee])":                                          "9×9 komi 0: B place E5; text between values is passed over; properties without a value are passed over: K",
		"(;SZ[9];b W[ee])":                                                "9×9 komi 0: W place E5; properties without a value are passed over: B",
		"(;SZ[9];B[ee]K M[":                                               "9×9 komi 0: B place E5; the record ends before its brackets close",
		"(;SZ[9];B[ee]K M":                                                "9×9 komi 0: B place E5; properties without a value are passed over: K; the record ends before its brackets close",
		"(;SZ[9];B[gc]Bl[300][ee];W[cc]Wl[5m])":                           "9×9 komi 0: B place G7, W place C7; " + passed + "Bl, Wl",
		"(;SZ[9]Black[aa or so]White[resign?];B[ee])":                     "9×9 komi 0 aa or so: B place E5; " + understood + "Black (PB), White (PW)",
		"(;SZ[9]X[ee];LB [gc];CR[cc]TR[dd][ee])":                          "9×9 komi 0: ",
	} {
		rec := read(t, record)
		got := fmt.Sprintf("%d×%d komi %v", rec.Setup.W, rec.Setup.H, rec.Setup.Komi)
		if rec.Setup.Handicap > 0 {
			got += fmt.Sprintf(" handicap %d", rec.Setup.Handicap)
		}
		if r, _, _ := rec.Ruleset(); rec.RU != "" && r != &rules.AGA {
			got += " " + r.Name
		}
		for _, s := range []string{rec.Info.Black, rec.Info.Result} {
			if s != "" {
				got += " " + s
			}
		}
		got += ": " + turnsOf(rec)
		for _, r := range rec.Repairs {
			got += "; " + r.String()
		}
		if rec.Stopped != nil {
			got += "; stopped: " + rec.Stopped.Error()
		}
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", record, got, want)
		}
	}
}

// What Sina and other Chinese sites write in the first node is its komi, handicap, event and
// date, unless the record has those as well.
func TestHeadersOfSites(t *testing.T) {
	const understood = "other names of properties are understood: "
	for record, want := range map[string]string{
		"(;TE[第64期王座戦]RD[2016-03-10]KO[6.5]HD[2]SZ[9]AB[cg][gc];W[ee])": "6½ 2 第64期王座戦 2016-03-10: W place E5; " + understood + "TE (EV), RD (DT), KO (KM), HD (HA)",
		"(TE[x]KO[0]SZ[9];B[ee])":                       "0 0 x : B place E5; the first node does not begin with a semicolon; " + understood + "TE (EV), KO (KM)",
		"(;SZ[9]KO[3.75];B[ee])":                        "7½ 0  : B place E5; " + understood + "KO (KM); KM[3.75] is in stones, a komi of 7½",
		"(;SZ[9]KO[黒6目半];B[ee])":                        "6½ 0  : B place E5; " + understood + "KO (KM); KM[黒6目半] is in words, a komi of 6½",
		"(;SZ[9]KO[a ko];B[ee])":                        "0 0  : B place E5; KO[a ko] is not a komi, and is passed over",
		"(;SZ[9]KM[7.5]KO[a ko];B[ee])":                 "7½ 0  : B place E5",
		"(;SZ[9]KM[7.5]KO[6.5];B[ee])":                  "7½ 0  : B place E5",
		"(;SZ[9]KM[]KO[6.5];B[ee])":                     "6½ 0  : B place E5; " + understood + "KO (KM)",
		"(;SZ[9]KO[]HD[x]TE[1]RD[];B[ee])":              "0 0  : B place E5; HD[x] is not a number of stones: the handicap is read from the board",
		"(;SZ[9]HD[2子];W[ee])":                          "0 2  : W place E5; " + understood + "HD (HA); HA[2] without its stones: they are put on the customary points G7 C3",
		"(;SZ[9]HA[二子];W[ee])":                          "0 2  : W place E5; HA[2] without its stones: they are put on the customary points G7 C3",
		"(;SZ[9];B[ee]KO[6.5]TE[good]HD[2];W[gc]KO[1])": "0 0  : B place E5, W place G7",
		"(;SZ[9]B[ee]KO[6.5]TE[good]HD[2];W[gc]KO[1])":  "0 0  : B place E5, W place G7",
		"(;SZ[9]EV[a]TE[b]DT[c]RD[d];B[ee])":            "0 0 a c: B place E5",
		"(;AP[GNU Go:3.8]KM[50]SZ[9]AP[foxwq];B[ee])":   "½ 0  : B place E5; KM[50] is in hundredths, a komi of ½",
		"(;KM[-50]SZ[9]AP[foxwq];B[ee])":                "−½ 0  : B place E5; KM[-50] is in hundredths, a komi of −½",
		"(;KM[49]SZ[9]AP[foxwq];B[ee])":                 "49 0  : B place E5; KM[49] is in points, a komi of 49",
		"(;KM[-49]SZ[9]AP[foxwq];B[ee])":                "−49 0  : B place E5; KM[-49] is in points, a komi of −49",
		"(;KM[60]SZ[9];B[ee])":                          "60 0  : B place E5; KM[60] is in points, a komi of 60",
		"(;KM[60]SZ[9]AP[CGoban];B[ee])":                "60 0  : B place E5; KM[60] is in points, a komi of 60",
		"(;KM[6.5]SZ[9]AP[foxwq];B[ee])":                "6½ 0  : B place E5",
		"(;KM[0]SZ[9]AP[foxwq];B[ee])":                  "0 0  : B place E5",
	} {
		rec := read(t, record)
		got := fmt.Sprintf("%v %d %s %s: %s", rec.Setup.Komi, rec.Setup.Handicap, rec.Info.Event, rec.Info.Date, turnsOf(rec))
		for _, r := range rec.Repairs {
			got += "; " + r.String()
		}
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", record, got, want)
		}
	}
}
