package bot_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// A chat is a platform on which each message takes a while.
type chat struct {
	platform
	takes func(outbox.Post) time.Duration
	fails func(outbox.Post) error // before the message is shown; may be nil

	mu     sync.Mutex
	shown  map[string][]outbox.Post // by channel and number of the game
	when   map[string]time.Duration // each post was shown, by id, since the test began
	busy   map[string]int           // deliveries that are running, by channel and number
	most   int                      // deliveries at once
	errors []string
	began  time.Time
}

func laneName(p outbox.Post) string { return fmt.Sprint(p.Where.Channel, " ", p.Number) }

func (c *chat) deliver(ctx context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	key := laneName(p)
	c.mu.Lock()
	c.busy[key]++
	if c.busy[key] > 1 {
		c.errors = append(c.errors, "two posts at once in "+key)
	}
	at := 0
	for _, n := range c.busy {
		at += n
	}
	c.most = max(c.most, at)
	takes, fails := c.takes, c.fails
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.busy[key]--
	}()
	if fails != nil {
		if err := fails(p); err != nil {
			return "", nil, err
		}
	}
	select {
	case <-time.After(takes(p)):
	case <-ctx.Done():
		return "", nil, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, again := c.when[p.ID]; again {
		c.errors = append(c.errors, p.ID+" was shown twice")
	}
	if shown := c.shown[key]; len(shown) > 0 && shown[len(shown)-1].Seq > p.Seq {
		c.errors = append(c.errors, fmt.Sprintf("%s: event %d after %d", key, p.Seq, shown[len(shown)-1].Seq))
	}
	c.shown[key] = append(c.shown[key], p)
	c.when[p.ID] = time.Since(c.began)
	return outbox.Receipt(p.ID), nil, nil
}

// setFails says how deliveries fail that begin from now on.
func (c *chat) setFails(fails func(outbox.Post) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fails = fails
}

// boards returns the boards of a game that were shown, by the number of the event,
// and when.
func (c *chat) boards(channel string, game int) map[int]time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := map[int]time.Duration{}
	for _, p := range c.shown[fmt.Sprint(channel, " ", game)] {
		if p.Kind == match.Show {
			found[p.Seq] = c.when[p.ID]
		}
	}
	return found
}

// A running is a bot that runs, in a bubble, until it is stopped.
type running struct {
	*testing.T
	b    *bot.Bot
	n    int
	stop func()
}

// run runs a bot on a store and a platform.
func run(t *testing.T, st bot.Store, on bot.Adapter) *running {
	r := &running{T: t, b: bot.New(st, bot.Config{Log: silent})}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.b.Run(ctx, on) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return r
}

// A playing is a bot that runs on a chat.
type playing struct {
	*running
	*chat
}

// onChat runs a test in virtual time, with a bot on a chat on which each message
// takes 300 ms unless the test says otherwise.
func onChat(t *testing.T, wrap func(bot.Store) bot.Store, test func(*playing)) {
	synctest.Test(t, func(t *testing.T) {
		var st bot.Store = newStore(t)
		if wrap != nil {
			st = wrap(st)
		}
		c := &chat{takes: func(outbox.Post) time.Duration { return 300 * time.Millisecond }, shown: map[string][]outbox.Post{},
			when: map[string]time.Duration{}, busy: map[string]int{}, began: time.Now()}
		c.platform = c.deliver
		r := run(t, st, c)
		defer func() {
			r.stop()
			for _, e := range c.errors {
				t.Error(e)
			}
		}()
		test(&playing{r, c})
	})
}

// settle lets time pass, and what happens in it end: then the test may read what the
// platform has seen.
func settle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// asks asks for a change that must be accepted.
func (r *running) asks(who, channel, command string, args map[string]string) {
	r.Helper()
	r.n++
	r.request(bot.Request{ID: fmt.Sprint("chat:", who, r.n, command, args), Who: person(who), Command: command, Args: args}, channel)
}

func (r *running) request(q bot.Request, channel string) bot.Answer {
	r.Helper()
	q.Where = match.Room{Platform: "chat", Channel: channel}
	a, err := r.b.Ask(context.Background(), q)
	if err != nil || !a.Public {
		r.Fatalf("/%s %v by %s: %s %v", q.Command, q.Args, q.Who.Name, a.Own().Text, err)
	}
	return a
}

// opens opens games in a channel, each with players of its own, and waits until
// all are shown.
func (p *running) opens(channel string, from, to int) {
	p.Helper()
	for game := from; game <= to; game++ {
		p.asks(fmt.Sprint("black", game), channel, "new", map[string]string{"rules": "aga", "size": "9x9", "color": "black"})
		p.asks(fmt.Sprint("white", game), channel, "join", map[string]string{"game": strconv.Itoa(game)})
	}
	time.Sleep(time.Minute)
}

// turn makes a turn of a game: passes, or stones from the first line on.
func (p *running) turn(channel string, game, turn int, place bool) {
	p.Helper()
	who := []string{"black", "white"}[turn%2] + strconv.Itoa(game)
	args := map[string]string{"game": strconv.Itoa(game)}
	if !place {
		p.asks(who, channel, "pass", args)
		return
	}
	args["at"] = fmt.Sprintf("%c%d", "ABCDEFGHJ"[turn%9], 1+turn/9)
	p.asks(who, channel, "place", args)
}

// Games of one channel do not wait for one another: twenty in which somebody moves
// four times a second are shown turn by turn, and twenty turns at once at once.
func TestGamesOfOneChannel(t *testing.T) {
	const games, takes = 20, 300 * time.Millisecond
	onChat(t, nil, func(p *playing) {
		p.opens("club", 1, games)
		asked := map[string]time.Duration{}
		for n := range 80 { // four a second for 20 s
			game, turn := 1+n%games, n/games
			p.turn("club", game, turn, true)
			asked[fmt.Sprint(game, " ", turn)] = time.Since(p.began)
			time.Sleep(250 * time.Millisecond)
		}
		settle(time.Minute)
		now := time.Since(p.began)
		for game := 1; game <= games; game++ {
			p.turn("club", game, 4, false)
		}
		settle(time.Minute)
		for game := 1; game <= games; game++ {
			boards := p.boards("club", game)
			seqs := slices.Sorted(maps.Keys(boards))
			if len(seqs) != 6 { // the empty board, four stones, a pass
				p.Fatalf("game %d: boards after %v", game, seqs)
			}
			for turn, seq := range seqs[1:5] {
				if late := boards[seq] - asked[fmt.Sprint(game, " ", turn)]; late > 2*takes {
					p.Errorf("game %d: turn %d was shown after %v", game, turn, late)
				}
			}
			if late := boards[seqs[5]] - now; late > 2*takes {
				p.Errorf("game %d: its pass was shown after %v", game, late)
			}
		}
		if p.most > 32 {
			p.Errorf("%d posts at once", p.most)
		}
	})
}
