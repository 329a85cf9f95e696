package rules

import (
	"encoding/json"
	"strings"
	"testing"
)

// What somebody types is a point, or the answer says what is wrong with it and shows a point
// in the middle of the board.
func TestParsePoint(t *testing.T) {
	const like = " is not a point: name a letter and a number, such as "
	for _, c := range []struct {
		w, h        int
		typed, want string
	}{
		{9, 9, "a1", "A1"},
		{9, 9, " J9\t", "J9"},
		{9, 9, "e05", "E5"},
		{19, 19, "t19", "T19"},
		{25, 25, "Z25", "Z25"},
		{1, 1, "A1", "A1"},
		{3, 9, "c9", "C9"},
		{9, 3, "j3", "J3"},
		{9, 9, "", "name a point by a letter and a number, such as E5"},
		{2, 2, " ", "name a point by a letter and a number, such as A1"},
		{4, 6, "", "name a point by a letter and a number, such as B3"},
		{5, 7, "", "name a point by a letter and a number, such as C4"},
		{9, 9, "E", "“E”" + like + "E5"},
		{9, 9, "5E", "“5E”" + like + "E5"},
		{9, 9, "E5x", "“E5x”" + like + "E5"},
		{9, 9, "E/", "“E/”" + like + "E5"},
		{9, 9, "E:", "“E:”" + like + "E5"},
		{9, 9, "é5", "“é5”" + like + "E5"},
		{9, 9, "\u001b5", `“\x1b5”` + like + "E5"},
		{9, 9, "E12345", "“E12345”" + like + "E5"},
		{9, 9, strings.Repeat("E", 25), "“" + strings.Repeat("E", 20) + "…”" + like + "E5"},
		{9, 9, "i5", "Go boards have no column I: did you mean J5?"},
		{9, 9, "I1", "Go boards have no column I: did you mean J1?"},
		{9, 9, "I9", "Go boards have no column I: did you mean J9?"},
		{9, 9, "I0", "Go boards have no column I"},
		{9, 9, "I10", "Go boards have no column I"},
		{8, 8, "I5", "Go boards have no column I"},
		{9, 9, "k5", "K5 is not on this board: its columns go from A to J, its rows from 1 to 9"},
		{9, 9, "E0", "E0 is not on this board: its columns go from A to J, its rows from 1 to 9"},
		{9, 9, "E10", "E10 is not on this board: its columns go from A to J, its rows from 1 to 9"},
		{9, 9, "E9999", "E9999 is not on this board: its columns go from A to J, its rows from 1 to 9"},
		{3, 9, "D1", "D1 is not on this board: its columns go from A to C, its rows from 1 to 9"},
	} {
		p, err := ParsePoint(c.typed, c.w, c.h)
		got := p.String()
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q on %d×%d: %s, want %s", c.typed, c.w, c.h, got, c.want)
		}
		if _, says := err.(Saying); err != nil && (!says || p != Point{}) {
			t.Errorf("%q: %T with %v", c.typed, err, p)
		}
	}
	for p, want := range map[Point]string{{24, 0}: "Z1", {25, 0}: "off the board", {-1, 0}: "off the board", {0, -1}: "off the board", {0, 99}: "A100"} {
		if got := p.String(); got != want {
			t.Errorf("%d, %d: %s, want %s", p.X, p.Y, got, want)
		}
	}
}

// An amount is read as people write it, and written for people, for files and as JSON.
func TestPoints(t *testing.T) {
	for typed, want := range map[string]string{
		"6.5": "6½ 6.5", " 6,5 ": "6½ 6.5", "6½": "6½ 6.5", "+6½": "6½ 6.5", "½": "½ 0.5", "-½": "−½ -0.5", "−0.5": "−½ -0.5", ".5": "½ 0.5",
		"0": "0 0", "-0": "0 0", "7": "7 7", "-3": "−3 -3", "1": "1 1", "-1.5": "−1½ -1.5", "3.": "3 3", "3.0": "3 3", "3.50": "3½ 3.5", "007": "7 7",
		"100": "100 100", "10.5": "10½ 10.5", "999999": "999999 999999", "000999999": "999999 999999",
		"1000000": "1000000 is too large",
		"6.3":     "6.3 is not a multiple of ½",
		"6.25":    "6.25 is not a multiple of ½",
		"6.55":    "6.55 is not a multiple of ½",
		"":        "“” is not a number",
		".":       "“.” is not a number",
		"-":       "“-” is not a number",
		"--1":     "“--1” is not a number",
		"+-1":     "“+-1” is not a number",
		"-+1":     "“-+1” is not a number",
		"1e3":     "“1e3” is not a number",
		"1.x":     "“1.x” is not a number",
		"x.5":     "“x.5” is not a number",
		"x½":      "“x½” is not a number",
		"1.5½":    "“1.5½” is not a number",
		"1/":      "“1/” is not a number",
		"1:":      "“1:” is not a number",
		"1\n2":    `“1\n2” is not a number`,
	} {
		n, err := ParsePoints(typed)
		got := n.String() + " " + n.Decimal()
		if err != nil {
			if got = err.Error(); n != 0 {
				t.Errorf("%q: %v with %v", typed, err, n)
			}
		}
		if got != want {
			t.Errorf("%q: %s, want %s", typed, got, want)
		}
		if _, says := err.(Saying); err != nil && !says {
			t.Errorf("%q: %T", typed, err)
		}
		if b, e := json.Marshal(n); e != nil || string(b) != n.Decimal() {
			t.Errorf("%q as JSON: %s", typed, b)
		}
	}
}

// What is long is cut, by letters and not by bytes.
func TestShorten(t *testing.T) {
	for in, want := range map[string]string{"": "", "abc": "abc", "abcd": "abc…", "½½½": "½½½", "½½½½": "½½½…"} {
		if got := Shorten(in, 3); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// The distance of two words is a metric, and what is near enough is what was meant.
func TestDistance(t *testing.T) {
	for pair, want := range map[[2]string]int{
		{"", ""}: 0, {"", "abc"}: 3, {"abc", ""}: 3, {"abc", "abc"}: 0, {"abc", "abd"}: 1, {"abc", "ac"}: 1, {"ac", "abc"}: 1,
		{"kitten", "sitting"}: 3, {"button", "botton"}: 1, {"flaw", "lawn"}: 2, {"ab", "ba"}: 2, {"aab", "aba"}: 2,
		{strings.Repeat("a", maxRule), "a"}: maxRule - 1, {strings.Repeat("a", maxRule+1), "a"}: maxRule + 2,
	} {
		if got := Distance(pair[0], pair[1]); got != want {
			t.Errorf("%q and %q: %d, want %d", pair[0], pair[1], got, want)
		}
	}
	names := []string{"seki", "ladder", "a pass stone"}
	for in, want := range map[string]string{
		"seki": "seki", "SEKI": "seki", "sek": "seki", "sekki": "seki", "soku": "", "ladders": "ladder", "ldr": "", "lader": "ladder", "addr": "ladder", "add": "",
		"a pas ston": "a pass stone", "": "",
	} {
		if want != "" {
			want = ` (did you mean "` + want + `"?)`
		}
		if got := didYouMean(in, names); got != want {
			t.Errorf("%q:%s, want%s", in, got, want)
		}
	}
	if got := didYouMean("seki", nil); got != "" {
		t.Error(got)
	}
	if got := didYouMean("abx", []string{"aby", "abz", "abx"}); got != ` (did you mean "abx"?)` {
		t.Error(got)
	}
	if got := didYouMean("abx", []string{"aby", "abz"}); got != ` (did you mean "aby"?)` {
		t.Error(got)
	}
}
