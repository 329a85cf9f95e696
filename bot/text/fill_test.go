package text

import "testing"

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
