package bot

import (
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot/text"
)

// Every lesson can be read and shown, and where a score is told it is that of
// the position.
func TestLessons(t *testing.T) {
	for _, l := range lessons() {
		leads := 0
		for i, s := range l.steps {
			if s.says == "" || strings.ContainsAny(s.says, "{}") || len(s.says) > 600 {
				t.Errorf("%s, step %d says %q", l.id, i+1, s.says)
			}
			if strings.Contains(s.says, " +") || strings.Contains(s.says, "even") {
				leads++
			}
		}
		if leads == 0 && len(l.steps[0].game.Rules().Count) > 0 {
			t.Errorf("%s never says who leads", l.id)
		}
		t.Logf("%s: %d steps, %q", l.id, len(l.steps), l.title)
	}
	// What the lessons are about.
	last := func(id string, n int) string {
		for _, l := range lessons() {
			if l.id == id {
				if n < 0 {
					n += len(l.steps)
				}
				return text.English.Say(lead(l.steps[n].game.Score().Margin()))
			}
		}
		t.Fatalf("no lesson %q", id)
		return ""
	}
	for _, c := range []struct {
		id   string
		n    int
		want string
	}{
		{"pass-fight", -1, "Black +5"}, {"granularity", -1, "Black +5½"}, {"teire", -1, "even"}, {"giving-or-taking", -1, "Black +5½"},
		{"half-pass", -1, "Black +6"},
	} {
		if got := last(c.id, c.n); got != c.want {
			t.Errorf("%s ends with %s, want %s", c.id, got, c.want)
		}
	}
	for text, want := range map[string]string{
		"Title\nrules nothing":                             "line 2: ",
		"Title\nrules aga\nsay":                            "line 3: no board yet",
		"Title\nrules aga\nboard\n.X.\n\nB place B1\nhm":   "line 6: ",
		"Title\nrules ultimate\nboard\n.X.\n\n{lead}":      "line 6: {lead}: nothing is counted here",
		"Title\nrules aga\nboard\n..\n\nmoves A1 A1\nhm":   "line 6: ",
		"Title\nrules aga\nboard\n.X.\n\n":                 "lesson without steps",
		"Title\nrules aga\nkomi many\nboard\n.X.\n\nhello": "line 3: ",
	} {
		if _, err := readLesson("x", text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}
