package rules

import (
	"fmt"
	"strconv"
	"strings"
)

// A Saying is the text of a rule in English with places for values: "no stone stands on
// {0}" and D4. A program that speaks another language translates Text and then puts
// the values in. It is an error where it says what is wrong.
type Saying struct {
	Text string
	Args []any // for {0}, {1} …: a Point, Points, a Color, an int, a string, or another Saying
}

func saying(text string, args ...any) Saying { return Saying{text, args} }

// String returns the text in English.
func (s Saying) String() string {
	var pairs []string
	for i, a := range s.Args {
		pairs = append(pairs, "{"+strconv.Itoa(i)+"}", fmt.Sprint(a))
	}
	return strings.NewReplacer(pairs...).Replace(s.Text)
}

// Error returns the text in English.
func (s Saying) Error() string { return s.String() }

// quoted returns what somebody typed, cut and without control characters, to stand
// between quotation marks.
func quoted(s string) string {
	q := strconv.Quote(short(s))
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}
