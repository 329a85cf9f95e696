package bot_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// The rights of each role. The roles are letters: b is Black, who has opened the game,
// w is White, i is who was invited, e is anybody else, m a moderator who does
// not play, and B is Black who is a moderator too.
const everybody = "bwiemB"

var roles = map[rune]string{'b': "ada", 'w': "bob", 'i': "ivy", 'e': "eve", 'm': "mod", 'B': "ada"}

func moderates(role rune) bool { return role == 'm' || role == 'B' }

// The states of a game, by what leads there.
var stateScripts = map[string][]string{
	"open":    {"b /new aga 5x5"},
	"invited": {"b /new aga 5x5 opponent:ivy"},
	"black":   {"b /new aga 5x5", "w /join", "b /place C3", "w /place C2"},
	"white":   {"b /new aga 5x5", "w /join", "b /place C3", "w /place C2", "b /place B2"},
	"clock":   {"b /new aga 5x5 clock:3d", "w /join", "b /place C3", "w /place C2"},
	"offered": {"b /new aga 5x5", "w /join", "b /place C3", "w /place C2", "b /draw"},
	"erasing": {"b /new aga 5x5", "w /join", "b /place C3", "w /place C2", "b /delete"},
	"stones":  {"b /new aga 9x9 handicap:2 placement:free", "w /join"},
	"stopped": {"b /new aga 5x5", "w /join", "b /place C3", "w /place C2", "b /pass", "w /pass"},
	"agreed":  {"b /new aga 5x5", "w /join", "b /place C3", "w /place C2", "b /pass", "w /pass", "b /accept"},
	"branch":  {"b /new aga 5x5", "w /join", "b /place C3", "w /place C2", "b /pass", "w /pass", "w /dispute"},
	"over":    {"b /new aga 5x5", "w /join", "b /place C3", "w /place C2", "b /resign yes"},
	"off":     {"b /new aga 5x5", "b /delete"},
	"gone":    {"b /new aga 5x5", "w /join", "b /delete how:forget", "w /delete how:forget"},
	"alone":   {"b /new aga 5x5 opponent:me", "b /place C3"},
	"sandbox": {"b /setup .X.\n.O.\n..."},
}

// rights says for each command who changes something by it, in each state: in
// those that are not named, nobody. A capital B goes where b goes.
var rights = map[string]map[string]string{
	"/join":               {"open": "wiem", "invited": "i"},
	"/decline":            {"invited": "i", "offered": "bw", "erasing": "bw"},
	"/delete how:cancel":  {"open": "bm", "invited": "bm", "black": "m", "white": "m", "clock": "m", "offered": "m", "erasing": "m", "stones": "bwm", "stopped": "m", "agreed": "m", "branch": "m", "alone": "bm", "sandbox": "b"},
	"/place D4":           {"black": "b", "white": "w", "clock": "b", "offered": "b", "erasing": "b", "stones": "b", "branch": "b", "alone": "b"},
	"/place A1":           {"black": "b", "white": "w", "clock": "b", "offered": "b", "erasing": "b", "stones": "b", "branch": "b", "alone": "b", "sandbox": "b"},
	"/place D4 C3":        {"stones": "b"},
	"/handicap D4":        {"stones": "b"},
	"/pass":               {"black": "b", "white": "w", "clock": "b", "offered": "b", "erasing": "b", "branch": "b", "alone": "b", "sandbox": "b"},
	"/button":             {},
	"/delay":              {},
	"/draw":               {"black": "bw", "white": "bw", "clock": "bw", "offered": "w", "stones": "bw", "branch": "bw", "alone": "b"},
	"/resign yes":         {"black": "bw", "white": "bw", "clock": "bw", "offered": "bw", "erasing": "bw", "stones": "bw", "stopped": "bw", "agreed": "bw", "branch": "bw", "alone": "b", "sandbox": "b"},
	"/resign":             {},
	"/dead C3":            {"stopped": "bw", "agreed": "bw"},
	"/dead":               {},
	"/accept":             {"offered": "w", "stopped": "bw", "agreed": "w"},
	"/resume":             {"stopped": "bw", "agreed": "bw"},
	"/dispute":            {"stopped": "bw", "agreed": "bw"},
	"/dispute back:yes":   {"branch": "bw"},
	"/undo":               {"black": "bw", "white": "bw", "clock": "bw", "offered": "w", "erasing": "w", "stopped": "w", "alone": "b"},
	"/clock pause:yes":    {"clock": "bw"},
	"/clock pause:no":     {},
	"/claim":              {},
	"/comment hm":         {"over": "bwiem"},
	"/rematch":            {"over": "bw"},
	"/delete":             {"open": "b", "invited": "b", "black": "bw", "white": "bw", "clock": "bw", "erasing": "w", "stopped": "bw", "agreed": "bw", "branch": "bw", "over": "bw"},
	"/delete confirm:yes": {"open": "bm", "invited": "bm", "black": "bwm", "white": "bwm", "clock": "bwm", "offered": "m", "erasing": "wm", "stones": "bwm", "stopped": "bwm", "agreed": "bwm", "branch": "bwm", "over": "bwm", "off": "bm", "alone": "bm", "sandbox": "b"},
	"/page agree:yes":     {},
	"/adjudicate void":    {"black": "m", "white": "m", "clock": "m", "offered": "m", "erasing": "m", "stones": "m", "stopped": "m", "agreed": "m", "branch": "m", "alone": "mB", "sandbox": "B"},
	"/adjudicate black":   {"black": "m", "white": "m", "clock": "m", "offered": "m", "erasing": "m", "stones": "m", "stopped": "m", "agreed": "m", "branch": "m", "alone": "mB", "sandbox": "B"},
}

// elsewhere are the commands about no game that there is, and what they change
// is the person's or the room's.
var elsewhere = map[string]string{
	"/new aga 5x5": everybody, "/setup .X.\n.O.\n...": everybody,
	"/settings size:13x13": "mB", "/settings opens:moderators": "mB", "/settings language:de": "mB", "/settings": "",
	"/remind none": "", "/privacy": "", "/link": "",
}

// questions change nothing, whoever asks.
var questions = []string{"/score", "/score why:yes", "/board", "/board 1", "/replay", "/score ledger:yes", "/rules aga", "/compare", "/demo", "/show .X.\n.O.\n...",
	"/sgf", "/more", "/clock", "/games", "/help", "/page", "/read row 1", "/read chain C3", "/event", "/log", "/score share:true", "/board share:true", "/games mine"}

// A bench is a talk whose games are looked at.
type bench struct {
	*testing.T
	*talk
	channels int
}

func newBench(t *testing.T) *bench { return &bench{T: t, talk: newTalk(t)} }

func (b *bench) request(channel string, role rune, text string) bot.Request {
	b.Helper()
	r, err := b.talk.request(roles[role]+"@"+channel, text)
	if err != nil {
		b.Fatalf("%s: %v", text, err)
	}
	r.Moderator = moderates(role)
	return r
}

func (b *bench) asks(r bot.Request) string {
	b.Helper()
	a, err := own(b.bot.Ask(b.Context(), r))
	must(b, err)
	return a.Text
}

// brings leads a game in a new channel to a state.
func (b *bench) brings(state string) (channel string) {
	b.Helper()
	b.channels++
	channel = fmt.Sprint(state, " ", b.channels)
	for _, line := range stateScripts[state] {
		role, text, _ := strings.Cut(line, " ")
		before := b.look(channel)
		if says := b.asks(b.request(channel, rune(role[0]), text)); b.look(channel) == before {
			b.Fatalf("%s: %s does nothing: %s", state, line, says)
		}
	}
	return channel
}

// look is all that is known of a channel and its games.
func (b *bench) look(channel string) string {
	b.Helper()
	where := match.Room{Platform: "chat", Channel: channel}
	known, err := b.store.Channel(b.Context(), where)
	must(b, err)
	out := fmt.Sprintln(known.Settings)
	for _, m := range b.matches(b, bot.Query{Where: where}) {
		_, events, err := b.store.Match(b.Context(), m.ID)
		must(b, err)
		out += fmt.Sprintln(m, events)
	}
	return out
}

// acts is how much the log of moderators says about a channel.
func (b *bench) acts(channel string) int {
	b.Helper()
	all, err := b.store.Acts(b.Context(), match.Room{Platform: "chat", Channel: channel}, "", 0, 1000)
	must(b, err)
	return len(all)
}

// Every command by every role in every state changes something where the table
// says so, and nowhere else. The log of moderators has it where the same person could
// not have done it without being a moderator.
func TestRights(t *testing.T) {
	named := map[string]bool{}
	texts := slices.Clone(questions)
	for text := range rights {
		texts = append(texts, text)
	}
	for text := range elsewhere {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	for _, text := range texts {
		named[strings.Fields(text)[0]] = true
	}
	for _, c := range bot.Commands() {
		if !named["/"+c.Name] {
			t.Errorf("nothing says who may /%s", c.Name)
		}
	}
	states := slices.Sorted(maps.Keys(stateScripts))
	if tier.Race {
		states = []string{"open", "black", "erasing", "stopped"}
	}
	for _, state := range states {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			room := b.brings(state)
			before := b.look(room)
			for _, text := range texts {
				asking := everybody
				if slices.Contains(questions, text) {
					asking = "eB" // they take long
				}
				for _, role := range asking {
					may := elsewhere[text]
					if in, about := rights[text]; about {
						may = in[state]
					}
					want := strings.ContainsRune(may, role) || role == 'B' && strings.ContainsRune(may, 'b')
					others := map[rune]rune{'m': 'e', 'B': 'b'}[role]
					logs, acts := want && others != 0 && !strings.ContainsRune(may, others), b.acts(room)
					says := b.asks(b.request(room, role, text))
					after := b.look(room)
					if got := b.acts(room) - acts; got != 0 && !logs || got != 1 && logs {
						t.Errorf("%s: %c %s adds %d lines to the log of moderators, want one: %v", state, role, text, got, logs)
					}
					if got := after != before; got != want {
						t.Errorf("%s: %c may %s: %v, want %v: %s", state, role, text, got, want, says)
					}
					if after != before {
						room = b.brings(state)
						before = b.look(room)
					}
				}
			}
		})
	}
}
