package sgf

import (
	"fmt"
	"testing"
)

// What Sina and other Chinese sites write in the first node is its komi, handicap, event and
// date, unless the record has those as well.
func TestHeadersOfSites(t *testing.T) {
	const understood = "other names of properties are understood: "
	for record, want := range map[string]string{
		"(;TE[第64期王座戦]RD[2016-03-10]KO[6.5]HD[2]SZ[9]AB[cg][gc];W[ee])": "6½ 2 第64期王座戦 2016-03-10: W place E5; " + understood + "TE (EV), RD (DT), KO (KM), HD (HA)",
		"(TE[x]KO[0]SZ[9];B[ee])":                       "0 0 x : B place E5; the first node does not begin with a semicolon; " + understood + "TE (EV), KO (KM)",
		"(;SZ[9]KO[3.75];B[ee])":                        "7½ 0  : B place E5; " + understood + "KO (KM); KM[3.75] is in stones, a komi of 7½",
		"(;SZ[9]KO[黒6目半];B[ee])":                        "6½ 0  : B place E5; " + understood + "KO (KM); KM[黒6目半] is in words, a komi of 6½",
		"(;SZ[9]KO[a ko];B[ee])":                        "0 0  : B place E5; other names of properties are understood: KO (KM); KM[a ko] is not a komi: it is read as 0",
		"(;SZ[9]KM[7.5]KO[a ko];B[ee])":                 "7½ 0  : B place E5",
		"(;SZ[9]KM[7.5]KO[6.5];B[ee])":                  "7½ 0  : B place E5",
		"(;SZ[9]KM[]KO[6.5];B[ee])":                     "6½ 0  : B place E5; " + understood + "KO (KM)",
		"(;SZ[9]KO[]HD[x]TE[1]RD[];B[ee])":              "0 0 1 : B place E5; other names of properties are understood: HD (HA), TE (EV); HA[x] is not a number of stones: the handicap is read from the board",
		"(;SZ[9]HD[2子];W[ee])":                          "0 0  : W place E5; " + understood + "HD (HA); HA[2]: the record does not say where the handicap stones stand: it is read without them",
		"(;SZ[9]HA[二子];W[ee])":                          "0 0  : W place E5; HA[2]: the record does not say where the handicap stones stand: it is read without them",
		"(;SZ[9];B[ee]KO[6.5]TE[good]HD[2];W[gc]KO[1])": "0 0  : B place E5, W place G7",
		"(;SZ[9]B[ee]KO[6.5]TE[good]HD[2];W[gc]KO[1])":  "0 0  : B place E5, W place G7",
		"(;SZ[9]EV[a]TE[b]DT[c]RD[d];B[ee])":            "0 0 a c: B place E5",
		"(;AP[GNU Go:3.8]KM[50]SZ[9]AP[foxwq];B[ee])":   "½ 0  : B place E5; KM[50] is in hundredths, a komi of ½",
		"(;KM[-50]SZ[9]AP[foxwq];B[ee])":                "−½ 0  : B place E5; KM[-50] is in hundredths, a komi of −½",
		"(;KM[49]SZ[9]AP[foxwq];B[ee])":                 "49 0  : B place E5",
		"(;KM[-49]SZ[9]AP[foxwq];B[ee])":                "−49 0  : B place E5; KM[-49] is negative: White gives Black a komi of 49",
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
