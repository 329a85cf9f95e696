package text

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// mostLabel is the most characters of a label of a button, of the platform that has
// the least room.
const mostLabel = 80

var holes = regexp.MustCompile(`\{\d\}`)

// takes returns the arguments of a template, each once.
func takes(template string) []string {
	all := holes.FindAllString(template, -1)
	slices.Sort(all)
	return slices.Compact(all)
}

// mentioned returns the commands that a template mentions, without their options, sorted.
func mentioned(template string) []string {
	var names []string
	for _, m := range mentions.FindAllStringSubmatch(template, -1) {
		names = append(names, strings.Fields(m[1])[0])
	}
	slices.Sort(names)
	return names
}

// wordy reports whether a text holds words, which another language has others
// for. "{0}: {1}" has none.
func wordy(text string) bool {
	return strings.ContainsFunc(holes.ReplaceAllString(text, ""), unicode.IsLetter)
}

// typedWords are keys of words that people type, which are the same everywhere.
var typedWords = []string{"opponent.me"}

// Every language says everything, but for what its file leaves in English on
// purpose, with the arguments that English has, and nothing that nobody says.
func TestLanguagesAreComplete(t *testing.T) {
	for _, l := range Languages()[1:] {
		var missing []string
		for key, text := range english {
			base, form := strings.TrimSuffix(key, ".one"), strings.HasSuffix(key, ".one")
			if form && english[base] != "" { // which forms there are is the language's own affair
				continue
			}
			if !wordy(text) || slices.Contains(typedWords, key) {
				continue
			}
			if l.Texts[key] == "" {
				missing = append(missing, key)
			}
		}
		slices.Sort(missing)
		var declared []string
		for _, key := range l.Missing {
			if english[key] != "" { // else it is a command's, whose package looks after it
				declared = append(declared, key)
			}
		}
		slices.Sort(declared)
		if !slices.Equal(missing, declared) {
			t.Errorf("%s: missing %q, declared %q", l.Tag, missing, declared)
		}
		if l.Tag == "de" && len(l.Missing) > 0 {
			t.Errorf("German lacks %q", l.Missing)
		}
		for key, text := range l.Texts {
			base, form := key, ""
			if english[base] == "" {
				if i := strings.LastIndexByte(key, '.'); i > 0 {
					base, form = key[:i], key[i+1:]
				}
			} else if s, ok := strings.CutSuffix(key, ".one"); ok && english[s] != "" {
				base, form = s, "one"
			}
			if english[base] == "" {
				t.Errorf("%s: nobody says %q", l.Tag, key)
			}
			if form != "" && (english[base+".one"] == "" && !slices.Equal(takes(english[base]), takes(text)) || !hasForm(l, form)) {
				t.Errorf("%s: %q is for numbers that there are not", l.Tag, key)
			}
			if !slices.Equal(takes(english[base]), takes(text)) {
				t.Errorf("%s: %q has not the arguments of %q: %q", l.Tag, key, english[base], text)
			}
			if got, want := mentioned(text), mentioned(english[base]); !slices.Equal(got, want) {
				t.Errorf("%s: %q mentions the commands %q, English %q", l.Tag, key, got, want)
			}
			if strings.HasPrefix(key, "label.") && utf8.RuneCountInString(text) > mostLabel {
				t.Errorf("%s: the label %q is too long", l.Tag, text)
			}
		}
	}
}

// hasForm reports whether a language has a plural form.
func hasForm(l *Language, form string) bool {
	for n := range 200 {
		if l.form(n) == form {
			return true
		}
	}
	return false
}

// Where English tells one from many, every language that does so too has words
// for both.
func TestPluralsAreComplete(t *testing.T) {
	for _, l := range Languages()[1:] {
		for key := range english {
			base, ok := strings.CutSuffix(key, ".one")
			if !ok || english[base] == "" || slices.Contains(l.Missing, base) {
				continue
			}
			for n := range 200 {
				form := l.form(n)
				if form == "" {
					continue
				}
				if l.Texts[base+"."+form] == "" {
					t.Errorf("%s: nothing to say for %d of %q, which is %q", l.Tag, n, base, form)
					break
				}
			}
		}
	}
	for _, x := range []struct {
		tag  string
		n    int
		want string
	}{{"en", 1, "1 prisoner"}, {"en", 2, "2 prisoners"}, {"de", 1, "1 Gefangener"}, {"de", 0, "0 Gefangene"}, {"de", -1, "−1 Gefangener"}} {
		if got := BestLanguage(x.tag).Say(Say("thing.prisoner", x.n)); got != x.want {
			t.Errorf("%s: %q, want %q", x.tag, got, x.want)
		}
	}
}

// The words of pictures are complete; render tests that they can be drawn.
func TestPictureWordsInEveryLanguage(t *testing.T) {
	w := render.English
	english := pictureFields(&w)
	verb := regexp.MustCompile(`%[sdv]`)
	for _, l := range Languages()[1:] {
		for key, text := range english {
			n := len(verb.FindAllString(*text, -1))
			if n != len(takes(l.Picture[key])) || l.Picture[key] == "" && *text != "" {
				t.Errorf("%s: %q is said as %q, in English %q", l.Tag, key, l.Picture[key], *text)
			}
		}
		for key := range l.Picture {
			if english[key] == nil {
				t.Errorf("%s: no picture says %q", l.Tag, key)
			}
		}
		for english, text := range l.Sentences {
			if !slices.Equal(takes(english), takes(text)) {
				t.Errorf("%s: %q has not the arguments of %q", l.Tag, text, english)
			}
		}
	}
}

// Each text in the part "adapters" belongs to an adapter.
func TestAdaptersSayWhatIsTranslated(t *testing.T) {
	code := source(t, "../../adapters/*/*.go", "../../adapters/*/*/*.go")
	for _, l := range Languages() {
		for english, text := range l.Adapters {
			if !strings.Contains(code, `"`+english+`"`) {
				t.Errorf("%s: no adapter says %q", l.Tag, english)
			}
			if !slices.Equal(takes(english), takes(text)) {
				t.Errorf("%s: %q has not the arguments of %q", l.Tag, text, english)
			}
		}
	}
}

// The sentences that are translated are those that the rules say.
func TestSentencesAreSaid(t *testing.T) {
	code := strings.ReplaceAll(source(t, "../../rules/*.go", "../../rules/sgf/*.go", "../match/*.go"), `\"`, `"`)
	for _, r := range rules.Catalogue {
		code += r.Book() // with worths, "a button is worth ½"
	}
	for _, l := range Languages() {
		for english := range l.Sentences {
			if !strings.Contains(code, strings.TrimPrefix(english, "only if ")) { // see rules.Require
				t.Errorf("%s: no rule says %q", l.Tag, english)
			}
		}
	}
}

// What was guessed of a record, and why one cannot be read, is translated.
func TestRepairsAreTranslated(t *testing.T) {
	said := regexp.MustCompile(`says\("((?:[^"\\]|\\.)*)"`).FindAllStringSubmatch(source(t, "../../rules/sgf/*.go"), -1)
	if len(said) < 30 {
		t.Fatalf("only %d sentences were found", len(said))
	}
	for _, l := range Languages()[1:] {
		for _, m := range said {
			if l.Sentences[m[1]] == "" {
				t.Errorf("%s: no words for %q", l.Tag, m[1])
			}
		}
	}
}

// What explains the count and what changed hands is translated: how much each thing is
// worth, and everything that the games of the catalogue's transcripts write into the
// ledger.
func TestLedgersAreTranslated(t *testing.T) {
	says := regexp.MustCompile(`(?m)^ +(?:\d+\. |if agreed: )?(?:Black|White) [+-]\d+ [a-z-]+: (.*)$`)
	files, err := filepath.Glob("../../rules/testdata/*@*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	reasons := map[string]bool{}
	for _, name := range files {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range says.FindAllStringSubmatch(string(file), -1) {
			reasons[m[1]] = true
		}
	}
	for _, r := range rules.Catalogue {
		_, count, _ := strings.Cut(r.Book(), "The count\n")
		for _, m := range regexp.MustCompile(`(?m)^  - (?:when .*, )?(.*)$`).FindAllStringSubmatch(count, -1) {
			reasons[m[1]] = true
		}
	}
	if len(reasons) < 20 {
		t.Fatalf("only %d reasons were found", len(reasons))
	}
	for _, l := range Languages()[1:] {
		for reason := range reasons {
			if l.Sentences[reason] == "" {
				t.Errorf("%s: no words for %q", l.Tag, reason)
			}
		}
	}
}

// Everybody can read how one wins and what a pass costs.
func TestSummariesAreTranslated(t *testing.T) {
	for _, l := range Languages()[1:] {
		for _, r := range rules.Catalogue {
			for _, s := range []string{r.Aim, r.PassCost} {
				if l.Sentences[s] == "" {
					t.Errorf("%s: %s lacks words for %q", l.Tag, r.Name, s)
				}
			}
		}
	}
}

// The bot's words for a turn are those of the rules.
func TestTurnsAndThings(t *testing.T) {
	at := rules.Point{X: 2, Y: 3}
	for k := rules.Place; k <= rules.NoResult; k++ {
		for _, by := range []rules.Color{rules.Black, rules.White} {
			for _, dead := range [][]rules.Point{nil, {at, {X: 0, Y: 0}}} {
				turn := rules.Turn{Kind: k, By: by, At: at, Dead: dead}
				marks := k == rules.MarkDead || k == rules.MarkSeki || k == rules.Unmark
				if marks != (dead != nil) && k != rules.Pass {
					continue
				}
				if got, want := English.Say(Turn(turn)), turn.Words(); got != want {
					t.Errorf("%q, want %q", got, want)
				}
			}
		}
	}
	for th := rules.Prisoner; th <= rules.Komi; th++ {
		for _, n := range []int{-2, -1, 0, 1, 2} {
			if got, want := English.Say(Thing(th, n)), th.Words(n); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}

// A language is known by its tag, by a locale of it, and nothing else.
func TestBestLanguage(t *testing.T) {
	for tag, want := range map[string]string{
		"": "en", "de": "de", "de-AT": "de", "de_CH.UTF-8": "de", "DE": "de", "en-US": "en", "fr": "en", "C": "en", "C.UTF-8": "en",
		"deutsch": "en", "ja": "ja", "ja-JP": "ja", "jav": "en", "../de": "en",
	} {
		if got := BestLanguage(tag).Tag; got != want {
			t.Errorf("%q is %s, want %s", tag, got, want)
		}
	}
}

// A sentence that a language has no words for is quoted, and arguments are not
// looked into.
func TestSentences(t *testing.T) {
	de := BestLanguage("de")
	_, offBoard := rules.ParsePoint("z9", 9, 9)
	_, notAPoint := rules.ParsePoint("\u202eD\"4", 9, 9)
	for _, x := range []struct {
		says any
		want string
	}{
		{"the point is not empty", "der Punkt ist nicht leer"},
		{rules.Saying{Text: "{0} resigned", Args: []any{rules.Black}}, "Schwarz hat aufgegeben"},
		{rules.Saying{Text: "Black has {0}, White has {1}", Args: []any{rules.Points(66), rules.Points(61)}}, "Schwarz hat 33, Weiß hat 30½"},
		{rules.Saying{Text: "the board would be the same as after move {0} (ko)", Args: []any{12}}, "das Brett wäre dasselbe wie nach Zug 12 (Ko)"},
		{"a pass gives your opponent a pass stone", "ein Pass gibt der Gegenseite einen Passstein"},
		{"a pass gives your opponent a cake", "“a pass gives your opponent a cake”"},
		{rules.Saying{Text: "nobody has words for {0}", Args: []any{rules.White}}, "“nobody has words for White”"},
		{offBoard, "Z9 ist nicht auf diesem Brett: die Spalten gehen von A bis J, die Reihen von 1 bis 9"},
		{notAPoint, `„\u202eD"4“ ist kein Punkt: nenne einen Buchstaben und eine Zahl, etwa E5`},
		{fmt.Errorf("line 3: %w", offBoard), "“line 3: Z9 is not on this board: its columns go from A to J, its rows from 1 to 9”"},
	} {
		if got := de.Say(Sentence(x.says)); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
	for _, l := range []*Language{English, de} {
		if got := l.Say(Whole("")); got != "" {
			t.Errorf("an empty sentence is %q", got)
		}
	}
	if got := de.Say(Say("commented", "{1}", "{2}", "3", "{0}")); got != "{1} zu Zug {2} von Partie 3: {0}" {
		t.Errorf("an argument was looked into: %q", got)
	}
}

// Names are put into texts that stand in others, too.
func TestNamesInside(t *testing.T) {
	texts := []Message{Say("games.where", Say("unpaused", Somebody("p1"), 3), List[any](Somebody("p2"), "x"))}
	if got := People(texts); !slices.Equal(got, []string{"p1", "p2"}) {
		t.Errorf("they name %q", got)
	}
	if got := Fill(BestLanguage("de").Word(texts, Names{"p1": {Name: "Ada"}}, 0), Format{}); got != "Ada lässt die Uhren von Partie 3 weiterlaufen., jemand, x" {
		t.Errorf("%q", got)
	}
}
