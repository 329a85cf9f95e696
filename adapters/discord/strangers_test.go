package discord

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/adaptertest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// Two people play whole games of five rulesets side by side, with the program as it is
// shipped, by what discord.js shows, a client that nobody here wrote: they press the
// buttons that it knows, wait until it shows the board, and open the record at the
// address that it gives. The program is killed between turns, and before and after
// Discord takes a board. Nobody makes a turn twice, and each board is shown once.
//
// A command that reaches no program, or one that is killed before it has stored the turn,
// is lost: Discord says so to the person and gives it to nobody else. So people wait here
// until the program is connected again.
//
// It does not run beside the others: by the clock on the wall the program has three seconds
// to answer, and storms leave it no processor.
func TestStrangers(t *testing.T) {
	tier.Change(t)
	begun := time.Now() // where the clock stands still nobody is late
	o := discordtest.Options{Now: func() time.Time { return begun }, IdentifyEvery: time.Millisecond, Privileged: messageContent}
	c := &strangersClub{club: newRealClub(t, o), file: filepath.Join(t.TempDir(), "halfpoint.db")}
	c.js = discordtest.Watch(t, c.d)
	c.js.Next("ready")
	c.serve()
	t.Cleanup(func() {
		if t.Failed() {
			c.s.Kill()
			t.Logf("the program says:\n%s\n%s", c.s.Stderr.String(), c.d.Transcript())
		}
	})
	var games []*strangersGame
	rounds := 0
	for n, whole := range adaptertest.WholeGames {
		g := &strangersGame{WholeGame: whole, c: c, number: n + 1}
		c.answered(c.alice.Slash(c.room, "new", opt("rules", g.Rules), opt("size", g.Size)))
		opens := c.js.Await(c.room, "opening", func(content string, _ []string) bool {
			return strings.Contains(content, fmt.Sprintf("opens game %d:", g.number))
		})
		c.press(c.bob, c.room, opens, "Join")
		if g.thread = c.room.WaitThread(n); g.thread == nil {
			t.Fatalf("%s has no thread", g.Rules)
		}
		g.board = c.js.Await(g.thread, "first board", func(content string, files []string) bool {
			return strings.Contains(content, " to play, for example ") && len(files) > 0
		})
		games = append(games, g)
		rounds = max(rounds, len(g.Turns))
	}
	for k := range rounds {
		// Killed is the game whose board is just being sent when the program is killed.
		var killed *strangersGame
		if k%4 == 3 || k%2 == 1 && tier.Soaking() {
			for n := range games {
				if g := games[(k/2+n)%len(games)]; k < len(g.Turns)-1 && !g.Turns[k].Quiet {
					killed = g
					break
				}
			}
		}
		if killed != nil {
			struck := make(chan struct{})
			drop := []string{discordtest.BeforeDone, discordtest.AfterDone}[c.kills%2]
			over := c.d.Fault(discordtest.Fault{Files: true, Drop: drop, Meanwhile: func() { c.s.Kill(); close(struck) }})
			killed.plays(k)
			select {
			case <-struck:
			case <-time.After(c.patience()):
				t.Fatalf("the board after %q is not sent", killed.Turns[k].Reads)
			}
			over()
			c.kills++
			c.serve()
			killed.shows(k)
		}
		for _, g := range games {
			if k < len(g.Turns) && g != killed {
				c.answered(g.plays(k))
			}
		}
		for _, g := range games {
			if k < len(g.Turns) && g != killed {
				g.shows(k)
			}
			if k == len(g.Turns)-1 {
				g.ends() // so that no record is on its way later on
			}
		}
		if k%4 == 1 {
			c.s.Kill()
			c.kills++
			c.serve()
		}
	}
	c.s.Process.Signal(syscall.SIGTERM)
	<-c.s.Ended
	if code := c.s.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	channels := []*discordtest.Channel{c.room}
	for _, g := range games {
		channels = append(channels, g.thread)
	}
	for _, d := range c.js.Disagreements(channels...) {
		t.Errorf("discord.js: %s", d)
	}
	for _, seen := range c.js.Seen() {
		if seen.What == "error" || seen.What == "warning" {
			t.Errorf("discord.js says %v", seen.Data)
		}
	}
	st, err := store.Open(t.Context(), c.file)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	ms, err := st.Matches(t.Context(), bot.Query{})
	if err != nil || len(ms) != len(games) {
		t.Fatalf("%d games, %v", len(ms), err)
	}
	for _, m := range ms {
		g := games[m.Number-1]
		_, events, err := st.Match(t.Context(), m.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Log(events); err != nil {
			t.Errorf("%s: %v", g.Rules, err)
		}
		for _, turn := range g.Turns {
			if n := count(g.thread.Messages(), func(m *discordtest.Message) bool {
				return strings.HasPrefix(escaped.ReplaceAllString(m.Content, "$1"), turn.Reads)
			}); n > 1 {
				t.Errorf("%s: %d messages say %q", g.Rules, n, turn.Reads)
			}
		}
	}
	t.Logf("%d games, killed %d times", len(games), c.kills)
}

// A strangersClub is one in which the real program plays.
type strangersClub struct {
	*club
	js     *discordtest.Stranger
	file   string
	s      *adaptertest.Served
	starts int
	kills  int
}

// serve starts the program and waits until it is connected.
func (c *strangersClub) serve() {
	c.Helper()
	c.d.Advance(time.Second) // before another may identify
	c.s = adaptertest.Serve(c.T, c.file, "HALFPOINT_DISCORD_TOKEN="+c.d.Token(), "HALFPOINT_DISCORD_API="+c.d.API())
	c.starts++
	if !c.d.WaitIdentified(c.starts+1) || !c.d.WaitCommands(1) { // discord.js has identified, too
		c.Fatal("the program is not connected")
	}
}

// answered waits until somebody's client has an answer.
func (c *strangersClub) answered(i *discordtest.Interaction) {
	c.Helper()
	if i == nil { // a message
		return
	}
	if err := i.Refused(); err != nil {
		c.Fatalf("Discord does not let it through: %v", err)
	}
	if kind, _ := i.First(); kind == 0 {
		c.Fatal("no answer")
	}
}

// press presses the button that discord.js shows under a message.
func (c *strangersClub) press(who *discordtest.Person, at *discordtest.Channel, shown map[string]any, label string) *discordtest.Interaction {
	c.Helper()
	buttons, _ := shown["buttons"].(map[string]any)
	id, _ := buttons[label].(string)
	all := who.Sees(at)
	n := slices.IndexFunc(all, func(m *discordtest.Message) bool { return m.ID == shown["id"] })
	if id == "" || n < 0 {
		c.Fatalf("discord.js shows no [%s] under %v", label, shown["content"])
	}
	return who.Press(all[n], id)
}

// A strangersGame is played in its thread.
type strangersGame struct {
	adaptertest.WholeGame
	c      *strangersClub
	number int
	thread *discordtest.Channel
	board  map[string]any // the newest, as discord.js shows it
}

// plays makes a turn once: by a command, a button, a form, or in words, which is nil.
func (g *strangersGame) plays(k int) *discordtest.Interaction {
	g.c.Helper()
	turn, who := g.Turns[k], g.c.alice
	if turn.White {
		who = g.c.bob
	}
	point, _, alive := strings.Cut(turn.Args, " as:")
	switch turn.Command {
	case "place":
		switch (k + g.number) % 3 {
		case 0:
			return who.Slash(g.thread, "place", opt("at", point))
		case 1:
			asked := g.c.press(who, g.thread, g.board, "Place a stone…")
			g.c.answered(asked)
			return who.Submit(asked, map[string]any{"at": strings.ToLower(point)})
		}
		who.Say(g.thread, "<@"+g.c.d.Application()+"> "+point)
		return nil
	case "dead":
		options := []discordtest.Option{opt("points", point)}
		if alive {
			options = append(options, opt("as", "alive"))
		}
		return who.Slash(g.thread, "go dead", options...)
	}
	if turn.Args != "" {
		return who.Slash(g.thread, turn.Command, opt("dead", point))
	}
	return g.c.press(who, g.thread, g.board, strings.ToUpper(turn.Command[:1])+turn.Command[1:])
}

// shows waits until discord.js shows what came of a turn.
func (g *strangersGame) shows(k int) {
	g.c.Helper()
	turn := g.Turns[k]
	shown := g.c.js.Await(g.thread, turn.Reads, func(content string, files []string) bool {
		return strings.Contains(escaped.ReplaceAllString(content, "$1"), turn.Reads) && (turn.Quiet || len(files) > 0)
	})
	if !turn.Quiet {
		g.board = shown
	}
}

// ends waits until discord.js shows the result, and opens the record.
func (g *strangersGame) ends() {
	g.c.Helper()
	name := fmt.Sprintf("game-%d.sgf", g.number)
	over := g.c.js.Await(g.thread, "result", func(content string, files []string) bool {
		return strings.Contains(content, fmt.Sprintf("Game %d is over: %s", g.number, g.Says("Alice", "Bob"))) && slices.Contains(files, name)
	})
	for _, f := range over["files"].([]any) {
		file := f.(map[string]any)
		if file["name"] != name {
			continue
		}
		answer, err := http.Get(file["url"].(string))
		if err != nil {
			g.c.Fatal(err)
		}
		defer answer.Body.Close()
		data, err := io.ReadAll(answer.Body)
		if err != nil {
			g.c.Fatal(err)
		}
		if err := g.Record(data); err != nil {
			g.c.Errorf("the record of %s: %v\n%s", g.Rules, err, data)
		}
	}
}
