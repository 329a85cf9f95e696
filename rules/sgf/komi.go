package sgf

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/rules"
)

// komis matches a komi in words: "White 5.5", "6目半", "コミ6目半", "3又3/4子", "5 1/2 points".
var komis = regexp.MustCompile(`^(?:white|w|白|komi|コミ|贴|貼)? *[+:=]? *` + amount + `$`)

// komi reads KM: points, or the units of servers, and says which. Chinese
// books give komi in stones, each of which is two points: 3.75 is 7½. Fox writes
// hundredths, KM[375] of stones and KM[650] of points, and Tygem tenths, KM[65]; since no
// komi comes near a hundred points, and none in points has a quarter, neither can be meant
// otherwise.
func komi(value string) (p rules.Points, said string, err error) {
	if p, err = rules.ParsePoints(value); err == nil && p < 100*rules.One && p > -100*rules.One {
		switch p {
		case 55 * rules.One, 65 * rules.One, 75 * rules.One:
			return p / 10, "in tenths", nil
		}
		return p, "", nil
	}
	n, e := strconv.ParseFloat(strings.Replace(strings.TrimSpace(value), ",", ".", 1), 64)
	if m := komis.FindStringSubmatch(fractions.Replace(strings.ToLower(value))); e != nil && m != nil {
		if p, _, ok := amountOf(m[1:]); ok {
			return p, "in words", nil
		}
	}
	if e != nil {
		return p, "", err
	}
	said = "in stones"
	if n >= 100 || n <= -100 {
		n /= 100
		said = "in hundredths of stones"
		if halves := n * 2; halves == float64(int(halves)) {
			return rules.Points(halves), "in hundredths", nil
		}
	}
	if quarters := n * 4; quarters == float64(int(quarters)) && n > -100 && n < 100 {
		return rules.Points(quarters), said, nil
	}
	return p, "", err
}
