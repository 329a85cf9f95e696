package contest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A gathering is an event in which people do all that they can, as the seed has it.
type gathering struct {
	*desk
	*rand.Rand
	seed   uint64
	before *Contest // as it was when the laws were last looked at
}

// systems are the terms of simulated events.
var systems = []string{
	"days:6", "days:6 seats:9", "days:6 ranks:yes", "days:6 rules:two-button,aga group:4",
	"days:4 system:swiss rounds:4", "days:4 system:swiss rounds:3 rules:aga,button", "days:4 system:swiss rounds:5 seats:6",
	"days:4 system:mcmahon rounds:4", "days:4 system:roundrobin", "days:4 system:knockout rules:aga komi:6.5",
}

func simulate(t *testing.T, seed uint64) {
	g := &gathering{Rand: rand.New(rand.NewPCG(seed, 1)), seed: seed}
	g.desk = league(t, g.IntN(16), "until:2d "+systems[g.IntN(len(systems))])
	g.looks()
	for range 50 {
		if !g.c.Running() {
			break
		}
		g.acts()
		g.looks()
	}
	for range 150 {
		if !g.c.Running() {
			break
		}
		g.away, g.outage = false, match.Stretch{}
		for _, n := range g.c.Unfinished() {
			g.end(g.c.Round().Tables[n-1].Game, "B+1.5")
		}
		g.wait(day)
		if g.c.System == Knockout { // games that were drawn
			for _, n := range g.c.Unfinished() {
				g.do("org", fmt.Sprintf("result confirm:yes table:%d as:white", n))
			}
		}
		g.looks()
	}
	g.wait(day) // games that go on are closed
	g.judge()
}

func (g *gathering) person() match.PersonID { return match.PersonID(fmt.Sprint("p", 1+g.IntN(20))) }

// acts lets something happen.
func (g *gathering) acts() {
	verdicts := []string{"black", "white", "draw", "void", "both-lose"}
	switch g.IntN(22) {
	case 0, 1:
		g.do(g.person(), "join rank:"+fmt.Sprint(1+g.IntN(20), "k"))
	case 2:
		g.do(g.person(), "leave confirm:yes")
	case 3:
		g.do("org", fmt.Sprint("withdraw confirm:yes player:", g.person()))
	case 4:
		g.do("org", fmt.Sprint("replace player:", g.person(), " other:", g.person()))
	case 5:
		g.do("org", fmt.Sprintf("result confirm:yes table:%d as:%s", 1+g.IntN(12), verdicts[g.IntN(len(verdicts))]))
	case 6: // often of a round that has been over for long
		g.do("org", fmt.Sprintf("result confirm:yes round:%d table:%d as:%s", 1+g.IntN(3), 1+g.IntN(6), verdicts[g.IntN(len(verdicts))]))
	case 7:
		g.do("org", "extend until:1d")
	case 8:
		g.do("org", fmt.Sprint("organiser player:", g.person()))
	case 9:
		if g.IntN(30) == 0 {
			g.do("org", "cancel confirm:yes")
		}
	case 10, 11, 12:
		g.do(g.person(), []string{"play", "sitout"}[g.IntN(2)])
	case 13:
		g.do("org", fmt.Sprintf("%s player:%s other:%s", []string{"meet", "forbid", "swap"}[g.IntN(3)], g.person(), g.person()))
	case 14:
		g.do("org", "start confirm:yes")
	case 15: // somebody is forgotten
		in := g.input("", "forget")
		in.Contest = g.c
		g.take(Leave(in, g.person()))
	case 16: // nobody can be reached for a while
		g.away, g.outage = true, match.Stretch{From: g.now, To: g.now.Add(day)}
		g.wait(time.Duration(g.IntN(30)) * time.Hour)
		g.away = false
	case 17: // a clock is set back
		g.now = g.now.Add(-time.Hour)
	default:
		g.plays()
		g.wait(time.Duration(g.IntN(48)) * time.Hour)
	}
}

// plays ends some games, or lets their players begin to count.
func (g *gathering) plays() {
	for _, n := range g.c.Unfinished() {
		id := g.c.Round().Tables[n-1].Game
		switch g.IntN(7) {
		case 0, 1:
			g.end(id, []string{"B+R", "W+2.5", "0", "Void", "W+T", "B+T"}[g.IntN(6)])
		case 2:
			if m, known := g.games[id]; known && m.State == match.Going {
				m.Deadline, m.Disputed = time.Time{}, g.IntN(3) == 0
				g.games[id] = m
			}
		}
	}
}

func (g *gathering) errorf(format string, args ...any) {
	g.t.Helper()
	g.t.Errorf("seed %d, %s, line %d: %s", g.seed, g.c.System, g.c.Seq, fmt.Sprintf(format, args...))
}

// looks looks whether what has happened since the last look was right.
func (g *gathering) looks() {
	g.t.Helper()
	was := g.before
	g.before = g.c
	in := map[match.PersonID]bool{}
	for n, p := range g.c.Players {
		if p.In() && in[p.Person] {
			g.errorf("%s has two seats, one of them player %d", p.Person, n+1)
		}
		in[p.Person] = in[p.Person] || p.In()
	}
	for r, round := range g.c.Rounds { // a game that began again counts once
		for n, t := range round.Tables {
			if again := round.again(t); again > 0 && (t.Result == nil || t.Result.How != Annulled) {
				g.errorf("round %d: tables %d and %d count for the same game", r+1, n+1, again)
			}
		}
	}
	if was == nil {
		return
	}
	for r, round := range was.Rounds { // a table stays; others may come, where somebody was replaced
		for n, t := range round.Tables {
			if is := g.c.Rounds[r].Tables[n]; is.Black != t.Black || is.White != t.White || is.Game != t.Game || is.Handicap != t.Handicap {
				g.errorf("round %d was paired again: %v is %v", r+1, t, is)
			}
		}
	}
}

// pairedRight looks whether each round was paired as it should have been at that time.
func (g *gathering) pairedRight() {
	for r, round := range g.c.Rounds {
		then, err := Fold(Head{ID: g.c.ID}, g.log[:round.Seq-1])
		if err != nil {
			g.errorf("before round %d: %v", r+1, err)
			return
		}
		paired, err := then.With(g.log[round.Seq-1])
		if err != nil {
			g.errorf("round %d: %v", r+1, err)
			return
		}
		round := paired.Rounds[r] // without the tables of those who were replaced
		seated := then.still()
		playing := round.Players()
		for _, n := range playing {
			switch {
			case !slices.Contains(seated, n):
				g.errorf("round %d: player %d has no seat", r+1, n)
			case slices.Contains(round.Absent, n), then.Asking != nil && slices.Contains(then.Asking.Out, n):
				g.errorf("round %d: player %d sits out, and is paired", r+1, n)
			}
		}
		if g.c.System == Groups {
			continue
		}
		games := map[int]int{}
		for _, t := range round.Tables {
			for _, n := range t.Seats() {
				games[n]++
			}
		}
		for n, times := range games {
			if times != len(g.c.Rules) || n == round.Bye {
				g.errorf("round %d: player %d has %d games, the bye is %d", r+1, n, times, round.Bye)
			}
		}
		if g.c.System == Swiss || g.c.System == McMahon {
			if want := len(seated) - len(round.Absent); len(playing) != want {
				g.errorf("round %d: %d are paired of %d", r+1, len(playing), want)
			}
			g.avoids(then, round, r)
		}
	}
}

// avoids looks whether nobody has the bye again, or meets somebody again, although that could
// be avoided. What the organiser decided is their business.
func (g *gathering) avoids(then *Contest, round Round, r int) {
	byes, met := map[int]int{}, map[[2]int]bool{}
	for _, earlier := range then.Rounds {
		byes[earlier.Bye]++
		for _, t := range earlier.Tables {
			met[[2]int{t.Black, t.White}], met[[2]int{t.White, t.Black}] = true, true
		}
	}
	if len(then.Choices) > 0 {
		return
	}
	playing := round.Players()
	for _, n := range playing {
		if round.Bye > 0 && byes[n] < byes[round.Bye] {
			g.errorf("round %d: %d has the bye again, and %d did not have it", r+1, round.Bye, n)
		}
	}
	again := 0
	for _, t := range round.Tables {
		if t.Book == 0 && met[[2]int{t.Black, t.White}] {
			again++
		}
	}
	rest := slices.DeleteFunc(playing, func(n int) bool { return n == round.Bye })
	if again > 0 && fewestRepeats(rest, met, again) < again {
		g.errorf("round %d: %d pairs meet again, which could be avoided", r+1, again)
	}
}

// fewestRepeats is the smallest number of pairs that have met with which players can be paired, or
// most if it is not smaller.
func fewestRepeats(players []int, met map[[2]int]bool, most int) int {
	if len(players) == 0 || most == 0 {
		return 0
	}
	for i := 1; i < len(players); i++ {
		rest := slices.Delete(slices.Clone(players), i, i+1)[1:]
		repeats := 0
		if met[[2]int{players[0], players[i]}] {
			repeats = 1
		}
		if repeats < most {
			most = min(most, repeats+fewestRepeats(rest, met, most-repeats))
		}
	}
	return most
}

// judge looks at the event as a whole, once it is over.
func (g *gathering) judge() {
	if g.c.Running() {
		g.errorf("it is still %s, due %v", g.c.State, g.due)
		return
	}
	games := map[match.GameID]bool{}
	for n, t := range g.c.Tables() {
		if t.Black == t.White || t.Open() || t.Result.Black+t.Result.White > 2 {
			g.errorf("table %d: %+v %+v", n+1, t, t.Result)
		}
		if m, exists := g.games[t.Game]; exists && m.State == match.Going {
			g.errorf("the game of table %d goes on", n+1)
		}
		if games[t.Game] {
			g.errorf("%s is played at two tables", t.Game)
		}
		games[t.Game] = true
	}
	if total := max(g.c.total(), 0); len(g.c.Rounds) > total {
		g.errorf("%d rounds of %d", len(g.c.Rounds), total)
	}
	now := &Contest{Head: Head{ID: g.c.ID}}
	for i, e := range g.log {
		if i > 0 && e.At.Before(g.log[i-1].At) {
			g.errorf("time goes back in line %d", e.Seq)
		}
		next, err := now.With(e)
		if err != nil {
			g.errorf("the log does not fold: %v", err)
			return
		}
		now = next
	}
	if again, err := Fold(Head{ID: g.c.ID}, g.log); err != nil || !reflect.DeepEqual(again, now) || !reflect.DeepEqual(now, g.c) {
		g.errorf("the log folds to another event, %v", err)
	}
	for _, p := range g.posts {
		if strings.HasSuffix(p.ID, "-begins") && len(p.Notify) == 0 {
			g.errorf("the announcement mentions nobody")
		}
	}
	g.pairedRight()
}

// Whatever people do, nobody is in two seats or meets again who need not, and every event ends.
func TestSimulatedEvents(t *testing.T) {
	const shards = 4
	for shard := range shards {
		t.Run(fmt.Sprint(shard), func(t *testing.T) {
			t.Parallel()
			for seed := shard; seed < tier.Pick(200, 600, 50_000); seed += shards {
				if simulate(t, uint64(seed)); t.Failed() {
					return
				}
			}
		})
	}
}
