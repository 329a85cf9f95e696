package bot_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/render"
)

// paged lets people play in a club whose games have pages.
func paged(t *testing.T, pages match.Pages, lines ...string) (k *talk, m match.Match) {
	t.Helper()
	k = newTalk(t)
	k.start(bot.Config{PublicURL: "https://go.example", Pages: map[string]match.Pages{"chat": pages}})
	k.lines(t, lines...)
	return k, k.matches(t, bot.Query{Where: clubRoom})[0]
}

func (k *talk) view(t *testing.T, v bot.Viewing) bot.View {
	t.Helper()
	view, err := k.bot.View(t.Context(), v)
	must(t, err)
	return view
}

// A page shows each moment as it was, says which turns stand, and what was taken back.
func TestViewOfMoments(t *testing.T) {
	k, m := paged(t, match.LinkPages, "ada> /new two-button 5x5", "bob> /join", // events 1 to 3
		"ada> /place C3", "bob> /place D4", "bob> /undo", "bob> /place B2", "ada> /pass", "eve> /score")
	now := k.view(t, bot.Viewing{Slug: m.Page})
	if now.Seq != 8 || now.Number != 3 || now.Path != "/g/"+m.Page+"/8" || now.Public || now.Lang != "en" || now.Rules != "two-button" {
		t.Errorf("now it is %+v", now)
	}
	var stand []string
	for _, turn := range now.Turns {
		stand = append(stand, fmt.Sprint(turn.Seq, " ", turn.Text))
	}
	if want := []string{"4 1. Black C3", "7 2. White B2", "8 3. Black passes"}; !slices.Equal(stand, want) {
		t.Errorf("the turns are %q, want %q", stand, want)
	}
	for seq, want := range map[int]struct {
		line  string
		taken bool
		board string
	}{
		3: {"", false, ""},
		4: {"1. Black C3", false, "..X.."},
		5: {"2. White D4", true, "..X.."},
		6: {"1. Black C3", false, "..X.."},
		7: {"2. White B2", false, "..X.."},
	} {
		v := k.view(t, bot.Viewing{Slug: m.Page, Seq: seq})
		if v.Line != want.line || v.Taken != want.taken || v.Seq != seq || want.board != "" && v.Scene.Board[2] != want.board || len(v.Turns) != 3 {
			t.Errorf("after event %d: %q, taken back %v, %q", seq, v.Line, v.Taken, v.Scene.Board)
		}
	}
	if v := k.view(t, bot.Viewing{Slug: m.Page, Lang: "de-AT"}); v.Lang != "de" || v.Turns[0].Text != "1. Schwarz C3" {
		t.Errorf("in German %+v", v.Turns)
	}
}

// Those who watch a page are told of each change, and of no other.
func TestViewChanged(t *testing.T) {
	k, m := paged(t, match.LinkPages, "ada> /new aga 5x5", "bob> /join")
	has := func(v bot.View) bool {
		select {
		case <-v.Changed:
			return true
		default:
			return false
		}
	}
	for _, line := range []string{"ada> /place C3", "bob> /undo", "mod> /settings theme:slate", "eve> /new aga 5x5", "eve> /page game:1", "bob> /place C3", "bob> /place B2",
		"ada> /delete", "bob> /resign confirm:yes", "mod> /delete game:1 how:forget confirm:yes"} {
		v := k.view(t, bot.Viewing{Slug: m.Page, Watch: true})
		other := k.view(t, bot.Viewing{Slug: m.Page, Seq: 1, Watch: true})
		seq := v.Match.Seq
		k.lines(t, line)
		if now, err := k.store.Header(t.Context(), m.ID); err != nil || has(v) != (now.Seq != seq) || has(other) != has(v) {
			t.Errorf("%s: changed: %v, %v; events %d, %d", line, has(v), has(other), seq, now.Seq)
		}
	}
	if v := k.view(t, bot.Viewing{Game: m.ID}); v.Changed != nil {
		t.Error("nobody watches")
	}
}

// What cannot be read is not found, whatever the reason.
func TestViewNotFound(t *testing.T) {
	k, m := paged(t, match.LinkPages, "ada> /new aga 5x5", "bob> /join", "ada> /place C3")
	_, deleted := paged(t, match.LinkPages, "ada> /new aga 5x5 opponent:me")
	for name, v := range map[string]bot.Viewing{
		"no slug": {}, "guessed": {Slug: "abc"}, "the game's id": {Slug: string(m.ID)}, "of another database": {Slug: deleted.Page[1:] + "x"},
		"before the first": {Slug: m.Page, Seq: -1}, "after the last": {Slug: m.Page, Seq: 5}, "far": {Slug: m.Page, Seq: 1_000_000_000},
	} {
		if _, err := k.bot.View(t.Context(), v); !errors.Is(err, bot.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, line := range map[string]string{"off": "mod> /settings pages:off", "encrypted": "", "deleted": "mod> /delete how:forget confirm:yes"} {
		k, m := paged(t, match.LinkPages, "ada> /new aga 5x5", "bob> /join", "ada> /place C3")
		k.view(t, bot.Viewing{Slug: m.Page})
		if line == "" {
			must(t, k.bot.Report(t.Context(), bot.Encrypted{Where: clubRoom}))
		} else {
			k.lines(t, line)
		}
		for seq := range 4 {
			if _, err := k.bot.View(t.Context(), bot.Viewing{Slug: m.Page, Seq: seq}); !errors.Is(err, bot.ErrNotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// What a channel has chosen holds there, whatever its server chooses afterwards.
func TestPagesOfAServer(t *testing.T) {
	k, _ := paged(t, match.NoPages, "eve> /new aga 5x5")
	k.server = "guild"
	k.lines(t, "mod> /settings pages:link", "ada> /new aga 5x5 opponent:me", "owner> /settings whose:server pages:link", "ada@hall> /new aga 5x5 opponent:me")
	newest := func(channel string) match.Match {
		return k.matches(t, bot.Query{Where: match.Room{Platform: "chat", Channel: channel}})[0]
	}
	own, servers := newest("club"), newest("hall")
	for _, x := range []struct {
		line         string
		own, servers bool
	}{
		{"owner> /settings whose:server pages:off", true, false},
		{"owner> /settings whose:server pages:public", true, false},
		{"mod> /settings pages:public", true, false},
		{"mod> /settings pages:link", true, false},
		{"mod> /settings pages:off", false, false},
		{"mod> /settings pages:default", false, false},
	} {
		k.lines(t, x.line)
		for slug, want := range map[string]bool{own.Page: x.own, servers.Page: x.servers} {
			if _, err := k.bot.View(t.Context(), bot.Viewing{Slug: slug}); (err == nil) != want || err != nil && !errors.Is(err, bot.ErrNotFound) {
				t.Errorf("%s: own %v: %v", x.line, slug == own.Page, err)
			}
		}
	}
}

// Games that began when their pages were for those who have the address are not listed when
// the room lists new ones.
func TestPublicPagesAreOfNewGames(t *testing.T) {
	k, before := paged(t, match.LinkPages, "ada> /new aga 5x5 opponent:me")
	public := func(m match.Match) bool { return k.view(t, bot.Viewing{Slug: m.Page}).Public }
	k.lines(t, "mod> /settings pages:public", "bob> /new aga 5x5 opponent:me")
	after := k.matches(t, bot.Query{Where: clubRoom})[0]
	if public(before) || !public(after) {
		t.Errorf("public: %v before, %v after", public(before), public(after))
	}
	k.lines(t, "mod> /settings pages:public")
	if !public(after) {
		t.Error("the same setting again changes something")
	}
	k.lines(t, "mod> /settings pages:link", "mod> /settings pages:public")
	if public(before) || public(after) {
		t.Error("what was no longer public is public again")
	}
}

// Previews outlive names that are forgotten: only public ones have any. They have room for
// so many bytes.
func TestPreviews(t *testing.T) {
	names := func(v bot.View) []string {
		return []string{v.Title, v.Text, v.Card.Black.Name, v.Card.White.Name, render.Text(v.Card)}
	}
	for _, pages := range []match.Pages{match.LinkPages, match.PublicPages} {
		for _, rules := range []string{"aga 9x13", "two-button 19x19", "button-equivalence 2x2", "japanese 25x25"} {
			k, m := paged(t, pages, "xerxes> /new "+rules, "yolanda> /join", "xerxes> /place A1", "yolanda> /place B2")
			for _, lang := range bot.Languages() {
				v := k.view(t, bot.Viewing{Slug: m.Page, Lang: lang})
				if v.Title == "" || len(v.Title) > 70 || v.Text == "" || len(v.Text) > 350 {
					t.Errorf("%s: %q, %q", rules, v.Title, v.Text)
				}
				named := strings.Contains(strings.Join(names(v), "\n"), "Xerxes")
				if named != (pages == match.PublicPages) || v.Public != named || v.Scene.Black.Name != "Xerxes" {
					t.Errorf("%s, %s: names are shown: %v\n%q", rules, pages, named, names(v))
				}
			}
		}
	}
}

// A position that somebody has set up has no players to name.
func TestPreviewOfAPosition(t *testing.T) {
	k, m := paged(t, match.PublicPages, "ada> /setup (;SZ[5];B[cc];W[bb])")
	if v := k.view(t, bot.Viewing{Slug: m.Page}); v.Title != "Two Button Go, 5×5, move 2" {
		t.Errorf("%q", v.Title)
	}
}

// A position is also counted by another ruleset.
func TestViewAsAnotherRuleset(t *testing.T) {
	k, m := paged(t, match.LinkPages, "ada> /new two-button 3x3", "bob> /join", "ada> /place B2", "bob> /pass", "ada> /pass")
	as := func(name string) *bot.Counted { return k.view(t, bot.Viewing{Slug: m.Page, As: name}).As }
	for name, want := range map[string]string{
		"aga":         "By AGA: ",
		"japanese":    "By Japanese",
		"two-button":  "",
		"ultimate":    "!",
		"tow-button":  "!",
		"<b>ultimate": "!",
	} {
		c := as(name)
		if want == "!" {
			if c.Err == "" || c.Differs != nil || c.Scene.Board != nil {
				t.Errorf("%s: %+v", name, c)
			}
			continue
		}
		if c.Err != "" || c.Scene.Board == nil || c.Scene.Black.Name != "Ada" || want != "" && (len(c.Differs) < 2 || !strings.HasPrefix(c.Differs[0], want)) || want == "" && c.Differs != nil {
			t.Errorf("%s: %+v", name, c)
		}
		t.Log(name, c.Differs)
	}
	if c := as("tow-button"); c.Rules != "" || !strings.Contains(c.Err, "two-button") {
		t.Errorf("%+v", c)
	}
	if v := k.view(t, bot.Viewing{Slug: m.Page}); v.As != nil {
		t.Errorf("nobody asked: %+v", v.As)
	}
	// In the middle of a game nobody has passed, and nobody has won.
	v := k.view(t, bot.Viewing{Slug: m.Page, Seq: 4, As: "aga"})
	if s := v.As.Scene; s.Told != v.Scene.Told || s.Next != v.Scene.Next || s.Move != 1 || s.Last == nil || s.Result != "" || !strings.HasPrefix(s.Caption, "Nobody has counted") ||
		v.As.Differs[0] != s.Caption || s.Headline == "" {
		t.Errorf("%+v", v.As)
	}
	// Nor was it counted by those who ended the game in another way.
	k.lines(t, "ada> /new aga 3x3", "bob> /join", "bob> /resign confirm:yes")
	if c := k.view(t, bot.Viewing{Slug: k.matches(t, bot.Query{Where: clubRoom, Number: 2})[0].Page, As: "japanese"}).As; !strings.HasPrefix(c.Differs[0], "Nobody has counted") {
		t.Errorf("after resigning: %q", c.Differs)
	}
}

// Where hints are off nothing on the page of a running game is estimated.
func TestViewWithoutHints(t *testing.T) {
	for _, hints := range []string{"yes", "no"} {
		lines := []string{"ada> /new two-button 5x5 komi:1 opponent:me hints:" + hints}
		for at := range strings.FieldsSeq("C3 D2 C2 C1 D3 E3 B1 D1 E4 A5 B4 E2") {
			lines = append(lines, "ada> /place "+at)
		}
		k, m := paged(t, match.LinkPages, append(lines, "ada> /pass")...)
		v := k.view(t, bot.Viewing{Slug: m.Page, As: "aga"})
		if got := v.Scene.Estimate || v.Card.Estimate || strings.Contains(v.Text, "≈"); got != (hints == "yes") || v.As.Scene.Estimate {
			t.Errorf("hints:%s: %q, %q, %q", hints, v.Scene.Headline, v.Card.Headline, v.Text)
		}
	}
}

// Each sees what they may do themselves, and what it costs; an onlooker nothing.
func TestViewOffers(t *testing.T) {
	k, m := paged(t, match.LinkPages, "ada> /new two-button 5x5", "bob> /join")
	offers := func(who string) string {
		var out []string
		for _, o := range k.view(t, bot.Viewing{Slug: m.Page, By: person(who)}).Offers {
			out = append(out, strings.TrimSpace(o.Command+" "+o.Args["as"]+o.Args["back"]+" "+o.Cost))
		}
		return strings.Join(out, "|")
	}
	const ends = "accept  White +1 prisoner · Black +1 button"
	for _, c := range []struct{ line, ada, bob string }{
		{"ada> /score", "place|pass  White +1 pass stone · Black +1 button|draw|resign", "draw|resign"},
		{"ada> /place C3", "undo|draw|resign", "place|pass  Black +1 pass stone · White +1 button|draw|resign"},
		{"bob> /pass", "place|pass  White +1 pass stone|undo|draw|resign", "undo|draw|resign"},
		{"ada> /pass", "dead|accept|resume|dispute|resign", "dead|accept|resume|dispute|resign"},
		{"bob> /dead C3", "dead alive|accept|resume|dispute|resign", "dead alive|accept|resume|dispute|resign"},
		{"ada> /accept", "dead alive|resume|dispute|resign", "dead alive|" + ends + "|resume|dispute|resign"},
		{"bob> /dispute", "dispute yes|draw|resign", "place|pass  Black +1 pass stone|dispute yes|draw|resign"},
		{"bob> /dispute back:yes", "dead alive|accept|resume|dispute|resign", "dead alive|accept|resume|dispute|resign"},
		{"ada> /accept", "dead alive|resume|dispute|resign", "dead alive|" + ends + "|resume|dispute|resign"},
		{"bob> /accept", "", ""},
	} {
		k.lines(t, c.line)
		if ada, bob := offers("ada"), offers("bob"); ada != c.ada || bob != c.bob {
			t.Errorf("%s: Ada may %q, want %q; Bob may %q, want %q", c.line, ada, c.ada, bob, c.bob)
		}
		if got := offers("eve"); got != "" {
			t.Errorf("%s: an onlooker may %s", c.line, got)
		}
	}
	if v := k.view(t, bot.Viewing{Slug: m.Page, By: person("ada"), Seq: 4}); v.Offers != nil {
		t.Errorf("at an earlier moment: %v", v.Offers)
	}
}

// What one player asks is a question to the other, with its answers, and a line to the rest.
// Whoever has asked can take it back.
func TestViewQuestions(t *testing.T) {
	k, m := paged(t, match.LinkPages, "ada> /new two-button 5x5 clock:3d", "bob> /join", "ada> /place C3", "bob> /place D3")
	for _, c := range []struct{ ask, question, ada, bob string }{
		{"bob> /draw", "the draw", "Agree Decline", "Withdraw your request"},
		{"bob> /clock pause:yes", "the pause of the clocks", "Agree Decline", "Withdraw your request"},
		{"bob> /undo", "the undo", "Agree Decline", "Withdraw your request"},
		{"bob> /delete", "the deletion", "Delete it too Decline", "Withdraw your request"},
	} {
		k.wait(t, 2*time.Minute)
		k.lines(t, c.ask)
		answers := func(who string) string {
			var out []string
			for _, o := range k.view(t, bot.Viewing{Slug: m.Page, By: person(who)}).Offers {
				if slices.Contains([]string{"accept", "decline", "delete", "page"}, o.Command) {
					out = append(out, o.Label)
				}
			}
			return strings.Join(out, " ")
		}
		ada, bob, eve := k.view(t, bot.Viewing{Slug: m.Page, By: person("ada")}), k.view(t, bot.Viewing{Slug: m.Page, By: person("bob")}), k.view(t, bot.Viewing{Slug: m.Page})
		if want := "White asks you for " + c.question + ": accept or decline."; ada.Question != want {
			t.Errorf("%s: Ada reads %q, want %q", c.ask, ada.Question, want)
		}
		if want := "White has asked for " + c.question + ", and Black has not answered."; bob.Question != want || eve.Question != want {
			t.Errorf("%s: Bob reads %q, Eve %q, want %q", c.ask, bob.Question, eve.Question, want)
		}
		if got := answers("ada"); got != c.ada {
			t.Errorf("%s: Ada may %q, want %q", c.ask, got, c.ada)
		}
		if got := answers("bob"); got != c.bob {
			t.Errorf("%s: Bob may %q, want %q", c.ask, got, c.bob)
		}
		if got := answers("eve"); got != "" {
			t.Errorf("%s: an onlooker may %q", c.ask, got)
		}
		if v := k.view(t, bot.Viewing{Slug: m.Page, Seq: 3}); v.Question != "" {
			t.Errorf("%s: at an earlier moment: %q", c.ask, v.Question)
		}
		k.lines(t, "ada> /decline")
		if v := k.view(t, bot.Viewing{Slug: m.Page, By: person("ada")}); v.Question != "" || answers("ada") != "" {
			t.Errorf("%s: after it was declined: %q, %q", c.ask, v.Question, answers("ada"))
		}
	}
}

// Clocks are those of now.
func TestViewClocks(t *testing.T) {
	k, m := paged(t, match.LinkPages, "ada> /new two-button 5x5 clock:3d", "bob> /join", "ada> /place C3")
	k.wait(t, 25*time.Hour)
	if v := k.view(t, bot.Viewing{Slug: m.Page}); v.Clocks != [2]string{"3 days", "1 day 23 hours"} {
		t.Errorf("%q", v.Clocks)
	}
	if v := k.view(t, bot.Viewing{Slug: m.Page, Seq: 3}); v.Clocks != [2]string{} {
		t.Errorf("at an earlier moment: %q", v.Clocks)
	}
	k.lines(t, "bob> /resign confirm:yes")
	if v := k.view(t, bot.Viewing{Slug: m.Page}); v.Clocks != [2]string{} {
		t.Errorf("after the end: %q", v.Clocks)
	}
}

// Two players whose names look the same are told apart on the page as on the board in the room.
func TestViewTellsNamesApart(t *testing.T) {
	k, m := paged(t, match.LinkPages, "ada> /new two-button 5x5", "ad\u0430> /join") // in Cyrillic
	_, posts := k.say(t, "ada", "/place C3")
	v := k.view(t, bot.Viewing{Slug: m.Page})
	if s := posts[0].Scene; v.Scene.Black.Name != s.Black.Name || v.Scene.White.Name != s.White.Name || s.Black.Name == s.White.Name {
		t.Errorf("the page has %q and %q, the board %q and %q", v.Scene.Black.Name, v.Scene.White.Name, s.Black.Name, s.White.Name)
	}
}

// Each sees a page in their own language, theme and coordinates; its previews stay those of the room.
func TestViewOfOnesOwn(t *testing.T) {
	k, m := paged(t, match.LinkPages, "mod> /settings theme:book", "ada> /new aga 5x5", "bob> /join",
		"ada> /settings whose:mine theme:contrast coordinates:kanji language:de", "bob> /settings whose:mine coordinates:none")
	for who, want := range map[string]struct {
		lang string
		look render.Options
	}{
		"ada": {"de", render.Options{Theme: "contrast", Coordinates: "kanji"}},
		"bob": {"en", render.Options{Theme: "book", Coordinates: "none"}},
		"eve": {"en", render.Options{Theme: "book"}},
	} {
		for seq := range 3 {
			v := k.view(t, bot.Viewing{Slug: m.Page, Seq: seq, Lang: "en", By: person(who)})
			if v.Lang != want.lang || v.Scene.Look != want.look || v.Card.Look != (render.Options{Theme: "book"}) {
				t.Errorf("%s sees event %d in %s as %+v, and its card as %+v", who, seq, v.Lang, v.Scene.Look, v.Card.Look)
			}
		}
	}
	if v := k.view(t, bot.Viewing{Slug: m.Page, By: person("ada")}); v.Own.Theme != "contrast" || v.Own.Coords != "kanji" || v.Own.Lang != "de" {
		t.Errorf("ada has chosen %+v", v.Own)
	}
	k.lines(t, "ada> /settings whose:mine theme:default coordinates:default language:default")
	if v := k.view(t, bot.Viewing{Slug: m.Page, By: person("ada")}); v.Own.Theme != "" || v.Scene.Look.Theme != "book" || v.Lang != "en" {
		t.Errorf("afterwards ada sees %+v in %s", v.Scene.Look, v.Lang)
	}
}

// Those who hear a page are told what the last turn did, what changed hands, and what is asked
// of them.
func TestViewHeard(t *testing.T) {
	k, m := paged(t, match.LinkPages, "ada> /new two-button 5x5", "bob> /join")
	heard := func(who string, seq int) string {
		return k.view(t, bot.Viewing{Slug: m.Page, Seq: seq, By: person(who), Lang: "en"}).Heard
	}
	const (
		second = "Move 4: White B1, takes 1. White +1 prisoner. "
		passed = "Move 6: White passes. Black +1 pass stone. "
		dead   = passed + "Marked as dead, one stone of each chain: C3. White +31½. "
		yours  = "It is up to you: mark the dead stones, then accept."
		ended  = passed + "White +1 prisoner. White +1 button. Marked as dead, one stone of each chain: C3. White +31½. Game over."
	)
	for _, c := range []struct{ line, ada, bob, eve string }{
		{"eve> /score", "New game. It is your turn: Black to play.", "New game. Black to play.", "New game. Black to play."},
		{"ada> /place A1", "Move 1: Black A1. White to play.", "Move 1: Black A1. It is your turn: White to play.", "Move 1: Black A1. White to play."},
		{"bob> /place A2", "Move 2: White A2. It is your turn: Black to play.", "Move 2: White A2. Black to play.", "Move 2: White A2. Black to play."},
		{"ada> /place C3", "Move 3: Black C3. White to play.", "Move 3: Black C3. It is your turn: White to play.", "Move 3: Black C3. White to play."},
		{"bob> /place B1", second + "It is your turn: Black to play.", second + "Black to play.", second + "Black to play."},
		{"ada> /draw", second + "Black has asked for the draw, and White has not answered. It is your turn: Black to play.",
			second + "Black asks you for the draw: accept or decline. Black to play.", second + "Black has asked for the draw, and White has not answered. Black to play."},
		{"ada> /pass", "Move 5: Black passes. White +1 pass stone. Black +1 button. White to play.",
			"Move 5: Black passes. White +1 pass stone. Black +1 button. It is your turn: White to play.", "Move 5: Black passes. White +1 pass stone. Black +1 button. White to play."},
		{"bob> /pass", passed + "No stone is marked as dead. White +8½. " + yours, passed + "No stone is marked as dead. White +8½. " + yours,
			passed + "No stone is marked as dead. White +8½. Play has stopped."},
		{"ada> /dead C3", dead + yours, dead + yours, dead + "Play has stopped."},
		{"ada> /accept", dead + "Black has accepted. Play has stopped.", dead + "Black has accepted. " + yours, dead + "Black has accepted. Play has stopped."},
		{"bob> /accept", ended, ended, ended},
	} {
		k.lines(t, c.line)
		for who, want := range map[string]string{"ada": c.ada, "bob": c.bob, "eve": c.eve} {
			if got := heard(who, 0); got != want {
				t.Errorf("%s: %s hears\n%s\nwant\n%s", c.line, who, got, want)
			}
		}
	}
	if got := heard("ada", 4); got != "Move 1: Black A1. White to play." {
		t.Errorf("of an earlier moment Ada hears %s", got)
	}
}
