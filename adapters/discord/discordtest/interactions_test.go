package discordtest_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
)

// A stage is a double with a club, a room, two people and a bot that is logged
// in, knows /go and has no limits in its way. Its clock stands still.
type stage struct {
	*testing.T
	d          *discordtest.Server
	club       *discordtest.Guild
	room       *discordtest.Channel
	alice, bob *discordtest.Person
	b          *bot
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func newStage(t *testing.T, o discordtest.Options) *stage {
	o.Now = func() time.Time { return noon }
	if o.Limits == nil {
		o.Limits = discordtest.NoLimits()
	}
	s := &stage{T: t, d: discordtest.New(t, o)}
	s.club = s.d.Guild("Go club")
	s.room = s.club.Channel("games")
	s.alice, s.bob = s.club.Member("alice"), s.club.Member("bob")
	s.b = newBot(t, s.d)
	s.b.register(slash("go", object{"type": 3, "name": "at", "description": "Where", "autocomplete": true}))
	s.b.login(nil)
	return s
}

// slash is alice's /go and what the bot got.
func (s *stage) slash() (*discordtest.Interaction, object) {
	s.Helper()
	i := s.alice.Slash(s.room, "go")
	if i.Refused() != nil {
		s.Fatal(i.Refused())
	}
	return i, s.b.event("INTERACTION_CREATE")
}

// board is a message with one button.
func board(content string) object {
	return object{"content": content, "components": row(object{"type": 2, "style": 1, "label": "Pass", "custom_id": "pass"})}
}

func row(controls ...object) []object { return []object{{"type": 1, "components": controls}} }

// pressed is a press on a fresh board, and what the bot got.
func (s *stage) pressed(flags int) (*discordtest.Interaction, object) {
	s.Helper()
	i, got := s.slash()
	data := board("A board.")
	data["flags"] = flags
	s.b.hook("POST", callbackPath(got), object{"type": 4, "data": data}).want(s.T, 204)
	p := s.alice.Press(i.Answer(), "pass")
	return p, s.b.event("INTERACTION_CREATE")
}

func (s *stage) typing() (object, func() ([]discordtest.Choice, error)) {
	s.Helper()
	type result struct {
		choices []discordtest.Choice
		err     error
	}
	done := make(chan result, 1)
	go func() {
		choices, err := s.alice.Autocomplete(s.room, "go", discordtest.Opt("at", "D"))
		done <- result{choices, err}
	}()
	return s.b.event("INTERACTION_CREATE"), func() ([]discordtest.Choice, error) { r := <-done; return r.choices, r.err }
}

// submitted is a modal that was opened from a command or a button and sent.
func (s *stage) submitted(fromButton bool) object {
	s.Helper()
	var i *discordtest.Interaction
	var got object
	if fromButton {
		i, got = s.pressed(0)
	} else {
		i, got = s.slash()
	}
	s.b.hook("POST", callbackPath(got), modal).want(s.T, 204)
	if r := s.alice.Submit(i, map[string]any{"at": "D4"}).Refused(); r != nil {
		s.Fatal(r)
	}
	return s.b.event("INTERACTION_CREATE")
}

var (
	modal = object{"type": 9, "data": object{"custom_id": "where", "title": "Where?", "components": row(
		object{"type": 4, "custom_id": "at", "label": "Point", "style": 1, "max_length": 4})}}
	private = object{"content": "Psst.", "flags": 64}
)

// TestWhichResponsesWhichInteractionTakes is the table of the documentation.
func TestWhichResponsesWhichInteractionTakes(t *testing.T) {
	s := newStage(t, discordtest.Options{Lenient: true})
	bodies := map[int]object{
		4: {"type": 4, "data": object{"content": "Yes."}}, 5: {"type": 5}, 6: {"type": 6}, 7: {"type": 7, "data": object{"content": "Changed."}},
		8: {"type": 8, "data": object{"choices": []object{{"name": "D4", "value": "D4"}}}}, 9: modal,
	}
	kinds := []struct {
		name  string
		make  func() object
		takes []int
	}{
		{"a command", func() object { _, got := s.slash(); return got }, []int{4, 5, 9}},
		{"a button", func() object { _, got := s.pressed(0); return got }, []int{4, 5, 6, 7, 9}},
		{"autocompletion", func() object { got, _ := s.typing(); return got }, []int{8}},
		{"a modal from a command", func() object { return s.submitted(false) }, []int{4, 5}},
		{"a modal from a button", func() object { return s.submitted(true) }, []int{4, 5, 6, 7}},
	}
	for _, k := range kinds {
		for kind, body := range bodies {
			want := 400
			for _, n := range k.takes {
				if n == kind {
					want = 204
				}
			}
			a := s.b.hook("POST", callbackPath(k.make()), body)
			if a.status != want || want == 400 && a.code() != 50035 {
				t.Errorf("%s and type %d: %d %s", k.name, kind, a.status, a.text)
			}
		}
	}
}

func TestAnInteractionIsAnsweredOnceAndInTime(t *testing.T) {
	s := newStage(t, discordtest.Options{})
	yes := object{"type": 4, "data": object{"content": "Yes."}}

	i, got := s.slash()
	s.b.hook("POST", s.b.hookPath(got, ""), object{"content": "Too early."}).want(t, 404, 10015)
	s.b.hook("GET", s.b.hookPath(got, "/messages/@original"), nil).want(t, 404, 10015)
	s.d.Advance(3 * time.Second)
	s.b.hook("POST", callbackPath(got), yes).want(t, 204)
	s.b.hook("POST", callbackPath(got), yes).want(t, 400, 40060)
	if kind, took := i.First(); kind != 4 || took != 3*time.Second {
		t.Errorf("answered by type %d after %v", kind, took)
	}
	s.d.Advance(15*time.Minute - 3*time.Second)
	s.b.hook("PATCH", s.b.hookPath(got, "/messages/@original"), object{"content": "Still."}).want(t, 200)
	s.d.Advance(time.Millisecond)
	s.b.hook("PATCH", s.b.hookPath(got, "/messages/@original"), object{"content": "Late."}).want(t, 401, 50027)
	s.b.hook("POST", s.b.hookPath(got, ""), object{"content": "Late."}).want(t, 401, 50027)
	s.b.hook("GET", "/webhooks/"+s.d.Application()+"/wrong/messages/@original", nil).want(t, 401, 50027)

	i, got = s.slash()
	s.d.Advance(3*time.Second + time.Millisecond)
	s.b.hook("POST", callbackPath(got), yes).want(t, 404, 10062)
	if !i.Failed() || i.Answer() != nil {
		t.Error("nobody was told that it failed")
	}
	s.b.hook("POST", s.b.hookPath(got, ""), object{"content": "Anyway."}).want(t, 404, 10015)
	got["token"] = "wrong"
	s.b.hook("POST", callbackPath(got), yes).want(t, 404, 10062)
	if !strings.HasSuffix(s.d.Transcript(), "alice: /go\n· (to alice alone) The application did not respond\n") {
		t.Errorf("the transcript is\n%s", s.d.Transcript())
	}
}

func TestAWrongAnswerLeavesTheInteractionOpen(t *testing.T) {
	s := newStage(t, discordtest.Options{Lenient: true})
	i, got := s.slash()
	s.b.hook("POST", callbackPath(got), object{"type": 4, "data": object{"content": ""}}).want(t, 400, 50006)
	for _, wrong := range []object{
		{"type": 4, "data": object{"content": strings.Repeat("x", 2001)}},
		{"type": 5, "data": object{"content": "Wait."}},
		{"type": 5, "data": object{"flags": 64 | 1<<15}},
		{"type": 9, "data": object{"custom_id": "m", "title": strings.Repeat("x", 46), "components": modal["data"].(object)["components"]}},
		{"type": 9, "data": object{"custom_id": "m", "title": "x", "components": slices.Repeat(modal["data"].(object)["components"].([]object), 6)}},
	} {
		s.b.hook("POST", callbackPath(got), wrong).want(t, 400, 50035)
	}
	s.b.hook("POST", callbackPath(got), object{"type": 4, "data": private}).want(t, 204)
	if m := i.Answer(); m.To != "alice" || m.Content != "Psst." {
		t.Errorf("the answer is %+v", m)
	}
}

// TestTheDeferralSaysWhoSeesIt: the flag of the deferral decides, whatever is
// said later.
func TestTheDeferralSaysWhoSeesIt(t *testing.T) {
	for _, follow := range []bool{false, true} {
		for _, hidden := range []bool{false, true} {
			s := newStage(t, discordtest.Options{})
			i, got := s.slash()
			d := object{"type": 5}
			if hidden {
				d["data"] = object{"flags": 64}
			}
			s.b.hook("POST", callbackPath(got), d).want(t, 204)
			if seen := s.alice.Sees(s.room); len(seen) != 1 || seen[0].Flags&128 == 0 {
				t.Fatalf("alice sees %+v", seen)
			}
			a := s.b.hook("GET", s.b.hookPath(got, "/messages/@original"), nil).want(t, 200)
			if flags := int(a.object["flags"].(float64)); flags&128 == 0 || flags&64 != 0 != hidden {
				t.Errorf("flags of the deferral are %d", flags)
			}
			// The other way round than deferred.
			body := object{"content": "Done."}
			if follow {
				if !hidden {
					body["flags"] = 64
				}
				s.b.hook("POST", s.b.hookPath(got, ""), body).want(t, 200)
			} else {
				s.b.hook("PATCH", s.b.hookPath(got, "/messages/@original"), body).want(t, 200)
			}
			m := i.Answer()
			if m == nil || m.Content != "Done." || m.Flags&128 != 0 || m.To != "" != hidden || m.Edits != 0 {
				t.Errorf("follow-up %v, hidden %v: %+v", follow, hidden, m)
			}
			if len(s.bob.Sees(s.room)) == 1 == hidden {
				t.Errorf("bob sees %d messages", len(s.bob.Sees(s.room)))
			}
			if len(i.FollowUps()) != 0 {
				t.Error("what replaced the deferral counts as a follow-up")
			}
		}
	}
}

func TestComponentsChangeTheirMessage(t *testing.T) {
	s := newStage(t, discordtest.Options{})
	p, got := s.pressed(0)
	s.b.hook("POST", callbackPath(got), object{"type": 7, "data": object{"content": "Passed.", "components": []object{}}}).want(t, 204)
	if m := p.Answer(); m.Content != "Passed." || len(m.Controls) != 0 || m.Edits != 1 {
		t.Errorf("after an update: %+v", m)
	}
	p, got = s.pressed(0)
	s.b.hook("POST", callbackPath(got), object{"type": 6}).want(t, 204)
	s.b.hook("PATCH", s.b.hookPath(got, "/messages/@original"), object{"content": "Later."}).want(t, 200)
	if m := p.Answer(); m.Content != "Later." || len(m.Controls) != 1 {
		t.Errorf("after a deferred update: %+v", m)
	}
	// Of a message that only alice sees, too.
	p, got = s.pressed(64)
	s.b.hook("POST", callbackPath(got), object{"type": 7, "data": object{"content": "Passed, privately."}}).want(t, 204)
	if s.bob.Press(p.Answer(), "pass").Refused() == nil {
		t.Error("bob presses what alice alone sees")
	}
	if m := p.Answer(); m.To != "alice" || m.Content != "Passed, privately." {
		t.Errorf("after a private update: %+v", m)
	}
}

func TestWithResponse(t *testing.T) {
	s := newStage(t, discordtest.Options{})
	i, got := s.slash()
	a := s.b.hook("POST", callbackPath(got)+"?with_response=true", object{"type": 4, "data": private}).want(t, 200)
	about := a.object["interaction"].(object)
	if about["response_message_id"] != i.Answer().ID || about["response_message_ephemeral"] != true || about["response_message_loading"] != false {
		t.Errorf("with_response is %s", a.text)
	}
	if m := a.object["resource"].(object)["message"].(object); m["content"] != "Psst." {
		t.Errorf("with_response is %s", a.text)
	}
	_, got = s.slash()
	a = s.b.hook("POST", callbackPath(got)+"?with_response=true", object{"type": 5}).want(t, 200)
	if a.object["interaction"].(object)["response_message_loading"] != true {
		t.Errorf("with_response is %s", a.text)
	}
}

func TestFollowUps(t *testing.T) {
	s := newStage(t, discordtest.Options{})
	i, got := s.slash()
	s.b.hook("POST", callbackPath(got), object{"type": 4, "data": object{"content": "One."}}).want(t, 204)
	public := s.b.hook("POST", s.b.hookPath(got, "?wait=true"), object{"content": "Two."}).want(t, 200)
	hidden := s.b.hook("POST", s.b.hookPath(got, ""), private).want(t, 200)
	s.b.hook("PATCH", s.b.hookPath(got, "/messages/"+public.id()), object{"content": "Two, changed."}).want(t, 200)
	s.b.hook("PATCH", s.b.hookPath(got, "/messages/1"), object{"content": "x"}).want(t, 404, 10008)
	f := i.FollowUps()
	if len(f) != 2 || f[0].Content != "Two, changed." || f[0].To != "" || f[1].To != "alice" {
		t.Errorf("the follow-ups are %+v", f)
	}
	// What only alice sees is nobody's in the channel.
	s.b.do("PATCH", s.messages()+"/"+public.id(), object{"content": "By the bot."}).want(t, 200)
	s.b.do("DELETE", s.messages()+"/"+hidden.id(), nil).want(t, 404, 10008)
	i.Answer().Delete()
	s.b.hook("GET", s.b.hookPath(got, "/messages/@original"), nil).want(t, 404, 10008)
}

// TestInstalledForTheUserAlone: five follow-ups, context and owners as
// documented, no access to the channel, hidden where apps from outside are not
// welcome.
func TestInstalledForTheUserAlone(t *testing.T) {
	s := newStage(t, discordtest.Options{})
	elsewhere := s.d.GuildWithout("Chess club")
	lobby := elsewhere.Channel("lobby")
	carol := elsewhere.Member("carol")
	if carol.Slash(lobby, "go").Refused() == nil {
		t.Fatal("a command is offered that nobody installed")
	}
	carol.Install()
	i := carol.Slash(lobby, "go")
	got := s.b.event("INTERACTION_CREATE")
	owners := got["authorizing_integration_owners"].(object)
	if len(owners) != 1 || owners["1"] != carol.ID() || got["context"] != 0.0 || got["guild_id"] != elsewhere.ID() {
		t.Errorf("owners are %v, context %v", owners, got["context"])
	}
	s.b.hook("POST", callbackPath(got), object{"type": 4, "data": object{"content": "Here."}}).want(t, 204)
	for range 5 {
		s.b.hook("POST", s.b.hookPath(got, ""), object{"content": "More."}).want(t, 200)
	}
	s.b.hook("POST", s.b.hookPath(got, ""), object{"content": "Too much."}).want(t, 400, 40094)
	if got["app_permissions"] != (discordtest.AttachFiles | discordtest.EmbedLinks).String() {
		t.Errorf("app_permissions are %v", got["app_permissions"])
	}
	s.b.hook("PATCH", s.b.hookPath(got, "/messages/@original"), object{"content": "Changed."}).want(t, 200)
	if i.Answer().To != "" {
		t.Error("the answer is hidden")
	}
	s.b.do("POST", "/channels/"+lobby.ID()+"/messages", object{"content": "Hello"}).want(t, 403, 50001)

	elsewhere.Everyone(discordtest.Everyone &^ discordtest.UseExternalApps)
	i = carol.Slash(lobby, "go")
	got = s.b.event("INTERACTION_CREATE")
	s.b.hook("POST", callbackPath(got), object{"type": 4, "data": object{"content": "Here."}}).want(t, 204)
	if i.Answer().To != "carol" {
		t.Error("the answer is shown to everybody")
	}
	// With the bot alone.
	s.bob.Slash(s.bob.DM(), "go")
	got = s.b.event("INTERACTION_CREATE")
	if got["app_permissions"] != (discordtest.AttachFiles | discordtest.EmbedLinks | discordtest.MentionEveryone | discordtest.UseExternalEmojis).String() {
		t.Errorf("app_permissions with the bot are %v", got["app_permissions"])
	}
	if got["context"] != 1.0 || got["authorizing_integration_owners"].(object)["0"] != "0" {
		t.Errorf("with the bot: %v", got)
	}
}

func TestAutocompletion(t *testing.T) {
	s := newStage(t, discordtest.Options{Lenient: true})
	got, choices := s.typing()
	option := got["data"].(object)["options"].([]any)[0].(object)
	if option["focused"] != true || option["value"] != "D" || got["type"] != 4.0 {
		t.Errorf("the option is %v", option)
	}
	wrong := []object{{"name": "x", "value": strings.Repeat("x", 101)}}
	s.b.hook("POST", callbackPath(got), object{"type": 8, "data": object{"choices": wrong}}).want(t, 400, 50035)
	s.b.hook("POST", callbackPath(got), object{"type": 8, "data": object{"choices": []object{{"name": "D four", "value": "D4"}}}}).want(t, 204)
	if list, err := choices(); err != nil || len(list) != 1 || list[0].Name != "D four" || list[0].Value != "D4" {
		t.Errorf("the choices are %v, %v", list, err)
	}
	_, choices = s.typing()
	s.d.Advance(4 * time.Second)
	if list, err := choices(); err == nil {
		t.Errorf("choices without an answer: %v", list)
	}
}

// A subcommand is typed by its path, brings its options in a nest, and is mentioned by the
// id of its command; the command itself cannot be used then.
func TestSubcommands(t *testing.T) {
	s := newStage(t, discordtest.Options{})
	point := object{"type": 3, "name": "at", "description": "Where", "required": true, "autocomplete": true}
	s.b.register(slash("go",
		object{"type": 1, "name": "place", "description": "Place", "options": []object{point}},
		object{"type": 2, "name": "clock", "description": "Clocks", "options": []object{{"type": 1, "name": "pause", "description": "Pause"}}}))
	brings := func(want string) object {
		t.Helper()
		got := s.b.event("INTERACTION_CREATE")
		data := got["data"].(object)
		if nest := strings.Join(nested(data), " "); nest != want {
			t.Errorf("it brings %q, not %q", nest, want)
		}
		return data
	}
	s.alice.Slash(s.room, "go place", discordtest.Opt("at", "D4"))
	id := brings("go 1:place 3:at=D4")["id"].(string)
	s.alice.Slash(s.room, "go clock pause")
	brings("go 2:clock 1:pause")
	for _, wrong := range []string{"go", "go nowhere", "go clock", "go place pause"} {
		if s.alice.Slash(s.room, wrong).Refused() == nil || s.d.HasCommand(wrong, id) {
			t.Errorf("/%s is let through", wrong)
		}
	}
	if s.alice.Slash(s.room, "go place").Refused() == nil {
		t.Error("it is let through without its point")
	}
	if !s.d.HasCommand("go place", id) || !s.d.HasCommand("go clock pause", id) || s.d.HasCommand("go place", id+"0") {
		t.Error("mentions are not told apart")
	}
	offered := make(chan []discordtest.Choice)
	go func() {
		list, _ := s.alice.Autocomplete(s.room, "go place", discordtest.Opt("at", "D"))
		offered <- list
	}()
	got := s.b.event("INTERACTION_CREATE")
	s.b.hook("POST", callbackPath(got), object{"type": 8, "data": object{"choices": []object{{"name": "D4", "value": "D4"}}}}).want(t, 204)
	if list := <-offered; len(list) != 1 {
		t.Errorf("offered are %v", list)
	}
}

// nested writes the options of a command in the order in which they nest.
func nested(o object) []string {
	said := fmt.Sprint(o["name"])
	if o["id"] == nil {
		said = fmt.Sprintf("%v:%s", o["type"], said)
	}
	if v := o["value"]; v != nil {
		said += fmt.Sprintf("=%v", v)
	}
	out := []string{said}
	list, _ := o["options"].([]any)
	for _, inner := range list {
		out = append(out, nested(inner.(object))...)
	}
	return out
}

// TestWhatTheClientDoesNotLetThrough: people can do only what Discord's client
// offers them.
func TestWhatTheClientDoesNotLetThrough(t *testing.T) {
	s := newStage(t, discordtest.Options{})
	s.b.register(
		slash("place",
			object{"type": 3, "name": "at", "description": "Where", "required": true, "max_length": 3},
			object{"type": 4, "name": "move", "description": "Which", "min_value": 1, "max_value": 9},
			object{"type": 3, "name": "size", "description": "Size", "choices": []object{{"name": "small", "value": "9"}}},
			object{"type": 5, "name": "sure", "description": "Sure"},
			object{"type": 6, "name": "who", "description": "Who"}),
		object{"name": "settings", "description": "Settings", "default_member_permissions": "32"},
		object{"name": "Challenge", "type": 2, "contexts": []int{0}})
	opt := discordtest.Opt
	for name, i := range map[string]*discordtest.Interaction{
		"no such command":   s.alice.Slash(s.room, "nothing"),
		"required":          s.alice.Slash(s.room, "place"),
		"too long":          s.alice.Slash(s.room, "place", opt("at", "AA10")),
		"no such option":    s.alice.Slash(s.room, "place", opt("at", "D4"), opt("why", "so")),
		"too large":         s.alice.Slash(s.room, "place", opt("at", "D4"), opt("move", 10)),
		"no number":         s.alice.Slash(s.room, "place", opt("at", "D4"), opt("move", "1")),
		"no choice":         s.alice.Slash(s.room, "place", opt("at", "D4"), opt("size", "10")),
		"a number for text": s.alice.Slash(s.room, "place", opt("at", 4)),
		"moderators only":   s.alice.Slash(s.room, "settings"),
		"not here":          s.alice.UserCommand(s.alice.DM(), s.bob, "Challenge"),
	} {
		if i.Refused() == nil {
			t.Errorf("%s: it was sent", name)
		}
	}
	s.club.Permit(s.bob, discordtest.ManageGuild)
	for name, i := range map[string]*discordtest.Interaction{
		"a moderator":   s.bob.Slash(s.room, "settings"),
		"every kind":    s.alice.Slash(s.room, "place", opt("at", "D4"), opt("move", 9), opt("size", "9"), opt("sure", true), opt("who", s.bob)),
		"a user's menu": s.alice.UserCommand(s.room, s.bob, "Challenge"),
	} {
		if i.Refused() != nil {
			t.Errorf("%s: %v", name, i.Refused())
		}
	}
	s.club.Forbid(s.alice, "place")
	if s.alice.Slash(s.room, "place", opt("at", "D4")).Refused() == nil {
		t.Error("a command that the server forbade was sent")
	}
	if s.alice.Slash(s.room, "settings").Refused() == nil {
		t.Error("a command for moderators was sent by somebody else")
	}
	s.club.Allow(s.alice, "settings")
	if err := s.alice.Slash(s.room, "settings").Refused(); err != nil {
		t.Errorf("a command that the server allowed: %v", err)
	}

	s.b.do("POST", s.messages(), object{"content": "x", "components": append(row(
		object{"type": 2, "style": 1, "label": "Off", "custom_id": "off", "disabled": true},
		object{"type": 2, "style": 5, "label": "Link", "url": "https://example.org"}),
		row(object{"type": 3, "custom_id": "menu", "max_values": 2, "options": []object{{"label": "A", "value": "a"}, {"label": "B", "value": "b"}, {"label": "C", "value": "c"}}})...)}).want(t, 200)
	last := s.room.Last()
	for name, i := range map[string]*discordtest.Interaction{
		"disabled": s.alice.Press(last, "off"), "a link": s.alice.Press(last, "Link"), "not there": s.alice.Press(last, "on"),
		"too many": s.alice.Select(last, "menu", "a", "b", "c"), "no entry": s.alice.Select(last, "", "d"), "none": s.alice.Select(last, ""),
		"for people": s.alice.MessageCommand(last, "Challenge"), "a menu pressed": s.alice.Press(last, "menu"), "a button chosen": s.alice.Select(last, "off", "a"),
	} {
		if i.Refused() == nil {
			t.Errorf("%s: it was sent", name)
		}
	}
	if i := s.alice.Select(last, "menu", "A", "c"); i.Refused() != nil {
		t.Error(i.Refused())
	}
	last.Delete()
	if s.alice.Select(last, "", "a").Refused() == nil {
		t.Error("something was chosen in a message that is gone")
	}
	for range 4 { // what was sent was delivered: three commands and a choice
		s.b.event("INTERACTION_CREATE")
	}
}

// TestWhatAnInteractionBrings holds the keys against the documented structure.
func TestWhatAnInteractionBrings(t *testing.T) {
	s := newStage(t, discordtest.Options{})
	always := "id application_id type data channel channel_id token version app_permissions locale entitlements authorizing_integration_owners context attachment_size_limit"
	inGuild := always + " guild guild_id guild_locale member"
	keys := func(got object, want, data string) {
		t.Helper()
		for _, pair := range []struct {
			got  object
			want string
		}{{got, want}, {got["data"].(object), data}} {
			wanted := strings.Fields(pair.want)
			slices.Sort(wanted)
			if found := slices.Sorted(maps.Keys(pair.got)); !slices.Equal(found, wanted) {
				t.Errorf("it has %v, not %v", found, wanted)
			}
		}
		if got["version"] != 1.0 || got["application_id"] != s.d.Application() {
			t.Errorf("it is %v", got)
		}
	}
	_, got := s.slash()
	keys(got, inGuild, "id name type")
	got, _ = s.typing()
	keys(got, inGuild, "id name type options")
	_, got = s.pressed(0)
	keys(got, inGuild+" message", "id custom_id component_type")
	keys(s.submitted(false), inGuild, "custom_id components")
	keys(s.submitted(true), inGuild+" message", "custom_id components")
	s.alice.Slash(s.alice.DM(), "go", discordtest.Opt("at", "D4"))
	keys(s.b.event("INTERACTION_CREATE"), always+" user", "id name type options")
}

func TestModals(t *testing.T) {
	s := newStage(t, discordtest.Options{})
	i, got := s.slash()
	s.b.hook("POST", callbackPath(got), object{"type": 9, "data": object{"custom_id": "m", "title": "A move", "components": []object{
		{"type": 18, "label": "Point", "component": object{"type": 4, "custom_id": "at", "style": 1, "min_length": 2, "max_length": 3}},
		{"type": 18, "label": "Why", "component": object{"type": 4, "custom_id": "why", "style": 2, "required": false, "value": "because"}},
	}}}).want(t, 204)
	m := i.Modal()
	if m == nil || m.Title != "A move" || len(m.Fields) != 2 || m.Fields[0].Label != "Point" || m.Fields[1].CustomID != "why" {
		t.Fatalf("the modal is %+v", m)
	}
	for _, values := range []map[string]any{nil, {"at": "D"}, {"at": "D100"}, {"at": "D4", "x": "y"}} {
		if s.alice.Submit(i, values).Refused() == nil {
			t.Errorf("%v was sent", values)
		}
	}
	if s.bob.Submit(i, map[string]any{"at": "D4"}).Refused() == nil {
		t.Error("bob sent alice's form")
	}
	if r := s.alice.Submit(i, map[string]any{"at": "D4"}).Refused(); r != nil {
		t.Fatal(r)
	}
	parts := s.b.event("INTERACTION_CREATE")["data"].(object)["components"].([]any)
	for n, want := range []string{"D4", "because"} {
		if v := parts[n].(object)["component"].(object)["value"]; v != want {
			t.Errorf("submitted %v", parts)
		}
	}
}
