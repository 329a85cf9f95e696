package matrix

import (
	"cmp"
	"fmt"
	"html"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/adaptertest"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A conversation is a file of what people do, one line each, under which what
// comes of it stands indented:
//
//	alice> !new two-button 5x5   said in the room
//	bob in game 1> !place D4     said in the thread of a game
//	bob in DM> D4                said where only the bot listens
//	bob> @Halfpoint place D4     names behind @ are links to people
//	bob> [✋]                    a reaction to the newest message that offers it
//	bob edits> !place D4         to what bob said last
//	bob takes back>              what bob said last
//
// The bot's messages in a thread follow ›. Root is the first message of a
// thread, which changes as the game goes on.
func TestConversations(t *testing.T) {
	adaptertest.Conversations(t, func(t *testing.T, text string) (said string) {
		matrixtest.Bubble(t, func(t *testing.T, s *matrixtest.Server) { said = talk(t, s, text, nil) })
		return said
	})
}

// They go the same way on a real homeserver. In the change tier that is tried with each kind
// of conversation, but with one ruleset; TestStrangers plays a whole game of each there.
func TestConversationsOnDendrite(t *testing.T) {
	adaptertest.EachConversation(t, func(t *testing.T, _, text string) {
		if diff := gocmp.Diff(text, talk(t, matrixtest.Shared(t), text, nil)); diff != "" {
			t.Errorf("it goes otherwise on Dendrite (−in memory +Dendrite):\n%s", diff)
		}
	}, tier.Pick([]string{"ultimate"}, []string{"ultimate", "direct", "event", "questions"}, nil)...)
}

// A table is a club in whose room a conversation takes place, a minute a line.
type table struct {
	*club
	seconds atomic.Int64
	waited  atomic.Int64 // nanoseconds since
	seed    *rand.Rand
	people  map[string]*guest
	room    id.RoomID
	direct  map[string]id.RoomID  // by name
	said    map[string]said       // what each has said last
	root    map[string]id.EventID // by the game's number
	shown   map[id.EventID]shown
	out     strings.Builder
}

type said struct {
	at    id.RoomID
	event id.EventID
}

// shown is how a message looked last.
type shown struct{ text, reactions string }

func newTable(t *testing.T, s *matrixtest.Server) *table {
	tb := &table{club: newClub(t, s), seed: rand.New(rand.NewPCG(1, 2)), people: map[string]*guest{}, direct: map[string]id.RoomID{}, said: map[string]said{},
		root: map[string]id.EventID{}, shown: map[id.EventID]shown{}}
	if !s.Virtual() {
		passed := func() time.Duration { return time.Duration(tb.seconds.Load()) * time.Second }
		tb.now = func() time.Time { return matrixtest.Monday.Add(passed() + time.Duration(tb.waited.Load())) }
		tb.waits = func() {
			if tb.waited.Load() < int64(9*time.Second) { // less than a step of passes
				tb.waited.Add(int64(10 * time.Millisecond))
			}
		}
		tb.cfg.Now = func() time.Time { return time.Now().Add(passed()) }
	}
	tb.cfg.Edit = soon(s)
	tb.start()
	for i, g := range tb.club.room(matrixtest.Room{Name: "Go club"}, "Alice", "Bob") {
		tb.people[[]string{"alice", "bob"}[i]], tb.room = g, g.at
	}
	return tb
}

var spoken = regexp.MustCompile(`^(\w+)(?: (in game \d+|in DM|edits|takes back))?> ?(.*)$`)

// talk plays a conversation and gives it with what came of each line. Once each
// line was said between is called, if it is not nil.
func talk(t *testing.T, s *matrixtest.Server, text string, between func(tb *table, line int)) string {
	tb := newTable(t, s)
	n := 0
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if strings.HasPrefix(line, " ") {
			continue
		}
		tb.out.WriteString(line + "\n")
		if m := spoken.FindStringSubmatch(line); m != nil {
			tb.passes()
			at, e := tb.does(m[1], m[2], m[3])
			if between != nil {
				between(tb, n)
			}
			tb.dealt(at, e)
			tb.quiet()
			tb.look()
			n++
		} else if line != "" && !strings.HasPrefix(line, "#") {
			t.Fatalf("cannot read %q", line)
		}
	}
	for _, at := range tb.rooms() {
		tb.check(tb.reader(at), at)
	}
	return tb.out.String()
}

// passes lets a minute pass, which the bot notices: on a real homeserver in steps,
// because it would take a minute without a look at the time for an outage.
func (tb *table) passes() {
	step := int64(10)
	if tb.server.Virtual() {
		step = 60
	}
	for range 60 / step {
		seconds := tb.seconds.Add(step)
		tb.waited.Store(0)
		if tb.server.Virtual() {
			time.Sleep(time.Until(matrixtest.Monday.Add(time.Duration(seconds) * time.Second)))
		}
		if tb.stop == nil {
			continue
		}
		if _, err := tb.bot.Tick(tb.Context()); err != nil {
			tb.Fatal(err)
		}
	}
}

// does does what a line says, and gives the event.
func (tb *table) does(name, how, what string) (id.RoomID, id.EventID) {
	who := tb.people[name]
	if who == nil {
		tb.Fatalf("who is %s?", name)
	}
	at, thread := tb.room, id.EventID("")
	number, inGame := strings.CutPrefix(how, "in game ")
	switch {
	case how == "in DM":
		at = tb.alone(name)
	case inGame:
		if thread = tb.root[number]; thread == "" {
			tb.Fatalf("there is no game %s", number)
		}
	case how == "edits":
		content := tb.content(what)
		last := tb.said[name]
		content.SetEdit(last.event)
		return last.at, who.Sends(last.at, event.EventMessage, content)
	case how == "takes back":
		last := tb.said[name]
		who.Redacts(last.at, last.event)
		return last.at, who.Says(last.at, "…")
	}
	var e id.EventID
	if emoji, ok := strings.CutPrefix(what, "["); ok {
		emoji = strings.TrimSuffix(emoji, "]")
		e = who.Reacts(at, tb.offering(who, at, emoji), emoji)
	} else {
		content := tb.content(what)
		if thread != "" {
			content.RelatesTo = (&event.RelatesTo{}).SetThread(thread, thread)
		}
		e = who.Sends(at, event.EventMessage, content)
		tb.said[name] = said{at, e}
	}
	return at, e
}

var named = regexp.MustCompile(`@(\w+)`)

// content makes a message in which names behind @ are links to people, as
// clients make them.
func (tb *table) content(text string) *event.MessageEventContent {
	m := &event.MessageEventContent{MsgType: event.MsgText, Mentions: &event.Mentions{}}
	m.Body = named.ReplaceAllString(text, "$1")
	formatted := named.ReplaceAllStringFunc(html.EscapeString(text), func(name string) string {
		user := tb.user
		if who := tb.people[strings.ToLower(name[1:])]; who != nil {
			user = who.User
		}
		m.Mentions.Add(user.ID)
		return fmt.Sprintf(`<a href="%s">%s</a>`, user.ID.URI().MatrixToURL(), name[1:])
	})
	if len(m.Mentions.UserIDs) > 0 {
		m.Format, m.FormattedBody = event.FormatHTML, formatted
	}
	return m
}

// offering returns the newest message on which the bot has put a reaction.
func (tb *table) offering(who *guest, at id.RoomID, emoji string) id.EventID {
	for _, m := range slices.Backward(who.View(at).From(tb.user.ID)) {
		if m.Reacted(tb.user.ID, emoji) {
			return m.ID
		}
	}
	tb.Fatalf("%s sees no %s\n%s", who.ID, emoji, who.Sees(at))
	return ""
}

// alone returns the room in which somebody is alone with the bot.
func (tb *table) alone(name string) id.RoomID {
	if at := tb.direct[name]; at != "" {
		return at
	}
	who := tb.people[name]
	at := who.Makes(matrixtest.Room{Direct: true, Invite: []id.UserID{tb.user.ID}})
	who.Await(at, "the bot to come", func(v matrixtest.View) bool { return v.Members[tb.user.ID] == "join" })
	tb.await("the bot to know the room", func() bool { return tb.a.room(at).joined })
	tb.direct[name] = at
	return at
}

// rooms are those in which something is said, the club's first.
func (tb *table) rooms() []id.RoomID {
	out := []id.RoomID{tb.room}
	for _, name := range []string{"alice", "bob"} {
		if at := tb.direct[name]; at != "" {
			out = append(out, at)
		}
	}
	return out
}

// reader gives somebody who is in a room.
func (tb *table) reader(at id.RoomID) *guest {
	for name, room := range tb.direct {
		if room == at {
			return tb.people[name]
		}
	}
	return tb.people["alice"]
}

// mark is the type of an event after which everything is there that was sent
// before.
var mark = event.NewEventType("halfpoint.test.mark")

// caughtUp waits until somebody sees all that is in a room by now: what the
// homeserver has taken, people see a while later.
func caughtUp(p *matrixtest.Player, at id.RoomID) { p.Sends(at, mark, map[string]any{}) }

// quiet waits until everything that came of what was said is there.
func (tb *table) quiet() {
	tb.Helper()
	tb.settled()
	for _, at := range tb.rooms() {
		e := tb.reader(at).Sends(at, mark, map[string]any{})
		if at == tb.room {
			tb.people["bob"].AwaitEvent(at, e)
		}
	}
}

// look writes down what is new or looks otherwise, in each room first outside of
// threads, then thread by thread in the order of their roots: posts of two games may
// arrive in either order.
func (tb *table) look() {
	for _, name := range []string{"alice", "bob"} { // who is invited by the bot comes
		who := tb.people[name]
		at, err := tb.a.queue.marked(tb.Context(), "direct", who.ID.String())
		if err != nil {
			tb.Fatal(err)
		}
		if at != "" && tb.direct[name] == "" {
			who.AwaitInvite(id.RoomID(at))
			who.Joins(id.RoomID(at))
			tb.direct[name] = id.RoomID(at)
			tb.quiet()
		}
	}
	for _, at := range tb.rooms() {
		margin := "    "
		for name, room := range tb.direct {
			if room == at {
				margin += "(" + strings.ToUpper(name[:1]) + name[1:] + " alone) "
			}
		}
		v := tb.reader(at).View(at)
		messages := v.From(tb.user.ID)
		begun := func(m *matrixtest.Message) int { // -1: outside of threads
			return slices.IndexFunc(v.Messages, func(root *matrixtest.Message) bool { return root.ID == m.Thread })
		}
		said := func(m *matrixtest.Message) int { // answers come first: they and the post of an event may arrive in either order
			if _, known := tb.shown[m.ID]; known || m.ReplyTo != "" {
				return 0
			}
			return 1
		}
		slices.SortStableFunc(messages, func(m, n *matrixtest.Message) int {
			return cmp.Or(cmp.Compare(begun(m), begun(n)), cmp.Compare(said(m), said(n)))
		})
		for _, m := range messages {
			tb.write(v, m, margin)
		}
	}
}

var opening = regexp.MustCompile(`(?i)\bgame (\d+)`)

func (tb *table) write(v matrixtest.View, m *matrixtest.Message, margin string) {
	if m.Thread != "" {
		margin = "  › "
	}
	now := shown{text: tb.text(v, m)}
	for _, r := range m.Reactions {
		if slices.Contains(r.By, tb.user.ID) {
			now.reactions += " " + r.Key
		}
	}
	was, known := tb.shown[m.ID]
	if was == now {
		return
	}
	tb.shown[m.ID] = now
	if g := opening.FindStringSubmatch(now.text); g != nil && m.Thread == "" && tb.root[g[1]] == "" {
		tb.root[g[1]] = m.ID
	}
	switch {
	case known && was.text == now.text:
		below := cmp.Or(strings.TrimSpace(strings.TrimPrefix(now.reactions, was.reactions)), "nothing any more")
		now.text = "(" + below + " below: " + strings.Split(now.text, "\n")[0] + ")"
		was = now
	case known:
		margin += "(changed) "
	case len(m.Pings) > 0:
		var names []string
		for _, u := range m.Pings {
			names = append(names, v.NameOf(u))
		}
		now.text += "\n(calls " + strings.Join(names, ", ") + ")"
	}
	if was.text != now.text && now.reactions != was.reactions {
		now.text += "\n" + cmp.Or(strings.TrimSpace(now.reactions), "(its reactions are gone)")
	}
	for k, line := range strings.Split(now.text, "\n") {
		if k > 0 {
			margin = "    "
		}
		if line == "" {
			line = "¶" // for what a line holds must begin with a space
		}
		tb.out.WriteString(strings.TrimRight(margin+line, " ") + "\n")
	}
}

// text is a message as it is read.
func (tb *table) text(v matrixtest.View, m *matrixtest.Message) string {
	text := m.Text()
	if m.Picture != nil {
		text = "[" + m.Picture.Name + "]\n" + text
	} else if name, _ := m.Content["filename"].(string); name != "" {
		text = "[" + name + "]\n" + text
	}
	if to := v.Message(m.ReplyTo); to != nil {
		text = "(to " + to.Name + ") " + text
	}
	return strings.TrimSpace(text)
}

// The bot is stopped and started while people play: the conversation goes as if
// it had not been.
func TestStopped(t *testing.T) {
	interrupted(t, func(tb *table, line int) {
		if line%4 == 3 {
			tb.restart()
			tb.passes() // so that what it could not deliver any more is due
		}
	}, "direct")
}

// The bot is killed at any moment after something was said.
func TestKilled(t *testing.T) {
	interrupted(t, func(tb *table, line int) {
		if line%2 == 1 {
			time.Sleep(time.Duration(tb.seed.IntN(100)) * time.Millisecond)
			tb.kill()
			tb.start()
			tb.passes() // so that what it had in hand when it was killed is free again
		}
	}, "half-pass")
}

// interrupted plays a conversation in which the bot is interrupted after lines, in
// memory and, in the change tier, on Dendrite; in the soak tier all in which no time
// is told. In memory each request takes a while, or nothing could be interrupted.
func interrupted(t *testing.T, between func(tb *table, line int), name string) {
	t.Parallel()
	names := tier.Pick([]string{name}, []string{name}, []string{"two-button", "button", "half-pass", "ultimate", "direct"})
	adaptertest.EachConversation(t, func(t *testing.T, _, text string) {
		play := func(t *testing.T, s *matrixtest.Server) {
			if diff := gocmp.Diff(text, talk(t, s, text, between)); diff != "" {
				t.Errorf("it goes otherwise when the bot is interrupted (−not +interrupted):\n%s", diff)
			}
		}
		t.Run("InMemory", func(t *testing.T) { matrixtest.Bubble(t, play, matrixtest.Options{Takes: 10 * time.Millisecond}) })
		t.Run("Dendrite", func(t *testing.T) {
			tier.Change(t)
			play(t, matrixtest.Shared(t))
		})
	}, names...)
}
