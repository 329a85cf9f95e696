package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

var update = flag.Bool("update", false, "write docs/rules as the code has it now")

// examples gives the record with which a page shows how a ruleset counts: where
// there is one an example of its source, else the same game as for others.
var examples = map[string]string{
	"tromp-taylor":        "g1-published.sgf --dead B9,D9",
	"area-1":              "g1-published.sgf --dead B9,D9",
	"area-2":              "g1-published.sgf --dead B9,D9",
	"area-3":              "g1-area-3.sgf",
	"territory-1":         "g1-territory-1.sgf",
	"aga":                 "g1-aga.sgf",
	"button":              "e1-button.sgf",
	"button-equivalence":  "e1-button-equivalence.sgf",
	"reverse-button":      "reverse-button-passes.sgf",
	"two-button":          "g1-two-button.sgf",
	"two-button-separate": "two-button-separate-button-first.sgf",
	"half-pass":           "half-pass-h1.sgf",
	"half-pass-agreement": "g1-half-pass-agreement.sgf",
	"ultimate":            "ultimate-1x1.sgf",
	"japanese":            "g1-published.sgf --dead B9,D9",
}

const generated = "<!-- Written by go test ./cmd/halfpoint -run TestPages -update; do not edit. -->\n\n"

// page gives the page of a ruleset.
func page(t *testing.T, r *rules.Ruleset) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s# %s\n\n`%s`. Source: %s.\n", generated, r.Title, r.ID(), r.Source)
	if r.Note != "" {
		fmt.Fprintf(&b, "%s\n", r.Note)
	}
	if r.Theorem != "" {
		fmt.Fprintf(&b, "\nBlack's score less White's, before komi: **%s**; [theorems](../theorems.md) tells when and why.\n", r.Theorem)
	}
	b.WriteString("\n## The book\n\nRecited from the code that plays it, `halfpoint rules " + r.Name + "`:\n\n```\n" + r.Book() + "```\n")
	b.WriteString("\n## What the sources leave open\n\n| open | here |\n|---|---|\n")
	for _, c := range r.Choices() {
		fmt.Fprintf(&b, "| %s | %s |\n", c.Open, c.Chosen)
	}
	words := strings.Fields(examples[r.Name])
	args := append([]string{"score", "--explain", "--rules", r.Name, filepath.Join("..", "..", "rules", "sgf", "testdata", words[0])}, words[1:]...)
	var out, errout bytes.Buffer
	if status := run(args, nil, &out, &errout); status != 0 {
		t.Fatalf("%v: %s", args, errout.String())
	}
	args[4] = "rules/sgf/testdata/" + words[0]
	fmt.Fprintf(&b, "\n## A worked example\n\n`halfpoint %s`:\n\n```\n", strings.Join(args, " "))
	for line := range strings.Lines(out.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	b.WriteString("```\n")
	return b.String()
}

// index gives the page that lists the others.
func index() string {
	var b strings.Builder
	b.WriteString(generated + "# The rulesets\n\n" +
		"One page each: the book as the code plays it, what its sources leave open and what was chosen, and a count explained line by line.\n" +
		"Most of them count [one number by different books](../theorems.md); `halfpoint compare` shows it for any record. [The words](words.md) of\n" +
		"which they are made can be put together to custom rulesets.\n\n" +
		"| ruleset | | before komi | komi | settles |\n|---|---|---|---|---|\n")
	for _, r := range rules.Catalogue {
		settles, komi := "plays out", r.Komi.String()
		if len(r.Settle) > 0 {
			settles = "by agreement"
		}
		if r.Has(rules.Accept) {
			settles = "by a pass that is accepted"
		}
		if len(r.Count) == 0 {
			settles = "nothing is counted"
		}
		fmt.Fprintf(&b, "| [`%s`](%s.md) | %s | %s | %s | %s |\n", r.Name, r.Name, r.Title, r.Theorem, komi, settles)
	}
	return b.String()
}

// wordsPage gives the page of the vocabulary.
func wordsPage() string {
	var b strings.Builder
	b.WriteString(generated + "# The words of custom rulesets\n\n" +
		"A custom ruleset takes a ruleset of the [catalogue](README.md), or none, and puts these sentences under the headings of its book; a heading that it\n" +
		"does not name stays as it was. Before any sentence may stand *when FACT,* or *unless FACT,*; *only if FACT* is a sentence too, and *FACT or FACT* a\n" +
		"fact. A worth is any from ½ to 20; a number of passes or buttons any from 1 to 9.\n\n" +
		"What cannot be is refused with a reason: a sentence that does not exist or cannot stand where it does, a game that cannot end, a count of what nobody\n" +
		"can hold. So is a ruleset that breaks a law of all rulesets in one of the games that are played with it before people may. Its id is `custom/NAME@` and\n" +
		"a hash of its whole text, which its games and records keep.\n")
	for _, h := range rules.Vocabulary() {
		fmt.Fprintf(&b, "\n## %s\n\n", h.Name)
		for _, s := range h.Sentences {
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

// docs/rules says what the code says, and nothing else.
func TestPages(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "rules")
	pages := map[string]string{"README.md": index(), "words.md": wordsPage()}
	for _, r := range rules.Catalogue {
		pages[r.Name+".md"] = page(t, r)
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
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		names = append(names, filepath.Base(file))
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if want, ok := pages[filepath.Base(file)]; !ok {
			t.Errorf("%s is the page of nothing", file)
		} else if string(text) != want {
			t.Errorf("%s is stale: -update writes it", file)
		}
	}
	for name := range pages {
		if !slices.Contains(names, name) {
			t.Errorf("there is no docs/rules/%s", name)
		}
	}
}
