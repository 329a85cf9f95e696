package sgf

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/rules"
)

// komiWord is what komi is called.
const komiWord = `(?:komi|コミ|込み?|덤|[黑黒]?[贴貼])`

// komis matches a komi in words: "White 5.5", "6目半", "コミ6目半", "3又3/4子", "5 1/2 points",
// "黒6目半", which Black gives, "先番6目半コミ出し".
var komis = regexp.MustCompile(`^(?:white|w|白|[黑黒]|先番)? *` + komiWord + `? *[+:=]? *` + amount + ` *(?:コミ)?(?:出し)?$`)

// mentions match a komi that a text mentions: "黑贴7目半", "komi is 6.5", "7.5 komi".
var mentions = []*regexp.Regexp{
	regexp.MustCompile(komiWord + `(?:is|of|は|が|[:= ])*` + amount),
	regexp.MustCompile(amount + ` *(?:komi|コミ)`),
}

// mentioned returns the komi that a text mentions, and the words that do.
func mentioned(text string) (p rules.Points, words string, ok bool) {
	text = figures(strings.ToLower(narrow(text)))
	for _, re := range mentions {
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			if p, _, ok := amountOf(m[1:]); ok && p < mostKomi {
				return p, strings.TrimSpace(m[0]), true
			}
		}
	}
	return 0, "", false
}

var errNoKomi = errors.New("no game has such a komi")

const (
	mostKomi   = 100 * rules.One // no komi comes near it
	largeKomi  = 25 * rules.One  // few that are meant in points reach it
	mostStones = 4               // of a komi in stones
)

// komi reads KM: points, or the units of servers, and says which. Chinese
// books give komi in stones, each of which is two points: 3.75 is 7½. Fox writes
// hundredths, KM[375] of stones and KM[650] of points, and Tygem tenths, KM[65]; since no
// komi comes near a hundred points, and none in points has a quarter, neither can be meant
// otherwise.
func komi(value string) (p rules.Points, said string, err error) {
	if p, said, err = inPoints(value); err == nil && (p >= mostKomi || p <= -mostKomi) {
		err = errNoKomi
	}
	return p, said, err
}

func inPoints(value string) (p rules.Points, said string, err error) {
	wide := value
	if value = narrow(value); value != wide {
		said = "in words"
	}
	if p, err = rules.ParsePoints(value); err == nil && p < mostKomi && p > -mostKomi {
		switch p {
		case 55 * rules.One, 65 * rules.One, 75 * rules.One:
			return p / 10, "in tenths", nil
		}
		return p, said, nil
	}
	n, e := strconv.ParseFloat(strings.Replace(strings.TrimSpace(value), ",", ".", 1), 64)
	if e == nil && strings.ContainsAny(value, "eExXpP_") { // 65e-1
		e = err
	}
	if m := komis.FindStringSubmatch(figures(strings.ToLower(value))); e != nil && m != nil {
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
	if quarters := n * 4; quarters == float64(int(quarters)) && n >= -mostStones && n <= mostStones {
		return rules.Points(quarters), said, nil
	}
	return p, "", err
}
