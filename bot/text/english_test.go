package text

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

// source returns all code in files of some patterns, but for tests and the words
// themselves.
func source(t *testing.T, patterns ...string) string {
	t.Helper()
	var code strings.Builder
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") || f == "english.go" {
				continue
			}
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(text)
		}
	}
	return code.String()
}

// Every key that is said has words, every argument is given, and no words are
// kept for nothing.
func TestEnglishIsComplete(t *testing.T) {
	code := source(t, "*.go", "../*.go", "../clock/*.go", "../match/*.go", "../contest/*.go", "../rooms/*.go")
	for _, m := range regexp.MustCompile(`(?:[sS]ay\(|text\.Error\(|key = |key := |Label: |\{Key: |template\()"([^"]+)"`).FindAllStringSubmatch(code, -1) {
		if _, ok := english[m[1]]; !ok && !strings.HasSuffix(m[1], ".") && !strings.HasPrefix(m[1], "sentence") {
			t.Errorf("nothing to say for %q", m[1])
		}
	}
	for key := range english {
		derived := key == "plain" || key == "internal.conflict" || // what earlier versions have stored
			slices.ContainsFunc([]string{"group.", "shared.", "color.", "turn.", "thing.", "way.", "what.", "clock.weekday.", "clock.month.", "wish.", "language.", "resumed.final.", "event.is.", "event.state.", "event.bars.", "event.terms.", "event.why.", "event.leads.", "event.first.", "event.sheet.won.", "event.sheet.lost.", "event.sheet.sign."}, func(p string) bool { return strings.HasPrefix(key, p) }) ||
			strings.HasSuffix(key, ".word") || strings.HasPrefix(key, "games.") || strings.HasPrefix(key, "remind.is.") ||
			strings.HasPrefix(key, "settings.opens.") || strings.HasPrefix(key, "settings.pages.") || strings.HasPrefix(key, "label.") && rulesKind(key[len("label."):]) ||
			strings.HasSuffix(key, ".one") && english[strings.TrimSuffix(key, ".one")] != ""
		if !derived && !strings.Contains(code, `"`+key+`"`) {
			t.Errorf("nobody says %q", key)
		}
	}
}

// fragments are keys, or how keys begin, of words that are no sentences: labels, lines of
// tables, parts of captions, and parts of which sentences are made.
var fragments = []string{"label.", "clock.words.", "clock.left.", "clock.weekday.", "clock.month.", "clock.date", "clock.days", "clock.hours",
	"clock.minutes", "clock.turns", "clock.periods", "clock.more", "clock.and", "color.", "turn.", "thing.", "way.", "when.", "needs.", "group.",
	"games.going", "games.open", "games.reserved", "games.yours", "games.accept.yours", "which.one", "which.both", "which.alone", "which.open", "player", "trial", "wish.", "language.", "settings.clock", "request.how.rematch", "games.settling", "games.accept", "games.ended", "games.cancelled", "games.here", "games.due", "games.where",
	"help.line", "help.option", "help.group", "score.line", "score.komi", "ledger.entry", "ledger.first", "gain.lost", "points", "points.half", "points.only.half", "stones.of", "why.head", "why.sentence", "why.reason",
	"compare.title", "compare.komi", "compare.own", "compare.same", "compare.winner", "compare.nobody", "demo.line", "demo.step", "demo.back", "demo.next",
	"to.play", "to.play.first", "to.place", "must.", "due", "gain", "numbered", "placed", "stone.words", "ahead", "even", "both", "of.game", "dots", "list", "or", "joined", "lines",
	"quoted", "called", "plain", "use", "reason", "somebody", "opponent.me", "seat.open", "seat.reserved", "handicap", "rated", "with.clock", "left", "draw", "void",
	"jigo", "win", "win.other", "left.vacation", "left.until", "due.at", "running", "below", "handicap.free", "review.to", "game.choice", "instant", "ago", "room", "linked", "remind.elsewhere", "view.title", "view.mine", "read.run",
	"act.", "log.line", "log.owner", "event.title", "event.state.", "event.line", "event.terms.anyone", "event.terms.seats", "event.terms.lot", "event.terms.ranks", "event.player.rank",
	"event.group.title", "event.sheet.", "event.versus.said", "event.pairing.line", "event.pairing.stones", "event.pairing.bye", "event.weight.", "event.score.", "event.view.", "event.versus", "event.late.moves", "event.late.count", "event.late.flag"}

// A sentence ends with a stop. One that leads up to a command or an example with a colon,
// or asks a question before it, ends with that and without a stop, so that people can
// copy it.
func TestSentencesEnd(t *testing.T) {
	ends := regexp.MustCompile(`[.?!:…。？！：]$|[.。] ?[(（]\{\d\}[)）]$`)
	sample := regexp.MustCompile(`(: |[?] |[：？] ?)[^.?。？]*$`)
	whole := []string{"over.why", "rules.line", "rules.summary", "diagram.bad", "diagram.repaired", "diagram.stopped", "commented", "remark", "times"} // they end with a sentence of another
	for _, l := range Languages() {
		texts := l.Texts
		if l == English {
			texts = english
		}
		for key, text := range texts {
			if slices.ContainsFunc(fragments, func(f string) bool {
				return key == f || strings.HasSuffix(f, ".") && strings.HasPrefix(key, f) || key == f+".one" || key == f+".year"
			}) ||
				strings.HasSuffix(key, ".word") || strings.HasSuffix(key, ".button") || key == "pass.anyway" || slices.Contains(whole, key) {
				continue
			}
			said := mentions.ReplaceAllString(text, "/command")
			if !ends.MatchString(said) && !sample.MatchString(said) {
				t.Errorf("%s: %q does not end: %q", l.Tag, key, text)
			}
			if regexp.MustCompile(`[:：] ?/command[.。]$`).MatchString(said) {
				t.Errorf("%s: %q has a stop behind a command that people copy: %q", l.Tag, key, text)
			}
		}
	}
}

// People read a minus sign, not a hyphen.
func TestMinus(t *testing.T) {
	for _, l := range Languages() {
		for _, m := range []Message{Thing(rules.Prisoner, -1), Say("lines", -12), Say("lines", rules.Points(-1)), Say("lines", rules.Points(-13)),
			Say("score.line", "", "", rules.Points(-2), rules.Points(-3)), Sentence(rules.Saying{Text: "{0}", Args: []any{rules.Points(-5)}})} {
			if said := l.Say(m); strings.Contains(said, "-") || !strings.Contains(said, "−") {
				t.Errorf("%s: %q", l.Tag, said)
			}
		}
	}
}

// rulesKind reports whether a kind of turn is called so.
func rulesKind(name string) bool {
	for _, k := range rules.TurnKinds() {
		if k.String() == name {
			return true
		}
	}
	return false
}

func TestCleanName(t *testing.T) {
	for name, want := range map[string]string{
		"Ada":                      "Ada",
		"  Ada \t Lovelace\n":      "Ada Lovelace",
		"\u202egnorw\x00\x07":      "gnorw",
		"":                         "",
		"\u200f\u202e\u0000":       "",
		"👩‍🚀 Ada":                  "👩‍🚀 Ada",
		"An\u200dna\u200d":         "Anna", // nobody sees the difference
		"❤️\u200d🔥":                "❤️\u200d🔥",
		"\u3164\u200d\u2800\ufffe": "",
		"שלום":                     "\u2068שלום\u2069",
		strings.Repeat("x", 5000):  strings.Repeat("x", 40) + "…",
		"@everyone":                "@everyone",
	} {
		if got := CleanName(name); got != want {
			t.Errorf("%q became %q, want %q", name, got, want)
		}
	}
}

func FuzzCleanName(f *testing.F) {
	f.Add("Ada\u202e")
	f.Fuzz(func(t *testing.T, name string) {
		got := CleanName(name)
		if len([]rune(got)) > MaxName+3 || strings.ContainsAny(got, "\n\r\x00\u202e\u202d") {
			t.Errorf("%q became %q", name, got)
		}
	})
}
