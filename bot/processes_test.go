package bot_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/bot/units"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A society is a world with several processes on its store. Any of them is asked; the one that
// holds the platform shows what comes of it. They die, leave, are cut off from the store for a
// while, and come back.
type society struct {
	*world
	rows      *store.Units
	processes []*process
	started   int
}

// A process is one of them. While it is cut off, nothing that it asks of the store has an effect.
type process struct {
	*world
	in     *society
	id     string
	bot    *bot.Bot
	keeper *units.Keeper
	cut    atomic.Bool
	end    func() // ends it
}

func (p *process) severed() error {
	if p.cut.Load() {
		return errLost
	}
	return nil
}

func (p *process) Waiting(ctx context.Context) ([]match.OutboxPost, error) {
	if err := p.severed(); err != nil {
		return nil, err
	}
	return p.world.Waiting(ctx)
}

func (p *process) Change(ctx context.Context, o match.OutboxPost, is outbox.State, why string) error {
	if err := p.severed(); err != nil {
		return err
	}
	return p.world.Change(ctx, o, is, why)
}

func (p *process) Settle(ctx context.Context, id string, r outbox.Receipt, m *outbox.Message, c outbox.Decorations, next *match.OutboxPost) error {
	if err := p.severed(); err != nil {
		return err
	}
	return p.world.Settle(ctx, id, r, m, c, next)
}

// rows are the units as a process sees them.
type rows struct {
	units.Rows
	p *process
}

func (r rows) Look(ctx context.Context) ([]units.Row, []units.Process, error) {
	if err := r.p.severed(); err != nil {
		return nil, nil, err
	}
	return r.Rows.Look(ctx)
}

func (r rows) Renew(ctx context.Context, p units.Process, holders []string) ([]string, error) {
	if err := r.p.severed(); err != nil {
		return nil, err
	}
	return r.Rows.Renew(ctx, p, holders)
}

func (r rows) Free(ctx context.Context, name, holder string) error {
	if err := r.p.severed(); err != nil {
		return err
	}
	return r.Rows.Free(ctx, name, holder)
}

func (r rows) Gone(ctx context.Context, id string) error {
	if err := r.p.severed(); err != nil {
		return err
	}
	return r.Rows.Gone(ctx, id)
}

// start starts a process.
func (s *society) start() {
	s.started++
	p := &process{world: s.world, in: s, id: fmt.Sprint("p", s.started)}
	p.keeper = units.New(units.Config{Rows: rows{s.rows, p}, ID: p.id})
	p.bot = bot.New(p, bot.Config{Deliveries: 1, Log: silent, Units: p.keeper})
	serving, end := context.WithCancel(s.t.Context())
	beating, stop := context.WithCancel(s.t.Context())
	var beats, serves sync.WaitGroup
	beats.Go(func() { p.keeper.Run(beating) })
	serves.Go(func() {
		p.bot.Hold(serving, "chat", func(ctx context.Context, _ *units.Held) error { <-ctx.Done(); return nil })
	})
	p.end = func() { end(); serves.Wait(); stop(); beats.Wait() }
	s.processes = append(s.processes, p)
}

// deliver is what the platform does when a process sends it a post.
func (p *process) deliver(ctx context.Context, o outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	all, _, err := p.in.rows.Look(ctx)
	must(p.t, err)
	if len(all) != 1 || !strings.HasPrefix(all[0].Holder, p.id+" ") {
		p.t.Errorf("%s sends %s, but the holder is %v", p.id, o.ID, all)
	}
	return p.world.deliver(ctx, o)
}

// someone returns a process that is not cut off.
func (s *society) someone() *process {
	for {
		if p := s.processes[s.IntN(len(s.processes))]; !p.cut.Load() {
			return p
		}
	}
}

// drop ends one of several processes.
func (s *society) drop(dies bool) {
	if len(s.processes) < 2 {
		return
	}
	i := s.IntN(len(s.processes))
	p := s.processes[i]
	s.processes = append(s.processes[:i:i], s.processes[i+1:]...)
	if dies {
		p.cut.Store(true)
	}
	p.end()
	for _, other := range s.processes {
		other.cut.Store(false)
	}
}

func simulateProcesses(t *testing.T, seed uint64) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		defer st.Close()
		rows, err := st.OpenUnits()
		must(t, err)
		s := &society{world: newWorld(t, st, seed), rows: rows}
		s.start()
		for range 20 + s.IntN(30) {
			time.Sleep(time.Duration(s.IntN(8000)) * time.Millisecond)
			synctest.Wait()
			p := s.someone()
			s.world.bot = p.bot
			s.ask(s.request())
			for _, p := range s.processes {
				if s.IntN(3) > 0 {
					p.bot.Deliver(t.Context(), platform(p.deliver)) // errors are the faults
				}
			}
			switch s.IntN(12) {
			case 0, 1:
				if len(s.processes) < 4 {
					s.start()
				}
			case 2:
				s.drop(true)
			case 3:
				s.drop(false)
			case 4:
				if p := s.processes[s.IntN(len(s.processes))]; len(s.processes) > 1 && p == s.processes[0] {
					p.cut.Store(!p.cut.Load())
				}
			}
		}
		s.calm = true
		for _, p := range s.processes {
			p.cut.Store(false)
		}
		for idle := 0; idle < 40; idle++ { // longer than a lease, and than a post waits to be tried again
			time.Sleep(2 * time.Second)
			synctest.Wait()
			for _, p := range s.processes {
				n, err := p.bot.Deliver(t.Context(), platform(p.deliver))
				must(t, err)
				if n > 0 {
					idle = 0
				}
			}
		}
		s.world.bot = s.processes[0].bot
		s.judge()
		for _, p := range s.processes {
			p.end()
		}
	})
}

// However processes come, die, leave and are cut off, every notice is shown once and in order, the
// last board of each game too, and only the holder of the platform sends anything.
func TestProcesses(t *testing.T) {
	everySeed(t, 4, tier.Pick(20, 80, 5000), simulateProcesses)
}

// That nobody showed the posts of a platform for longer than a pulse, because a process died, is an
// outage of the platform: it costs nobody time. One that leaves is none.
func TestUnservedUnitIsAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		defer st.Close()
		rows, err := st.OpenUnits()
		must(t, err)
		s := &society{world: newWorld(t, st, 1), rows: rows}
		outages := func() (n int) {
			list, err := st.Outages(t.Context())
			must(t, err)
			for _, o := range list {
				if o.Platform == "chat" && o.To.Sub(o.From) >= units.DefaultDead {
					n++
				}
			}
			return n
		}
		for range 2 {
			s.start()
			time.Sleep(5 * time.Second)
		}
		first, second := s.processes[0], s.processes[1]
		first.cut.Store(true)
		first.end()
		time.Sleep(30 * time.Second)
		if n := outages(); n != 1 || !second.keeper.Holds("chat") {
			t.Errorf("%d outages after the holder has died; the other holds the platform: %v", n, second.keeper.Holds("chat"))
		}
		s.start()
		time.Sleep(5 * time.Second)
		second.end()
		time.Sleep(5 * time.Second)
		if n := outages(); n != 1 || !s.processes[2].keeper.Holds("chat") {
			t.Errorf("%d outages after the next holder has left", n)
		}
		s.processes[2].end()
	})
}

// A splitPlatform is a platform that several processes share: one serves rooms whose server nobody
// knows, the other all servers.
type splitPlatform struct{ platform }

func (splitPlatform) Unit(_ match.Room, server string) string {
	if server == "" {
		return "chat/0/2"
	}
	return "chat/1/2"
}

// Once it is known to which server a room belongs, the process that serves the server shows the
// room's posts, and the one that did so before shows them no more, without a restart.
func TestRoomWhoseServerBecomesKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		defer st.Close()
		rows, err := st.OpenUnits()
		must(t, err)
		var shown []string
		var bots []*bot.Bot
		var adapters []bot.Adapter
		for _, id := range []string{"0", "1"} {
			keeper := units.New(units.Config{Rows: rows, ID: id})
			go keeper.Run(t.Context())
			b := bot.New(st, bot.Config{Deliveries: 1, Log: silent, Units: keeper})
			adapter := splitPlatform{func(_ context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
				shown = append(shown, fmt.Sprint(id, " shows ", p.Kind, " ", p.Seq))
				return outbox.Receipt(p.ID), nil, nil
			}}
			b.Meet(adapter)
			go b.Hold(t.Context(), "chat/"+id+"/2", func(ctx context.Context, _ *units.Held) error { <-ctx.Done(); return nil })
			time.Sleep(3 * time.Second)
			bots, adapters = append(bots, b), append(adapters, adapter)
		}
		ask := func(n int, command string, args map[string]string) {
			t.Helper()
			_, err := bots[0].Ask(t.Context(), bot.Request{ID: fmt.Sprint("chat:", n), Who: person("ada"), Where: clubRoom, Command: command, Args: args})
			must(t, err)
			time.Sleep(2 * time.Second)
			for i, b := range bots {
				must(t, b.Flush(t.Context(), adapters[i]))
			}
		}
		ask(1, "new", map[string]string{"rules": "aga", "size": "5x5", "opponent": "me"})
		must(t, st.Belongs(t.Context(), clubRoom, "guild"))
		time.Sleep(2 * time.Minute)
		ask(2, "place", map[string]string{"at": "C3"})
		if want := []string{"0 shows notice 3", "0 shows show 3", "1 shows show 4"}; !slices.Equal(shown, want) {
			t.Errorf("%q, want %q", shown, want)
		}
	})
}
