//go:build unix

package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// BenchmarkTurns plays a hundred games on 19×19 in one room, on a database file,
// while pages follow the transcript over connections in memory. A turn counts once
// every page has its board.
//
//	go test -tags goolm ./adapters/web -run - -bench Turns -benchtime 2000x
func BenchmarkTurns(b *testing.B) {
	for _, pages := range []int{0, 256, 1000} {
		b.Run(fmt.Sprintf("pages=%d", pages), func(b *testing.B) {
			if pages > maxStreams {
				b.Skip("so many pages cannot be open")
			}
			benchmarkTurns(b, pages)
		})
	}
}

func benchmarkTurns(b *testing.B, pages int) {
	st := openStore(b, newFile(b))
	_, url, stop := openBot(b, st)

	// Twenty people play both sides of five games each.
	const people, games = 20, 100
	var n atomic.Int64
	say := func(person int, text string) {
		a := post(b, url, submission{ID: id(int(n.Add(1))), Seat: fmt.Sprint("name:P", person), Text: text})
		if a.Private {
			b.Errorf("%s: %s", text, a.Message.Text)
		}
	}
	for g := range games {
		say(g%people, "/new two-button 19x19 opponent:me")
	}

	var boards, drops atomic.Int64 // that pages have got; pages that were dropped
	var readers sync.WaitGroup
	reading, stopReading := context.WithCancel(b.Context())
	defer func() {
		stopReading()
		stop() // ends the streams
		readers.Wait()
	}()
	for range pages {
		s := follow(b, url, "seat=onlooker", "")
		s.until("ready")
		readers.Go(func() {
			var last []byte
			for reading.Err() == nil {
				for s.in.Scan() { // without looking into it, which would be the page's work
					switch line := s.in.Bytes(); {
					case len(line) > 500:
						boards.Add(1)
					case bytes.HasPrefix(line, []byte("id: ")):
						last = append(last[:0], line[4:]...)
					}
				}
				if reading.Err() == nil { // it was dropped, and comes back
					drops.Add(1)
					s = follow(b, url, "seat=onlooker", string(last))
				}
			}
		})
	}
	written := func() int64 {
		ms, err := st.Since(b.Context(), channel, 0, 1)
		if err != nil {
			b.Fatal(err)
		}
		return ms[0].N
	}
	before := written()

	b.ResetTimer()
	begin, beginCPU := time.Now(), cpu()
	var wait sync.WaitGroup
	for worker := range people {
		wait.Go(func() {
			for i := worker; i < b.N; i += people {
				// Points that do not touch, so that nothing is captured.
				turn := i / games
				game := i % games
				at := fmt.Sprintf("%c%d", "ABCDEFGHJKLMNOPQRST"[2*(turn%10)], 1+2*(turn/10%10))
				say(game%people, fmt.Sprintf("/place %s game:%d", at, game+1))
			}
		})
	}
	wait.Wait()
	for written() < before+2*int64(b.N) { // the line and the board of each turn
		time.Sleep(5 * time.Millisecond)
	}
	for boards.Load() < int64(pages*b.N) {
		time.Sleep(5 * time.Millisecond)
	}
	took, tookCPU := time.Since(begin), cpu()-beginCPU
	b.StopTimer()
	b.ReportMetric(float64(tookCPU.Microseconds())/1000/float64(b.N), "cpu-ms/turn")
	b.ReportMetric(float64(b.N)/took.Seconds(), "turns/s")
	b.ReportMetric(float64(drops.Load()), "drops")
}

// BenchmarkTurnInACrowdedRoom compares the processor time of a turn through the page, in
// a room of 200 games and in one of 20, by turns in one run. One iteration is 40 turns
// in each, played in all games in turn.
//
//	go test -tags goolm ./adapters/web -run - -bench CrowdedRoom -benchtime 100x
func BenchmarkTurnInACrowdedRoom(b *testing.B) {
	for _, numbered := range []bool{true, false} {
		b.Run(fmt.Sprintf("numbered=%t", numbered), func(b *testing.B) {
			const turns = 40
			crowds := [2]*crowd{}
			for i, games := range []int{20, 200} {
				_, url, _ := openBot(b, openStore(b, newFile(b)))
				crowds[i] = &crowd{b: b, url: url}
				crowds[i].join(games)
				crowds[i].play(400, numbered) // the caches are filled
			}
			var spent [2][]time.Duration
			for b.Loop() {
				for i, c := range crowds {
					begin := cpu()
					c.play(turns, numbered)
					spent[i] = append(spent[i], cpu()-begin)
				}
			}
			// Medians, because now and then a checkpoint or the collector has its turn.
			few, many := median(spent[0]), median(spent[1])
			b.ReportMetric(few.Seconds()*1000/turns, "few-cpu-ms/turn")
			b.ReportMetric(many.Seconds()*1000/turns, "many-cpu-ms/turn")
			b.ReportMetric(float64(many)/float64(few), "many/few")
		})
	}
}

// BenchmarkTurnBesideExports compares the median time of a turn through the page while
// eight people ask for all that is stored about them, again and again, with that of a
// turn alone, by turns in one run. One iteration is 40 turns of each.
//
//	go test -tags goolm ./adapters/web -run - -bench BesideExports -benchtime 20x
func BenchmarkTurnBesideExports(b *testing.B) {
	const exporters = 8
	st := openStore(b, newFile(b))
	_, url, _ := openBot(b, st)
	c := &crowd{b: b, url: url}
	c.join(20)
	for i := range 10_000 { // what the exporters have said
		name := fmt.Sprint("P", i%exporters)
		if _, err := st.Append(b.Context(), outbox.Message{Key: fmt.Sprint("said:", i), Room: channel, At: time.Now(), From: name, Text: "hello, everybody"}); err != nil {
			b.Fatal(err)
		}
	}
	var asked atomic.Int64
	export := func(stop <-chan struct{}, who int) {
		for {
			select {
			case <-stop:
				return
			default:
				seat := fmt.Sprint("name:P", who)
				s := fmt.Sprintf(`{"id":%q,"seat":%q,"text":"/privacy what:export"}`, id(1_000_000+int(asked.Add(1))), seat)
				if resp, body := ask(b, url, s, "Cookie", browserFor(seat).String()); resp.StatusCode != http.StatusOK || !strings.Contains(body, ".json") {
					b.Error(resp.Status, body)
					return
				}
			}
		}
	}
	var alone, beside []time.Duration
	for b.Loop() {
		alone = append(alone, c.play(40, true)...)
		stop := make(chan struct{})
		var exports sync.WaitGroup
		for who := range exporters {
			exports.Go(func() { export(stop, who) })
		}
		beside = append(beside, c.play(40, true)...)
		close(stop)
		exports.Wait()
	}
	b.ReportMetric(float64(asked.Load()), "exports")
	b.ReportMetric(median(alone).Seconds()*1000, "alone-ms/turn")
	b.ReportMetric(median(beside).Seconds()*1000, "beside-ms/turn")
	b.ReportMetric(float64(median(beside))/float64(median(alone)), "beside/alone")
}

// A crowd plays games in one room, two people in each.
type crowd struct {
	b            *testing.B
	url          string
	games        int
	turns, asked int
}

// join has the games opened and joined.
func (c *crowd) join(games int) {
	c.games = games
	for g := range games {
		c.say(2*g, "/new two-button 19x19")
		c.say(2*g+1, fmt.Sprint("/join game:", g+1))
	}
}

func (c *crowd) say(person int, text string) {
	c.asked++
	if a := post(c.b, c.url, submission{ID: id(c.asked), Seat: fmt.Sprint("name:P", person), Text: text}); a.Private {
		c.b.Fatalf("%s: %s", text, a.Message.Text)
	}
}

// play makes n turns, with or without the number of the game, and returns how long each took.
func (c *crowd) play(n int, numbered bool) (took []time.Duration) {
	for range n {
		game, turn := c.turns%c.games, c.turns/c.games
		// Two colours in turn on columns of their own, so that nothing is captured.
		text := fmt.Sprintf("/place %c%d", "ABCDEFGHJKLMNOPQRS"[turn%18], turn/18+1)
		if numbered {
			text += fmt.Sprint(" game:", game+1)
		}
		begin := time.Now()
		c.say(2*game+turn%2, text)
		took = append(took, time.Since(begin))
		c.turns++
	}
	return took
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// cpu returns the processor time that this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
