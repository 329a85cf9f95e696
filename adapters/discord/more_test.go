package discord

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// more opens somebody's menu on the newest board.
func (c *club) more(who *discordtest.Person, in *discordtest.Channel) *discordtest.Message {
	c.Helper()
	var board *discordtest.Message
	for _, m := range in.Messages() {
		if slices.ContainsFunc(m.Controls, func(c discordtest.Control) bool { return c.Label == "More…" }) {
			board = m
		}
	}
	if last := board.Controls[len(board.Controls)-1].Label; last != "More…" {
		c.Errorf("below a board %s comes last", last)
	}
	c.passes(time.Minute) // nobody is too quick
	i := who.Press(board, "More…")
	m := c.ok(i)
	if kind, _ := i.First(); kind != rest.ResponseMessage || m.To != who.Name() || len(m.Controls) != 1 || len(m.Controls[0].Options) > maxMenu {
		c.Fatalf("%s: answered by %d: %+v", who.Name(), kind, m)
	}
	return m
}

// picks has somebody choose an entry of a menu; the first answer must be of a kind.
func (c *club) picks(who *discordtest.Person, menu *discordtest.Message, entry string, kind int) *discordtest.Interaction {
	c.Helper()
	i := who.Select(menu, "", entry)
	if err := i.Refused(); err != nil {
		c.Fatalf("%s chooses %s: %v", who.Name(), entry, err)
	}
	if got, _ := i.First(); got != kind {
		c.Errorf("%s chooses %s: answered by %d\n%s", who.Name(), entry, got, c.log.String())
	}
	c.settle()
	return i
}

// offered are the entries of a menu.
func offered(m *discordtest.Message) string { return labels(m.Controls) }

// A whole game by the menu: a draw is offered and declined, an earlier board shown, the
// record taken, the game resigned. What comes of an entry takes the place of the menu, so
// nothing of it stays.
func TestMoreOfAGame(t *testing.T) {
	inClubBothWays(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		c.place(c.alice, thread, "C3")
		c.place(c.bob, thread, "B2")
		lines := len(thread.Messages())

		menu := c.more(c.bob, thread)
		if want := "Offer a draw | Show an earlier board…"; !strings.HasPrefix(offered(menu), want) || !strings.HasSuffix(offered(menu), "Resign | Delete the game…") {
			t.Errorf("Bob is offered %s", offered(menu))
		}
		c.picks(c.bob, menu, "Offer a draw", rest.ResponseDeferUpdate)
		question := c.shows(thread, "offers")
		if left := c.kept(c.bob, thread); len(left) != 0 {
			t.Errorf("Bob still sees %q", left[0].Content)
		}
		c.ok(c.alice.Press(question, "Decline"))
		if n := len(thread.Messages()) - lines; n != 2 {
			t.Errorf("%d messages for an offer and its refusal", n)
		}

		i := c.picks(c.alice, c.more(c.alice, thread), "Show an earlier board…", rest.ResponseModal)
		modal := i.Modal()
		shown := c.alice.Submit(i, map[string]any{modal.Fields[0].CustomID: "1"})
		m := c.ok(shown)
		if kind, _ := shown.First(); kind != rest.ResponseUpdate || !withPicture(m) || !strings.Contains(m.Content, "Black C3") || m.To != "Alice" {
			t.Errorf("answered by %d: %q with %d pictures for %q", kind, m.Content, len(m.Attachments), m.To)
		}
		if m = c.ok(c.alice.Press(m, "Move 0")); strings.Contains(m.Content, "Black C3") {
			t.Errorf("move 0: %q", m.Content)
		}
		c.picks(c.alice, c.more(c.alice, thread), "SGF", rest.ResponseUpdate)
		if left := c.kept(c.alice, thread); len(left) != 2 || len(left[1].Attachments) != 1 || left[1].Attachments[0].Name != "game-1.sgf" || len(left[1].Controls) != 0 {
			t.Errorf("Alice sees %+v", left)
		}

		old := c.more(c.bob, thread)
		sure := c.more(c.bob, thread)
		c.picks(c.bob, sure, "Resign", rest.ResponseUpdate)
		if sure = sure.Now(); !strings.Contains(sure.Content, "Resign game 1? Then Alice wins.") || len(sure.Controls) != 1 {
			t.Errorf("%q with %+v", sure.Content, sure.Controls)
		}
		resigns := c.bob.Press(sure, "Resign")
		if kind, _ := resigns.First(); kind != rest.ResponseDeferUpdate {
			t.Errorf("answered by %d", kind)
		}
		c.settle()
		if !slices.ContainsFunc(thread.Messages(), func(m *discordtest.Message) bool { return withBoard(m) && strings.Contains(m.Content, "White resigns") }) {
			t.Errorf("nobody resigns\n%s", c.d.Transcript())
		}
		if left := c.kept(c.bob, thread); len(left) != 1 || left[0].ID != old.ID {
			t.Errorf("Bob sees %+v", left)
		}
		// A menu from before the end.
		c.picks(c.bob, old, "Offer a draw", rest.ResponseUpdate)
		if m := old.Now(); !strings.Contains(m.Content, "has moved on") && !strings.Contains(m.Content, "is over") || len(m.Controls) != 0 {
			t.Errorf("after the end: %q with %+v", m.Content, m.Controls)
		}

		i = c.picks(c.alice, c.more(c.alice, thread), "Comment on the game…", rest.ResponseModal)
		c.alice.Submit(i, map[string]any{i.Modal().Fields[0].CustomID: strings.Repeat("Well played, Bob. ", 20)}).First()
		c.settle()
		c.shows(thread, "Well played, Bob.")
		if left := c.kept(c.alice, thread); len(left) != 2 {
			t.Errorf("Alice sees %d messages", len(left))
		}
	})
}

// Who looks on has questions; each reads them in their own language.
func TestMoreForOthers(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		c.place(c.alice, thread, "C3")
		c.place(c.bob, thread, "B2")
		eve := c.guild.Member("Eve")
		questions := "Show an earlier board… | Explain every half point | List what changed hands | Compare rulesets | Replay | SGF"
		menu := c.more(eve, thread)
		if offered(menu) != questions {
			t.Errorf("who looks on is offered %s", offered(menu))
		}
		c.picks(eve, menu, "Replay", rest.ResponseUpdate)
		if m := menu.Now(); len(m.Attachments) != 1 || m.Attachments[0].Name != "game-1.gif" || m.Controls[0].Label != "Share with everyone" {
			t.Errorf("the replay: %+v", m)
		}
		dora := c.guild.Member("Dora")
		dora.Locale("de")
		menu = c.more(dora, thread)
		if m := menu; !strings.HasPrefix(offered(m), "Ein früheres Brett zeigen … | ") || m.Controls[0].Placeholder != "Mehr …" || !strings.HasPrefix(m.Content, "Was ") {
			t.Errorf("in German: %q: %s", m.Content, offered(m))
		}
		i := c.picks(dora, menu, "Ein früheres Brett zeigen …", rest.ResponseModal)
		if f := i.Modal(); f.Title != "Partie 1" || f.Fields[0].Label != "Die Nummer des Zugs" {
			t.Errorf("the form: %+v", f)
		}
		if m := c.ok(dora.Submit(i, map[string]any{i.Modal().Fields[0].CustomID: "77"})); m.ID != menu.ID || !strings.HasPrefix(m.Content, "Partie 1 hat") {
			t.Errorf("there is no such turn: %q", m.Content)
		}
		boss := c.guild.Member("Boss")
		c.guild.Permit(boss, discordtest.ManageGuild)
		if m := c.more(boss, thread); !strings.Contains(offered(m), "Delete") || strings.Contains(offered(m), "Decide") {
			t.Errorf("who may manage the server alone is offered %s", offered(m))
		}
		mod := c.guild.Member("Mod")
		c.guild.Permit(mod, discordtest.ManageMessages)
		menu = c.more(mod, thread)
		c.picks(mod, menu, "Decide the game…", rest.ResponseUpdate)
		if m := menu.Now(); offered(m) != "By the count | Black wins | White wins | A draw | Without result" {
			t.Errorf("a moderator may choose %s", offered(m))
		}
		c.picks(mod, menu.Now(), "Without result", rest.ResponseDeferUpdate)
		c.shows(thread, "is over")
		if left := c.kept(mod, thread); len(left) != 0 {
			t.Errorf("the moderator still sees %q", left[0].Content)
		}
	})
}

// Two people choose at once, or one twice: each thing is done once, and whoever comes too
// late is told.
func TestMoreAtOnce(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t, opt("clock", "3d"))
		c.place(c.alice, thread, "C3")
		c.place(c.bob, thread, "B2")
		first, second := c.more(c.alice, thread), c.more(c.alice, thread)
		release := c.d.Hold()
		one, other := c.alice.Select(first, "", "Offer a draw"), c.alice.Select(second, "", "Offer a draw")
		release(0, 1)
		one.First()
		other.First()
		c.settle()
		if n := count(thread.Messages(), says("offers")); n != 1 {
			t.Errorf("%d offers", n)
		}
		if left := c.kept(c.alice, thread); len(left) != 1 || !strings.Contains(left[0].Content, "has not answered") && !strings.Contains(left[0].Content, "Bob") {
			t.Errorf("Alice sees %+v", left)
		}
		hers := c.more(c.alice, thread)
		release = c.d.Hold()
		gone, late := c.alice.Select(hers, "", "Withdraw your request"), c.bob.Press(c.shows(thread, "offers"), "Agree")
		release(0, 1)
		gone.First()
		late.First()
		c.settle()
		if m := late.Answer(); m == nil || m.To != "Bob" {
			t.Errorf("too late: %+v", m)
		}
		// One menu, used twice before an answer is there.
		menu := c.more(c.bob, thread)
		release = c.d.Hold()
		one, other = c.bob.Select(menu, "", "Ask to stop the clocks"), c.bob.Select(menu, "", "Ask to stop the clocks")
		release(0, 1)
		one.First()
		other.First()
		c.passes(time.Second)
		if n := count(thread.Messages(), says("to pause the clocks")); n != 1 {
			t.Errorf("%d requests to stop the clocks\n%s", n, c.d.Transcript())
		}
		if count(thread.Messages(), says("is over")) > 0 {
			t.Errorf("the game has ended\n%s", c.d.Transcript())
		}
	})
}

// A menu works after the bot was started anew, and one from before a turn says that the
// game has moved on.
func TestOldMore(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		c.place(c.alice, thread, "C3")
		resigns, draws, record := c.more(c.bob, thread), c.more(c.bob, thread), c.more(c.bob, thread)
		c.again()
		c.picks(c.bob, record, "SGF", rest.ResponseUpdate)
		if m := record.Now(); len(m.Attachments) != 1 {
			t.Errorf("after a restart: %q", m.Content)
		}
		c.place(c.bob, thread, "B2")
		for entry, menu := range map[string]*discordtest.Message{"Resign": resigns, "Offer a draw": draws} {
			c.picks(c.bob, menu, entry, rest.ResponseUpdate)
			if m := menu.Now(); !strings.Contains(m.Content, "has moved on") || len(m.Controls) != 0 {
				t.Errorf("%s of an old menu: %q", entry, m.Content)
			}
		}
		if m := thread.Last(); !strings.Contains(m.Content, "White B2") {
			t.Errorf("%q", m.Content)
		}
	})
}

// A slow answer to an entry or to its form takes the place of the menu, too.
func TestMoreSlowly(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		c.place(c.alice, thread, "C3")
		record, earlier, draw := c.more(c.bob, thread), c.more(c.bob, thread), c.more(c.bob, thread)
		c.recorder.gate = make(chan bool)
		c.deferredBy(rest.ResponseDeferUpdate, c.bob.Select(record, "", "SGF"))
		if m := record.Now(); len(m.Attachments) != 1 || len(m.Controls) != 0 {
			t.Errorf("the record: %+v", m)
		}
		i := c.picks(c.bob, earlier, "Show an earlier board…", rest.ResponseModal)
		c.deferredBy(rest.ResponseDeferUpdate, c.bob.Submit(i, map[string]any{i.Modal().Fields[0].CustomID: "0"}))
		if m := earlier.Now(); !withPicture(m) {
			t.Errorf("the earlier board: %+v", m)
		}
		c.deferredBy(rest.ResponseDeferUpdate, c.bob.Select(draw, "", "Offer a draw"))
		c.shows(thread, "offers")
		if left := c.kept(c.bob, thread); len(left) != 2 {
			t.Errorf("Bob sees %d messages", len(left))
		}
	})
}

// Where the bot can only answer, what comes of an entry follows.
func TestMoreWhereItCanOnlyAnswer(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		eve, street := c.installed()
		c.ok(eve.Slash(street, "new", opt("size", "5x5"), opt("opponent", eve)))
		c.place(eve, street, "C3")
		menu := c.more(eve, street)
		c.picks(eve, menu, "Resign", rest.ResponseUpdate)
		eve.Press(menu.Now(), "Resign").First()
		c.settle()
		if !street.Wait(func(ms []*discordtest.Message) bool { return count(ms, says("resigns")) > 0 }) {
			t.Errorf("nobody resigns\n%s\n%s", c.d.Transcript(), c.log.String())
		}
		if left := c.kept(eve, street); len(left) != 0 {
			t.Errorf("Eve still sees %q", left[0].Content)
		}
		if n := c.d.Count(sendRoute); n != 0 {
			t.Errorf("%d messages were sent where it is not", n)
		}
	})
}

// Each of the rarer things is an entry that asks for the same, and a command besides.
func TestEntriesHaveEquivalents(t *testing.T) {
	menu := entries("More…", match.More)[0].Components[0]
	if len(menu.Options) != len(match.More) || len(menu.Options) > maxMenu {
		t.Errorf("%d entries for %d controls", len(menu.Options), len(match.More))
	}
	for k, c := range match.More {
		p, ok := readPress(menu.Options[k].Value)
		if !ok || p.command != c.Command || p.ask != c.Ask || len(p.args) != len(c.Args) {
			t.Errorf("%s: the entry asks for %v", c.Label, p)
		}
		if _, ok := bot.FindCommand(c.Command); !ok {
			t.Errorf("%s: no command %s", c.Label, c.Command)
		}
		if _, ok := findOption(c.Command, c.Ask); c.Ask != "" && !ok {
			t.Errorf("%s: nothing to fill in", c.Label)
		}
	}
}
