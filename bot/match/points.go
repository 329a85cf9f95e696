package match

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"github.com/halfpoint-go/halfpoint/rules"
)

// ParsePoints reads points as people write them on a board of w columns and h rows:
// "C3 D5", "c3, d5.", "c 3", "c-3", "3c" and full-width "Ｃ３". It also reads the
// other coordinates that pictures show, whose rows count from the top: "4-16", "4十六"
// and "四十六". "none" is no point. Its errors are for the person who typed.
func ParsePoints(s string, w, h int) ([]rules.Point, error) {
	var ps []rules.Point
	for _, word := range strings.FieldsFunc(TidyPoints(s), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;.!、。", r) }) {
		if strings.EqualFold(word, "none") {
			continue
		}
		p, err := rules.ParsePoint(fromTop(word, w, h), w, h)
		if err != nil {
			return nil, err
		}
		ps = append(ps, p)
	}
	return ps, nil
}

var (
	apart  = regexp.MustCompile(`(?i)\b([a-z])(?:[\s,;.]+|-)([0-9]+)\b`) // c 3, c-3
	turned = regexp.MustCompile(`(?i)\b([0-9]+)([a-z])\b`)               // 3c
)

// TidyPoints writes the points in a text with the letter first and the number right
// behind it, "c 3 5d c-4" as "c3 d5 c4", makes full-width letters and digits ordinary
// ones, and leaves everything else.
func TidyPoints(s string) string {
	return turned.ReplaceAllString(apart.ReplaceAllString(width.Fold.String(s), "$1$2"), "$2$1")
}

// aNumeral is a number up to 29 in Chinese and Japanese: 四, 十六, 廿五, 二十五.
const aNumeral = `(?:[一二三四五六七八九]|(?:廿|二?十)[一二三四五六七八九]?)`

var (
	inNumbers = regexp.MustCompile(`^([0-9]{1,2})-([0-9]{1,2})$`)
	inKanji   = regexp.MustCompile(`^([0-9]{1,2}|` + aNumeral + `)(` + aNumeral + `)$`)
)

// fromTop returns the name with a letter of a point whose column is a number from the
// left and whose row is one from the top, on a board of w columns and h rows: "D16" for "4-4", "4四"
// and "四四" on 19 rows. It returns every other word as it is.
func fromTop(word string, w, h int) string {
	m := inNumbers.FindStringSubmatch(word)
	if m == nil {
		m = inKanji.FindStringSubmatch(word)
	}
	if m == nil {
		return word
	}
	x, y := number(m[1]), number(m[2])
	if x < 1 || x > w || y < 1 || y > h {
		return word
	}
	return rules.Point{X: int8(x - 1), Y: int8(h - y)}.String()
}

// number returns the value of digits or of a numeral.
func number(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	n := 0
	for i, r := range []rune("一二三四五六七八九") {
		if strings.HasSuffix(s, string(r)) {
			n = i + 1
		}
	}
	switch {
	case strings.Contains(s, "廿"), strings.HasPrefix(s, "二十"):
		n += 20
	case strings.Contains(s, "十"):
		n += 10
	}
	return n
}
