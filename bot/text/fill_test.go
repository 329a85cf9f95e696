package text

import (
	"testing"
	"time"
)

// A command in a text is written by the platform, and what people typed never makes one.
func TestMentions(t *testing.T) {
	f := Format{Command: func(m Mention) string { return "<" + m.String() + ">" }}
	for _, x := range []struct{ template, arg, want string }{
		{"Open one: {/new rules:two-button size:9x9}.", "", "Open one: </new rules:two-button size:9x9>."},
		{"Mark with {/dead points:C3 D5 as:seki}", "", "Mark with </dead points:C3 D5 as:seki>"},
		{"{0} to play: {/place at:{0}}", "E5", "E5 to play: </place at:E5>"},
		{"{/{0}} is unknown", "plase", "</plase> is unknown"},
		{"“{0}”?", "{/resign confirm:yes}", "“{/resign confirm:yes}”?"},
	} {
		if got := Fill(fillIn(x.template, x.arg), f); got != x.want {
			t.Errorf("%q with %q: %q, want %q", x.template, x.arg, got, x.want)
		}
	}
	if got := Fill(fillIn("{/pass anyway:yes}"), Format{}); got != "/pass anyway:yes" {
		t.Errorf("without a Format: %q", got)
	}
}

// Web addresses in a text of the program's own may be links; those that people type are
// words.
func TestLinked(t *testing.T) {
	f := Format{Address: func(address string) string { return "<" + address + ">" }}
	const source = "Robert (https://a.example/?X), https://b.example/y; and nothing"
	for _, x := range []struct {
		arg  any
		f    Format
		want string
	}{
		{Linked(source), f, "Robert (<https://a.example/?X>), <https://b.example/y>; and nothing"},
		{Linked(source), Format{}, source},
		{Linked("nobody"), f, "nobody"},
		{source, f, source},
	} {
		if got := Fill(English.Say(Say("lines", x.arg)), x.f); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}

// People who are called, the number of a game and how far off an instant is are written
// by the platform; a text that is kept holds no ids.
func TestCalls(t *testing.T) {
	m := Say("of.game", "3", Say("dots", Say("to.play", Called("p1")), Say("due", Ago(time.UnixMilli(1000), Say("plain", "Wed")))))
	said := English.Word([]Message{m}, Names{"p1": {Name: "Ada", Platform: "chat", ID: "u7"}}, 3)
	f := Format{
		Person: func(platform, id, name string) string { return "<" + platform + " " + id + " " + name + ">" },
		Ago:    func(at time.Time, words string) string { return "in a second" },
		Thread: true,
	}
	for _, x := range []struct {
		text string
		f    Format
		want string
	}{
		{said, Format{}, "Game 3 · @Ada to play · due Wed"},
		{said, f, "<chat u7 Ada> to play · due in a second"},
	} {
		if got := Fill(x.text, x.f); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}

// A running clock says how much time is left, or, on platforms that show live times,
// until when.
func TestRunning(t *testing.T) {
	at := Instant(time.UnixMilli(1000), Say("plain", "Wed"))
	said := English.Say(Say("games.due", "Ada to play", Running(Say("due.at", at), Say("left.until", Say("left", "2 days"), at))))
	live := Format{Live: true, Time: func(time.Time, string) string { return "in 2 days" }}
	for _, x := range []struct {
		f    Format
		want string
	}{{Format{}, "Ada to play: 2 days left, until Wed"}, {live, "Ada to play: due in 2 days"}} {
		if got := Fill(said+".", x.f); got != x.want+"." {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}
