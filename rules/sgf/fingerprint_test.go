package sgf

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding"

	"github.com/halfpoint-go/halfpoint/internal/fingerprint"
	"github.com/halfpoint-go/halfpoint/rules"
)

// What is made of random games, of damaged records and diagrams, and of texts in any
// encoding, stays as it is.
func TestFingerprints(t *testing.T) {
	f := fingerprint.Open(t, "testdata/fingerprints.txt", *update)
	for seed := range uint64(60) {
		f.Add("game", seed, shownGame(t, seed))
	}
	for seed := range uint64(300) {
		f.Add("record", seed, shownRecord(damaged(t, seed)))
	}
	for seed := range uint64(150) {
		f.Add("diagram", seed, shownDiagram(seed))
		f.Add("encoding", seed, shownEncoding(seed))
	}
}

// shownGame returns what the record and the comparison of a random game say.
func shownGame(t *testing.T, seed uint64) string {
	var out strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	r := rules.Catalogue[seed%uint64(len(rules.Catalogue))]
	rnd := rand.New(rand.NewPCG(seed, 53))
	g := randomGame(t, rnd, r)
	var file bytes.Buffer
	if err := Write(&file, g, Info{Black: "A]b", White: "C\\d", Date: "2026", Version: "1"}, "first\nturn", "", "third"); err != nil {
		t.Fatal(err)
	}
	out.Write(file.Bytes())
	rec := Of(g)
	b := g.Board()
	one := slices.DeleteFunc(b.Points(), func(p rules.Point) bool { return b.At(p) == rules.None })
	one = one[:min(1, len(one))]
	for _, c := range []Count{{}, {Dead: one}, {DefaultKomi: true}, {Stop: true, Move: len(rec.Turns) / 2}, {Dead: g.Dead()},
		{Dead: g.Dead(), Seki: []rules.Point{}}, {Also: []*rules.Ruleset{threePasses(t)}}} {
		rows := rec.Compare(c)
		a, ok := rec.Area(rows)
		say("%d %v", a, ok)
		for _, row := range rows {
			report, err := json.Marshal(row.Report(rec.Setup))
			say("%s %v, why %s, reasons %v, follows %v", report, err, row.Why(), row.Err == nil && row.Game.Score() != nil, row.Err == nil && row.Follows())
			if row.Err == nil && row.Game.Score() != nil {
				black, white := row.Board()
				say("%v, unfinished %v, board %d %d", row.Reasons(), row.Unfinished(), black, white)
				if above := rows[rnd.IntN(len(rows))]; above.Err == nil && above.Game.Score() != nil {
					say("since %s: %v", above.Rules.Name, row.Since(above))
				}
			}
		}
		for _, all := range []bool{false, true} {
			for _, group := range Groups(rows, all) {
				say("group %s", group.Row.Rules.Name)
				for _, same := range group.Same {
					say("  %s", same.Rules.Name)
				}
			}
		}
	}
	back, err := Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	for _, re := range []string{"", "B+R", "W+2.5", "B+1", "0", "黑胜1又3/4子"} {
		other := *back
		other.Info.Result, other.ours, other.Ending, other.RU = re, false, Ending{}, []string{"", r.Name}[rnd.IntN(2)]
		say("%s:", re)
		out.WriteString(shownReading(&other))
	}
	return out.String()
}

// shownReading returns what becomes of a record that has been read.
func shownReading(rec *Record) string {
	var out strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	say("%+v %v %+v %+v, more %v, before %d, stopped %v", rec.Setup, rec.HasKomi, rec.Info, rec.Ending, rec.More, rec.before, rec.Stopped)
	rec = rec.Fitted()
	r, note, err := rec.Ruleset()
	say("%s %v, winner %v", note, err, rec.Winner())
	if err != nil {
		return out.String()
	}
	rec = rec.Mended(r).settled(r, false)
	for _, t := range rec.Turns {
		say("%v %v %v", t.Turn, t.Resumed, t.Assumed)
	}
	for n := range 4 {
		say("up to %d: %d", n, rec.UpTo(n))
	}
	for _, repair := range rec.Repairs {
		say("%v", repair)
	}
	g, err := rec.Play(r, rec.Setup.Komi)
	say("%v", err)
	if illegal, ok := errors.AsType[*rules.Illegal](err); ok {
		before := rec.Before(illegal)
		say("%d turns before it, %v", len(before.Turns), before.Stopped)
	}
	if g != nil && g.Score() != nil {
		said := rec.Against(g)
		stored, _ := json.Marshal(said)
		say("%+v %s, %s %s", g.Score(), g.Result(), said.Words(), stored)
	}
	return out.String()
}

func shownRecord(data []byte) string {
	rec, err := Read(bytes.NewReader(data))
	if err != nil {
		return fmt.Sprintf("%q: %v", data, err)
	}
	return fmt.Sprintf("%q:\n%s", data, shownReading(rec))
}

// damaged returns a record of the repository with a few changes. Another file changes
// what is chosen for few seeds.
func damaged(t *testing.T, seed uint64) []byte {
	files, err := filepath.Glob("testdata/*/*.sgf")
	if err != nil || len(files) < 20 {
		t.Fatal(len(files), err)
	}
	weight := func(name string) uint64 {
		h := fnv.New64a()
		fmt.Fprintf(h, "%d %s", seed, filepath.ToSlash(name))
		return h.Sum64()
	}
	data, err := os.ReadFile(slices.MaxFunc(files, func(a, b string) int { return cmp.Compare(weight(a), weight(b)) }))
	if err != nil {
		t.Fatal(err)
	}
	pieces := []string{"(", ")", ";", "[", "]", `\`, "B[aa]", ";W[bb]", ";B[]", ";W[]", "w[tt]", ";B[zz]", "AB[cc]", "AW[dd:ee]", "AE[cc]", "sz[9]", "SZ[13:9]",
		"(;B[dd])", ";W[ff];B[gg]", "PL[W]", "HA[2]", "HA[x]", "KM[0]", "KM[375]", "KM[6目半]", "RE[B+3.5]", "RE[W+T]", "RU[chinese]", "RU[japanese]", "RU[ing]",
		"TB[aa:bb]", "TW[cc]", "XT[resume]", "XD[C3]", "XT[accept]", "XS[D4]", "C[a \\] b]", "Black[hh]", " ", "x", "\n", "\xff", "PB[\u3042]"}
	rnd, text := rand.New(rand.NewPCG(seed, 51)), string(data)
	for range rnd.IntN(5) {
		text = damage(rnd, text, pieces)
	}
	return []byte(text)
}

func shownDiagram(seed uint64) string {
	rnd := rand.New(rand.NewPCG(seed, 57))
	text := []string{
		"$$B9 Title\n$$ +------\n$$ | . X O 1 2\n$$ | . X B W 3\n$$ | , O @ # 4\n",
		"$$Wm12\n$$ ---------\n$$ | . . X O . . . |\n$$ | 1 . Y Q . 0 . |\n$$ ---------\n",
		".X.O./..1../2.X../...O3/4....",
		"| . X O |\n| 1 . 2 |\n| X O . |\n",
		"$$c\n$$ . . X .\n$$ . O 1 2\n$$ . 3 C a\n$$ -------\n",
	}[rnd.IntN(5)]
	for range rnd.IntN(4) {
		at := rnd.IntN(len(text) + 1)
		text = text[:at] + []string{"", "X", "O", ".", "1", "5", "|", "-", "+", "$$", "\n", "/", "?", " "}[rnd.IntN(14)] + text[min(len(text), at+rnd.IntN(3)):]
	}
	rec, err := Diagram(text)
	if err != nil {
		return fmt.Sprintf("%q: %v", text, err)
	}
	return fmt.Sprintf("%q:\n%s", text, shownReading(rec))
}

// shownEncoding returns how a text of common and rare characters is read in an encoding that
// it names, names wrongly, or does not name.
func shownEncoding(seed uint64) string {
	rnd := rand.New(rand.NewPCG(seed, 59))
	l := looks[rnd.IntN(len(looks))]
	common := []rune(l.common + "éüñабв")
	var names strings.Builder
	for range 1 + rnd.IntN(12) {
		if rnd.IntN(3) == 0 {
			names.WriteRune([]rune{'あ', 'ア', 'ｱ', 'Z', '一', '龥', '가', 'é'}[rnd.IntN(8)])
		}
		names.WriteRune(common[rnd.IntN(len(common))])
	}
	ca := []string{"", "CA[UTF-8]", "CA[" + l.name + "]", "CA[Big5]", "CA[cp932]", "CA[what]"}[rnd.IntN(6)]
	text := "(;GM[1]" + ca + "PB[" + names.String() + "]SZ[9];B[ee])"
	data, err := encoding.ReplaceUnsupported(l.encoding.NewEncoder()).Bytes([]byte(text))
	if err != nil {
		return err.Error()
	}
	for range rnd.IntN(4) - 1 { // as by a program that cuts text at a number of bytes
		at := len("(;GM[1]") + rnd.IntN(len(data)-len("(;GM[1]"))
		data = append(data[:at], data[min(len(data), at+1+rnd.IntN(2)):]...)
	}
	wrong, right := broken(data)
	decoded, _, assumed := decode(data)
	return fmt.Sprintf("%d wrong, %d right, ASCII %v, %q %v\n%s", wrong, right, ascii(data), decoded, assumed, shownRecord(data))
}
