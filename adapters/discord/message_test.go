package discord

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/internal/tier"
	"github.com/halfpoint-go/halfpoint/render"
)

// unescape is what Discord makes of a backslash.
var unescape = regexp.MustCompile(`\\([^a-zA-Z0-9\s])`)

// meaning is what would be markup, a mention or an emoji without a backslash
// before it.
var meaning = regexp.MustCompile("(?m)(^|[^\\\\])(?:\\\\\\\\)*([*_~`|<>\\[\\]@])|^ *([#+-]|[0-9]+[.)])|[^\\\\]:[^\\s:\\\\]{2,}:|[^\\\\]://")

func escapeLaw(t *testing.T, s string) {
	t.Helper()
	got := escape(s)
	if back := unescape.ReplaceAllString(got, "$1"); back != s {
		t.Errorf("%q is written %q and read %q", s, got, back)
	}
	if m := meaning.FindString("\x00" + got); m != "" {
		t.Errorf("%q is written %q, where %q means something", s, got, m)
	}
}

// Nothing that people typed or are called means anything to Discord.
func TestEscape(t *testing.T) {
	for _, s := range []string{
		"@everyone", "<@123>", "<@&5>", "<#6>", "<t:1:R>", "</help:7>", "**bold**", "a_b_c", "`code`", "||spoiler||", "> quote", ">>> quote",
		"# big", "-# small", "- list", "+ list", "1. one", "  12) two", "[text](https://example.org)", "https://example.org", ":smile:",
		"White: +6½ (B+2.5)", "Game 1, move 12: Black D4.", "\\", "\\*", "a\n# b", "~~gone~~", "::", ":a b:",
	} {
		escapeLaw(t, s)
	}
	n := 100_000
	if tier.Soaking() {
		n = 1_000_000
	}
	random := rand.New(rand.NewPCG(1, 2))
	letters := []rune("\\*_~`|<>[]()@:#-+.)!/ \n\t0123aé½𝒳")
	for range n {
		var b strings.Builder
		for range random.IntN(14) {
			b.WriteRune(letters[random.IntN(len(letters))])
		}
		escapeLaw(t, b.String())
	}
}

func FuzzWritten(f *testing.F) {
	f.Add("Black has \x031795528800000\x04Tue 24 Nov\x05 and <@1>")
	f.Add("\x03discord\x06123\x06\x04the room\x05 _x_")
	f.Fuzz(func(t *testing.T, s string) {
		for _, piece := range pieces((&Adapter{}).written(s)) {
			if n := utf8.RuneCountInString(piece); n > maxContent {
				t.Errorf("%d characters", n)
			}
		}
	})
}

func TestWritten(t *testing.T) {
	at := time.Date(2026, 11, 24, 14, 0, 0, 0, time.UTC)
	mark := "\x03" + "1795528800000" + "\x04words_\x05"
	a := &Adapter{}
	if got, want := a.written("until "+mark+", _now_"), `until <t:1795528800:f> (<t:1795528800:R>), \_now\_`; got != want || at.Unix() != 1795528800 {
		t.Errorf("%q", got)
	}
	a.commandIDs.Store(&map[string]string{"new": "77", "go": "78"})
	for text, want := range map[string]string{
		bot.Mention{Command: "new", Options: []bot.MentionedOption{{Name: "rules", Value: "aga"}, {Name: "size", Value: "9x9"}}}.Mark(): "</new:77> `rules:aga size:9x9`",
		bot.Mention{Command: "pass"}.Mark() + "!": "/pass!",
		bot.Mention{Command: "settings", Options: []bot.MentionedOption{{Name: "opens", Value: "anyone"}}}.Mark(): "</go room settings:78> `opens:anyone`",
		bot.Mention{Command: "undo"}.Mark():     "</go undo:78>",
		bot.Mention{Command: "go"}.Mark():       "/go", // which is no command by itself
		"\x03discord\x0612\x06\x04there\x05":    "<#12>",
		"\x03discord\x0612\x0634\x04there\x05":  "<#34>",
		"(\x03^\x04https://a.example/?X_y\x05)": "(<https://a.example/?X_y>)",
		"\x03web\x06local\x06\x04the_room\x05":  `the\_room`,
	} {
		if got := a.written(text); got != want {
			t.Errorf("%q is written %q", text, got)
		}
	}
}

// Where a ruleset comes from is a link, without a preview. What people type is none.
func TestSourcesAreLinks(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		if m := c.ok(c.alice.Slash(c.room, "go study rules", opt("name", "ultimate"))); !strings.Contains(m.Content, " <https://senseis.xmp.net/?UltimateGo>") {
			t.Error(m.Content)
		}
		if m := c.ok(c.alice.Slash(c.room, "go study rules", opt("name", "https://example.org"))); !strings.Contains(m.Content, `https\://example.org`) {
			t.Error(m.Content)
		}
	})
}

// Where no files may be attached a chart is in letters, or in words if those are many.
func TestChartWithoutFiles(t *testing.T) {
	chart := render.Chart{Title: "By other rules", Rows: []render.ChartRow{
		{Title: "my_rules", Bar: true, Margin: 10, Value: "Black +5"}, {Title: "AGA", Bar: true, Margin: -4, Value: "White +2", Flip: "White wins"}}}
	shown := func() string {
		ms, err := content{text: "the same game", picture: chart, plain: true}.messages()
		if err != nil || len(ms) != 1 || len(ms[0].Files) != 0 {
			t.Fatalf("%v %+v", err, ms)
		}
		return *ms[0].Content
	}
	if got, want := shown(), "the same game\n```\nBy other rules\n\nmy_rules  Black +5\n\nAGA       White +2  White wins\n```"; got != want {
		t.Errorf("%q", got)
	}
	for range 30 {
		chart.Rows = append(chart.Rows, render.ChartRow{Title: "my_rules", Value: "White +2", Why: strings.Repeat("w", 60)})
	}
	if got := shown(); strings.Contains(got, "```") || !strings.Contains(got, "My\\_rules: White +2") || len(got) > maxContent {
		t.Errorf("%q", got)
	}
}

// A long text becomes several messages, cut between lines.
func TestPieces(t *testing.T) {
	text := strings.TrimSpace(strings.Repeat("a line of forty characters and no more.\n", 120))
	all := pieces(text)
	if len(all) != 3 || strings.Join(all, "\n") != text {
		t.Errorf("%d pieces", len(all))
	}
	for _, piece := range pieces(strings.Repeat("x", 20_000)) {
		if n := utf8.RuneCountInString(piece); n > maxContent {
			t.Errorf("%d characters", n)
		}
	}
	if n := len(pieces(strings.Repeat("x", 20_000))); n != maxMessages {
		t.Errorf("%d pieces", n)
	}
}

// Of a post too long for one message everybody is called once by the part that is shown,
// also those whom the cut takes away.
func TestCallsInLongPosts(t *testing.T) {
	who := []outbox.User{{Platform: Name, ID: "1001"}, {Platform: Name, ID: "1002"}, {Platform: Name, ID: "1003"}}
	first := "<@1001> begins\n"
	atTheEnd := strings.Repeat("x", maxContent-utf8.RuneCountInString(first)-8) + " <@1002>"
	for _, text := range []string{first + atTheEnd, first + atTheEnd + strings.Repeat("\nand so on", 50), first + strings.Repeat("x", 3*maxContent) + "<@1002>"} {
		d := delivery{c: content{text: text, notify: who}}
		if err := d.build(); err != nil {
			t.Fatal(err)
		}
		says := *d.m.Content
		if n := utf8.RuneCountInString(says); n > maxContent {
			t.Errorf("%d characters", n)
		}
		for _, w := range who {
			if n := strings.Count(says, "<@"+w.ID+">"); n != 1 {
				t.Errorf("%s is called %d times by %q", w.ID, n, says[len(says)-60:])
			}
		}
		if got := d.m.AllowedMentions.Users; !slices.Equal(got, []string{"1001", "1002", "1003"}) {
			t.Errorf("called are %q", got)
		}
	}
}

// The id of a control holds its command.
func TestPress(t *testing.T) {
	for _, p := range []press{
		{"place", map[string]string{"game": "3", "seq": "17"}, "at"},
		{"score", map[string]string{}, ""},
		{"dead", map[string]string{"points": "C3 D5&x=#y"}, "points"},
	} {
		got, ok := readPress(p.String())
		if !ok || got.command != p.command || got.ask != p.ask || len(got.args) != len(p.args) {
			t.Errorf("%+v is read as %+v", p, got)
		}
		for k, v := range p.args {
			if got.args[k] != v {
				t.Errorf("%s is %q", k, got.args[k])
			}
		}
	}
	for _, id := range []string{"", "place", "?game=1", "place?%zz"} {
		if p, ok := readPress(id); ok {
			t.Errorf("%q is read as %+v", id, p)
		}
	}
	// A button below an old board asks for what its command is called today.
	if p, ok := readPress("handicap?game=3&seq=17#points"); !ok || p.command != "place" || p.ask != "at" || p.args["seq"] != "17" {
		t.Errorf("an old button is read as %+v", p)
	}
	many := make([]match.Control, 30)
	for i := range many {
		many[i] = match.Control{Label: strings.Repeat("x", 100), Command: "review", Args: map[string]string{"move": strings.Repeat("1", i)}}
	}
	many = append(many, match.Control{Label: "too long", Command: "dead", Args: map[string]string{"points": strings.Repeat("C3 ", 50)}})
	rows := buttons(many)
	if len(rows) != 5 || len(rows[4].Components) != 5 {
		t.Errorf("%d rows", len(rows))
	}
}

// Nobody is told to type what Discord refuses: it has people chosen from a list.
func TestPlayingBothColours(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		c.ok(c.alice.Slash(c.room, "new"))
		m := c.ok(c.alice.Press(c.room.Last(), "Join"))
		if _, says, _ := strings.Cut(m.Content, "To play both colours, "); !regexp.MustCompile(`^choose yourself as the opponent: </new:\d+>$`).MatchString(says) {
			t.Errorf("%q", m.Content)
		}
		c.ok(c.alice.Slash(c.room, "new", opt("opponent", c.alice), opt("size", "5x5")))
		c.shows(c.room.Threads()[0], " to play, for example ")
	})
}

// Discord takes nothing but True and False for an option that is yes or no.
func TestYesIsTrue(t *testing.T) {
	for _, test := range []struct{ command, option, value, want string }{
		{"dispute", "back", "yes", "back:True"},
		{"clock", "pause", "no", "pause:False"},
		{"resign", "confirm", "yes", "confirm:yes"}, // which is a word
		{"settings", "opens", "anyone", "opens:anyone"},
		{"comment", "text", "yes", "text:yes"},
	} {
		m := bot.Mention{Command: test.command, Options: []bot.MentionedOption{{Name: test.option, Value: test.value}}}
		if got := (&Adapter{}).written(m.Mark()); !strings.HasSuffix(got, "`"+test.want+"`") {
			t.Errorf("%s is written %q", m, got)
		}
	}
}
