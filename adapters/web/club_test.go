package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

var (
	clubFile = flag.String("transcript", "", "file to which the club writes what was said, to be read as one of its members")
	clubSeed = flag.Uint64("club-seed", 1, "from which everything in the club follows")
)

// Forty people play in one room: in autumn the clocks of Europe and America go
// back, on different days, and then it is Christmas.
var clubBegins = time.Date(2026, 10, 5, 6, 0, 0, 0, time.UTC)

// A member is somebody of the club.
type member struct {
	name    string
	zone    *time.Location
	wakes   int     // hour of the day
	often   float64 // visits a day
	quarrel float64 // how likely they are to contradict
	remind  string  // as they told the bot
	away    []stretch
	next    time.Time
	own     int64 // how far their own transcript was read
}

type stretch struct{ from, to time.Time }

func (s stretch) has(t time.Time) bool { return !t.Before(s.from) && t.Before(s.to) }

func (p *member) seat() string { return "name:" + p.name }

func (p *member) user() outbox.User { u, _ := userOf(p.seat()); return u }

// A club is the people, their room, and the bot that runs in it. The bot's clock
// is the club's: it shows what the simulation says.
type club struct {
	*rand.Rand
	t     *testing.T
	now   time.Time
	ids   io.Reader // the bot's source of games' ids
	store *store.Store
	bot   *bot.Bot
	room  *Room
	url   string
	stop  func()
	asked int // submissions

	members []*member
	asks    map[int]string     // who asked for a pause in a game
	lobby   map[int]control    // the buttons by which anybody may join a game
	long    map[int]int        // events after which the players of a game would like it to end
	boards  map[int]message    // the last board of each game, by its number
	offers  map[string]message // what somebody was asked of a game: "Ada 3"
	stream  *reader
	seen    int64 // number of the last message of the room that was read
	out     bytes.Buffer
	judge   *judge
	ticked  bool      // the bot has done what was due
	outages []stretch // when the bot was away
}

var clubNames = strings.Fields("Ada Bob Eve Kim Lee Mia Noa Ole Pia Rui Sam Tao Uma Vic Wes Xia Yan Zoe Åsa Émile " +
	"Оля שירה 浩 李雷 Gustav Hana Ines Jörg Kofi Lars Mara Nils Otto Priya Quinn Rosa Sven Tove Ulla Yusuf")

var clubZones = []string{"Europe/Paris", "America/New_York", "Asia/Tokyo", "Europe/London", "Australia/Sydney", "UTC"}

// clubClocks are the clocks that they like, the same more than once if they like
// it much.
var clubClocks = []string{"3d", "3d", "4d", "2d weekends", "1d", "fischer 3d+12h max 5d", "byoyomi 3d 3x1d", "canadian 3d 5/4d", "1d vacation 5",
	"2d night 23-7 Europe/Paris", "3d claim", "none", "absolute 20d", "2d weekends night 22-8 America/New_York"}

var clubRules = []string{"two-button", "two-button", "aga", "japanese", "button", "area-2", "territory-1", "half-pass", "half-pass-agreement", "tromp-taylor", "ultimate"}

func newClub(t *testing.T, seed uint64) *club {
	c := &club{Rand: rand.New(rand.NewPCG(seed, 40)), t: t, now: clubBegins, ids: rand.NewChaCha8([32]byte{byte(seed)}), store: openStore(t, store.Memory),
		asks: map[int]string{}, lobby: map[int]control{}, long: map[int]int{}, boards: map[int]message{}, offers: map[string]message{}}
	c.judge = newJudge(c)
	for i, name := range clubNames {
		zone, err := time.LoadLocation(clubZones[c.IntN(len(clubZones))])
		if err != nil {
			t.Fatal(err)
		}
		p := &member{name: bot.CleanName(name), zone: zone, wakes: 6 + c.IntN(5), often: 0.9 + c.Float64(), quarrel: 0.15 * c.Float64(), remind: "channel"}
		if i%13 == 7 { // some are not to be relied on
			p.often, p.quarrel = 0.4, 0.4
		}
		if c.IntN(10) < 4 { // a holiday
			from := clubBegins.AddDate(0, 0, 5+c.IntN(70))
			p.away = append(p.away, stretch{from, from.AddDate(0, 0, 3+c.IntN(8))})
		}
		if c.IntN(10) < 7 { // Christmas
			p.away = append(p.away, stretch{time.Date(2026, 12, 23+c.IntN(2), 12, 0, 0, 0, zone), time.Date(2026, 12, 26+c.IntN(3), 12, 0, 0, 0, zone)})
		}
		p.next = c.visit(p, c.now)
		c.members = append(c.members, p)
	}
	return c
}

// clock is what the bot and the room take the time from.
func (c *club) clock() time.Time { return c.now }

// begin starts the program.
func (c *club) begin() {
	quiet := slog.New(slog.DiscardHandler)
	c.bot = bot.New(c.store, bot.Config{Now: c.clock, Log: quiet, Deliveries: 1, Rand: c.ids})
	c.room = New(Config{Listen: "127.0.0.1:0", OwnerToken: ownerToken, Log: c.store, Now: c.clock})
	// As bot.Run: an outage is credited before anybody can say anything.
	c.do()
	c.url, c.stop = run(c.t, c.room, c.bot)
	last := ""
	if c.seen > 0 {
		last = strconv.FormatInt(c.seen, 10)
	}
	c.stream = follow(c.t, c.url, "seat=onlooker", last)
	c.listen()
}

// end stops the program.
func (c *club) end() {
	c.stream.body.Close()
	c.stop()
}

// do lets the bot do what is due and say what it owes.
func (c *club) do() {
	if _, err := c.bot.Tick(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
	c.ticked = true
	c.flush()
}

func (c *club) flush() {
	if err := c.bot.Flush(c.t.Context(), c.room); err != nil {
		c.t.Fatal(err)
	}
}

// pass lets time go by. The bot is there and looks every few seconds; what
// matters is that it looks when something is due.
func (c *club) pass(to time.Time) {
	alive := func() { // the bot's own mark of when it was last there
		if err := c.store.SetBookmark(c.t.Context(), "bot:alive", fmt.Sprint(c.now.UnixMilli())); err != nil {
			c.t.Fatal(err)
		}
	}
	for {
		next, err := c.store.NextDue(c.t.Context())
		if err != nil {
			c.t.Fatal(err)
		}
		if next.IsZero() || next.After(to) {
			break
		}
		if next.After(c.now) {
			c.now = next
		}
		alive()
		c.do()
		c.listen()
		if after, _ := c.store.NextDue(c.t.Context()); after.Equal(next) {
			c.t.Fatalf("what was due at %v still is", next)
		}
	}
	c.now = to
	alive()
}

// line writes a line of the transcript.
func (c *club) line(format string, args ...any) {
	fmt.Fprintf(&c.out, "[%s] ", c.now.UTC().Format("Mon 2 Jan 15:04:05"))
	fmt.Fprintln(&c.out, strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n      "))
}

// say lets somebody type something, and gives what they alone are told.
func (c *club) say(p *member, text string) answer {
	return c.send(p, submission{Text: text})
}

// press lets somebody press a button.
func (c *club) press(p *member, b control) answer {
	c.line("(%s presses “%s” of game %s)", p.name, b.Label, b.Args["game"])
	return c.send(p, submission{Command: b.Command, Args: b.Args})
}

func (c *club) send(p *member, s submission) answer {
	c.asked++
	s.ID, s.Seat = id(c.asked), p.seat()
	var cookies []*http.Cookie
	if p == c.members[0] {
		cookies = ownerCookies()
	}
	a := post(c.t, c.url, s, cookies...)
	c.judge.answered(p, s, a)
	c.flush()
	c.listen()
	if a.Message != nil && a.Message.Text != "" {
		c.line("   (to %s alone, on %q) %s", p.name, cmp.Or(s.Text, "/"+s.Command), a.Message.Text)
	}
	return a
}

// listen reads what has been said since.
func (c *club) listen() {
	ms, err := c.store.Since(c.t.Context(), channel, 0, 1)
	if err != nil {
		c.t.Fatal(err)
	}
	for len(ms) > 0 && c.seen < ms[0].N {
		e, ok := c.stream.next()
		if !ok {
			c.t.Fatalf("the stream ended after message %d of %d", c.seen, ms[0].N)
		}
		if e.name != "" {
			continue
		}
		if e.message.N <= c.seen {
			c.t.Errorf("message %d comes after %d", e.message.N, c.seen)
		}
		c.seen = e.message.N
		c.heard(e.message)
	}
	if !c.ticked && !slices.ContainsFunc(slices.Collect(maps.Values(c.judge.visible)), func(m message) bool { return m.Private }) {
		return // only reminders are for one alone
	}
	c.ticked = false
	// What is for one alone comes on a page of their own.
	for _, p := range c.members {
		if p.remind != "direct" {
			continue
		}
		ms, err := c.store.Since(c.t.Context(), privateRoom(p.user()), 0, 1)
		if err != nil {
			c.t.Fatal(err)
		}
		if len(ms) == 0 || ms[0].N <= p.own {
			continue
		}
		query := url.Values{"seat": {p.seat()}, "after": {fmt.Sprint(c.seen)}, "own": {fmt.Sprint(p.own)}}
		s := follow(c.t, c.url, query.Encode(), "")
		for _, m := range read(s) {
			if m.Private {
				p.own = m.N
				c.heard(m)
			}
		}
		s.body.Close()
	}
	c.judge.look()
}

var gameNumber = regexp.MustCompile(`[Gg]ame (\d+)`)

// number returns the number of the game that a message of the bot is about.
func number(m message) int {
	if found := gameNumber.FindStringSubmatch(m.Text); found != nil {
		n, _ := strconv.Atoi(found[1])
		return n
	}
	return 0
}

// heard is everybody reading a message.
func (c *club) heard(m message) {
	from := m.From
	if from == "" {
		from = fmt.Sprintf("Halfpoint %d to %q", m.N, m.To)
	}
	if len(m.Replaces) > 0 {
		from += fmt.Sprintf(" in the place of %d", m.Replaces)
	}
	labels := ""
	for _, b := range m.Controls {
		labels += " [" + b.Label + "]"
	}
	c.line("%s: %s%s", from, m.Text, labels)
	if m.From != "" {
		return
	}
	n := number(m)
	switch m.Kind {
	case match.Show:
		c.boards[n] = m
		for _, p := range c.members {
			delete(c.offers, fmt.Sprint(p.name, " ", n))
		}
	case match.Notice:
		delete(c.lobby, n)
		if b, ok := button(m, "join"); ok && len(m.To) == 0 {
			c.lobby[n] = b
		}
		if len(m.Controls) > 0 {
			for _, name := range m.To {
				c.offers[fmt.Sprint(name, " ", n)] = m
			}
		}
	}
	c.judge.heard(m)
	if m.Kind == match.Status && !m.Removed { // who is reminded comes sooner, if they can
		for _, p := range c.members {
			if slices.Contains(m.To, p.name) && c.IntN(4) > 0 {
				if at := c.visit(p, c.now); at.Before(p.next) {
					p.next = at
				}
			}
		}
	}
}

// visit returns when somebody comes next: in the hours in which they are awake.
func (c *club) visit(p *member, after time.Time) time.Time {
	at := after.Add(time.Duration(float64(24*time.Hour) * c.ExpFloat64() / p.often)).Add(10 * time.Minute)
	local := at.In(p.zone)
	if h := local.Hour(); h < p.wakes || h >= p.wakes+15 { // in the morning, with the others
		at = time.Date(local.Year(), local.Month(), local.Day(), p.wakes, c.IntN(120), c.IntN(60), 0, p.zone)
		if h >= p.wakes+15 {
			at = at.AddDate(0, 0, 1)
		}
		if at.Before(after) {
			at = at.AddDate(0, 0, 1)
		}
	}
	for _, s := range p.away {
		if s.has(at) {
			at = s.to.Add(time.Duration(c.IntN(600)) * time.Minute)
		}
	}
	return at.Truncate(time.Second)
}

// play plays for as long as the club exists.
func (c *club) play(games, days int) {
	ends := clubBegins.AddDate(0, 0, days)
	c.begin()
	olga := c.members[0]
	c.say(olga, "/settings rules:two-button size:5x5 undo:60 clock:3d")
	for i, p := range c.members {
		how := []string{"channel", "channel", "direct", "channel", "none", "channel"}[i%6]
		text := "/remind " + how + " zone:" + p.zone.String()
		if i%3 == 0 {
			text += " quiet:22-8"
		}
		c.say(p, text)
		p.remind = how
	}
	var outages []stretch
	for i := range 20 {
		from := clubBegins.AddDate(0, 0, 3+i*4).Add(time.Duration(c.IntN(86400)) * time.Second)
		to := from.Add(30 * time.Second) // the program is started anew
		switch {
		case i == 5: // in the night in which the clocks of Europe go back
			from = time.Date(2026, 10, 24, 22, 30, 0, 0, time.UTC)
			to = from.Add(7 * time.Hour)
		case i == 19: // at Christmas
			from = time.Date(2026, 12, 25, 9, 0, 0, 0, time.UTC)
			to = from.Add(30 * time.Hour)
		case i%2 == 0:
			to = from.Add(time.Duration(1+c.IntN(20)) * time.Hour)
		}
		outages = append(outages, stretch{from, to})
	}
	slices.SortFunc(outages, func(a, b stretch) int { return a.from.Compare(b.from) })
	var opens []time.Time
	for range games {
		opens = append(opens, clubBegins.Add(time.Duration(c.Int64N(int64(days*4/5)*int64(24*time.Hour)))).Truncate(time.Second))
	}
	slices.SortFunc(opens, time.Time.Compare)
	for {
		p := slices.MinFunc(c.members, func(a, b *member) int { return a.next.Compare(b.next) })
		at := p.next
		if at.After(ends) {
			break
		}
		if len(outages) > 0 && !at.Before(outages[0].from) {
			o := outages[0]
			if outages = outages[1:]; o.from.Before(c.now) {
				continue
			}
			c.pass(o.from)
			c.line("*** the bot is away until %s", o.to.UTC().Format("Mon 2 Jan 15:04:05"))
			c.end()
			c.outages = append(c.outages, stretch{c.now, o.to})
			c.now = o.to
			c.begin()
			continue // who came meanwhile is the first to get through
		}
		if at.After(c.now) {
			c.pass(at)
		}
		for _, p := range c.members {
			if slices.ContainsFunc(p.away, func(s stretch) bool { return s.has(c.now) }) && p.next.Before(c.now) {
				p.next = c.visit(p, c.now)
			}
		}
		if len(opens) > 0 && !opens[0].After(c.now) && c.open(p) {
			opens = opens[1:]
		}
		c.turnUp(p)
		p.next = c.visit(p, c.now)
	}
	c.pass(ends)
	c.judge.sum()
	c.end()
}

// wait is the time that somebody needs for something.
func (c *club) wait(seconds int) { c.pass(c.now.Add(time.Duration(1+c.IntN(seconds)) * time.Second)) }

// open lets somebody open a game, and reports whether there is one more.
func (c *club) open(p *member) bool {
	other := c.members[c.IntN(len(c.members))]
	text := "/new " + clubRules[c.IntN(len(clubRules))] + " " + []string{"5x5", "5x5", "4x4", "6x5"}[c.IntN(4)]
	switch c.IntN(12) {
	case 0:
		text += " handicap:2 placement:free"
	case 1:
		text = strings.Replace(text, "6x5", "7x7", 1)
	case 2:
		text += " color:random"
	case 4:
		text = "/new" // as the room has it
	}
	if other != p && c.IntN(8) > 0 {
		text += " opponent:" + other.name
	}
	if c.IntN(4) > 0 {
		text += " clock:" + clubClocks[c.IntN(len(clubClocks))]
	}
	c.say(p, text)
	if opened := c.matches(bot.Query{Player: c.person(p), Limit: 1}); len(opened) > 0 && opened[0].Opened.Equal(c.now) {
		c.long[opened[0].Number] = c.length()
		return true
	}
	return false
}

// length is after how many events players would like a game to end.
func (c *club) length() int { return 7 + c.IntN(9) }

// matches returns games, the last first.
func (c *club) matches(q bot.Query) []match.Match {
	ms, err := c.store.Matches(c.t.Context(), q)
	if err != nil {
		c.t.Fatal(err)
	}
	slices.SortFunc(ms, func(a, b match.Match) int { return b.Number - a.Number })
	return ms
}

// person returns the id by which the bot knows somebody.
func (c *club) person(p *member) match.PersonID {
	id, err := c.store.Person(c.t.Context(), p.user())
	if err != nil {
		c.t.Fatal(err)
	}
	return id
}

func button(m message, commands ...string) (control, bool) {
	for _, b := range m.Controls {
		if slices.Contains(commands, b.Command) {
			return b, true
		}
	}
	return control{}, false
}

// turnUp is somebody who looks into the room and does what there is to do.
func (c *club) turnUp(p *member) {
	me := c.person(p)
	if c.IntN(40) == 0 {
		c.say(p, "/games mine")
	}
	for _, n := range slices.Sorted(maps.Keys(c.lobby)) {
		if b := c.lobby[n]; c.IntN(4) == 0 {
			c.press(p, b)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.offers)) {
		offer := c.offers[key]
		again := strings.Contains(offer.Text, "with colours changed")
		if b, ok := button(offer, "join", "accept"); ok && (b.Command == "join" || again) && strings.HasPrefix(key, p.name+" ") {
			delete(c.offers, key)
			c.wait(60)
			if c.IntN(16) == 0 {
				b, _ = button(offer, "decline")
			}
			c.press(p, b)
			for _, m := range c.matches(bot.Query{Player: me, States: []match.State{match.Going}, Limit: 5}) {
				if again && c.long[m.Number] == 0 {
					c.long[m.Number] = c.length()
				}
			}
		}
	}
	if p == c.members[0] && c.IntN(3) == 0 { // who looks after the room
		for _, m := range c.matches(bot.Query{States: []match.State{match.Going}}) {
			if m.Black != me && m.White != me && c.now.Sub(m.Changed) > 2*24*time.Hour && c.settling(m.Number) {
				c.say(p, fmt.Sprintf("/adjudicate count game:%d", m.Number))
			}
		}
	}
	for _, m := range c.matches(bot.Query{States: []match.State{match.Open, match.Going}, Player: me}) {
		switch {
		case m.State == match.Going:
			c.attend(p, me, m)
		case c.IntN(80) == 0:
			c.say(p, fmt.Sprint("/cancel ", m.Number))
		}
	}
	if c.IntN(24) == 0 {
		if ended := c.matches(bot.Query{Player: me, States: []match.State{match.Ended}, Limit: 5}); len(ended) > 0 {
			n := ended[0].Number
			switch c.IntN(4) {
			case 0:
				c.say(p, fmt.Sprintf("/review move:%d game:%d", 1+c.IntN(8), n))
			case 1:
				c.say(p, fmt.Sprintf("/comment text:I liked this move. move:%d game:%d", 1+c.IntN(5), n))
			case 2:
				c.say(p, fmt.Sprintf("/sgf game:%d", n))
			case 3:
				c.say(p, fmt.Sprintf("/rematch game:%d", n))
			}
		}
	}
}

// accepted reports whether one player has accepted the count in the end.
func accepted(events []match.Event) bool {
	for _, e := range slices.Backward(events) {
		if !strings.HasPrefix(e.Body.String(), "credit") {
			return strings.HasSuffix(e.Body.String(), " agree")
		}
	}
	return false
}

func (c *club) events(m match.Match) []match.Event {
	_, events, err := c.store.Match(c.t.Context(), m.ID)
	if err != nil {
		c.t.Fatal(err)
	}
	return events
}

func (c *club) settling(n int) bool {
	_, ok := button(c.boards[n], "resume")
	return ok
}

// attend is somebody who looks at a game of theirs.
func (c *club) attend(p *member, me match.PersonID, m match.Match) {
	n := m.Number
	board := c.boards[n]
	if offer, ok := c.offers[fmt.Sprint(p.name, " ", n)]; ok && c.IntN(4) > 0 {
		delete(c.offers, fmt.Sprint(p.name, " ", n))
		c.wait(20)
		b := offer.Controls[0]
		if decline, ok := button(offer, "decline"); ok && c.Float64() < 0.3+p.quarrel {
			b = decline
		}
		c.press(p, b)
		return
	}
	if c.settling(n) {
		c.settle(p, me, m, board)
		return
	}
	if m.Clock.Kind != clock.None && !m.Deadline.IsZero() && slices.ContainsFunc(p.away, func(s stretch) bool {
		return c.now.Before(s.from) && s.from.Sub(c.now) < 36*time.Hour
	}) && c.asks[n] == "" {
		c.asks[n] = p.name
		c.say(p, fmt.Sprint("/pause ", n)) // before a holiday
		return
	}
	if m.Deadline.IsZero() && m.Clock.Kind != clock.None { // paused
		if c.asks[n] == p.name || c.IntN(20) == 0 {
			delete(c.asks, n)
			c.say(p, fmt.Sprint("/pause ", n)) // let us go on
		}
		return
	}
	if m.ToMove != me {
		switch {
		case m.Clock.Claim && !m.Deadline.IsZero() && c.now.After(m.Deadline):
			c.say(p, fmt.Sprint("/claim ", n))
		case c.IntN(60) == 0:
			c.say(p, fmt.Sprint("/undo ", n))
		case c.IntN(100) == 0:
			c.say(p, fmt.Sprint("/draw ", n))
		case c.IntN(200) == 0:
			c.say(p, fmt.Sprint("/delete game:", n))
		}
		return
	}
	if c.IntN(12) == 0 {
		return // they think about it
	}
	c.wait(40)
	if b, ok := button(board, "dispute"); ok && c.IntN(4) == 0 { // back from the branch
		c.press(p, b)
		return
	}
	if c.IntN(120) == 0 {
		if a := c.say(p, fmt.Sprint("/resign game:", n)); a.Message != nil && len(a.Message.Controls) > 0 {
			c.wait(5)
			c.press(p, a.Message.Controls[0])
		}
		return
	}
	if stones, ok := button(board, "place"); ok && strings.Contains(stones.Label, "handicap") {
		free := c.suggestions(p, fmt.Sprintf("/place game:%s ", stones.Args["game"]))
		if len(free) > 2 {
			c.say(p, fmt.Sprintf("/place %s %s game:%d", free[0], free[1+c.IntN(len(free)-1)], n))
		}
		return
	}
	pass, canPass := button(board, "pass")
	accept, canAccept := button(board, "accept")
	if canAccept && c.IntN(2) == 0 {
		c.press(p, accept)
		return
	}
	if b, ok := button(board, "button"); ok && c.IntN(6) == 0 {
		c.press(p, b)
		return
	}
	if canPass && m.Seq > c.long[n] {
		c.pressPass(p, pass)
		return
	}
	points := c.suggestions(p, fmt.Sprintf("/place game:%d ", n))
	if len(points) == 0 {
		switch draw, ok := button(board, "draw", "delay"); {
		case canPass:
			c.pressPass(p, pass)
		case ok:
			c.press(p, draw)
		default:
			c.say(p, fmt.Sprint("/resign yes game:", n))
		}
		return
	}
	at := points[c.IntN(len(points))]
	c.say(p, fmt.Sprintf("/place %s game:%d", at, n))
	if c.IntN(25) == 0 { // on second thoughts
		c.wait(50)
		c.say(p, fmt.Sprint("/undo ", n))
		c.wait(50)
		if points = c.suggestions(p, fmt.Sprintf("/place game:%d ", n)); len(points) > 0 {
			c.say(p, fmt.Sprintf("/place %s game:%d", points[c.IntN(len(points))], n))
		}
	}
}

// pressPass is somebody who passes, and means it.
func (c *club) pressPass(p *member, pass control) {
	if a := c.press(p, pass); a.Message != nil {
		c.wait(10)
		if b, ok := button(*a.Message, "pass"); ok {
			c.press(p, b)
		} else {
			c.say(p, fmt.Sprintf("/pass anyway:yes game:%s", pass.Args["game"]))
		}
	}
}

// settle is somebody who looks at a game in which play has stopped.
func (c *club) settle(p *member, me match.PersonID, m match.Match, board message) {
	c.wait(30)
	get := func(command string) control { b, _ := button(board, command); return b }
	switch x := c.Float64(); {
	case x < p.quarrel/3:
		c.press(p, get("dispute"))
	case x < p.quarrel:
		chains := c.suggestions(p, fmt.Sprintf("/dead game:%d points:", m.Number))
		if len(chains) == 0 {
			return
		}
		b := get("dead")
		b.Args = map[string]string{"game": b.Args["game"], "seq": b.Args["seq"], "points": chains[c.IntN(len(chains))]}
		if c.IntN(3) == 0 {
			b.Args["as"] = "alive"
		}
		c.press(p, b)
	case x < p.quarrel+0.1:
		c.say(p, fmt.Sprintf("/propose game:%d", m.Number))
	case x < p.quarrel+0.12:
		c.press(p, get("resume"))
	case accepted(c.events(m)) && m.ToMove != me:
		// they have accepted already
	default:
		c.press(p, get("accept"))
	}
}

// suggestions returns what the page would suggest at the end of what is typed.
func (c *club) suggestions(p *member, text string) (values []string) {
	_, body := do(c.t, "GET", c.url+"/suggest?"+url.Values{"seat": {p.seat()}, "text": {text}}.Encode(), "")
	var got completion
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		c.t.Fatal(err)
	}
	for _, choice := range got.Choices {
		if v := strings.TrimSpace(choice.Value); !strings.HasSuffix(v, ":") {
			values = append(values, v)
		}
	}
	return values
}

// A club of forty people plays for three months, or in the everyday tier for three
// weeks. Its members expect what people expect of the bot: a reminder when it matters
// and no more of them, to know how much time there is, and that every game ends.
func TestClub(t *testing.T) {
	games, days := tier.Pick(25, 200, 800), tier.Pick(21, 92, 366)
	synctest.Test(t, func(t *testing.T) {
		// In memory: three months are some ten thousand commits, and a disk may take
		// its time over each.
		c := newClub(t, *clubSeed)
		defer func() {
			if *clubFile != "" {
				if err := os.WriteFile(*clubFile, c.out.Bytes(), 0o600); err != nil {
					t.Error(err)
				}
			}
		}()
		c.play(games, days)
	})
}
