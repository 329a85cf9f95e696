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
	code := source(t, "*.go", "../*.go", "../clock/*.go", "../match/*.go")
	for _, m := range regexp.MustCompile(`(?:[sS]ay\(|text\.Error\(|key = |key := |Label: |\{Key: |template\()"([^"]+)"`).FindAllStringSubmatch(code, -1) {
		if _, ok := english[m[1]]; !ok && !strings.HasSuffix(m[1], ".") && m[1] != "sentence" && m[1] != "sentence.begins" {
			t.Errorf("nothing to say for %q", m[1])
		}
	}
	for key := range english {
		derived := key == "plain" || // what earlier versions have stored
			slices.ContainsFunc([]string{"group.", "shared.", "color.", "turn.", "thing.", "way.", "what.", "clock.weekday.", "clock.month."}, func(p string) bool { return strings.HasPrefix(key, p) }) ||
			strings.HasSuffix(key, ".word") || strings.HasPrefix(key, "games.") || strings.HasPrefix(key, "asked.") || strings.HasPrefix(key, "remind.is.") ||
			strings.HasPrefix(key, "settings.opens.") || strings.HasPrefix(key, "label.") && rulesKind(key[len("label."):]) ||
			strings.HasSuffix(key, ".one") && english[strings.TrimSuffix(key, ".one")] != ""
		if !derived && !strings.Contains(code, `"`+key+`"`) {
			t.Errorf("nobody says %q", key)
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
