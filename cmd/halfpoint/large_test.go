package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/internal/pgtest"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A far adapter shows everything at once, under ids as long as Discord's.
type far struct{ n int }

func (*far) Name() string { return "bench" }

func (*far) Run(ctx context.Context, _ bot.Service) error { <-ctx.Done(); return nil }

func (f *far) Deliver(context.Context, outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	f.n++
	return outbox.Receipt(fmt.Sprintf("%019d", f.n)), nil, nil
}

// A large is a database with many games.
type large struct {
	*testing.T
	address string
	db      *pgx.Conn
	store   *store.Store
	service *bot.Bot
	shown   far
	now     time.Time
	asked   int
}

// A seat is where a game is played, and by whom.
type seat struct {
	channel      string
	number       int
	black, white string // ids of the platform
}

func newLarge(t *testing.T, address string) *large {
	l := &large{T: t, address: address, now: time.Now().AddDate(0, 0, -40)}
	var err error
	if l.store, err = store.Open(t.Context(), l.address); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.store.Close() })
	l.service = bot.New(l.store, bot.Config{Log: slog.New(slog.DiscardHandler), Deliveries: 1, Now: func() time.Time { return l.now }})
	if l.db, err = pgx.Connect(t.Context(), l.address); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.db.Close(context.Background()) })
	return l
}

func (l *large) exec(statement string, args ...any) {
	l.Helper()
	if _, err := l.db.Exec(l.Context(), statement, args...); err != nil {
		l.Fatalf("%s: %v", statement, err)
	}
}

// ask asks in a game, and returns how long that took until everything was shown.
func (l *large) ask(at seat, who, command string, args map[string]string) time.Duration {
	l.Helper()
	l.asked++
	began := time.Now()
	a, err := l.service.Ask(l.Context(), bot.Request{ID: fmt.Sprintf("bench:%s%03d", at.channel, l.asked), Command: command, Args: args,
		Who:   outbox.User{Platform: "bench", ID: who, Name: who},
		Where: match.Room{Platform: "bench", Channel: at.channel}})
	if err != nil || !a.Public {
		l.Fatalf("%s: %+v, %v", command, a, err)
	}
	if err := l.service.Flush(l.Context(), &l.shown); err != nil {
		l.Fatal(err)
	}
	return time.Since(began)
}

// play plays a game of 20 turns in a channel. The games of a database are copies of two such games.
func (l *large) play(channel string) seat {
	l.Helper()
	s := seat{channel, 1, "4" + channel[1:], "5" + channel[1:]}
	l.ask(s, s.black, "new", map[string]string{"rules": "two-button", "size": "19x19"})
	l.ask(s, s.white, "join", nil)
	for i := range 20 {
		l.now = l.now.Add(time.Minute)
		l.ask(s, []string{s.black, s.white}[i%2], "place", map[string]string{"at": fmt.Sprintf("%c%d", "ABCDEFGHJKLMNOPQRS"[i%18], i/18+1)})
	}
	return s
}

// fill makes so many live and archived games, ten for each player, twenty in a channel.
func (l *large) fill(live, archived int) {
	const ended, going = "3000000000000000001", "3000000000000000002"
	s := l.play(ended)
	l.ask(s, s.black, "resign", map[string]string{"confirm": "yes"})
	l.now = time.Now()
	for next, err := "", error(nil); ; {
		if next, err = l.store.Prune(l.Context(), l.now, next, 500); err != nil {
			l.Fatal(err)
		}
		if next == "" {
			break
		}
	}
	l.play(going)
	// Their proofs become those of earlier versions, which are the same for games that went alike.
	l.exec("UPDATE event SET proof = substr(head, 16, 16) FROM game WHERE game = id")
	l.exec("UPDATE game SET head = ''")
	l.exec("SET session_replication_role = replica") // no foreign keys
	l.exec("SET synchronous_commit = off")
	people := (live + archived) / 5
	l.exec(`INSERT INTO person SELECT 'p' || substr(md5('p' || i), 1, 12), 'bench', (6000000000000000000 + i)::text, (6000000000000000000 + i)::text
		FROM generate_series(0, $1::bigint - 1) i ORDER BY 1`, people)
	l.copy(going, 0, live, people)
	l.copy(ended, live, archived, people)
	l.exec("VACUUM ANALYZE")
	l.exec("CHECKPOINT")
}

// copy copies the game of a channel, row by row, so that the events of a game do not lie together.
func (l *large) copy(channel string, from, n, people int) {
	l.Helper()
	l.exec("DROP TABLE IF EXISTS copy")
	l.exec(`CREATE TEMPORARY TABLE copy AS SELECT i, 'g' || substr(md5('g' || i), 1, 16) AS id, (7000000000000000000 + i / 20)::text AS channel,
			'p' || substr(md5('p' || i % $3), 1, 12) AS black, 'p' || substr(md5('p' || (i % $3 + 1 + i / $3) % $3), 1, 12) AS white
		FROM generate_series($1::bigint, $1 + $2 - 1) i ORDER BY 2`, from, n, people)
	var id, black, white string
	if err := l.db.QueryRow(l.Context(), "SELECT id, black, white FROM game JOIN game_channel ON game = id WHERE channel = $1", channel).Scan(&id, &black, &white); err != nil {
		l.Fatal(err)
	}
	others := map[string]string{
		"game.page": "substr(md5('page' || i), 1, 16)", "game_channel.number": "i % 20 + 1", "post.receipt": "(8000000000000000000 + i * 64 + n)::text",
	}
	for _, table := range []struct{ name, key, is string }{
		{"game", "id", id}, {"game_channel", "game", id}, {"event", "game", id}, {"due", "game", id}, {"post", "game", id}, {"inbox", "channel", channel},
	} {
		rows, _ := l.db.Query(l.Context(), "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = $1 ORDER BY ordinal_position", table.name)
		var columns []string
		var name, kind string
		if _, err := pgx.ForEachRow(rows, []any{&name, &kind}, func() error {
			is := "t." + name
			if kind == "text" {
				is = fmt.Sprintf("replace(replace(replace(replace(%s, '%s', copy.id), '%s', copy.channel || '-' || i), '%s', copy.black), '%s', copy.white)",
					is, id, channel, black, white)
				if name == "channel" {
					is = "copy.channel"
				}
			}
			if other, known := others[table.name+"."+name]; known {
				is = other
			}
			columns = append(columns, is)
			return nil
		}); err != nil {
			l.Fatal(err)
		}
		rows, _ = l.db.Query(l.Context(), "SELECT ctid::text FROM "+table.name+" WHERE "+table.key+" = $1", table.is)
		places, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			l.Fatal(err)
		}
		for _, place := range places {
			l.exec("INSERT INTO " + table.name + " SELECT " + strings.Join(columns, ", ") + " FROM copy, " + table.name + " t WHERE t.ctid = '" + place + "'")
		}
		l.Logf("%d × %d rows of %s", n, len(places), table.name)
	}
}

// seats returns some of the live games.
func (l *large) seats(n int) []seat {
	l.Helper()
	rows, _ := l.db.Query(l.Context(), `SELECT channel, number, b.platform_id, w.platform_id FROM game JOIN game_channel ON game = game.id
			JOIN person b ON b.id = black JOIN person w ON w.id = white
		WHERE game.state = 'going' ORDER BY md5(game.id) LIMIT $1`, n)
	all, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (s seat, err error) {
		return s, r.Scan(&s.channel, &s.number, &s.black, &s.white)
	})
	if err != nil {
		l.Fatal(err)
	}
	return all
}

// size returns how large a database is, and its largest tables with their indexes.
func (l *large) size() string {
	l.Helper()
	rows, _ := l.db.Query(l.Context(), `SELECT pg_size_pretty(pg_database_size(current_database())) UNION ALL
		(SELECT relname || ' ' || pg_size_pretty(pg_total_relation_size(oid)) FROM pg_class
		WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY pg_total_relation_size(oid) DESC LIMIT 5)`)
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		l.Fatal(err)
	}
	return strings.Join(all, ", ")
}

// written returns how many bytes the write-ahead log of the server has.
func (l *large) written() (n int) {
	l.Helper()
	if err := l.db.QueryRow(l.Context(), "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint").Scan(&n); err != nil {
		l.Fatal(err)
	}
	return n
}

// run starts the program, and returns after how many ms the room was open, and the MB of memory
// that it had at most until it had played a game of 60 turns in the local room.
func (l *large) run(n int) (ready, memory int) {
	l.Helper()
	began := time.Now()
	p := serve(l, l.address)
	ready = int(time.Since(began).Milliseconds())
	for i := range 63 {
		text := fmt.Sprintf("/place %c%d", "ABCDEFGHJKLMNOPQRST"[i%19], i/19+1)
		switch i {
		case 0:
			text = "/new aga 19x19"
		case 62:
			text = "/resign confirm:yes"
		}
		if answer, ok := p.ask(uuid(100*n+i), []string{"white", "black"}[i%2], text); !ok {
			l.Fatalf("%s: %s\n%s", text, answer, p.stderr.String())
		}
	}
	memory = mostMemory(l, p.Process.Pid)
	p.Process.Signal(os.Interrupt)
	p.Wait()
	return ready, memory
}

// mostMemory returns how much memory a process has had at most, in MB.
func mostMemory(t testing.TB, pid int) (mb int) {
	t.Helper()
	file, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		var kb int
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kb); n == 1 {
			mb = kb / 1000
		}
	}
	return mb
}

func median[T int | time.Duration](all []T) T { return slices.Sorted(slices.Values(all))[len(all)/2] }

// Beside 1,100,000 games the program is measured against the same beside 1,000: until it is ready,
// its memory, a turn, and what is written for it. PostgreSQL waits for the disk. The test
// needs 30 GB and half an hour; docs/scale.md has what it prints.
func TestLarge(t *testing.T) {
	tier.Soak(t)
	server := pgtest.Durable(t)
	both := []*large{newLarge(t, server.Database(t)), newLarge(t, server.Database(t))}
	both[0].fill(100, 900)
	both[1].fill(100_000, 1_000_000)
	var ready, memory, wrote [2][]int
	for n := range 7 {
		for i, l := range both {
			a, b := l.run(n)
			ready[i], memory[i] = append(ready[i], a), append(memory[i], b)
		}
	}
	const games = 90
	seats := [2][]seat{both[0].seats(games), both[1].seats(games)}
	var first, later [2][]time.Duration // turns of a game
	for n := range games {
		for i, l := range both {
			before := l.written()
			for turn := range 6 {
				took := l.turn(seats[i][n], turn)
				if turn == 0 {
					first[i] = append(first[i], took)
				} else {
					later[i] = append(later[i], took)
				}
			}
			wrote[i] = append(wrote[i], (l.written()-before)/6/1000)
		}
	}
	for i, l := range both {
		t.Log(l.size())
		t.Logf("ready after %d ms, at most %d; %d MB of memory at most; the first turn of a game takes %.1f ms, later ones %.1f, and %d kB of log",
			median(ready[i]), slices.Max(ready[i]), slices.Max(memory[i]), median(first[i]).Seconds()*1000, median(later[i]).Seconds()*1000, median(wrote[i]))
	}
	for _, s := range both[1].seats(3000)[games:] {
		both[1].turn(s, 0)
	}
	var heap runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&heap)
	t.Logf("after a turn in each of 3,000 games the heap has %d MB", heap.HeapAlloc/1_000_000)
	if most := slices.Max(memory[1]); most > 150 {
		t.Errorf("the program has needed %d MB", most)
	}
}

// turn plays a turn of a live game.
func (l *large) turn(s seat, turn int) time.Duration {
	l.Helper()
	return l.ask(s, []string{s.black, s.white}[turn%2], "place", map[string]string{"game": fmt.Sprint(s.number), "at": fmt.Sprintf("%c9", "ABCDEF"[turn])})
}
