package discord

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/adaptertest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A club of forty plays a league and three rounds of Swiss, over restarts of the bot.
func TestClubOfForty(t *testing.T) {
	eight := adaptertest.Season{People: 8, Group: 4, Rounds: 1, Restarts: 2, Games: 12}
	forty := adaptertest.Season{People: 40, Group: 8, Rounds: 3, Restarts: 9, Games: 140}
	season := tier.Pick(eight, forty, forty)
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{Keep: 10_000})
		c.rand = adaptertest.NewSeeded()
		c.overHTTP()
		c.start()
		season.Play(t, newVenue(c))
		c.stop()
		c.check()
	})
}

// A venue is a club that plays a season.
type venue struct {
	*club
	threads map[int]*discordtest.Channel // by the number of the game
}

func newVenue(c *club) *venue {
	c.guild.Permit(c.guild.Member("Mod"), discordtest.ManageMessages)
	return &venue{club: c, threads: map[int]*discordtest.Channel{}}
}

func (v *venue) Store() bot.Store { return v.store }

func (v *venue) member(n int) *discordtest.Person { return v.guild.Member(adaptertest.MemberName(n)) }

func (v *venue) Join(member int) {
	v.Helper()
	for _, m := range v.sheets() {
		if strings.Contains(m.Content, ": sign-up is open") {
			v.ok(v.member(member).Press(m, "Join"))
			return
		}
	}
	v.Fatal("no sign-up is open")
}

func (v *venue) Does(member, game int, command string, options ...adaptertest.Option) {
	v.Helper()
	v.said(member, game, command, options...)
}

// said is the answer to what a member does.
func (v *venue) said(member, game int, command string, options ...adaptertest.Option) *discordtest.Message {
	v.Helper()
	where := v.room
	if game > 0 {
		where = v.thread(game)
	}
	var list []discordtest.Option
	var form map[string]any // of a new event
	for _, o := range options {
		if inForm(command, o.Name) || o == (adaptertest.Option{Name: "what", Value: "new"}) {
			if form == nil {
				form = map[string]any{}
			}
			if o.Name != "what" {
				form[o.Name] = fmt.Sprint(o.Value)
				continue
			}
		}
		if m, ok := o.Value.(adaptertest.Member); ok {
			list = append(list, opt(o.Name, v.member(int(m))))
			continue
		}
		list = append(list, opt(o.Name, o.Value))
	}
	c, _ := bot.FindCommand(command)
	for o := range list {
		if spec, ok := findOption(command, list[o].Name); ok && spec.Type == bot.StringOption {
			list[o].Value = fmt.Sprint(list[o].Value)
		}
	}
	who := v.member(member)
	i := who.Slash(where, path(c), list...)
	if form != nil {
		i = who.Submit(i, form)
	}
	m := v.ok(i)
	for _, sure := range []string{"Resign", "Withdraw", "Begin now", "Give this result", "Forget me"} {
		for _, control := range m.Controls {
			if m.To != "" && strings.HasPrefix(control.Label, sure) {
				i := who.Press(m, control.Label) // what it does may show elsewhere
				if err := i.Refused(); err != nil {
					v.Fatal(err)
				}
				v.settle()
				if said := i.Answer(); said != nil && said.To != "" && strings.Contains(said.Content, "I do not know") {
					v.Fatalf("%s: %s", control.Label, said.Content)
				}
				return m
			}
		}
	}
	return m
}

// thread is that of a game.
func (v *venue) thread(game int) *discordtest.Channel {
	v.Helper()
	if v.threads[game] == nil {
		for _, t := range v.room.Threads() {
			var n int
			if _, err := fmt.Sscanf(t.Name(), "Game %d", &n); err == nil {
				v.threads[n] = t
			}
		}
	}
	if v.threads[game] == nil {
		v.Fatalf("game %d has no thread", game)
	}
	return v.threads[game]
}

func (v *venue) Passes(d time.Duration) { v.passes(d) }

func (v *venue) Restart() { v.again() }

func (v *venue) Export(event int) []byte {
	v.Helper()
	m := v.said(1, 0, "event", adaptertest.Option{Name: "what", Value: "export"}, adaptertest.Option{Name: "event", Value: event})
	if len(m.Attachments) != 1 {
		v.Fatalf("no file: %q", m.Content)
	}
	return m.Attachments[0].Data
}

func (v *venue) Said() (said []string) {
	for _, m := range v.room.Messages() {
		first, _, _ := strings.Cut(m.Content, "\n")
		said = append(said, first)
	}
	return said
}

func (v *venue) Pinged(member int) map[int]int {
	games := map[string]int{v.room.ID(): 0}
	for _, t := range v.room.Threads() {
		var n int
		fmt.Sscanf(t.Name(), "Game %d", &n)
		games[t.ID()] = n
	}
	pinged := map[int]int{}
	for _, m := range v.member(member).Pinged() {
		if game, known := games[m.ChannelID]; known {
			pinged[game]++
		}
	}
	return pinged
}
