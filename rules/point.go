package rules

import (
	"fmt"
	"strings"
)

// MaxLines is the largest number of lines a board may have on a side.
const MaxLines = 25

// A Color is the colour of a stone or of a player; None is an empty point.
type Color uint8

// The colours. The zero value is an empty point.
const (
	None Color = iota
	Black
	White
	edge // what surrounds the board; never seen outside
)

// Opponent returns the other player; None has none.
func (c Color) Opponent() Color {
	switch c {
	case Black:
		return White
	case White:
		return Black
	}
	return None
}

// String returns "Black", "White" or "nobody".
func (c Color) String() string { return [...]string{"nobody", "Black", "White", "edge"}[c] }

// Letter returns "B", "W" or "", as SGF writes a player.
func (c Color) Letter() string { return [...]string{"", "B", "W", ""}[c] }

// A Point is an intersection: X lines from the left and Y lines from the
// bottom, both from 0. The point that players call A1 is Point{0, 0}.
type Point struct{ X, Y int8 }

const columns = "ABCDEFGHJKLMNOPQRSTUVWXYZ"

// String returns the name players use: a letter without I, and the row from the
// bottom, "J5".
func (p Point) String() string {
	if p.X < 0 || int(p.X) >= len(columns) || p.Y < 0 {
		return "off the board"
	}
	return fmt.Sprintf("%c%d", columns[p.X], int(p.Y)+1)
}

// ParsePoint reads a point as players type it, in either case and with blanks
// around it, on a board of w columns and h rows. Its errors are of type [Saying], for
// the person who typed: they name what was typed and, where there is one, the point
// that was probably meant.
func ParsePoint(s string, w, h int) (Point, error) {
	t := strings.ToUpper(strings.TrimSpace(s))
	refuse := func(text string, args ...any) (Point, error) { return Point{}, saying(text, args...) }
	name, centre := quoted(strings.TrimSpace(s)), Point{int8((w - 1) / 2), int8((h - 1) / 2)}
	if t == "" {
		return refuse("name a point by a letter and a number, such as {0}", centre)
	}
	row := 0
	for _, c := range t[1:] {
		if c < '0' || c > '9' || row > 999 {
			return refuse(`“{0}” is not a point: name a letter and a number, such as {1}`, name, centre)
		}
		row = row*10 + int(c-'0')
	}
	if len(t) == 1 {
		return refuse(`“{0}” is not a point: name a letter and a number, such as {1}`, name, centre)
	}
	if t[0] == 'I' {
		if w >= 9 && row >= 1 && row <= h {
			return refuse("Go boards have no column I: did you mean J{0}?", row)
		}
		return refuse("Go boards have no column I")
	}
	x := strings.IndexByte(columns, t[0])
	if x < 0 {
		return refuse(`“{0}” is not a point: name a letter and a number, such as {1}`, name, centre)
	}
	if x >= w || row < 1 || row > h {
		return refuse("{0} is not on this board: its columns go from A to {1}, its rows from 1 to {2}", t, columns[w-1:w], h)
	}
	return Point{int8(x), int8(row - 1)}, nil
}

// Shorten cuts what somebody typed to n letters, a length fit for an answer.
func Shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

func short(s string) string { return Shorten(s, 20) }

// Points is a score in half points: 13 is 6½.
type Points int

// Half and One are the two amounts of which all scores are made.
const (
	Half Points = 1
	One  Points = 2
)

// MaxKomi is the largest komi, either way: 400 points.
const MaxKomi = 400 * One

// String returns the form people read, with a minus sign: "6½", "½", "−2½", "0".
func (p Points) String() string {
	sign := ""
	if p < 0 {
		sign, p = "−", -p
	}
	switch {
	case p%2 == 0:
		return fmt.Sprintf("%s%d", sign, p/2)
	case p == 1:
		return sign + "½"
	}
	return fmt.Sprintf("%s%d½", sign, p/2)
}

// Decimal returns the form that SGF and JSON use: "6.5", "-0.5", "4".
func (p Points) Decimal() string {
	sign := ""
	if p < 0 {
		sign, p = "-", -p
	}
	if p%2 == 0 {
		return fmt.Sprintf("%s%d", sign, p/2)
	}
	return fmt.Sprintf("%s%d.5", sign, p/2)
}

// MarshalJSON writes the decimal form as a JSON number.
func (p Points) MarshalJSON() ([]byte, error) { return []byte(p.Decimal()), nil }

// ParsePoints reads an amount in points: "6.5", "6,5", "6½", "½", "-3". It
// refuses what is no multiple of a half, with a [Saying] for the person who typed.
func ParsePoints(s string) (Points, error) {
	t := strings.NewReplacer(",", ".", "−", "-").Replace(strings.TrimSpace(s))
	neg := false
	if rest, ok := strings.CutPrefix(t, "-"); ok {
		neg, t = true, rest
	} else {
		t = strings.TrimPrefix(t, "+")
	}
	whole, half := t, Points(0)
	if rest, ok := strings.CutSuffix(t, "½"); ok {
		whole, half = rest, Half
		if whole == "" {
			whole = "0"
		}
	} else if w, frac, ok := strings.Cut(t, "."); ok {
		whole = w
		if whole == "" {
			whole = "0"
		}
		if strings.Trim(frac, "0123456789") != "" || frac == "" && w == "" {
			return 0, saying(`“{0}” is not a number`, quoted(s))
		}
		switch strings.TrimRight(frac, "0") {
		case "":
		case "5":
			half = Half
		default:
			return 0, saying("{0} is not a multiple of ½", short(s))
		}
	}
	if whole == "" || strings.Trim(whole, "0123456789") != "" {
		return 0, saying(`“{0}” is not a number`, quoted(s))
	}
	if whole = strings.TrimLeft(whole, "0"); len(whole) > 6 {
		return 0, saying("{0} is too large", short(s))
	}
	var n Points
	for _, c := range whole {
		n = n*10 + Points(c-'0')
	}
	n = n*One + half
	if neg {
		n = -n
	}
	return n, nil
}
