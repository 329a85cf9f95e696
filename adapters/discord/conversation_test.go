package discord

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/adaptertest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A conversation is a file of what people do, one line each, under which what
// comes of it stands indented:
//
//	alice> /place at:D4            a slash command
//	alice> /place at:E?            what is offered while it is typed
//	alice> says @Halfpoint D4      a message in words
//	bob> [Pass]                    a press of the newest button of that name
//	bob> [Place a stone…] C3       and what is filled into the form or chosen in the menu
//	bob> [More…] Resign            likewise, an entry by its label
//	bob> [Challenge to Go] @Alice  an entry of somebody's menu
//	alice in #games> /go room games  not where the last board is, but there
//
// Messages in the thread stand behind ›, what one person alone sees behind
// their name in brackets.
func TestConversations(t *testing.T) {
	adaptertest.Conversations(t, func(t *testing.T, text string) (said string) {
		inBubble(t, func(t *testing.T) { said = newTable(t).talk(text) })
		return said
	})
}

// A client that nobody here wrote reads along and sees the same messages, with
// the same files and controls, as the double says that it holds.
func TestWatched(t *testing.T) {
	tier.Change(t)
	adaptertest.EachConversation(t, func(t *testing.T, _, text string) {
		tb := newWatched(t)
		tb.talk(text)
		channels := append([]*discordtest.Channel{tb.room}, tb.room.Threads()...)
		for _, d := range tb.watcher.Disagreements(channels...) {
			t.Errorf("discord.js: %s", d)
		}
		for _, seen := range tb.watcher.Seen() {
			if seen.What == "error" || seen.What == "warning" {
				t.Errorf("discord.js says %v", seen.Data)
			}
		}
	}, tier.Pick(nil, []string{"two-button"}, nil)...)
}

// A table is a club whose bot is run step by step, so that everything that comes
// of a line is there before the next.
type table struct {
	*club
	bot     *bot.Bot
	busy    atomic.Int64      // deliveries that are underway
	seen    map[string]string // how each message looked last
	threads int
	here    *discordtest.Channel // where the last board is
	watcher *discordtest.Stranger
	out     strings.Builder
}

// newTable makes a table in a bubble.
func newTable(t *testing.T) *table {
	tb := &table{club: newClub(t, discordtest.Options{}), seen: map[string]string{}}
	tb.run(1)
	return tb
}

// inTable runs a test at a table in virtual time.
func inTable(t *testing.T, test func(t *testing.T, tb *table)) {
	t.Helper()
	bubble(t, func(t *testing.T) {
		tb := newTable(t)
		test(t, tb)
		tb.check()
	})
}

// newWatched makes a table outside of bubbles, at which discord.js looks on.
func newWatched(t *testing.T) *table {
	begun := time.Now() // where the clock stands still nobody is late
	o := discordtest.Options{Now: func() time.Time { return begun }, IdentifyEvery: time.Millisecond, Privileged: messageContent}
	tb := &table{club: newRealClub(t, o), seen: map[string]string{}}
	tb.watcher = discordtest.Watch(t, tb.d)
	tb.watcher.Next("ready")
	tb.d.Advance(time.Second) // before another may identify
	tb.cfg.Person, tb.cfg.Channel = 10_000, 10_000
	tb.run(2)
	return tb
}

// run starts the adapter, and waits until there are so many sessions.
func (tb *table) run(sessions int) {
	tb.here = tb.room
	tb.bot = bot.New(tb.store, bot.Config{})
	tb.runs(tb.cfg, func(ctx context.Context, a *Adapter) error {
		tb.a = a
		return a.Run(ctx, flushing{tb.bot, tb})
	})
	if !tb.d.WaitSessions(sessions) {
		tb.Fatal("not connected")
	}
}

// eachInTable runs a test of each case at a table of its own.
func eachInTable[T any](t *testing.T, cases map[string]T, test func(t *testing.T, tb *table, x T)) {
	t.Helper()
	for name, x := range cases {
		t.Run(name, func(t *testing.T) { inTable(t, func(t *testing.T, tb *table) { test(t, tb, x) }) })
	}
}

// messageContent is the privileged intent without which discord.js would be
// shown messages without their texts.
const messageContent = 1 << 15

// flushing is a service that delivers pending posts after each request.
type flushing struct {
	*bot.Bot
	tb *table
}

func (f flushing) Ask(ctx context.Context, r bot.Request) (bot.Answer, error) {
	defer f.flush()
	return f.Bot.Ask(ctx, r)
}

func (f flushing) Settle(ctx context.Context, p outbox.Post, r outbox.Receipt, owes []outbox.Owes, err error) error {
	defer f.flush()
	return f.Bot.Settle(ctx, p, r, owes, err)
}

func (f flushing) flush() {
	f.tb.busy.Add(1)
	go func() {
		defer f.tb.busy.Add(-1)
		if err := f.Flush(context.Background(), patient{f.tb.a}); err != nil {
			f.tb.Error(err)
		}
	}()
}

// patient delivers even if this machine is slow.
type patient struct{ *Adapter }

func (p patient) Deliver(ctx context.Context, post outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	return p.Adapter.Deliver(context.WithoutCancel(ctx), post)
}

// quiet waits until nothing is on its way. With another client watching there is no
// bubble: it is a real process, so the loops look at a real clock.
func (tb *table) quiet() {
	if tb.watcher == nil {
		for synctest.Wait(); tb.busy.Load() > 0; synctest.Wait() {
			time.Sleep(time.Millisecond)
		}
		return
	}
	for tb.a.requests.Waiting()+tb.a.answers.Waiting() > 0 || tb.busy.Load() > 0 { // answers cause deliveries
		time.Sleep(time.Millisecond)
	}
}

var spoken = regexp.MustCompile(`^(\w+)(?: in (#\w+|DM))?> (.*)$`)

// talk plays a conversation and gives it with what came of each line, a minute
// after the one before.
func (tb *table) talk(text string) string {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if strings.HasPrefix(line, " ") {
			continue
		}
		tb.out.WriteString(line + "\n")
		if m := spoken.FindStringSubmatch(line); m != nil {
			if tb.watcher == nil {
				time.Sleep(time.Minute)
			}
			tb.does(m[1], m[2], m[3])
		} else if line != "" && !strings.HasPrefix(line, "#") {
			tb.Fatalf("cannot read %q", line)
		}
	}
	return tb.out.String()
}

func (tb *table) person(name string) *discordtest.Person {
	return tb.guild.Member(strings.ToUpper(name[:1]) + name[1:])
}

var (
	optionIn = regexp.MustCompile(`(\w+):`)
	pressIn  = regexp.MustCompile(`^\[([^\]]*)\] ?(.*)$`)
)

func (tb *table) does(name, where, what string) {
	who, at := tb.person(name), tb.here
	switch {
	case where == "DM":
		at = who.DM()
	case where != "":
		at = tb.guild.Channel(where[1:])
	}
	var i *discordtest.Interaction
	switch m := pressIn.FindStringSubmatch(what); {
	case strings.HasPrefix(what, "says "):
		who.Say(at, strings.ReplaceAll(what[len("says "):], "@Halfpoint", "<@"+tb.a.self+">"))
		tb.quiet()
		tb.look(at)
		return
	case m != nil && strings.HasPrefix(m[2], "@"):
		i = who.UserCommand(at, tb.person(strings.ToLower(m[2][1:])), m[1])
	case m != nil:
		i = tb.presses(who, at, m[1], m[2])
	case strings.HasSuffix(what, "?"):
		name, options := tb.options(strings.TrimSuffix(what, "?"))
		choices, err := who.Autocomplete(at, name, options...)
		if err != nil {
			tb.Fatalf("%s: %v", what, err)
		}
		var shown []string
		for _, c := range choices {
			shown = append(shown, fmt.Sprintf("%s (%v)", c.Name, c.Value))
		}
		tb.quiet()
		fmt.Fprintf(&tb.out, "    offered: %s\n", strings.Join(shown, ", "))
		return
	default:
		name, options := tb.options(what)
		i = who.Slash(at, name, options...)
	}
	if err := i.Refused(); err != nil {
		fmt.Fprintf(&tb.out, "    (Discord does not let it through: %v)\n", err)
		return
	}
	if kind, _ := i.First(); kind == 0 {
		tb.Fatalf("%s: no answer\n%s", what, tb.log.String())
	}
	tb.quiet()
	tb.look(at)
}

// options reads "/place at:D4 game:2".
func (tb *table) options(line string) (string, []discordtest.Option) {
	name, rest := strings.TrimPrefix(line, "/"), ""
	if at := optionIn.FindStringIndex(name); at != nil {
		name, rest = strings.TrimSpace(name[:at[0]]), name[at[0]:]
	}
	var out []discordtest.Option
	found := optionIn.FindAllStringSubmatchIndex(rest, -1)
	for k, at := range found {
		end := len(rest)
		if k+1 < len(found) {
			end = found[k+1][0]
		}
		key, text := rest[at[2]:at[3]], strings.TrimSpace(rest[at[1]:end])
		var value any = text
		o, _ := findOption(commandAt(name), key)
		switch n, err := strconv.Atoi(text); {
		case o.Type == bot.IntegerOption && err == nil:
			value = n
		case o.Type == bot.BoolOption:
			value = text == "true"
		case o.Type == bot.UserOption:
			value = tb.person(strings.ToLower(strings.TrimPrefix(text, "@")))
		}
		out = append(out, discordtest.Opt(key, value))
	}
	return name, out
}

// presses presses the newest button of that name that somebody sees, and fills
// in what is asked for then.
func (tb *table) presses(who *discordtest.Person, at *discordtest.Channel, label, fill string) *discordtest.Interaction {
	places := []*discordtest.Channel{at, tb.room}
	for _, place := range places {
		for _, m := range slices.Backward(who.Sees(place)) {
			if !slices.ContainsFunc(m.Controls, func(c discordtest.Control) bool { return c.Label == label }) {
				continue
			}
			i := who.Press(m, label)
			if fill == "" || i.Refused() != nil {
				return i
			}
			if modal := i.Modal(); modal != nil {
				fmt.Fprintf(&tb.out, "    (a form: %s; %s)\n", modal.Title, modal.Fields[0].Label)
				return who.Submit(i, map[string]any{modal.Fields[0].CustomID: fill})
			}
			tb.quiet()
			asked := i.Answer()
			fmt.Fprintf(&tb.out, "    (a menu: %s)\n", labels(asked.Controls))
			tb.look(at)
			if slices.ContainsFunc(asked.Controls[0].Options, func(o discordtest.SelectOption) bool { return o.Label == fill }) {
				return who.Select(asked, "", fill)
			}
			return who.Select(asked, "", strings.Fields(fill)...)
		}
	}
	tb.Fatalf("%s sees no [%s]\n%s", who.Name(), label, tb.out.String())
	return nil
}

func labels(cs []discordtest.Control) string {
	var out []string
	for _, c := range cs {
		for _, o := range c.Options {
			out = append(out, o.Label)
		}
	}
	return strings.Join(out, " | ")
}

// look writes down what is new or looks otherwise: in the room, its threads and
// where something was just done.
func (tb *table) look(at *discordtest.Channel) {
	channels := []*discordtest.Channel{tb.room}
	channels = append(channels, tb.room.Threads()...)
	if !slices.ContainsFunc(channels, func(c *discordtest.Channel) bool { return c.ID() == at.ID() }) {
		channels = append(channels, at)
	}
	for k, c := range channels {
		margin := "    "
		if k > 0 && c.ID() != at.ID() || k > 0 && c.ID() != tb.room.ID() && len(tb.room.Threads()) >= k {
			margin = "  › "
			if k > tb.threads {
				tb.threads = k
				fmt.Fprintf(&tb.out, "    (a thread is opened: %s)\n", c.Name())
			}
		}
		listed := map[string]bool{}
		for _, who := range []*discordtest.Person{tb.alice, tb.bob} {
			for _, m := range who.Sees(c) {
				if listed[m.ID] || !m.Bot {
					continue
				}
				listed[m.ID] = true
				now := tb.plain(look(m))
				before, known := tb.seen[m.ID]
				if len(m.Pings) > 0 && !known {
					now += "\n(calls " + strings.Join(m.Pings, ", ") + ")"
				}
				tb.seen[m.ID] = strings.Split(now, "\n(calls ")[0]
				if !known {
					tb.write(margin, m, now)
					if len(m.Attachments) > 0 && m.To == "" {
						tb.here = c
					}
				} else if before != now && strings.Split(before, "\n[")[0] != now { // more than its buttons
					tb.write(margin+"(changed) ", m, now)
				}
			}
		}
	}
}

func (tb *table) write(margin string, m *discordtest.Message, text string) {
	if m.To != "" {
		margin += "(" + m.To + " alone) "
	}
	for k, line := range strings.Split(text, "\n") {
		if k == 1 {
			margin = strings.Repeat(" ", 4)
		}
		fmt.Fprintf(&tb.out, "%s%s\n", margin, strings.TrimRight(line, " "))
	}
}

var mark = regexp.MustCompile(`<(@|#|t:)(\d+)(:[fR])?>|https://discord\.com/channels/\d+/(\d+)/\d+`)

var commandMark = regexp.MustCompile(`</([a-z ]+):(\d+)>`)

var escaped = regexp.MustCompile(`\\([^a-zA-Z0-9\s])`)

// plain writes out what Discord shows instead of marks.
func (tb *table) plain(text string) string {
	text = escaped.ReplaceAllString(text, "$1")
	text = commandMark.ReplaceAllStringFunc(text, func(s string) string {
		if m := commandMark.FindStringSubmatch(s); tb.d.HasCommand(m[1], m[2]) {
			return "</" + m[1] + ">"
		}
		return s
	})
	return mark.ReplaceAllStringFunc(text, func(s string) string {
		m := mark.FindStringSubmatch(s)
		for _, p := range []*discordtest.Person{tb.alice, tb.bob} {
			if m[1] == "@" && p.ID() == m[2] {
				return "@" + p.Name()
			}
		}
		if m[1] == "@" && m[2] == tb.d.Application() {
			return "@Halfpoint"
		}
		for _, c := range append(tb.room.Threads(), tb.room) {
			if c.ID() == m[2] || c.ID() == m[4] {
				return "#" + c.Name()
			}
		}
		n, _ := strconv.ParseInt(m[2], 10, 64)
		switch at := time.Unix(n, 0).UTC(); m[3] {
		case ":f":
			return at.Format("Mon 2 Jan 15:04")
		case ":R":
			if d := at.Sub(tb.d.Now()).Round(time.Hour); d%(24*time.Hour) != 0 {
				return "in " + d.String()
			} else {
				return fmt.Sprintf("in %d days", d/(24*time.Hour))
			}
		}
		return s
	})
}

// look is a message as it is read: its text, its picture in letters, its
// buttons.
func look(m *discordtest.Message) string {
	text := m.Content
	for _, f := range m.Attachments {
		if f.Type != "image/png" {
			text += "\nfile " + f.Name
			continue
		}
		_, board, _ := strings.Cut(f.Alt, "\n")
		_, board, _ = strings.Cut(board, "\n") // without the legend
		text += "\n" + board
	}
	var controls []string
	for _, c := range m.Controls {
		if c.Type == 2 {
			controls = append(controls, "["+c.Label+"]")
		} else {
			controls = append(controls, "["+c.Placeholder+" ▾]")
		}
	}
	if len(controls) > 0 {
		text += "\n" + strings.Join(controls, " ")
	}
	return text
}
