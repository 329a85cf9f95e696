package command_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/command"
	"github.com/halfpoint-go/halfpoint/bot"
)

const self = id.UserID("@halfpoint:example.org")

// said is a message as it comes from a room: pills in the formatted body are
// written [Bob Smith|@bob:example.org], and so is the body made of it.
func said(text string) command.Typed {
	t := command.Typed{Self: self, SelfName: "Halfpoint"}
	for {
		before, rest, ok := strings.Cut(text, "[")
		inner, after, closed := strings.Cut(rest, "]")
		name, user, isPill := strings.Cut(inner, "|")
		if !ok || !closed || !isPill {
			t.Body += text
			t.Formatted += text
			break
		}
		t.Body += before + name
		t.Formatted += before + `<a href="https://matrix.to/#/` + user + `">` + name + `</a>`
		t.Mentions = append(t.Mentions, id.UserID(user))
		text = after
	}
	if len(t.Mentions) == 0 {
		t.Formatted = ""
	}
	return t
}

// told writes what a message asks for in a line: the command, its arguments in
// the order of its options, and the persons.
func told(p command.Parsed, ok bool) string {
	if !ok {
		return "conversation"
	}
	if p.Problem != "" {
		return "problem: " + p.Problem
	}
	if p.Bare != "" {
		return "perhaps " + p.Bare
	}
	out := p.Command
	for _, c := range bot.Commands() {
		for _, o := range c.Options {
			if v, ok := p.Args[o.Name]; ok && c.Name == p.Command {
				out += " " + o.Name + "=" + strings.ReplaceAll(v, "\n", "⏎")
			}
		}
	}
	for option, user := range p.Users {
		out += " (" + option + " is " + string(user) + ")"
	}
	return out
}

// means compares what a message asks for.
func means(t *testing.T, m command.Typed, want string) {
	t.Helper()
	if got := told(command.Parse(bot.Commands(), m)); got != want {
		t.Errorf("%q:\n  means %s\n  not   %s", m.Body, got, want)
	}
}

func TestRoom(t *testing.T) {
	for _, c := range []struct{ says, means string }{
		{"!place D4", "place at=D4"},
		{"! place D4", "place at=D4"},
		{"  !place   d4 ", "place at=d4"},
		{"!PLACE d4", "place at=d4"},
		{"/place D4", "place at=D4"},
		{"！place D4", "place at=D4"},
		{"！ｐｌａｃｅ　Ｄ４", "place at=D4"},
		{"!place D4 game:3", "place at=D4 game=3"},
		{"!d4", "place at=d4"},
		{"!d 4", "place at=d4"},
		{"!place d 4", "place at=d 4"},
		{"! place d 4", "place at=d 4"},
		{"[Halfpoint|@halfpoint:example.org]: d 4", "place at=d4"},
		{"[Halfpoint|@halfpoint:example.org] 4d!", "place at=d4"},
		{"!pass", "pass"},
		{"!pass C3 D5", "pass dead=C3 D5"},
		{"!pass anyway:yes", "pass anyway=yes"},
		{"!place", "place"}, // the bot says what is missing
		{"!new two-button 9x9 komi:6.5", "new rules=two-button size=9x9 komi=6.5"},
		{"!new komi=6½ clock:fischer 7d+1d max 14d", "new komi=6½ clock=fischer 7d+1d max 14d"},
		{"!dead C3 D5 as:alive", "dead points=C3 D5 as=alive"},
		{"!show\n.X.\nXO.\n...", "show diagram=.X.⏎XO.⏎..."},
		{"!show rules:aga diagram:\n.X.\nXO.", "show diagram=.X.⏎XO. rules=aga"},
		{"!comment a fine move, @carol:example.org!", "comment text=a fine move, @carol:example.org!"},

		{"@halfpoint:example.org place D4", "place at=D4"},
		{"@halfpoint:example.org: place D4", "place at=D4"},
		{"@Halfpoint:Example.org, place D4", "place at=D4"},
		{"[Halfpoint|@halfpoint:example.org]: place D4", "place at=D4"},
		{"[Halfpoint|@halfpoint:example.org] place d4", "place at=d4"},
		{"[halfpoint|@halfpoint:example.org] !place d4", "place at=d4"},
		{"[@halfpoint|@halfpoint:example.org]: D4", "place at=D4"},
		{"[Go-Robot|@halfpoint:example.org]: pass", "pass"}, // a name of this room
		{"[Halfpoint|@halfpoint:example.org]", "help"},
		{"[Halfpoint|@halfpoint:example.org]: pass.", "pass"},
		{"[Halfpoint|@halfpoint:example.org]\npass", "pass"},
		{"[Halfpoint](https://matrix.to/#/@halfpoint:example.org): pass", "pass"},

		// Persons.
		{"!new opponent:@bob:example.org", "new opponent=@bob:example.org (opponent is @bob:example.org)"},
		{"!new @bob:example.org two-button", "new rules=two-button opponent=@bob:example.org (opponent is @bob:example.org)"},
		{"!new two-button 9x9 @bob:example.org, clock:3d", "new rules=two-button size=9x9 opponent=@bob:example.org clock=3d (opponent is @bob:example.org)"},
		{"!new two-button [Bob Smith|@bob:example.org] 9x9", "new rules=two-button size=9x9 opponent=@bob:example.org (opponent is @bob:example.org)"},
		{"!new opponent:[Bob Smith|@bob:example.org] color:black", "new color=black opponent=@bob:example.org (opponent is @bob:example.org)"},
		{"!new 9x9 size:9x9 [9|@nine:example.org]", "new rules=9x9 size=9x9 opponent=@nine:example.org (opponent is @nine:example.org)"},
		{"[Halfpoint|@halfpoint:example.org]: new aga [Bob|@bob:example.org]", "new rules=aga opponent=@bob:example.org (opponent is @bob:example.org)"},
		{"!new [Bob](https://matrix.to/#/@bob:example.org) aga", "new rules=aga opponent=@bob:example.org (opponent is @bob:example.org)"},
		{"!new opponent:https://matrix.to/#/@bob:example.org", "new opponent=@bob:example.org (opponent is @bob:example.org)"},
		{"!new opponent:matrix:u/bob:example.org?action=chat", "new opponent=@bob:example.org (opponent is @bob:example.org)"},
		{"!new [Bob|@_irc_bob%2Faway:example.org]", "new opponent=@_irc_bob/away:example.org (opponent is @_irc_bob/away:example.org)"},
		{"!new [Bob|!room:example.org]", "new rules=Bob"},
		{"!new opponent:me", "new opponent=me"},
		{"!new opponent:Bob", "new opponent=Bob"}, // the bot knows no Bob
		{"!new [Halfpoint|@halfpoint:example.org]", "new rules=Halfpoint"},
		{"!new opponent:@halfpoint:example.org", "new opponent=@halfpoint:example.org"}, // which does not play

		// Typing errors.
		{"!plcae D4", "problem: There is no command !plcae. Did you mean !place?"},
		{"!resgin", "problem: There is no command !resgin. Did you mean !resign?"},
		{"!boards", "problem: There is no command !boards. Did you mean !board?"},
		{"!Scor", "problem: There is no command !scor. Did you mean !score?"},
		{"[Halfpoint|@halfpoint:example.org]: plcae D4", "problem: There is no command !plcae. Did you mean !place?"},
		{"!place.", "problem: There is no command !place.. Did you mean !place?"},
		{"!join 3 please now", "problem: I do not know what to do with “please” in !join. Type: !join [game]"},
	} {
		means(t, said(c.says), c.means)
	}
}

func TestConversation(t *testing.T) {
	for _, says := range []string{
		"", " ", "!", "/", "!!", "!!!", "! !", "?!", "!?", "！", "！！",
		"hello", "!hello", "! hello", "hello!", "!important", "! no way", "!no way", "! why not", "!wow", "!yes", "!stop",
		"D4", "d4 is what I would play", "place D4", "pass", "I pass.", "resign already", "! D4", "!z99", "!d0", "!d26", "!d4 d5",
		"!!place D4", "/!place D4", "//place D4", "/me passes", "/ place D4", "/shrug", "!/place D4", "1. place D4",
		"halfpoint place D4", "Halfpoint: place D4", // nobody is mentioned
		"hey @halfpoint:example.org, place D4",
		"@halfpoint:example.organ place D4", "@halfpointer:example.org place D4", "@halfpoint:other.example: place D4",
		"[Bob|@bob:example.org]: place D4", "[Bob|@bob:example.org] !place D4",
		"[Halfpoint|@halfpoint:example.org]: thank you!", "[Halfpoint|@halfpoint:example.org] is a fine bot",
		"[Halfpoint|@halfpoint:example.org]'s place",
		"> <@bob:example.org> !place D4", "> !place D4\n", "> <@bob:example.org> where?\n\n!place D4", // no reply, but written so
		"! plcae D4", "!d04", "!pas", "!news", "!whys", "@halfpoint:example.orgpass", "\\!place D4", "`!place D4`", "*!place D4*",
		"!place_D4", "! place me somewhere", "! place there", "! draw something", "!plac(e)", "!pla ce D4", "!the place D4",
	} {
		means(t, said(says), "conversation")
	}
}

func TestDirect(t *testing.T) {
	for _, c := range []struct{ says, means string }{
		{"place D4", "place at=D4"},
		{"D4", "place at=D4"},
		{"d4", "place at=d4"},
		{"!D4", "place at=D4"},
		{"/d4", "place at=d4"},
		{"! d4", "place at=d4"},
		{"Ｄ４", "place at=D4"},
		{"d 4", "place at=d4"},
		{"4d", "place at=d4"},
		{"place d 4", "place at=d 4"},
		{"4 players", "conversation"},
		{"I5", "place at=I5"}, // the bot says that there is no I
		{"/place D4", "place at=D4"},
		{"!place D4", "place at=D4"},
		{"Pass", "pass"},
		{"help!", "help"},
		{"E5.", "place at=E5"},
		{"Halfpoint: place D4", "conversation"},
		{"@halfpoint:example.org place D4", "place at=D4"},
		{"new aga @bob:example.org", "new rules=aga opponent=@bob:example.org (opponent is @bob:example.org)"},
		{"show\n.X.\nXO.", "show diagram=.X.⏎XO."},
		{"plcae D4", "problem: There is no command !plcae. Did you mean !place?"},
		{"hello", "conversation"},
		{"thank you, that was a good game", "conversation"},
		{"D4 or E5?", "conversation"},
		{"D99", "conversation"},
		{"こんにちは", "conversation"},
		{"(;SZ[9])", "conversation"},
		{"", "conversation"},
		{"!!", "conversation"},
	} {
		m := said(c.says)
		m.Direct = true
		means(t, m, c.means)
	}
}

// In a thread a point or "pass" needs no sign; the bot knows whether it is a turn.
func TestThread(t *testing.T) {
	for _, c := range []struct{ says, means string }{
		{"E5", "perhaps E5"},
		{"e 5", "perhaps e 5"},
		{"５ｅ．", "perhaps ５ｅ．"},
		{"Pass", "perhaps Pass"},
		{"!E5", "place at=E5"},
		{"place E5", "perhaps place E5"},
		{"E5?", "conversation"},
		{"E5 or D4", "conversation"},
		{"score", "conversation"},
		{"[Bob|@bob:example.org]: E5", "conversation"},
	} {
		m := said(c.says)
		m.Thread = true
		means(t, m, c.means)
	}
}

func TestReply(t *testing.T) {
	for _, c := range []struct{ says, means string }{
		{"> <@bob:example.org> where?\n\n!place D4", "place at=D4"},
		{"> <@bob:example.org> !pass\n> and so on\n\n!place D4", "place at=D4"},
		{"> * <@bob:example.org> waits\n\n!place D4", "place at=D4"},
		{"> <@bob:example.org> !place D4", "conversation"},
		{"> <@bob:example.org> !place D4\n\nnice!", "conversation"},
		{"> a quotation of one's own\n\n!place D4", "conversation"},
		{"!place D4", "place at=D4"},
	} {
		m := said(c.says)
		m.Reply = true
		means(t, m, c.means)
	}

	// Who is quoted is not mentioned by who replies.
	m := said("Halfpoint: pass")
	m.Reply = true
	m.Formatted = `<mx-reply><blockquote><a href="https://matrix.to/#/@halfpoint:example.org">Halfpoint</a></blockquote></mx-reply>Halfpoint: pass`
	means(t, m, "conversation")
	m.Mentions = []id.UserID{self} // without a pill
	means(t, m, "pass")
}

// Names that only m.mentions resolves.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		says     string
		mentions []id.UserID
		means    string
	}{
		{"!new opponent:Bob", []id.UserID{"@bob:example.org"}, "new opponent=@bob:example.org (opponent is @bob:example.org)"},
		{"!new opponent:Bobby", []id.UserID{"@bob:example.org"}, "new opponent=@bob:example.org (opponent is @bob:example.org)"},
		{"!new opponent:bob", []id.UserID{"@carol:example.org", "@bob:example.org"}, "new opponent=@bob:example.org (opponent is @bob:example.org)"},
		{"!new opponent:Bobby", []id.UserID{"@carol:example.org", "@bob:example.org"}, "new opponent=Bobby"},
		{"!new opponent:me", []id.UserID{"@bob:example.org"}, "new opponent=me"},
		{"!new opponent:Halfpoint", []id.UserID{self}, "new opponent=Halfpoint"},
		{"Halfpoint: new opponent:Bob", []id.UserID{self, "@bob:example.org"}, "new opponent=@bob:example.org (opponent is @bob:example.org)"},
		{"Halfpoint: new opponent:Bobby", []id.UserID{self, "@bob:example.org"}, "new opponent=@bob:example.org (opponent is @bob:example.org)"},
		{"!new opponent:Bob", []id.UserID{"not an id"}, "new opponent=Bob"},
	} {
		m := said(c.says)
		m.Mentions = c.mentions
		means(t, m, c.means)
	}
}

// However the bot is addressed, the same words ask for the same.
func TestAddressed(t *testing.T) {
	for _, c := range bot.Commands() {
		words := c.Name
		for i, o := range c.Options {
			switch {
			case o.Type == bot.UserOption:
				words += " " + o.Name + ":@bob:example.org"
			case o.Type == bot.IntegerOption:
				words += " " + o.Name + ":3"
			case i > 0:
				words += " " + o.Name + ":a1"
			case o.Rest:
				words += " A1\nB2 B3"
			default:
				words += " A1"
			}
		}
		want, ok := command.Parse(bot.Commands(), said("!"+words))
		if !ok || want.Problem != "" || want.Command != c.Name || len(want.Args) != len(c.Options) {
			t.Errorf("!%s: %v %+v", words, ok, want)
		}
		for _, beginning := range []string{"/", "! ", "！", self.String() + " ", self.String() + ": !", "[Halfpoint|" + self.String() + "]: ", "[Halfpoint|" + self.String() + "] /"} {
			got, ok := command.Parse(bot.Commands(), said(beginning+words))
			if diff := cmp.Diff(want, got); !ok || diff != "" {
				t.Errorf("%s%s: %v %s", beginning, words, ok, diff)
			}
		}
		direct := said(words)
		direct.Direct = true
		got, ok := command.Parse(bot.Commands(), direct)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%s: %v %s", words, ok, diff)
		}
	}
}

func TestTooLong(t *testing.T) {
	got, ok := command.Parse(bot.Commands(), said("!comment "+strings.Repeat("word ", 5000)))
	if !ok || got.Command != "comment" || !strings.Contains(got.Problem, "too long") {
		t.Errorf("%v %+v", ok, got)
	}
	for _, beginning := range []string{"!wonderful ", "! why "} {
		if got, ok := command.Parse(bot.Commands(), said(beginning+strings.Repeat("word ", 5000))); ok {
			t.Errorf("long conversation means %s", told(got, ok))
		}
	}
	diagram := strings.TrimSpace(strings.Repeat(strings.Repeat(".", 25)+"\n", 25))
	got, ok = command.Parse(bot.Commands(), said("!show\n"+diagram))
	if !ok || got.Args["diagram"] != diagram {
		t.Errorf("%v %+v", ok, got)
	}
}

// hostile are messages that take long to read, if anything does.
func hostile() map[string]string {
	const long = 64 << 10
	return map[string]string{
		"words":      "!comment " + strings.Repeat("a ", 3_900),
		"many words": "!comment " + strings.Repeat("a ", long/2),
		"lines":      "!show\n" + strings.Repeat("X\n", 3_900),
		"quotation":  "> <@a:b> x\n" + strings.Repeat(">\n", long/2),
		"links":      "!new " + strings.Repeat("[](", long/3),
		"unclosed":   "!new " + strings.Repeat("](", long/2),
		"users":      "!new " + strings.Repeat("@a:b ", 1_500),
		"marks":      strings.Repeat("!", long),
		"one word":   "!" + strings.Repeat("a", long),
		"blanks":     "! " + strings.Repeat(" ", long),
		"colons":     "!new " + strings.Repeat("rules:", long/6),
		"pills":      strings.Repeat(`<a href="https://matrix.to/#/@a:b">a</a>`, long/40),
	}
}

func BenchmarkParse(b *testing.B) {
	for name, text := range hostile() {
		b.Run(name, func(b *testing.B) {
			m := command.Typed{Body: text, Formatted: text, Self: self, SelfName: "Halfpoint", Direct: true, Reply: true, Mentions: []id.UserID{self, "@a:b"}}
			for b.Loop() {
				command.Parse(bot.Commands(), m)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text[:min(len(text), 500)], "", false)
	}
	f.Add("!place D4", "", false)
	f.Add("Halfpoint: new Bob", `<a href="https://matrix.to/#/@halfpoint:example.org">Halfpoint</a>: new <a href='https://matrix.to/#/@bob:example.org'>Bob</a>`, false)
	f.Add("> <@a:b> c\n\nd4", "<mx-reply>", true)
	f.Add("！ｐｌａｃｅ\u3000Ｄ４", "", true)
	commands := bot.Commands()
	f.Fuzz(func(t *testing.T, body, formatted string, direct bool) {
		m := command.Typed{Body: body, Formatted: formatted, Direct: direct, Thread: !direct, Reply: direct, Self: self, SelfName: "Halfpoint", Mentions: []id.UserID{self, "@bob:example.org"}}
		p, ok := command.Parse(commands, m)
		check(t, p, ok)
	})
}

// check says what holds of whatever was typed.
func check(t *testing.T, p command.Parsed, ok bool) {
	if !ok {
		if p.Command != "" || p.Args != nil || p.Users != nil || p.Problem != "" || p.Bare != "" {
			t.Fatalf("conversation that means %+v", p)
		}
		return
	}
	if p.Bare != "" {
		if p.Command != "" || p.Args != nil || p.Users != nil || p.Problem != "" {
			t.Fatalf("what may be a turn asks for something: %+v", p)
		}
		return
	}
	if p.Problem != "" {
		if p.Args != nil || p.Users != nil || len(p.Problem) > 600 {
			t.Fatalf("a problem that asks for something: %+v", p)
		}
		return
	}
	for _, c := range bot.Commands() {
		if c.Name != p.Command {
			continue
		}
		types := map[string]bot.OptionType{}
		for _, o := range c.Options {
			types[o.Name] = o.Type
		}
		for name := range p.Args {
			if _, known := types[name]; !known {
				t.Fatalf("%s has no option %q", c.Name, name)
			}
		}
		for name, user := range p.Users {
			if kind, known := types[name]; !known || kind != bot.UserOption {
				t.Fatalf("%s takes nobody as %q", c.Name, name)
			}
			if _, _, err := user.ParseAndValidateRelaxed(); err != nil || user == self || p.Args[name] != string(user) {
				t.Fatalf("%q means %q (%v)", p.Args[name], user, err)
			}
		}
		return
	}
	t.Fatalf("there is no command %q", p.Command)
}
