package match

import (
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

func TestParsePoints(t *testing.T) {
	for _, x := range []struct {
		typed string
		w, h  int
		want  string
	}{
		{"C3 D5", 9, 9, "C3 D5"}, {"c3, d5.", 9, 9, "C3 D5"}, {"c 3 5d", 9, 9, "C3 D5"}, {"none", 9, 9, ""}, {"", 9, 9, ""},
		{"e-5", 9, 9, "E5"}, {"c-3 D-5", 9, 9, "C3 D5"},
		{"Ｅ５", 9, 9, "E5"}, {"ｅ５　Ｃ３", 9, 9, "E5 C3"}, {"Ｅ　５", 9, 9, "E5"}, {"Ｃ３、Ｄ５。", 9, 9, "C3 D5"},
		// The rows of the other coordinates count from the top.
		{"4-4", 19, 19, "D16"}, {"1-1", 9, 9, "A9"}, {"9-9", 9, 9, "J1"}, {"４－４", 19, 19, "D16"}, {"3-2", 5, 7, "C6"},
		{"3四", 19, 19, "C16"}, {"１６四", 19, 19, "Q16"}, {"四四", 19, 19, "D16"}, {"16十七", 19, 19, "Q3"}, {"4十", 19, 19, "D10"},
		{"十六四", 19, 19, "Q16"}, {"四十六", 19, 19, "D4"}, {"十一", 19, 19, "K19"}, {"十十", 19, 19, "K10"}, {"25廿五", 25, 25, "Z1"},
		{"二十五二十五", 25, 25, "Z1"}, {"1廿", 25, 25, "A6"}, {"3四 E5", 19, 19, "C16 E5"},
	} {
		ps, err := ParsePoints(x.typed, x.w, x.h)
		if got := rules.Names(ps); err != nil || got != x.want {
			t.Errorf("%q on %d×%d: %s, %v; want %s", x.typed, x.w, x.h, got, err, x.want)
		}
	}
}

// A refusal quotes what was typed.
func TestParsePointsRefuses(t *testing.T) {
	for typed, want := range map[string]string{
		"10-4":   "“10-4” is not a point: name a letter and a number, such as E5",
		"4-0":    "“4-0” is not a point: name a letter and a number, such as E5",
		"一":      "“一” is not a point: name a letter and a number, such as E5",
		"3四五":    "“3四五” is not a point: name a letter and a number, such as E5",
		"1-2-3":  "“1-2-3” is not a point: name a letter and a number, such as E5",
		"Ｉ５":     "Go boards have no column I: did you mean J5?",
		"e--5":   "“e--5” is not a point: name a letter and a number, such as E5",
		"Ｅ５ Ｋ１０": "K10 is not on this board: its columns go from A to J, its rows from 1 to 9",
	} {
		if ps, err := ParsePoints(typed, 9, 9); err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v; want %s", typed, ps, err, want)
		}
	}
}
