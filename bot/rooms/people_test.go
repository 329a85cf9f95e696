package rooms

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// Two people in one game are never called the same, whatever they call
// themselves; who is alone with a name keeps it.
func TestTellApart(t *testing.T) {
	for _, names := range [][2]string{
		{"Sam", "Sam"}, {"Sam", "sam "}, {"Sam", "S\u200bam"}, {"Sam", "\u202eSam"}, {"Sam", "Ｓａｍ"}, {"scope", "ѕсоре"},
		{"Sám", "Sa\u0301m"}, {"Sam 🐙 شطرنج", "Sam 🐙 شطرنج"}, {"PaulI", "Paull"}, {"B0b", "Bob"},
		{strings.Repeat("x", 60) + "1", strings.Repeat("x", 60) + "2"},
	} {
		who := TellApart(map[match.PersonID]outbox.User{"p1": {Name: names[0]}, "p2": {Name: names[1]}, "p3": {Name: "Zoë"}, "p4": {Name: ""}, "p5": {Name: "\u200b"}})
		one, other := text.CleanName(who["p1"].Name), text.CleanName(who["p2"].Name)
		if Looks(one) == Looks(other) {
			t.Errorf("%q and %q are called %q and %q", names[0], names[1], one, other)
		}
		for _, name := range []string{one, other} {
			if n := utf8.RuneCountInString(strings.Trim(name, "\u2068\u2069")); n > text.MaxName {
				t.Errorf("%q has %d characters", name, n)
			}
		}
		if who["p3"].Name != "Zoë" || who["p5"].Name != "\u200b" {
			t.Errorf("those who are alone with their names are %+v", who)
		}
		again := TellApart(map[match.PersonID]outbox.User{"p2": {Name: names[1]}, "p1": {Name: names[0]}})
		if text.CleanName(again["p1"].Name) != one {
			t.Errorf("%q is called %q and %q", names[0], one, text.CleanName(again["p1"].Name))
		}
	}
	if who := TellApart(map[match.PersonID]outbox.User{"p1": {Name: "Sam"}, "p2": {Name: "Tim"}}); who["p1"].Name != "Sam" || who["p2"].Name != "Tim" {
		t.Errorf("%+v", who)
	}
}
