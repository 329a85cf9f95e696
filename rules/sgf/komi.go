package sgf

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/rules"
)

// komiWord is what komi is called.
const komiWord = `(?:komi|コミ|込み?|덤|[黑黒]?[贴貼])`

// komis matches a komi in words: "White 5.5", "6目半", "コミ6目半", "3又3/4子", "5 1/2 points",
// "黒6目半", which Black gives, "先番6目半コミ出し".
var komis = regexp.MustCompile(`^(?:white|w|白|[黑黒]|先番)? *` + komiWord + `? *[+:=]? *` + amount + ` *(?:komi|コミ)?(?:出し)?$`)

// komiOfRules matches what a name of rules says of komi: "AGA, komi 7.5", "Japanese (6.5 komi)".
var komiOfRules = regexp.MustCompile(`(?i)(?:[0-9.½]+ *)?` + komiWord + `[^,;)]*`)

// numbers writes komi as we print it, "−6½", or with a comma as ParseFloat reads it.
var numbers = strings.NewReplacer(",", ".", "½", ".5", "−", "-")

var errNoKomi = errors.New("no game has such a komi")

const (
	mostKomi   = 100 // points; no komi comes near it
	mostStones = 4   // of a komi in stones
)

// komi reads KM: points, or the units of servers, and says which. Chinese
// books give komi in stones, each of which is two points: 3.75 is 7½. Fox writes
// hundredths, KM[375] of stones and KM[650] of points, and Tygem tenths, KM[65]; since no
// komi comes near a hundred points, and none in points has a quarter, neither can be meant
// otherwise.
func komi(value string, fox bool) (p rules.Points, said string, err error) {
	text := narrow(value)
	n, err := strconv.ParseFloat(numbers.Replace(text), 64)
	if err != nil || strings.ContainsAny(text, "eExXpP_") { // 65e-1
		if m := komis.FindStringSubmatch(figures(strings.ToLower(text))); m != nil {
			if p, _, ok := amountOf(m[1:]); ok {
				return p, "in words", nil
			}
		}
		return 0, "", errNoKomi
	}
	if text != value {
		said = "in words"
	}
	size := math.Abs(n)
	for _, unit := range []struct {
		fits bool
		said string
		of   float64 // points
	}{
		{n == 55 || n == 65 || n == 75, "in tenths", 0.1},
		{size >= mostKomi || fox && size >= 50, "in hundredths", 0.01},
		{size >= mostKomi && size <= 100*mostStones, "in hundredths of stones", 0.02},
		{size < mostKomi, said, 1},
		{size <= mostStones, "in stones", 2},
	} {
		if halves := math.Round(2 * n * unit.of); unit.fits && math.Abs(halves-2*n*unit.of) < 1e-9 && math.Abs(halves) < 2*mostKomi {
			return rules.Points(halves) * rules.Half, unit.said, nil
		}
	}
	return 0, "", errNoKomi
}
