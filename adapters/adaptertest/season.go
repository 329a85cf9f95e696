package adaptertest

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/internal/audit"
)

// A Venue is a club on the double of a platform, with its bot, that plays a Season in virtual
// time. Member 0 is its moderator.
type Venue interface {
	// Store is the store of the bot that runs.
	Store() bot.Store
	// Join has a member take a seat in the event whose sign-up is open.
	Join(member int)
	// Does has a member give a command in the thread of a game, or in the channel if the
	// number is 0. An option whose value is a member has their number. Who is asked whether
	// they are sure is. It fails the test if nothing comes of it.
	Does(member, game int, command string, options ...Option)
	// Passes lets time pass.
	Passes(d time.Duration)
	// Restart ends the bot and starts it as another process.
	Restart()
	// Asks has a member ask for the export of the event, and returns the file.
	Export(event int) []byte
	// Said are the first lines of what the bot has said in the channel, threads and the
	// openings of games aside.
	Said() []string
	// Pinged counts how often a member was notified in the channel, and in the thread of each
	// game.
	Pinged(member int) map[int]int
}

// An Option of a command.
type Option struct {
	Name  string
	Value any // string, int, or Member
}

// A Member is one of a Venue.
type Member int

// MemberName is what a member is called.
func MemberName(member int) string {
	if member == 0 {
		return "Mod"
	}
	return fmt.Sprint("Member-", member)
}

// A Season is a league in groups and then three rounds of Swiss, of so many people, with the
// bot ending and starting in between.
type Season struct {
	People, Group int
	Rounds        int
	Restarts      int
	Games         int // of the league, those that begin again aside
}

// season is one that is being played.
type season struct {
	*testing.T
	Season
	Venue
	restarts int
	turns    map[match.GameID]int // that were made
	event    contest.Head
	played   []contest.Head
}

// Play plays a season, and checks that the tables are those that the audit computes, that the
// channel stays quiet, and that nobody is notified of what is none of their business.
func (s Season) Play(t *testing.T, v Venue) {
	p := &season{T: t, Season: s, Venue: v, turns: map[match.GameID]int{}}
	p.league()
	p.swiss()
	p.quiet()
}

// restart ends the bot, if it may still do that.
func (s *season) restart() {
	if s.restarts++; s.restarts <= s.Restarts {
		s.Restart()
	}
}

// begins publishes an event and has people join it.
func (s *season) begins(members []int, options ...Option) {
	s.Helper()
	s.Does(0, 0, "event", append(options, Option{"what", "new"}, Option{"size", "2x2"}, Option{"komi", "0.5"}, Option{"until", "1h"})...)
	s.Does(0, 0, "event", Option{"what", "publish"})
	s.Passes(5 * time.Second)
	for _, m := range members {
		s.Join(m)
		s.Passes(2 * time.Second) // a bot answers only so many people a minute
	}
	heads, err := s.Store().Contests(s.Context(), match.Room{}, contest.Runs, 2)
	if err != nil || len(heads) != 1 {
		s.Fatalf("%d events go on, %v", len(heads), err)
	}
	s.event = heads[0]
	if n := len(s.contest().Players); n != len(members) {
		s.Fatalf("%d of %d have joined", n, len(members))
	}
}

// contest is the event as it is now.
func (s *season) contest() *contest.Contest {
	s.Helper()
	h, log, err := s.Store().Contest(s.Context(), s.event.ID)
	if err == nil {
		var c *contest.Contest
		if c, err = contest.Fold(h, log); err == nil {
			return c
		}
	}
	s.Fatal(err)
	return nil
}

// members are the numbers of some people.
func (s *season) members(people ...match.PersonID) map[match.PersonID]int {
	s.Helper()
	known, err := s.Store().People(s.Context(), people)
	if err != nil {
		s.Fatal(err)
	}
	out := map[match.PersonID]int{}
	for id, who := range known {
		_, number, _ := strings.Cut(who.Name, "-")
		n := 0
		fmt.Sscan(number, &n)
		out[id] = n
	}
	return out
}

// going are the games of the event that are being played.
func (s *season) going() []match.Match {
	s.Helper()
	ms, err := s.Store().Matches(s.Context(), bot.Query{Event: s.event.ID, States: []match.State{match.Going}, Limit: 1000})
	if err != nil {
		s.Fatal(err)
	}
	slices.SortFunc(ms, func(x, y match.Match) int { return x.Number - y.Number })
	return ms
}

// turn makes the next turn of each game that goes on. Of ten games one is left to the clock,
// and in three Black resigns; in the others people place a stone or none, pass, and accept the
// count.
func (s *season) turn() {
	s.Helper()
	ms := s.going()
	var people []match.PersonID
	for _, m := range ms {
		people = append(people, m.Black, m.White)
	}
	members := s.members(people...)
	for _, m := range ms {
		n := s.turns[m.ID]
		kind := m.Number % 10
		if kind == 9 {
			continue
		}
		s.turns[m.ID]++
		who := members[m.ToMove]
		switch {
		case m.Deadline.IsZero(): // they count
			s.Does(members[m.Black], m.Number, "accept")
			s.Does(members[m.White], m.Number, "accept")
		case kind >= 6:
			s.Does(who, m.Number, "resign")
		case n < kind%2:
			s.Does(who, m.Number, "place", Option{"at", "A1"})
		default:
			s.Does(who, m.Number, "pass")
		}
	}
}

// decides does what organisers do.
func (s *season) decides(what string, options ...Option) {
	s.Helper()
	s.Does(0, 0, "event", append([]Option{{"what", what}}, options...)...)
}

// league plays a league. One player is withdrawn, one is replaced by the first of the waiting
// list, one forgets themselves.
func (s *season) league() {
	var members []int
	for m := range s.People + 1 {
		members = append(members, m+1)
	}
	s.begins(members, Option{"title", "League"}, Option{"seats", s.People}, Option{"group", s.Group}, Option{"days", "3h"})
	s.restart()
	s.decides("start")
	s.restart()                // right after the pairing
	s.Passes(10 * time.Minute) // on Discord threads begin one after the other
	if n := len(s.going()); n != s.Games {
		s.Fatalf("%d games begin, want %d", n, s.Games)
	}
	withdrawn, replaced, forgotten := 3, 5, 7
	for n := range 6 {
		s.turn()
		s.Passes(2 * time.Minute)
		switch n {
		case 1:
			s.decides("withdraw", Option{"player", Member(withdrawn)})
			s.decides("replace", Option{"player", Member(replaced)})
			s.restart()
		case 2:
			s.Does(forgotten, 0, "privacy", Option{"what", "delete"})
		}
		s.Passes(time.Minute)
	}
	s.over(90 * time.Minute)
}

// swiss plays three rounds among those who are left. One player sits out the second. A result
// that the organiser gives in the first round is corrected once the second is paired.
func (s *season) swiss() {
	var members []int
	for m := range s.People {
		if m+1 != 7 {
			members = append(members, m+1)
		}
	}
	s.begins(members, Option{"title", "Swiss"}, Option{"system", "swiss"}, Option{"rounds", s.Rounds}, Option{"days", "2h"})
	for round := range s.Rounds {
		c := s.contest()
		if c.Asking == nil {
			s.decides("start")
		} else {
			s.Passes(time.Until(c.Asking.Until))
		}
		s.restart()
		s.Passes(3 * time.Minute)
		if c = s.contest(); len(c.Rounds) != round+1 || len(c.Unopened()) > 0 {
			s.Fatalf("round %d has not begun: %d are paired", round+1, len(c.Rounds))
		}
		switch round {
		case 0:
			s.decides("result", Option{"table", 1}, Option{"as", "draw"})
		case 1:
			s.decides("result", Option{"table", 1}, Option{"round", 1}, Option{"as", "white"})
			if absent := s.contest().Rounds[1].Absent; len(absent) == 0 {
				s.Error("nobody sits out round 2")
			}
		}
		for range 4 {
			s.turn()
			s.Passes(2 * time.Minute)
		}
		s.Passes(time.Hour)
		if round == 0 {
			s.Does(2, 0, "event", Option{"what", "sitout"})
		}
	}
	s.over(time.Minute)
}

// over waits for the end of the event, and checks its table.
func (s *season) over(within time.Duration) {
	s.Helper()
	s.Passes(within)
	c := s.contest()
	if c.State != contest.Over {
		for _, m := range s.going() {
			s.Logf("game %d is still played: %d things have happened, %q to move, %s", m.Number, m.Seq, m.ToMove, m.Deadline)
		}
		s.Fatalf("%s is %s, %d games are open at %s", c.Title, c.State, len(c.Unfinished()), time.Now())
	}
	s.played = append(s.played, c.Head)
	hows := map[string]int{}
	for _, t := range c.Tables() {
		switch m, err := s.Store().Header(s.Context(), t.Game); {
		case err != nil:
			s.Error(err)
		case t.Result == nil:
			s.Errorf("game %d has no result in %s", m.Number, c.Title)
		case m.State != match.Ended:
			s.Errorf("game %d, which counts in %s, is %s", m.Number, c.Title, m.State)
		case t.Result.How == contest.Played && t.Result.Game != m.Result:
			s.Errorf("game %d ended with %s, and counts as %s in %s", m.Number, m.Result, t.Result.Game, c.Title)
		default:
			hows[how(t.Result)]++
		}
	}
	s.Logf("%s: %d players, %d games: %v", c.Title, len(c.Players), len(c.Tables()), hows)
	for _, want := range []string{"counted", "resigned", "on time"} {
		if hows[want] == 0 && s.People >= 40 {
			s.Errorf("no game of %s is %s", c.Title, want)
		}
	}
	s.audits(c)
}

// how says how a game ended.
func how(r *contest.Result) string {
	switch {
	case r.How != contest.Played:
		return string(r.How)
	case strings.HasSuffix(r.Game, "+T"):
		return "on time"
	case strings.HasSuffix(r.Game, "+R"):
		return "resigned"
	}
	return "counted"
}

// audits checks an event by its export: pairings and table are those that the audit computes,
// and it notices another result.
func (s *season) audits(c *contest.Contest) {
	s.Helper()
	data := s.Export(c.Number)
	e, err := audit.Read(bytes.NewReader(data))
	if err != nil {
		s.Fatal(err)
	}
	if r := audit.Run(e); !r.Correct || len(r.Rounds) != len(c.Rounds) {
		s.Errorf("the audit of %s finds %+v", c.Title, r)
	}
	if strings.Contains(string(data), "Member") {
		s.Error("the export has names")
	}
	for _, round := range slices.Backward(e.Rounds) {
		for i, p := range round.Pairs {
			for k, r := range p.Results {
				if r.How == "played" && r.Black != r.White {
					p.Results[k].Black, p.Results[k].White = r.White, r.Black
					if audit.Run(e).Correct {
						s.Errorf("the audit of %s does not notice that pair %d ended otherwise", c.Title, i+1)
					}
					return
				}
			}
		}
	}
}

// quiet checks that the channel stays quiet, and that people are notified of their own games
// only, and there at most once for each thing that happened.
func (s *season) quiet() {
	said := s.Said()
	s.Logf("%d messages in the channel: %q", len(said), said)
	if most := 12 + 4*s.Rounds; len(said) > most {
		s.Errorf("there are more than %d", most)
	}
	games := map[int]match.Match{}
	for _, h := range s.played {
		ms, err := s.Store().Matches(s.Context(), bot.Query{Event: h.ID, Limit: 1000})
		if err != nil {
			s.Fatal(err)
		}
		for _, m := range ms {
			games[m.Number] = m
		}
	}
	most, inChannel := 0, 0
	for member := 1; member <= s.People+1; member++ {
		pinged := s.Pinged(member)
		sum := 0
		for _, number := range slices.Sorted(maps.Keys(pinged)) {
			n := pinged[number]
			if sum += n; number == 0 {
				inChannel = max(inChannel, n)
				continue
			}
			m, known := games[number]
			who := s.members(m.Black, m.White)
			if mine := member == 7 || slices.Contains(slices.Collect(maps.Values(who)), member); !known || !mine {
				s.Errorf("member %d is notified %d times in game %d, which others play", member, n, number)
			} else if n > m.Seq+4 { // and up to three reminders
				s.Errorf("member %d is notified %d times in game %d, in which %d things happened", member, n, number, m.Seq)
			}
		}
		most = max(most, sum)
	}
	s.Logf("members were notified at most %d times, %d of them in the channel", most, inChannel)
	if inChannel > s.Rounds+4 { // each pairing, and what organisers decide about their games
		s.Errorf("somebody is notified %d times in the channel", inChannel)
	}
}

// A Seeded is a source of chance that is the same each time.
type Seeded struct {
	mu sync.Mutex
	r  *rand.ChaCha8
}

// NewSeeded makes one.
func NewSeeded() *Seeded { return &Seeded{r: rand.NewChaCha8([32]byte{31})} }

func (s *Seeded) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r.Read(p)
}
