package contest

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

var (
	spring = time.Date(2026, 3, 2, 18, 0, 0, 0, time.UTC)
	garden = match.Room{Platform: "test", Channel: "garden"}
)

// A desk runs one event, as the bot does: with games that end as the test says.
type desk struct {
	t      testing.TB
	c      *Contest
	now    time.Time
	draft  Draft
	games  map[match.GameID]Game
	due    []match.Due
	posts  []match.OutboxPost
	log    []Event
	asked  int
	room   match.RoomSettings
	away   bool // nobody can be reached
	outage match.Stretch
}

func newDesk(t testing.TB) *desk {
	return &desk{t: t, now: spring, games: map[match.GameID]Game{}, room: match.RoomSettings{Events: "anyone"}}
}

func (d *desk) input(by match.PersonID, line string) *Input {
	args := map[string]string{}
	words := strings.Fields(line)
	args["what"] = words[0]
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, ":")
		args[name] = strings.ReplaceAll(value, "_", " ")
	}
	d.asked++
	in := &Input{Request: match.Request{ID: fmt.Sprint("r", d.asked), Command: "event", Args: args, Where: garden},
		By: by, NewID: Prefix + "spring", NewPage: "page", Games: d.games, Draft: d.draft, Room: d.room, Zone: time.UTC, Now: d.now,
		Users: map[string]match.PersonID{}, Away: d.away, Outage: d.outage,
		Fixture: func(round, table int) (match.GameID, string) {
			return match.GameID(fmt.Sprintf("g%d-%d", round, table)), "p"
		}}
	for _, option := range []string{"player", "other"} {
		if p := args[option]; p != "" && p[0] != '#' {
			in.Users[option] = match.PersonID(p)
		}
	}
	if NeedsEvent(args["what"]) {
		in.Contest = d.c
	}
	return in
}

// do makes a request and returns what its author is told.
func (d *desk) do(by match.PersonID, line string) string {
	d.t.Helper()
	return d.take(Decide(d.input(by, line)))
}

func (d *desk) take(s Step) string {
	d.t.Helper()
	if s.Draft != nil {
		var err error
		if d.draft, err = ParseDraft(s.Draft.Text); err != nil {
			d.t.Fatal(err)
		}
	}
	if s.Contest != nil {
		for _, e := range s.Log { // as the store keeps it
			written, err := e.Body.Encode()
			if err == nil {
				e.Body, err = ParseBody(written)
			}
			if err != nil {
				d.t.Fatal(err)
			}
			d.log = append(d.log, e)
		}
		again, err := Fold(Head{ID: s.Contest.ID}, d.log)
		if err != nil {
			d.t.Fatal(err)
		}
		if !reflect.DeepEqual(again, s.Contest) {
			d.t.Fatalf("the log folds to\n%+v, the step has\n%+v", again, s.Contest)
		}
		d.c = s.Contest
		owed := slices.DeleteFunc(d.due, func(o match.Due) bool { return !Owed(o.Kind) || o.Kind == s.Done })
		d.due = append(append(owed, s.Timed...), s.Owes...)
		for _, o := range s.Owes {
			if what, game, _ := Closing(o.Kind); what == "close" || what == "count" {
				if g := d.games[game]; g.State != match.Going {
					d.t.Errorf("%s: the game is %s", o.Kind, g.State)
				}
			}
		}
	}
	for _, p := range s.Posts {
		if slices.ContainsFunc(d.posts, func(o match.OutboxPost) bool { return o.ID == p.ID }) { // which the store refuses
			d.t.Errorf("post %s comes twice", p.ID)
		}
		d.posts = append(d.posts, p)
	}
	var words []string
	for _, m := range s.Answer.Texts {
		words = append(words, text.English.Say(m))
	}
	return strings.Join(words, "\n")
}

// wait runs what is due until a time has passed.
func (d *desk) wait(length time.Duration) {
	d.t.Helper()
	end := d.now.Add(length)
	for range 10000 {
		slices.SortStableFunc(d.due, func(a, b match.Due) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Kind, b.Kind)) })
		if len(d.due) == 0 || d.due[0].At.After(end) {
			d.now = end
			return
		}
		next := d.due[0]
		d.due = d.due[1:]
		if next.At.After(d.now) {
			d.now = next.At
		}
		d.run(next)
	}
	d.t.Fatal("something is due again and again:", d.due)
}

// run runs a timed action, and before it what it does to games.
func (d *desk) run(next match.Due) {
	d.t.Helper()
	what, game, _ := Closing(next.Kind)
	switch what {
	case "open":
		n := 0
		for _, number := range d.c.Unopened() {
			m := d.c.Match(number)
			m.State, m.Opened, m.Deadline = match.Going, d.now, d.now.Add(m.Clock.Main)
			if _, exists := d.games[m.ID]; exists || n == 10 {
				continue
			}
			d.games[m.ID] = Game{Match: m}
			n++
		}
	case "close":
		d.end(game, "Void")
	case "count":
		d.end(game, "B+0.5")
	}
	in := d.input("", "timed")
	in.Contest = d.c
	d.take(DecideDue(in, next))
}

// end ends a game, which owes the event its result.
func (d *desk) end(game match.GameID, result string) {
	g, known := d.games[game]
	if !known || g.State != match.Going {
		return
	}
	g.State, g.Result = match.Ended, result
	d.games[game] = g
	d.due = append(d.due, match.Due{Game: d.c.ID, Kind: "result:" + string(game), At: d.now})
}

// league publishes a league of some players, who have joined.
func league(t testing.TB, players int, terms string) *desk {
	d := newDesk(t)
	d.do("org", "new "+terms)
	d.do("org", "publish")
	for n := range players {
		line := "join"
		if d.c.Ranks {
			line += fmt.Sprintf(" rank:%dk", players-n)
		}
		d.do(match.PersonID(fmt.Sprint("p", n+1)), line)
	}
	return d
}

func TestLeague(t *testing.T) {
	d := newDesk(t)
	for _, step := range []struct {
		by         match.PersonID
		does, says string
	}{
		{"org", "publish", "You have no draft here"},
		{"org", "new title:Spring size:9 komi:5.5 until:3d days:10 group:4", "“Spring”"},
		{"org", "new days:x", "“x” is not how long"},
		{"org", "new group:3", "group must be a number from 4 to 8, not “3”"},
		{"org", "new seats:5", "the first 5 who join"},
		{"org", "publish", "“Spring” is published"},
		{"ada", "join", "as player 1"},
		{"ada", "join", "as player 1"},
		{"bob", "join", "as player 2"},
		{"cat", "join", "as player 3"},
		{"dan", "join", "as player 4"},
		{"eve", "join", "as player 5"},
		{"fay", "join", "number 1 on the waiting list"},
		{"bob", "leave", "no longer in"},
		{"bob", "leave", "not in “Spring”"},
		{"fay", "join", "as player 5"},
		{"ada", "start", "Only organisers of “Spring”"},
		{"org", "extend until:1d", "Done"},
	} {
		if said := d.do(step.by, step.does); !strings.Contains(said, step.says) {
			t.Errorf("%s> %s: %q, want %q", step.by, step.does, said, step.says)
		}
	}
	d.wait(4*24*time.Hour + time.Minute)
	if d.c.State != Playing || len(d.games) != 10 || len(d.c.Unopened()) != 0 {
		t.Fatalf("after the sign-up: %s, %d games", d.c.State, len(d.games))
	}
	if ends := d.c.Round().Ends; !ends.Equal(d.c.Round().Began.Add(10 * 24 * time.Hour)) {
		t.Error("ends", ends)
	}
	for _, g := range d.games {
		if g.Clock.Main != 5*24*time.Hour {
			t.Error(g.Clock)
		}
	}
	for n := range 10 { // the lower number always wins
		tb := d.c.Rounds[0].Tables[n]
		result := "B+R"
		if tb.White < tb.Black {
			result = "W+3.5"
		}
		d.end(tb.Game, result)
	}
	d.wait(time.Minute)
	if d.c.State != Over {
		t.Fatal(d.c.State, d.c.Unfinished())
	}
	if said := text.English.Say(d.posts[len(d.posts)-1].Texts[1]); said != "The winner: somebody. Congratulations!" || d.c.Players[d.c.First(d.c.InGroups()[0])[0]-1].Person != "ada" {
		t.Error(said)
	}
	if said := d.do("org", "result table:1 as:black"); !strings.Contains(said, "Table 1") {
		t.Error(said)
	}
	d.do("org", "result table:1 as:black confirm:yes")
	if r := d.c.Rounds[0].Tables[0].Result; r.How != Typed || r.Black != 2 || d.c.State != Over {
		t.Error(r, d.c.State)
	}
}

// A count that nobody accepts stands as it is marked when the time is over; where the players
// try it out, the organiser decides.
func TestTimeIsUp(t *testing.T) {
	d := league(t, 4, "until:1d days:10")
	d.wait(25 * time.Hour)
	for n, tb := range d.c.Rounds[0].Tables {
		g := d.games[tb.Game]
		switch n {
		case 0: // both count
			g.Deadline = time.Time{}
		case 1:
			g.Deadline, g.Disputed = time.Time{}, true
		case 2: // the bot was away for a day
			g.Deadline = d.c.Round().Ends.Add(24 * time.Hour)
		default:
			g.State, g.Result = match.Ended, "0"
			d.due = append(d.due, match.Due{Game: d.c.ID, Kind: "result:" + string(tb.Game), At: d.now})
		}
		d.games[tb.Game] = g
	}
	was := d.c.Round().Ends
	d.wait(10*24*time.Hour + time.Hour)
	if got := d.c.Round().Ends.Sub(was); got != 24*time.Hour {
		t.Errorf("the round goes on for %v more, want a day", got)
	}
	if r := d.c.Rounds[0].Tables[0].Result; r == nil || r.Game != "B+0.5" {
		t.Error("the count that nobody accepted:", r)
	}
	d.end(d.c.Rounds[0].Tables[2].Game, "W+T")
	d.wait(25 * time.Hour)
	if open := d.c.Unfinished(); !slices.Equal(open, []int{2}) {
		t.Fatal("open:", open)
	}
	asked := slices.ContainsFunc(d.posts, func(p match.OutboxPost) bool {
		return len(p.Texts) > 0 && p.Texts[0].Key == "event.disputed" && slices.Equal(p.Notify, []match.PersonID{"org"})
	})
	if !asked {
		t.Error("the organiser was not asked")
	}
	d.wait(2 * day) // the organiser is reminded
	d.do("org", "result table:2 as:draw confirm:yes")
	if d.c.State != Over {
		t.Error(d.c.State)
	}
}

func TestReplaceAndWithdraw(t *testing.T) {
	d := league(t, 4, "until:1d days:10")
	d.wait(25 * time.Hour)
	gone := d.c.Players[0].Person
	d.end(d.c.Rounds[0].Tables[d.c.open(1)[0]-1].Game, "W+R")
	d.wait(time.Second)
	left := len(d.c.open(1))
	for line, want := range map[string]string{
		"replace player:" + string(gone):               "Nobody is on the waiting list",
		"replace player:nobody other:new":              "somebody is not in",
		"replace player:" + string(gone) + " other:p2": "plays in",
		"withdraw player:" + string(gone):              "open games go to the opponents",
		"organiser player:org as:remove":               "needs an organiser",
		"organiser player:p3 as:remove":                "does not organise",
		"extend until:2026-03-01":                      "only end later",
		"extend until:soon":                            "is no time",
		"extend":                                       "It ends",
		"result table:99 as:black":                     "Choose a table",
		"result table:1 as:purple":                     "Choose who wins",
		"result table:1 as:black round:7":              "Choose a round",
	} {
		if said := d.do("org", line); !strings.Contains(said, want) {
			t.Errorf("%s: %q, want %q", line, said, want)
		}
	}
	d.do("org", "replace player:"+string(gone)+" other:late")
	d.wait(time.Second)
	if p := d.c.Players[0]; p.Person != "late" || !slices.Equal(p.Before, []match.PersonID{gone}) || len(d.c.open(1)) != left {
		t.Fatal(p, d.c.open(1))
	}
	for _, n := range d.c.open(1) {
		if m := d.games[d.c.Round().Tables[n-1].Game]; m.Black != "late" && m.White != "late" {
			t.Error("the game is still that of", m.Black, m.White)
		}
	}
	d.do("org", "withdraw player:p2 confirm:yes")
	d.wait(time.Second)
	if len(d.c.open(2)) != 0 || d.c.Players[1].In() {
		t.Error("withdrawn, but", d.c.open(2))
	}
	was := d.c.Round().Ends
	d.do("org", "extend until:2d")
	if got := d.c.Round().Ends.Sub(was); got != 48*time.Hour {
		t.Error("extended by", got)
	}
	credits := 0
	for _, o := range d.due {
		if what, _, args := Closing(o.Kind); what == "credit" && len(args) == 2 {
			credits++
		}
	}
	if want := len(d.c.Unfinished()); credits != want {
		t.Error(credits, "clocks stand still, want", want)
	}
}

// Whoever was not drawn waits for somebody to be replaced, also when a player has left since. The
// button that makes sure names a player by their number.
func TestWaitingListOfALeague(t *testing.T) {
	d := league(t, 5, "until:1d days:10 seats:4")
	d.wait(25 * time.Hour)
	d.do("org", "withdraw player:#2 confirm:yes")
	if seated, waiting := d.c.Seated(); !slices.Equal(seated, []int{1, 3, 4}) || !slices.Equal(waiting, []int{5}) {
		t.Errorf("%v have a seat, %v wait", seated, waiting)
	}
	last := d.c.Players[4].Person
	d.do("org", "replace player:#3")
	if p := d.c.Players[2]; p.Person != last {
		t.Errorf("%+v has the seat, want %s", p, last)
	}
	in := d.input("org", "withdraw player:"+string(d.c.Players[3].Person))
	if s := Decide(in); len(s.Answer.Controls) != 1 || s.Answer.Controls[0].Args["player"] != "#4" {
		t.Errorf("the buttons are %+v", s.Answer.Controls)
	}
	if said := d.do("org", "withdraw player:#9"); !strings.Contains(said, "do not know") {
		t.Error(said)
	}
}

// Whoever takes a place from the waiting list has said their rank. Before anything is drawn the
// place is theirs in every respect; later it is paired by the rank of its first player.
func TestReplaceKeepsRank(t *testing.T) {
	d := league(t, 0, "until:1d days:10 seats:4 ranks:yes")
	for n := range 6 {
		d.do(match.PersonID(fmt.Sprint("p", n+1)), fmt.Sprintf("join rank:%dk", 10+n))
	}
	d.do("org", "replace player:p1")
	if p := d.c.Players[0]; p.Person != "p5" || RankName(p.Rank) != "14k" || RankName(p.Seeded) != "14k" {
		t.Errorf("during the sign-up: %+v", p)
	}
	d.wait(25 * time.Hour)
	d.do("org", "replace player:p2")
	if p := d.c.Players[1]; p.Person != "p6" || RankName(p.Rank) != "15k" || RankName(p.Seeded) != "11k" {
		t.Errorf("in the league: %+v", p)
	}
	d.wait(time.Second)
	d.do("org", "replace player:p3 other:late rank:2d")
	if p := d.c.Players[2]; RankName(p.Rank) != "2d" || RankName(p.Seeded) != "12k" {
		t.Errorf("from outside: %+v", p)
	}
}

// A game that began again at another table is not decided at the first one, so nobody has two
// results for it.
func TestResultOfAGameThatBeganAgain(t *testing.T) {
	d := league(t, 4, "until:1d days:10 system:swiss rounds:2")
	d.wait(25 * time.Hour)
	black := d.c.Players[d.c.Round().Tables[0].Black-1].Person
	d.do("org", "replace player:"+string(black)+" other:late")
	d.wait(time.Second)
	if said := d.do("org", "result table:1 as:black confirm:yes"); !strings.Contains(said, "Table 3 has taken the place of table 1") {
		t.Error(said)
	}
	if r := d.c.Round().Tables[0].Result; r.How != Annulled {
		t.Errorf("table 1 has %+v", r)
	}
	d.do("org", "result table:3 as:white confirm:yes")
	d.do("org", "result table:3 as:void confirm:yes") // then neither counts, and either can be decided
	d.do("org", "result table:1 as:black confirm:yes")
	if r := d.c.Round().Tables[0].Result; r.Black != 2 {
		t.Errorf("table 1 has %+v", r)
	}
	if said := d.do("org", "result table:3 as:white confirm:yes"); !strings.Contains(said, "Table 1 has taken the place of table 3") {
		t.Error(said)
	}
}

func TestNobodyJoins(t *testing.T) {
	for players, state := range map[int]State{0: Cancelled, 1: Cancelled, 2: Playing, 3: Playing, 9: Playing, 41: Playing} {
		d := league(t, players, "until:1d")
		d.wait(25 * time.Hour)
		if d.c.State != state {
			t.Error(players, "players:", d.c.State)
		}
		for g, group := range d.c.InGroups() {
			if n := len(group); players > 3 && (n < MinGroup || n > MaxGroup) {
				t.Errorf("%d players: group %d has %d", players, g, n)
			}
		}
	}
}

// A sign-up that ends while nobody can be reached goes on for as long as was left.
func TestSignUpOutage(t *testing.T) {
	d := league(t, 2, "until:1d")
	d.outage = match.Stretch{From: d.c.Until.Add(-time.Hour), To: d.c.Until.Add(5 * time.Hour)}
	d.wait(24 * time.Hour)
	d.now = d.outage.To
	d.wait(time.Minute)
	if want := d.outage.To.Add(time.Hour); d.c.State != SignUp || !d.c.Until.Equal(want) {
		t.Error(d.c.State, d.c.Until, want)
	}
}

func TestRanks(t *testing.T) {
	for typed, want := range map[string]int{"30k": -30, "1k": -1, "1d": 0, "9D": 8, " 5k ": -5} {
		if got, err := ParseRank(typed); err != nil || got != want || !strings.EqualFold(RankName(got), strings.TrimSpace(typed)) {
			t.Error(typed, got, err)
		}
	}
	for _, typed := range []string{"100d", "31k", "0k", "k", "d", "", "5", "-3k", "5p", "=1+1"} {
		if got, err := ParseRank(typed); err == nil {
			t.Error(typed, got)
		}
	}
}

// In the hour that daylight saving skips, a time is as much later as the clocks are put
// forward.
func TestSkippedHour(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Skip(err)
	}
	for typed, want := range map[string]string{
		"2026-03-29 02:30": "2026-03-29T01:30:00Z", "2026-03-29 01:30": "2026-03-29T00:30:00Z", "2026-03-28": "2026-03-28T23:00:00Z", "2026-03-29": "2026-03-29T22:00:00Z",
		"3d": "2026-03-05T18:00:00Z",
	} {
		if at, err := ParseTime(typed, paris, spring); err != nil || at.Format(time.RFC3339) != want {
			t.Error(typed, at, err)
		}
	}
}

// A Swiss of three rounds: nobody meets twice or has the bye twice, who missed a game without a
// word sits out, and the organiser can say who meets whom.
func TestSwiss(t *testing.T) {
	d := league(t, 7, "until:1d days:8 system:swiss rounds:3")
	d.wait(24 * time.Hour)
	met, byes := map[[2]int]bool{}, map[int]bool{}
	check := func() {
		t.Helper()
		r := d.c.Round()
		for _, tb := range r.Tables {
			pair := [2]int{min(tb.Black, tb.White), max(tb.Black, tb.White)}
			if met[pair] {
				t.Errorf("round %d: %v again", len(d.c.Rounds), pair)
			}
			met[pair] = true
		}
		if r.Bye > 0 && byes[r.Bye] {
			t.Errorf("round %d: %d has the bye again", len(d.c.Rounds), r.Bye)
		}
		byes[r.Bye] = true
	}
	check()
	first := d.c.Round().Tables[0]
	for n, tb := range d.c.Round().Tables {
		d.end(tb.Game, []string{"W+T", "B+R", "0"}[n%3])
	}
	d.wait(time.Minute)
	a := d.c.Asking
	if a == nil || !slices.Equal(a.Must, []int{first.Black}) {
		t.Fatalf("asked: %+v, want that %d must answer", a, first.Black)
	}
	person := func(n int) match.PersonID { return d.c.Players[n-1].Person }
	private := 0
	for _, p := range d.posts {
		if p.Private && len(p.Controls) == 2 && len(p.Notify) == 1 {
			private++
		}
	}
	if private != 7 {
		t.Error(private, "were asked")
	}
	out := first.White
	for line, want := range map[string]string{
		"sitout": "sit out", "play": "You play",
	} {
		if said := d.do(person(out), line); !strings.Contains(said, want) {
			t.Errorf("%s: %q", line, said)
		}
	}
	d.do(person(out), "play")
	others := slices.DeleteFunc([]int{1, 2, 3, 4, 5, 6, 7}, func(n int) bool { return n == first.Black || d.c.Round().Bye == n })
	want := [2]int{}
	for i, p := range others {
		for _, q := range others[:i] {
			if !met[[2]int{min(p, q), max(p, q)}] {
				want = [2]int{p, q}
			}
		}
	}
	if said := d.do("org", fmt.Sprintf("meet player:%s other:%s", person(want[0]), person(want[1]))); !strings.Contains(said, "noted") {
		t.Error(said)
	}
	if said := d.do("org", fmt.Sprintf("forbid player:%s other:%s", person(first.Black), person(first.White))); !strings.Contains(said, "does not play") {
		t.Error(said)
	}
	d.wait(day)
	check()
	r := d.c.Round()
	if len(d.c.Rounds) != 2 || !slices.Equal(r.Absent, []int{first.Black}) || r.Bye != 0 {
		t.Fatalf("round 2: absent %v, bye %d", r.Absent, r.Bye)
	}
	if !slices.ContainsFunc(r.Tables, func(tb Table) bool { return slices.Contains(want[:], tb.Black) && slices.Contains(want[:], tb.White) }) {
		t.Error("the organiser's pair was not paired")
	}
	for _, tb := range r.Tables {
		d.end(tb.Game, "B+2.5")
	}
	d.wait(time.Minute)
	if !slices.Equal(d.c.Asking.Must, []int{first.Black}) {
		t.Errorf("who sat out must say that they play again: %v", d.c.Asking.Must)
	}
	d.do("org", "start confirm:yes")
	d.wait(time.Second)
	check()
	if len(d.c.Rounds) != 3 {
		t.Fatal(len(d.c.Rounds), "rounds")
	}
	for _, tb := range d.c.Round().Tables {
		d.end(tb.Game, "W+R")
	}
	d.wait(time.Minute)
	if d.c.State != Over {
		t.Error(d.c.State)
	}
}

// Somebody whom the question did not reach has not been silent.
func TestUnasked(t *testing.T) {
	d := league(t, 4, "until:1d days:8 system:swiss rounds:2")
	d.wait(24 * time.Hour)
	for _, tb := range d.c.Round().Tables {
		d.end(tb.Game, "B+T")
	}
	d.wait(time.Minute)
	must := d.c.Asking.Must
	if len(must) != 2 || len(d.c.Playing(nil)) != 2 || len(d.c.Playing(must[:1])) != 3 {
		t.Error(must, d.c.Playing(nil), d.c.Playing(must[:1]))
	}
	if ids := d.c.AskedBy(); !slices.ContainsFunc(d.posts, func(p match.OutboxPost) bool { return p.ID == ids[must[0]] }) {
		t.Error("no post has the id", ids[must[0]])
	}
}

// Expected are those who have a seat as long as they can still play, and in a knock-out those who
// have not lost. Of somebody else nobody is told that they are gone, nor of a seat that has changed
// hands meanwhile.
func TestExpected(t *testing.T) {
	expects := func(d *desk, want ...int) {
		t.Helper()
		if got := slices.Sorted(maps.Keys(d.c.Expected())); !slices.Equal(got, want) {
			t.Errorf("expected are %v, not %v", got, want)
		}
	}
	d := league(t, 4, "seats:3 until:1d days:8")
	expects(d, 1, 2, 3) // the fourth waits
	d.wait(day)
	for _, tb := range d.c.Round().Tables {
		if tb.Black == 1 || tb.White == 1 {
			d.end(tb.Game, "B+R")
		}
	}
	d.wait(time.Minute)
	expects(d, 2, 3)
	before := d.c.Expected()[2]
	gone := func(player int, id string) []match.OutboxPost {
		in := d.input("", "withdraw")
		in.Request.ID = id
		return Gone(in, player).Posts
	}
	if posts := gone(2, before); len(posts) != 1 || !slices.Equal(posts[0].Notify, []match.PersonID{"org"}) || !posts[0].Private {
		t.Errorf("of player 2 is told %+v", posts)
	}
	d.do("org", "replace player:p2 other:p9")
	if posts := slices.Concat(gone(2, before), gone(1, "e-spring-gone-1-0")); posts != nil {
		t.Errorf("of nobody is told %+v", posts)
	}
	if posts := gone(2, d.c.Expected()[2]); len(posts) != 1 || posts[0].ID == before {
		t.Errorf("of the next player 2 is told %+v", posts)
	}
	d.do("org", "cancel confirm:yes")
	expects(d)

	d = league(t, 4, "system:knockout rules:aga komi:6.5 ranks:yes until:1d days:4")
	d.wait(day)
	first := d.c.Round().Tables[0]
	d.end(first.Game, "B+R")
	d.wait(time.Minute)
	expects(d, slices.DeleteFunc([]int{1, 2, 3, 4}, func(n int) bool { return n == first.White })...)
}

// A knock-out of five: the best three have nobody to play at first, who sits out loses, and a
// game without a winner is the organiser's to decide.
func TestKnockout(t *testing.T) {
	for terms, says := range map[string]string{
		"system:knockout rules:aga komi:7":                    "may be drawn; choose a komi of 7½",
		"system:knockout rules:ultimate":                      "games may be drawn",
		"system:knockout rules:aga,button":                    "one ruleset",
		"system:knockout rules:button komi:6":                 "who loses a game is out",
		"system:knockout rules:button komi:6.5":               "choose a komi of 7",
		"system:knockout rules:aga komi:6.5 ranks:yes days:4": "who loses a game is out",
	} {
		if said := newDesk(t).do("org", "new "+terms); !strings.Contains(said, says) {
			t.Errorf("%s: %q, want %q", terms, said, says)
		}
	}
	d := league(t, 5, "system:knockout rules:aga komi:6.5 ranks:yes until:1d days:4")
	d.wait(24 * time.Hour)
	r := d.c.Round()
	if len(r.Tables) != 1 || !slices.Equal(r.Players(), []int{1, 2}) { // ranks rise with the number
		t.Fatalf("round 1: %+v", r.Tables)
	}
	d.end(r.Tables[0].Game, "0")
	d.wait(time.Minute)
	if last := d.posts[len(d.posts)-1]; last.Texts[0].Key != "event.undecided" || d.c.Asking != nil {
		t.Error("a drawn game:", last.Texts)
	}
	if said := d.do("org", "result table:1 as:draw confirm:yes"); !strings.Contains(said, "needs a winner") {
		t.Error(said)
	}
	d.do("org", "result table:1 as:black confirm:yes")
	winner := r.Tables[0].Black
	if !slices.Equal(d.c.Playing(nil), slices.Sorted(slices.Values([]int{winner, 3, 4, 5}))) {
		t.Error("still in:", d.c.Playing(nil))
	}
	d.do("p5", "sitout")
	d.wait(day)
	r = d.c.Round()
	if len(r.Tables) != 1 || !slices.Equal(r.Players(), []int{3, 4}) {
		t.Fatalf("round 2: %+v, absent %v", r.Tables, r.Absent)
	}
	d.end(r.Tables[0].Game, "B+R")
	finalist := r.Tables[0].Black
	d.wait(day + time.Minute)
	r = d.c.Round()
	if len(r.Tables) != 1 || !slices.Equal(r.Players(), slices.Sorted(slices.Values([]int{winner, finalist}))) {
		t.Fatalf("final: %+v", r.Tables)
	}
	d.end(r.Tables[0].Game, "W+2.5")
	d.wait(time.Minute)
	if first := d.c.First(d.c.InGroups()[0]); d.c.State != Over || !slices.Equal(first, []int{r.Tables[0].White}) {
		t.Error(d.c.State, first)
	}
}

// Between two rounds a seat changes hands without games, and there is more time to answer.
func TestBetweenRounds(t *testing.T) {
	d := league(t, 4, "until:1d days:8 system:swiss rounds:2")
	d.wait(day)
	gone := d.c.Players[0].Person
	d.do("org", "withdraw confirm:yes player:"+string(gone))
	for _, n := range d.c.Unfinished() {
		d.end(d.c.Round().Tables[n-1].Game, "B+2.5")
	}
	d.wait(time.Minute)
	until := d.c.Asking.Until
	if said := d.do("org", "extend until:2d"); said != "Done." || !d.c.Asking.Until.Equal(until.Add(2*day)) {
		t.Errorf("%q: the next round is paired %v, was %v", said, d.c.Asking.Until, until)
	}
	d.do("org", "replace player:"+string(gone)+" other:late")
	if open := d.c.Unfinished(); len(open) > 0 || d.c.Player("late") != 1 {
		t.Errorf("after the round tables %v are open; the new player is number %d", open, d.c.Player("late"))
	}
	d.wait(2 * day)
	if len(d.c.Rounds) != 1 {
		t.Error("the next round is paired too early")
	}
	d.wait(day)
	if len(d.c.Rounds) != 2 || len(d.c.Round().Tables) != 2 {
		t.Errorf("%d rounds, the last has %d tables", len(d.c.Rounds), len(d.c.Round().Tables))
	}
}

// A sign-up ends neither early nor while nobody can be reached.
func TestSignUpEndsInTime(t *testing.T) {
	d := league(t, 4, "until:2d")
	d.wait(time.Hour)
	d.run(match.Due{Game: d.c.ID, Kind: "signup", At: d.now})
	if d.c.State != SignUp {
		t.Fatal("it ended early")
	}
	d.away = true
	d.wait(3 * day)
	if d.c.State != SignUp {
		t.Fatal("it ended although nobody could be reached")
	}
	d.away = false
	d.wait(awayWait)
	if d.c.State != Playing {
		t.Error("then the event is", d.c.State)
	}
}

// A result that the organiser typed stands whatever its game says later, and a game that was
// cancelled counts for nobody.
func TestResultsOfGames(t *testing.T) {
	d := league(t, 3, "until:1d days:8")
	d.wait(day)
	tables := d.c.Round().Tables
	d.do("org", "result table:1 as:white confirm:yes")
	d.wait(time.Second)
	if r := d.c.Round().Tables[0]; r.Result.How != Typed || len(r.Past) > 0 {
		t.Errorf("table 1: %+v, before that %v", r.Result, r.Past)
	}
	g := d.games[tables[1].Game]
	g.State = match.Cancelled
	d.games[g.ID] = g
	d.run(match.Due{Game: d.c.ID, Kind: "result:" + string(g.ID), At: d.now})
	if r := d.c.Round().Tables[1].Result; r == nil || r.How != Annulled {
		t.Errorf("table 2: %+v", r)
	}
	if said := d.do("org", "extend until:400d"); strings.Contains(said, "Done") {
		t.Error("extended by more than a year:", said)
	}
}

// Whoever takes the place of somebody withdrawn plays the games that were lost by it; the round
// began when it began.
func TestReplaceWithdrawn(t *testing.T) {
	d := league(t, 4, "until:1d days:10")
	d.wait(day)
	began := d.c.Round().Began
	d.do("org", "withdraw confirm:yes player:p1")
	d.wait(time.Hour)
	d.do("org", "replace player:p1 other:late")
	d.wait(time.Second)
	if n := len(d.c.open(1)); n != 3 || d.c.Player("late") != 1 || !d.c.Round().Began.Equal(began) {
		t.Errorf("the new player has %d games; the round began %v, not %v", n, d.c.Round().Began, began)
	}
}

// If all but one leave between two rounds the event is over when the next one would be paired.
// Nobody is asked twice.
func TestAllLeaveBetweenRounds(t *testing.T) {
	d := league(t, 4, "until:1d days:8 system:swiss rounds:3")
	d.wait(day)
	for _, n := range d.c.Unfinished() {
		d.end(d.c.Round().Tables[n-1].Game, "B+2.5")
	}
	d.wait(time.Minute)
	for _, p := range []match.PersonID{"p1", "p2", "p3"} {
		d.do(p, "leave confirm:yes")
	}
	asked := 0
	for _, p := range d.posts {
		if p.Private {
			asked++
		}
	}
	if d.wait(day); d.c.State != Over || asked != 4 {
		t.Errorf("the event is %s, %d questions were asked", d.c.State, asked)
	}
}

// A board with fewer star points than the handicap has stones gets as many as it has.
func TestHandicapOnSmallBoards(t *testing.T) {
	for _, c := range []struct{ lines, handicap, stones int }{{19, 9, 9}, {9, 9, 9}, {8, 9, 4}, {9, 3, 3}, {9, 1, 0}, {3, 4, 0}} {
		e := Contest{Terms: Terms{Width: c.lines, Height: c.lines, Rules: []string{"aga@1"}}}
		if s := e.Setup(0, c.handicap); s.Handicap != c.stones || len(s.Black) != c.stones || s.Komi != rules.Half {
			t.Errorf("%d lines, handicap %d: %d stones, komi %v", c.lines, c.handicap, s.Handicap, s.Komi)
		}
	}
}
