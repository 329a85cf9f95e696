package main

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"math"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/jackc/pgx/v5"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// A played game has the history of all requests about it, and what their answers said.
type played struct {
	*storm
	name    string
	players [2]string // Black and White

	mu      sync.Mutex
	history []porcupine.Operation
	left    []string      // points where nobody has placed a stone, nor tries to
	used    []string      // points with stones
	change  chan struct{} // closed by the next answer that changes the game
}

// An act is a request as the model of a game sees it: "place C3", "draw", or "read", whose answer
// is the log.
type act struct {
	player int
	what   string
}

// model returns a game as people see it: turns alternate, each is made once, what is refused changes
// nothing, and what was answered stays. Its state is the log. The final log says in which order
// things were done that were asked at the same time; empty: nobody knows it.
func model(final string) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return "" },
		Step: func(state, input, output any) (bool, any) {
			log, a := state.(string), input.(act)
			if a.what == "read" {
				return log == output.(string), log
			}
			after := decided(log, a)
			if !output.(bool) {
				return after == "", log
			}
			return after != "" && (final == "" || strings.HasPrefix(final+" ", after+" ")), after
		},
	}
}

// decided returns the log after an act; empty: it has to be refused.
func decided(log string, a act) string {
	lines := strings.Fields(log)
	turns, last := 0, ""
	for _, line := range lines {
		last = line
		if !strings.HasPrefix(line, "draw") {
			turns++
		}
	}
	ask := fmt.Sprint("draw", a.player)
	point, places := strings.CutPrefix(a.what, "place ")
	switch {
	case last == "drawn", places && (turns%2 != a.player || slices.Contains(lines, point)), !places && last == ask:
		return ""
	case places:
		return log + " " + point
	case strings.HasPrefix(last, "draw"):
		return log + " drawn"
	}
	return log + " " + ask
}

// logOf returns the events of a game since it began as the model writes them.
func logOf(events []match.Event) (log string) {
	for _, e := range events {
		body := strings.NewReplacer("turn B place ", "", "turn W place ", "", "ask B draw", "draw0", "ask W draw", "draw1").Replace(e.Body.String())
		switch body {
		case "open", "begin":
		default:
			if !strings.HasPrefix(body, "join ") {
				log += " " + body
			}
		}
	}
	return log
}

// do asks for something and keeps the answer.
func (g *played) do(player int, text string) (done bool) {
	call := time.Since(g.began)
	done, why, err := g.ask(g.players[player], text)
	if err != nil {
		g.Error(err)
		return false
	}
	if !done && !expected(why) {
		g.Errorf("%s: %s is refused: %s", g.name, text, why)
	}
	a := act{player, strings.TrimPrefix(text, "/")}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.history = append(g.history, porcupine.Operation{ClientId: player, Input: a, Output: done, Call: int64(call), Return: int64(time.Since(g.began))})
	if done {
		if point, places := strings.CutPrefix(a.what, "place "); places {
			g.used = append(g.used, point)
		}
		if g.change != nil {
			close(g.change)
			g.change = nil
		}
	}
	return done
}

// expected reports whether something may be refused for a reason: the model says when. Whoever has no
// game any more is asked which one they mean.
func expected(why string) bool {
	for _, reason := range []string{"It is not your turn", "There is already a stone", "has not answered yet about the draw", "is over: a draw", "Which game do you mean", "You are watching"} {
		if strings.Contains(why, reason) {
			return true
		}
	}
	return false
}

func (g *played) turns() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.used)
}

// changed returns what is closed when the game has changed.
func (g *played) changed() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.change == nil {
		g.change = make(chan struct{})
	}
	return g.change
}

// take takes a free point, and taken returns one with a stone; empty: there is none.
func (g *played) take() (point string) {
	n := g.upTo(400)
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.left) == 0 {
		return ""
	}
	n %= len(g.left)
	point = g.left[n]
	g.left = slices.Delete(g.left, n, n+1)
	return point
}

func (g *played) putBack(point string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left = append(g.left, point)
}

func (g *played) taken() string {
	n := g.upTo(400)
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.used) == 0 {
		return ""
	}
	return g.used[n%len(g.used)]
}

// A tab follows the transcript at one process after another, and keeps the numbers of the
// messages that it has got.
type tab struct {
	mu  sync.Mutex
	got []int64
	bad string // what no page should see
}

func (p *tab) last() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.got) == 0 {
		return 0
	}
	return p.got[len(p.got)-1]
}

// follow reads the transcript until the storm is over.
func (s *storm) follow(p *tab) {
	for !s.ended.Load() {
		s.read(p, s.some().address())
		time.Sleep(s.within(100 * time.Millisecond))
	}
}

// read reads the transcript at a process until it ends, is silent, or the page changes to another.
func (s *storm) read(p *tab, url string) {
	if url == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.Context()), 100*time.Millisecond+s.within(4*time.Second))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", url+"/events?seat=onlooker&after="+strconv.FormatInt(p.last(), 10), nil)
	if err != nil {
		s.Error(err)
		return
	}
	req.Header = http.Header{"Origin": {url}}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		return
	}
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 1<<20)
	for n := int64(0); lines.Scan(); {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch {
		case field == "id":
			if n, err = strconv.ParseInt(value, 10, 64); err != nil { // the end of the last line is missing
				return
			}
		case field == "event" && (value == "reset" || value == "anew"):
			p.mu.Lock()
			p.bad = fmt.Sprintf("after message %d it is told to begin anew", n)
			p.mu.Unlock()
		case field == "" && n > 0: // the end of an event
			p.mu.Lock()
			if len(p.got) == 0 || p.got[len(p.got)-1] != n {
				p.got = append(p.got, n)
			}
			p.mu.Unlock()
		}
	}
}

// A row is a post as the database has it.
type row struct {
	id, game, kind, state, receipt string
	n                              int64
	seq                            int
	private                        bool
}

func (s *storm) posts() (rows []row, err error) {
	ctx := context.WithoutCancel(s.Context())
	c, err := pgx.Connect(ctx, s.owner+"&target_session_attrs=read-write")
	if err != nil {
		return nil, err
	}
	defer c.Close(ctx)
	all, err := c.Query(ctx, "SELECT id, game, kind, state, receipt, n, seq, private = 1 FROM post ORDER BY game, n")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(all, func(r pgx.CollectableRow) (p row, err error) {
		err = r.Scan(&p.id, &p.game, &p.kind, &p.state, &p.receipt, &p.n, &p.seq, &p.private)
		return p, err
	})
}

// settled waits until no post waits, and the pages have got all messages, or for a minute in which
// nothing comes closer to that.
func (s *storm) settled() {
	began, least, first := time.Now(), math.MaxInt, 0
	for last := began; !s.Failed() && time.Since(last) < time.Minute; time.Sleep(100 * time.Millisecond) {
		rows, err := s.posts()
		if err != nil {
			continue
		}
		waits, newest := 0, int64(0)
		for _, p := range rows {
			if p.state == "waiting" {
				waits++
			}
			if n, err := strconv.ParseInt(p.receipt, 10, 64); err == nil {
				newest = max(newest, n)
			}
		}
		for _, p := range s.pages {
			waits += int(max(0, newest-p.last()))
		}
		if least == math.MaxInt {
			first = waits
		}
		if waits < least {
			least, last = waits, time.Now()
		}
		if waits == 0 {
			break
		}
	}
	s.Logf("%d posts waited in the end, for %v", first, time.Since(began).Round(100*time.Millisecond))
}

// check checks what is stored, once the processes have ended, against the history.
func (s *storm) check() {
	s.Helper()
	if says, err := exec.Command(s.newest, "check", "--database", s.owner).CombinedOutput(); err != nil {
		s.Errorf("check: %v, %s", err, says)
	}
	st, err := store.Open(s.Context(), s.owner)
	if err != nil {
		s.Fatal(err)
	}
	defer st.Close()
	all, err := st.Matches(s.Context(), bot.Query{Limit: len(s.games) + 1})
	if err != nil {
		s.Fatal(err)
	}
	slices.SortFunc(all, func(a, b match.Match) int { return a.Number - b.Number })
	var messages []outbox.Message
	for more := true; more; {
		last := int64(0)
		if len(messages) > 0 {
			last = messages[len(messages)-1].N
		}
		next, err := st.After(s.Context(), last, 10_000)
		if err != nil {
			s.Fatal(err)
		}
		messages, more = append(messages, next...), len(next) > 0
	}
	posts, err := s.posts()
	if err != nil {
		s.Fatal(err)
	}
	people := map[match.PersonID]string{} // names
	logs := map[string][]stored{}         // by the name of Black
	for _, m := range all {
		who, err := st.People(s.Context(), []match.PersonID{m.Black, m.White})
		if err != nil {
			s.Fatal(err)
		}
		_, events, err := st.Match(s.Context(), m.ID)
		if err != nil {
			s.Fatal(err)
		}
		people[m.Black], people[m.White] = who[m.Black].Name, who[m.White].Name
		logs[who[m.Black].Name] = append(logs[who[m.Black].Name], stored{m.ID, events})
	}
	if len(all) != len(s.games) {
		s.Errorf("%d games were opened, %d are stored", len(s.games), len(all))
		return
	}
	lines := map[string][]string{} // what everybody typed, in order
	for _, m := range messages {
		if m.By != "" {
			lines[people[m.By]] = append(lines[people[m.By]], m.Text)
		}
	}
	s.checkShown(posts, messages)
	requests := 0
	for _, g := range s.games {
		mine := logs[g.players[0]][0]
		logs[g.players[0]] = logs[g.players[0]][1:]
		g.check(mine, posts, lines)
		requests += len(g.history)
	}
	for who, left := range lines {
		if !slices.Equal(left, []string{"Hello, I am " + who + "."}) {
			s.Errorf("the transcript has, of %s, besides: %q", who, left)
		}
	}
	s.Logf("%d requests in games, %d messages", requests, len(messages))
}

// A stored game, and its log.
type stored struct {
	id     match.GameID
	events []match.Event
}

// check checks one game: its history, and that there is a post for all that happened. It takes
// from lines what was typed about it.
func (g *played) check(is stored, posts []row, lines map[string][]string) {
	log := logOf(is.events)
	now := int64(time.Since(g.began))
	history := append(slices.Clone(g.history), porcupine.Operation{ClientId: 2, Input: act{what: "read"}, Output: log, Call: now, Return: now + 1})
	if is := porcupine.CheckOperationsTimeout(model(log), history, time.Minute); is != porcupine.Ok {
		slices.SortFunc(history, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
		g.Errorf("%s: the history is %s: %s", g.name, is, slices.Collect(func(yield func(string) bool) {
			for _, o := range history {
				yield(fmt.Sprintf("\n%d–%d %v %v", o.Call/1e6, o.Return/1e6, o.Input, o.Output))
			}
		}))
	}
	// What the log says has been posted once: the opening, the beginning, offers and the end as
	// notices, and each position as a board.
	shows, notices := map[int]int{}, map[int]int{}
	for _, p := range posts {
		switch {
		case p.game != string(is.id) || p.private:
		case p.kind == match.Show:
			shows[p.seq]++
		case p.kind == match.Notice:
			notices[p.seq]++
		}
	}
	wantShows, wantNotices := map[int]int{}, map[int]int{}
	typed := [2][]string{{"/new aga 19x19 color:black opponent:" + g.players[1]}, {"/join"}}
	for _, e := range is.events {
		switch kind, args, _ := strings.Cut(e.Body.String(), " "); kind {
		case "open":
			wantNotices[e.Seq]++
		case "begin":
			wantNotices[e.Seq]++
			wantShows[e.Seq]++
		case "ask":
			wantNotices[e.Seq]++
			typed[strings.Index("BW", args[:1])] = append(typed[strings.Index("BW", args[:1])], "/draw")
		case "drawn":
			wantNotices[e.Seq]++
			wantShows[e.Seq]++
		case "turn":
			wantShows[e.Seq]++
			player := strings.Index("BW", args[:1])
			typed[player] = append(typed[player], "/"+args[2:])
		}
	}
	if !maps.Equal(shows, wantShows) || !maps.Equal(notices, wantNotices) {
		g.Errorf("%s: posts of boards %v, not %v; of notices %v, not %v", g.name, shows, wantShows, notices, wantNotices)
	}
	for player, who := range g.players {
		want := typed[player]
		if last := lastAsk(is.events); last >= 0 && last != player { // this one accepted the draw
			want = append(want, "/draw")
		}
		for _, text := range want {
			at := slices.Index(lines[who], text)
			if at < 0 {
				g.Errorf("%s: the transcript lacks %q of %s", g.name, text, who)
				continue
			}
			lines[who] = slices.Delete(lines[who], at, at+1)
		}
	}
}

// lastAsk returns who offered the draw that was accepted, -1: nobody.
func lastAsk(events []match.Event) int {
	for i := len(events) - 1; i > 0; i-- {
		if events[i].Body.String() == "drawn" {
			_, color, _ := strings.Cut(events[i-1].Body.String(), " ")
			return strings.Index("BW", color[:1])
		}
	}
	return -1
}

// checkShown checks the transcript: its numbers are without a gap; each post is shown once, in the
// order of its game, and none waits; boards are left out only where a newer one is shown; and the
// pages have got all of it in order.
func (s *storm) checkShown(posts []row, messages []outbox.Message) {
	s.Helper()
	said := map[string]outbox.Message{}
	var public []int64
	for i, m := range messages {
		if m.N != int64(i+1) {
			s.Errorf("message %d has the number %d", i+1, m.N)
			return
		}
		if m.Room == "local" {
			public = append(public, m.N)
		}
		if m.Game != "" {
			if _, twice := said[m.Key]; twice {
				s.Errorf("%s is in the transcript twice", m.Key)
			}
			said[m.Key] = m
		}
	}
	shownAt := map[string]string{}
	for key, m := range said {
		shownAt[key] = m.At.Format(time.RFC3339Nano)
	}
	last := map[string]int64{}            // number of the last message of a game
	newest := map[string]outbox.Message{} // its last board
	boards := map[string]int{}            // event of the newest board that was posted
	for _, p := range posts {
		m, shown := said[p.id]
		delete(said, p.id)
		switch {
		case p.private:
			continue
		case p.state == "superseded", p.state == "settled" && p.receipt == "":
			if p.kind == match.Notice || shown {
				s.Errorf("post %s is %s; it is in the transcript: %t", p.id, p.state, shown)
			}
		case p.state != "settled":
			s.Errorf("post %s is %s", p.id, p.state)
		case !shown || strconv.FormatInt(m.N, 10) != p.receipt:
			s.Errorf("post %s is shown as %s; its number in the transcript is %d", p.id, p.receipt, m.N)
		case m.N <= last[p.game]:
			s.Errorf("post %s is shown as %d, after %d", p.id, m.N, last[p.game])
			for _, q := range posts {
				if q.game == p.game && q.n > p.n-4 && q.n < p.n+4 {
					s.Logf("post %d of the game: %+v, at %s", q.n, q, shownAt[q.id])
				}
			}
		default:
			last[p.game] = m.N
			if p.kind == match.Show {
				newest[p.game] = m
			}
		}
		if p.kind == match.Show {
			boards[p.game] = max(boards[p.game], p.seq)
		}
	}
	for game, seq := range boards {
		if newest[game].Seq != seq {
			s.Errorf("the last board of game %s shows event %d, not %d", game, newest[game].Seq, seq)
		}
	}
	for key := range said {
		if !strings.Contains(key, "/") { // else it is for a person
			s.Errorf("message %s has no post", key)
		}
	}
	for i, p := range s.pages {
		if p.bad != "" {
			s.Errorf("page %d: %s", i, p.bad)
		}
		if !slices.Equal(p.got, public) {
			at := 0
			for at < len(p.got) && at < len(public) && p.got[at] == public[at] {
				at++
			}
			s.Errorf("page %d got %d messages, not %d; the first that differs comes after %d: %v, not %v", i, len(p.got), len(public), at,
				p.got[at:min(at+5, len(p.got))], public[at:min(at+5, len(public))])
		}
	}
}

// The model itself: what it allows, and what it does not.
func TestModelOfAGame(t *testing.T) {
	for _, c := range []struct {
		what    string
		history []porcupine.Operation
		want    bool
	}{
		{"a game", ops("0–1 0 place A1 true, 2–3 1 place C3 true, 4–5 0 draw true, 6–7 0 draw false, 8–9 1 draw true, 10–11 1 place E5 false, 12–13 0 read  A1 C3 draw0 drawn"), true},
		{"out of turn", ops("0–1 0 place A1 true, 2–3 0 place C3 true"), false},
		{"the same point", ops("0–1 0 place A1 true, 2–3 1 place A1 true"), false},
		{"refused for nothing", ops("0–1 0 place A1 false"), false},
		{"at the same time in either order", ops("0–9 1 place C3 true, 0–9 0 place A1 true, 10–11 0 read  A1 C3"), true},
		{"refused while the other moved", ops("0–9 1 place C3 false, 0–9 0 place A1 true, 10–11 0 read  A1"), true},
		{"too late", ops("0–1 1 place C3 true, 2–3 0 place A1 true"), false},
		{"lost", ops("0–1 0 place A1 true, 2–3 0 read "), false},
		{"done although refused", ops("0–9 0 place A1 true, 0–9 0 place C3 false, 10–11 0 read  A1 C3"), false},
		{"twice", ops("0–1 0 place A1 true, 2–3 0 read  A1 A1"), false},
		{"a turn takes the offer away", ops("0–1 0 draw true, 2–3 0 place A1 true, 4–5 1 draw true, 6–7 0 read  draw0 A1 draw1"), true},
	} {
		final, _ := c.history[len(c.history)-1].Output.(string)
		if got := porcupine.CheckOperations(model(final), c.history); got != c.want {
			t.Errorf("%s: %t", c.what, got)
		}
	}
}

// ops reads operations: times, the player, what it is, and its answer.
func ops(text string) (all []porcupine.Operation) {
	for line := range strings.SplitSeq(text, ", ") {
		var o porcupine.Operation
		var a act
		times, rest, _ := strings.Cut(line, " ")
		fmt.Sscanf(times, "%d–%d", &o.Call, &o.Return)
		player, rest, _ := strings.Cut(rest, " ")
		a.player, _ = strconv.Atoi(player)
		if log, reads := strings.CutPrefix(rest, "read "); reads {
			a.what, o.Output = "read", log
		} else {
			at := strings.LastIndex(rest, " ")
			a.what, o.Output = rest[:at], rest[at+1:] == "true"
		}
		o.Input, o.ClientId = a, a.player
		all = append(all, o)
	}
	return all
}
