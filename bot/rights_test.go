package bot_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

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
	"/draw":               {"black": "bw", "white": "bw", "clock": "bw", "offered": "w", "stones": "bw", "branch": "bw", "alone": "b", "sandbox": "b"},
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
	"/delete":             {"open": "b", "invited": "b", "black": "bw", "white": "bw", "clock": "bw", "erasing": "w", "stopped": "bw", "agreed": "bw", "branch": "bw", "over": "bw", "off": "b"},
	"/delete confirm:yes": {"open": "bm", "invited": "bm", "black": "bwm", "white": "bwm", "clock": "bwm", "offered": "m", "erasing": "wm", "stones": "bwm", "stopped": "bwm", "agreed": "bwm", "branch": "bwm", "over": "bwm", "off": "bm", "alone": "bm", "sandbox": "b"},
	"/adjudicate void":    {"black": "m", "white": "m", "clock": "m", "offered": "m", "erasing": "m", "stones": "m", "stopped": "m", "agreed": "m", "branch": "m", "alone": "mB", "sandbox": "B"},
	"/adjudicate black":   {"black": "m", "white": "m", "clock": "m", "offered": "m", "erasing": "m", "stones": "m", "stopped": "m", "agreed": "m", "branch": "m", "alone": "mB", "sandbox": "B"},
}

// elsewhere are the commands about no game that there is, and what they change
// is the person's or the room's.
var elsewhere = map[string]string{
	"/new aga 5x5": everybody, "/setup .X.\n.O.\n...": everybody,
	"/settings size:13x13": "mB", "/settings opens:moderators": "mB", "/settings language:de": "mB", "/settings": "",
	"/remind none": "", "/privacy": "",
}

// questions change nothing, whoever asks.
var questions = []string{"/score", "/score why:yes", "/board", "/board 1", "/replay", "/score ledger:yes", "/rules aga", "/compare", "/demo", "/show .X.\n.O.\n...",
	"/sgf", "/more", "/clock", "/games", "/help", "/score share:true", "/board share:true", "/games mine"}

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
	a, err := b.bot.Ask(b.Context(), r)
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

// Every command by every role in every state changes something where the table
// says so, and nowhere else.
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
					says := b.asks(b.request(room, role, text))
					after := b.look(room)
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

// However people act, what is written down was done by somebody who may do it:
// the log is held against rules that know nothing of how requests are decided.
func TestRightsWalks(t *testing.T) { everySeed(t, 4, tier.Pick(8, 60, 10_000), walk) }

func walk(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 23))
	b := newBench(t)
	defer b.store.Close() // there are many
	texts := []string{"/place A1", "/place B1", "/place C1", "/pass", "/pass", "/accept", "/accept", "/undo", "/draw", "/decline", "/delete", "/dead A1",
		"/dispute", "/return", "/resume", "/resign yes", "/cancel", "/pause", "/rematch", "/comment hm", "/join", "/propose"}
	for text := range rights {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	begin := []string{"/new aga 3x3", "/new aga 3x3 opponent:ivy", "/new two-button 3x3", "/new half-pass 3x3 clock:3d", "/new aga 5x5 handicap:2 placement:free", "/new button 3x3 opponent:me"}
	const room = "club"
	letters := []rune(everybody)
	who := map[match.PersonID]string{}
	for _, name := range roles {
		p, err := b.store.Person(t.Context(), person(name))
		must(t, err)
		who[p] = name
	}
	seen := map[match.GameID]int{}
	does := func(role rune, q bot.Request) {
		b.asks(q)
		for _, m := range b.matches(t, bot.Query{}) {
			_, events, err := b.store.Match(t.Context(), m.ID)
			must(t, err)
			for _, e := range events[seen[m.ID]:] {
				if who[e.By] != roles[role] {
					t.Errorf("%q of %s is written down as done by %s", e.Body, roles[role], who[e.By])
				}
				if !rightful(m, e, events[:e.Seq-1], moderates(role)) {
					t.Errorf("%s did %q in %+v", who[e.By], e.Body, m)
				}
			}
			seen[m.ID] = len(events)
		}
	}
	does('b', b.request(room, 'b', begin[r.IntN(len(begin))]))
	for range 60 {
		role := letters[r.IntN(len(letters))]
		if r.IntN(2) == 0 {
			role = letters[r.IntN(2)] // mostly those who play
		}
		q := b.request(room, role, texts[r.IntN(len(texts))])
		if r.IntN(4) == 0 {
			q.Args["game"] = "1"
		}
		if r.IntN(6) == 0 {
			q.Args["seq"] = fmt.Sprint(r.IntN(8)) // of a button that may be stale
		}
		does(role, q)
		b.now = b.now.Add(time.Duration(r.IntN(50)) * time.Second)
	}
}

// rightful reports whether somebody may have done what an event says.
func rightful(m match.Match, e match.Event, before []match.Event, moderator bool) bool {
	words := strings.Fields(e.Body)
	plays := e.By == m.Black || e.By == m.White
	seat := func(letter string) bool { return letter == "B" && e.By == m.Black || letter == "W" && e.By == m.White }
	asked := func(what string) string { // who has asked that last
		for _, b := range slices.Backward(before) {
			if w := strings.Fields(b.Body); w[0] == "ask" && w[2] == what {
				return w[1]
			}
		}
		return ""
	}
	switch words[0] {
	case "open", "sandbox":
		return e.By == m.Opener
	case "join":
		return string(e.By) == words[2] || m.Black == m.White && e.By == m.Opener
	case "begin", "pause", "unpause", "deny", "return", "undo":
		return plays || words[0] == "return" && moderator
	case "turn", "suggest", "ask", "branch":
		return seat(words[1])
	case "stone":
		return e.By == m.Black
	case "drawn":
		return plays && (m.Black == m.White || !seat(asked("draw")))
	case "decline":
		return e.By == m.Invited
	case "cancel":
		return plays || e.By == m.Opener || moderator
	case "comment":
		return m.State == match.Ended || m.State == match.Deleted
	case "adjudicate":
		return moderator && (m.Black == m.White || !plays)
	case "delete":
		by := asked("delete")
		return m.Black == m.White && plays || plays && by != "" && !seat(by) || !plays && moderator
	}
	return false
}
