package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

var update = flag.Bool("update", false, "write docs/rules, the output of examples and what scripts compare as the code has them now")

// examples holds the record with which a page shows how a ruleset counts: an example of
// its source if there is one, otherwise the same game as for other rulesets.
var examples = map[string]string{
	"tromp-taylor":        "g1-published.sgf --dead B9,D9",
	"area-1":              "g1-published.sgf --dead B9,D9",
	"area-2":              "g1-published.sgf --dead B9,D9",
	"area-3":              "g1-area-3.sgf",
	"area-agreement":      "g1-published.sgf --dead B9,D9",
	"territory-1":         "g1-territory-1.sgf",
	"aga":                 "g1-aga.sgf",
	"button":              "e1-button.sgf",
	"button-equivalence":  "e1-button-equivalence.sgf",
	"reverse-button":      "reverse-button-passes.sgf",
	"two-button-separate": "two-button-separate-button-first.sgf",
	"half-pass":           "half-pass-h1.sgf",
	"half-pass-agreement": "g1-half-pass-agreement.sgf",
	"ultimate":            "ultimate-1x1.sgf",
	"japanese":            "g1-published.sgf --dead B9,D9",
}

const generated = "<!-- Written by go test ./cmd/halfpoint -run TestPages -update; do not edit. -->\n\n"

// mostOfPictures is how many bytes the pictures of all pages may have together.
const mostOfPictures = 800_000

// example returns the words after "halfpoint score" that show how a ruleset counts,
// with the record first.
func example(r *rules.Ruleset) []string {
	return strings.Fields(cmp.Or(examples[r.Name], "g1-two-button.sgf"))
}

func recordFile(name string) string {
	return filepath.Join("..", "..", "rules", "sgf", "testdata", name)
}

// drawnEnd returns the end of the example, counted as the score command counts it,
// as a picture and in words.
func drawnEnd(t *testing.T, r *rules.Ruleset) (render.Scene, *image.Paletted) {
	t.Helper()
	words := example(r)
	var flags countOptions
	if len(words) == 3 && words[1] == "--dead" {
		flags.Dead = words[2]
	}
	e := &env{cli: &cli{}, errout: io.Discard}
	rec, version, err := e.record(recordFile(words[0]), r.Name, false)
	if err != nil {
		t.Fatal(err)
	}
	c, err := flags.count(rec)
	if err != nil {
		t.Fatal(err)
	}
	c.Rules = version
	g, _, err := rec.Count(c)
	if err != nil {
		t.Fatal(err)
	}
	if len(words) == 1 && rec.RU == version.ID() { // a record of this ruleset, with its own dead stones
		if said := rec.Against(g); said != nil && said.Agrees != nil && !*said.Agrees {
			t.Errorf("%s: the record of its example says %s, it is counted %s", r.Name, said.Result, g.Result())
		}
	}
	if g.Phase() != rules.Over {
		t.Errorf("%s: the example does not end", r.Name)
	}
	scene := render.Of(g, render.Names{Black: rec.Info.Black, White: rec.Info.White})
	var b bytes.Buffer
	if err := render.PNG(&b, scene, render.Options{Size: "small"}); err != nil {
		t.Fatal(err)
	}
	decoded, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return scene, decoded.(*image.Paletted)
}

// alt shortens what the picture says of itself to one line: who leads, and of
// what lines the count is made.
func alt(t *testing.T, s render.Scene) string {
	words, _, _ := strings.Cut(render.Text(s), "\n")
	i := strings.Index(words, s.Headline+" (")
	if i < 0 {
		t.Fatalf("%q does not say %q", words, s.Headline)
	}
	return s.Ruleset + ": " + words[i:]
}

// page returns the page of a ruleset.
func page(t *testing.T, r *rules.Ruleset, end render.Scene) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s# %s\n\n**%s** %s\n\n`%s`. Source: %s.\n", generated, r.Title, r.Aim, r.PassCost, r.ID(), r.Source)
	if r.Note != "" {
		fmt.Fprintf(&b, "%s\n", r.Note)
	}
	if r.Theorem != "" {
		fmt.Fprintf(&b, "\nBlack's score less White's, before komi, is **%s**. [Theorems](../theorems.md) says what that means, and proves it.\n", r.Theorem)
	}
	b.WriteString("\n## The rules\n\nThe program plays by these rules and recites them: `halfpoint rules " + r.Name + "`.\n\n```\n" + r.Book() + "```\n")
	b.WriteString("\n## What the sources leave open\n\n| question | answer here |\n|---|---|\n")
	for _, c := range r.Choices {
		fmt.Fprintf(&b, "| %s | %s |\n", c.Open, c.Chosen)
	}
	words := example(r)
	args := append([]string{"score", "--theory", "--rules", r.Name, recordFile(words[0])}, words[1:]...)
	var out, errout bytes.Buffer
	if status := run(args, nil, &out, &errout); status != 0 {
		t.Fatalf("%v: %s", args, errout.String())
	}
	args[4] = "rules/sgf/testdata/" + words[0]
	if want := fmt.Sprintf("\nResult %s: ", end.Result); !strings.Contains(out.String(), want) {
		t.Errorf("%s: the picture has the result %s, %v prints\n%s", r.Name, end.Result, args, out.String())
	}
	fmt.Fprintf(&b, "\n## A worked example\n\n![%s](%s.png)\n\n`halfpoint %s`:\n\n```\n", alt(t, end), r.Name, strings.Join(args, " "))
	for line := range strings.Lines(out.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	b.WriteString("```\n")
	return b.String()
}

// index returns the page that lists the others.
func index() string {
	var b strings.Builder
	b.WriteString(generated + "# The rulesets\n\n" +
		"Each ruleset has a page with its rules as the program plays them, the questions that its sources leave open, and a game counted line by line.\n" +
		"Most of them count [the same number in different ways](../theorems.md); `halfpoint compare` shows that for any record. You can make rulesets of your own\n" +
		"from the [vocabulary](words.md).\n\n" +
		"A is Black's area less White's, and w is 1 if White passed (or took the button) first, else 0.\n\n" +
		"| ruleset | how you win | what a pass costs | Black − White before komi | komi | dead stones |\n|---|---|---|---|---|---|\n")
	for _, r := range rules.Catalogue {
		settles, komi := "are captured in play", r.Komi.String()
		if len(r.Settle) > 0 {
			settles = "by agreement"
		}
		if r.Has(rules.AcceptSuggestion) {
			settles = "by a pass that is accepted"
		}
		if len(r.Count) == 0 {
			settles = ""
		}
		fmt.Fprintf(&b, "| [`%s`](%s.md) | %s | %s | %s | %s | %s |\n", r.Name, r.Name, r.Aim, r.PassCost, r.Theorem, komi, settles)
	}
	return b.String()
}

// specKeys says what the keys of a custom ruleset mean.
var specKeys = map[string]string{
	"name": "lower-case letters, digits and hyphens", "title": "what people read; without it, the name", "source": "where the rules come from; without it, the base's",
	"note": "what else is to be said of it", "aim": "how you win, in a sentence", "pass": "what a pass costs, in a sentence",
	"base": "the ruleset of the catalogue that it starts from; without it, none", "komi": "in points, `6.5`; without it, the base's, else 0",
	"start": "the rules that are carried out before the first turn", "moves": "for each kind of turn, `place`, `pass`, `accept`, `button`, `delay`, `draw`, `resign` or `no-result`, its rules in order",
	"settle": "the same once play has stopped, for `dead`, `seki`, `alive`, `agree`, `resume` and `resign`", "agreed": "the rules that are carried out when both players have accepted",
	"count": "the rules of the count", "say": "facts that the bot tells while they are true", "closing": "the turns that end a record which leaves out how it ended: `[pass, pass]`",
}

// wordsPage returns the page of the vocabulary.
func wordsPage(t *testing.T) string {
	t.Helper()
	script, err := txtar.ParseFile(filepath.Join("testdata", "script", "custom.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	example := script.Files[slices.IndexFunc(script.Files, func(f txtar.File) bool { return f.Name == "three.yaml" })]
	var b strings.Builder
	b.WriteString(generated + "# Custom rulesets: the vocabulary\n\n" +
		"A custom ruleset starts from a ruleset of the [catalogue](README.md), or from none, and replaces the rules under some of its headings. It leaves the\n" +
		"other headings as they are. This page lists every heading with the rules that it may hold.\n\n" +
		"A whole file, for `rulesets` of the configuration or for `--ruleset`:\n\n```yaml\n" + string(example.Data) + "```\n\n" +
		"Put a rule that has a colon and a space in it between quotation marks. The keys are:\n\n| key | what it holds |\n|---|---|\n" + keysOf(t) + "\n" +
		"In the rules:\n\n" +
		"* *when FACT, RULE* and *unless FACT, RULE* make a rule depend on a fact.\n" +
		"* *only if FACT* is a rule too: it forbids the turn unless the fact is true.\n" +
		"* *FACT or FACT* is a fact.\n" +
		"* Where a rule names a worth, any worth from ½ to 20 will do; where it names a number of passes or buttons, any number from 1 to 9.\n" +
		"* `aim` and `pass` say in one sentence each how you win and what a pass costs. Without them they are those of the base if its start, moves, agreed and count stay, or else Halfpoint writes both itself.\n\n" +
		"Halfpoint refuses a ruleset that cannot work, and says why: an unknown rule, a rule under the wrong heading, a game that cannot end, a count of something\n" +
		"that nobody can hold. It then plays some games with the ruleset, and refuses it if one of them breaks a law that all rulesets obey. The id of a custom\n" +
		"ruleset is `custom/NAME@` and a hash of its whole text; its games and records keep that text.\n")
	for _, h := range rules.Vocabulary() {
		fmt.Fprintf(&b, "\n## %s\n\n", h.Name)
		for _, s := range h.Rules {
			fmt.Fprintf(&b, "- %s\n", s)
		}
		if len(h.Facts) > 0 && h.Name != "say" {
			b.WriteString("\nFacts:\n\n")
		}
		for _, f := range h.Facts {
			fmt.Fprintf(&b, "- *%s*\n", f)
		}
	}
	return b.String()
}

// keysOf returns a row for each key of a custom ruleset.
func keysOf(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for f := range reflect.TypeFor[rules.Spec]().Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if specKeys[key] == "" {
			t.Errorf("specKeys does not explain %q", key)
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", key, specKeys[key])
	}
	return b.String()
}

// docs/rules says what the code says, and nothing else, and shows what it draws.
func TestPages(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "rules")
	pages := map[string]string{"README.md": index(), "words.md": wordsPage(t)}
	pictures := map[string]*image.Paletted{}
	for _, r := range rules.Catalogue {
		end, picture := drawnEnd(t, r)
		pages[r.Name+".md"] = page(t, r, end)
		pictures[r.Name+".png"] = picture
	}
	if *update {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range pages {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for name, picture := range pictures {
			if err := writePicture(filepath.Join(dir, name), picture); err != nil {
				t.Fatal(err)
			}
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	size := 0 // of the pictures
	for _, file := range files {
		name := file.Name()
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		text, isPage := pages[name]
		picture, isPicture := pictures[name]
		switch {
		case isPage && string(data) != text:
			t.Errorf("docs/rules/%s is stale: -update writes it", name)
		case isPicture:
			size += len(data)
			kept, err := png.Decode(bytes.NewReader(data))
			if err != nil {
				t.Fatalf("docs/rules/%s: %v", name, err)
			}
			// As many as the pictures of render's tests may: processors round otherwise.
			if n := farPixels(kept, picture); n > 8 {
				t.Errorf("docs/rules/%s is stale, %d pixels differ: -update writes it", name, n)
			}
		case !isPage:
			t.Errorf("docs/rules/%s belongs to no ruleset", name)
		}
	}
	if want := len(pages) + len(pictures); len(files) < want {
		t.Errorf("docs/rules has %d files of %d: -update writes them", len(files), want)
	}
	if size > mostOfPictures {
		t.Errorf("the pictures have %d bytes, at most %d", size, mostOfPictures)
	}
}

func writePicture(file string, picture image.Image) error {
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, picture); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

// farPixels counts the pixels that differ by more than two shades; all of them if
// the pictures are not of one size.
func farPixels(a image.Image, b *image.Paletted) (n int) {
	size := a.Bounds()
	if size != b.Bounds() {
		return size.Dx() * size.Dy()
	}
	if p, ok := a.(*image.Paletted); ok && bytes.Equal(p.Pix, b.Pix) && slices.Equal(p.Palette, b.Palette) {
		return 0
	}
	far := func(x, y uint8) bool { return max(x, y)-min(x, y) > 2 }
	for y := size.Min.Y; y < size.Max.Y; y++ {
		for x := size.Min.X; x < size.Max.X; x++ {
			p := color.NRGBAModel.Convert(a.At(x, y)).(color.NRGBA)
			q := color.NRGBAModel.Convert(b.At(x, y)).(color.NRGBA)
			if far(p.R, q.R) || far(p.G, q.G) || far(p.B, q.B) || far(p.A, q.A) {
				n++
			}
		}
	}
	return n
}
