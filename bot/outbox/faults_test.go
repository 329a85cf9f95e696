package outbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// What is shown of both games, and when, in seconds, whatever happens to one post or
// decoration: as the outbox shows it, and where that differs as the asker does.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ fates, outbox, asker string }{
		{"", "n1@0.3 b1@0.6 b3@0.9 n2@2.3 o1@0.3 o2@4.3", ""},
		{"n1: slow", "n1@70 b3@70.3 n2@70.6 o1@0.3 o2@4.3", "n1@66.3 b3@66.6 n2@66.9 o1@0.3 o2@4.3"},
		{"n1: slower", "n1@100.3 b3@100.6 n2@100.9 o1@0.3 o2@4.3", "n1@66.3 b3@66.6 n2@66.9 o1@0.3 o2@4.3"},
		{"n1: last moment", "n1@75 b3@75.3 n2@75.6 o1@0.3 o2@4.3", "n1@60 b1@60.3 b3@60.6 n2@60.9 o1@0.3 o2@4.3"},
		{"n1: fails", "n1@6.3 b3@6.6 n2@6.9 o1@0.3 o2@4.3", ""},
		{"n1: lost", "n1@0.3 b3@6.6 n2@6.9 o1@0.3 o2@4.3", ""},
		{"n1: unclear", "n1@6.3 b3@6.6 n2@6.9 o1@0.3 o2@4.3", ""},
		{"n1: sent and unclear", "n1@0.3 b3@6.6 n2@6.9 o1@0.3 o2@4.3", ""},
		{"n1: limited", "n1@22.3 b3@22.6 n2@22.9 o1@0.3 o2@4.3", ""},
		{"n1: limited, limited", "n1@44.3 b3@44.6 n2@44.9 o1@0.3 o2@4.3", ""},
		{"n1: held", "n1@20.6 b3@21.2 n2@21.5 o1@0.3 o2@20.9", ""},
		{"n1: held, held", "n1@40.9 b3@41.5 n2@41.8 o1@0.3 o2@41.2", ""},
		{"n1: lost, held", "n1@0.3 b3@26.9 n2@27.2 o1@0.3 o2@4.3", ""},
		{"n1: refused", "n1@6.3 b3@6.6 n2@6.9 o1@0.3 o2@4.3", ""},
		{"n1: refused, refused, refused", "b3@18.6 n2@18.9 o1@0.3 o2@4.3 n1 refused", ""},
		{"n1: forbidden", "b2@0.7 b3@1 n2@2.3 o1@0.3 o2@4.3 n1 parked b1 parked", ""},
		{"n1: gone, forbidden", "b2@0.7 b3@1 n2@2.3 o1@0.3 o2@4.3 n1 parked b1 parked", ""},
		{"n1: thread gone", "b2@0.7 b3@1 n2@2.3 o1@0.3 o2@4.3 n1 parked b1 parked", ""},
		{"n1: too large", "b1@0.6 b3@0.9 n2@2.3 o1@0.3 o2@4.3", ""},
		{"n1: panics", "n1@6.3 b3@6.6 n2@6.9 o1@0.3 o2@4.3", ""},
		{"n1: panics, panics, panics", "b3@18.6 n2@18.9 o1@0.3 o2@4.3 n1 refused", ""},
		{"n1: sent and panics", "n1@0.3 b3@6.6 n2@6.9 o1@0.3 o2@4.3", ""},
		{"word n1: stale", "b1@0.3 b2@0.7 b3@1 n2@2.3 o1@0.3 o2@4.3", ""},
		{"word n1: fails", "n1@6.3 b3@6.6 n2@6.9 o1@0.3 o2@4.3", "n1@0.3 b1@0.6 b3@0.9 n2@2.3 o1@0.3 o2@4.3"},
		{"b1: slow", "n1@0.3 b1@70.3 b3@70.6 n2@70.9 o1@0.3 o2@4.3", "n1@0.3 b1@66.3 b3@66.6 n2@66.9 o1@0.3 o2@4.3"},
		{"b1: slower", "n1@0.3 b1@102.3 b3@102.6 n2@102.9 o1@0.3 o2@4.3", "n1@0.3 b1@66.3 b3@66.6 n2@66.9 o1@0.3 o2@4.3"},
		{"b1: fails", "n1@0.3 b1@6.3 b3@6.6 n2@6.9 o1@0.3 o2@4.3", ""},
		{"b1: lost", "n1@0.3 b1@0.6 b3@6.6 n2@6.9 o1@0.3 o2@4.3", ""},
		{"b1: sent and unclear", "n1@0.3 b1@0.6 b3@6.6 n2@6.9 o1@0.3 o2@4.3", ""},
		{"b1: limited", "n1@0.3 b3@22.3 n2@22.6 o1@0.3 o2@4.3", ""},
		{"b1: held", "n1@0.3 b3@20.9 n2@21.5 o1@0.3 o2@21.2", ""},
		{"b1: lost, limited", "n1@0.3 b1@0.6 b3@28.6 n2@28.9 o1@0.3 o2@4.3", ""},
		{"b1: refused, refused, refused", "n1@0.3 b3@18.6 n2@18.9 o1@0.3 o2@4.3 b1 refused", ""},
		{"b1: forbidden", "n1@0.3 n2@2.3 o1@0.3 o2@4.3 b1 parked b3 parked", "n1@0.3 b3@0.9 n2@2.3 o1@0.3 o2@4.3 b1 parked"},
		{"b1: thread gone", "n1@0.3 n2@2.3 o1@0.3 o2@4.3 b1 parked b3 parked", "n1@0.3 b3@0.9 n2@2.3 o1@0.3 o2@4.3 b1 parked"},
		{"b1: too large", "n1@0.3 b1@0.9 b3@1.2 n2@2.3 o1@0.3 o2@4.3", "n1@0.3 b3@0.9 n2@2.3 o1@0.3 o2@4.3"},
		{"b1: too large, too large", "n1@0.3 b3@1.2 n2@2.3 o1@0.3 o2@4.3", "n1@0.3 b3@0.9 n2@2.3 o1@0.3 o2@4.3"},
		{"word b1: stale", "n1@0.3 b2@0.7 b3@1 n2@2.3 o1@0.3 o2@4.3", ""},
		{"header: fails, held", "n1@0.3 b1@0.6 b3@0.9 n2@21.45 o1@0.3 o2@21.15", "n1@0.3 b1@0.6 b3@0.9 n2@21.15 o1@0.3 o2@21.45"},
		{"header: gone", "n1@0.3 b1@0.6 b3@0.9 n2@2.3 o1@0.3 o2@4.3", ""},
		{"header: limited, panics", "n1@0.3 b1@0.6 b3@0.9 n2@2.3 o1@0.3 o2@4.3", ""},
		{"clear: lost, refused", "n1@0.3 b1@0.6 b3@0.9 n2@2.3 o1@0.3 o2@4.3", ""},
		{"clear: panics, panics, panics", "n1@0.3 b1@0.6 b3@0.9 n2@2.3 o1@0.3 o2@4.3", ""},
		{"attach: fails, sent and panics", "n1@0.3 b1@0.6 b3@0.9 n2@2.3 o1@0.3 o2@4.3", ""},
		{"attach: held, limited", "n1@0.3 b1@0.6 b3@21.15 n2@21.45 o1@0.3 o2@20.85", "n1@0.3 b1@0.6 b3@20.85 n2@21.45 o1@0.3 o2@21.15"},
	} {
		for _, asker := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/asker %v", c.fates, asker), func(t *testing.T) {
				inWorld(t, func(w *world) {
					want := c.outbox
					if w.asker = asker; asker && c.asker != "" {
						want = c.asker
					}
					w.fates = map[string][]string{}
					if of, fates, ok := strings.Cut(c.fates, ": "); ok {
						w.fates[of] = strings.Split(fates, ", ")
					}
					w.play(aGame)
					if got := w.stands(); got != want {
						t.Errorf("%s\nnot\n%s", got, want)
					}
				})
			})
		}
	}
}

// The process is killed, or a call of the store or the chat fails, before and after each
// step: each notice is shown once, and the newest board, in their order.
func TestEveryStep(t *testing.T) {
	for _, asker := range []bool{false, true} {
		for _, where := range []string{"before", "after"} {
			for _, how := range []string{"killed", "fails"} {
				t.Run(fmt.Sprintf("%s %s/asker %v", how, where, asker), func(t *testing.T) {
					step := 1
					for reached := true; reached; step++ {
						reached = false
						inWorld(t, func(w *world) {
							what := ""
							w.asker = asker
							w.at = func(n int, call string) (string, string) {
								if n != step {
									return "", ""
								}
								reached, what = true, call
								return where, how
							}
							w.play(aGame)
							got := strings.Fields(w.stands())
							for i := range got {
								got[i], _, _ = strings.Cut(got[i], "@")
							}
							got = slices.DeleteFunc(got, func(m string) bool { return m == "b1" || m == "b2" || m == "o1" }) // newer boards come
							if got := strings.Join(got, " "); got != "n1 b3 n2 o2" {
								t.Errorf("step %d, %s: %s", step, what, w.stands())
							}
						})
						if t.Failed() {
							return
						}
					}
					if step < 30 {
						t.Errorf("only %d steps", step)
					}
				})
			}
		}
	}
}

// However many games there are, so many are sent at once; the others come right after.
func TestLanesAtOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		var plans []plan
		for n := range 100 {
			plans = append(plans, plan{0, match.GameID(fmt.Sprint("g", n)), fmt.Sprint("n", n)})
		}
		w.play(plans)
		at := map[string]int{}
		for _, m := range w.shown {
			_, when, _ := strings.Cut(m, "@")
			at[when]++
		}
		if got := fmt.Sprint(at); got != "map[0.3:32 0.6:32 0.9:32 1.2:4]" {
			t.Errorf("shown at once: %s", got)
		}
	})
}

// An asker waits a second for what is before its posts, and then leaves them to the
// outbox. It shows the post of its first request for 600 ms.
func TestAskerWaits(t *testing.T) {
	for takes, want := range map[time.Duration]string{600 * time.Millisecond: "asker after 600ms", 2 * time.Second: "outbox after 1s"} {
		inWorld(t, func(w *world) {
			w.start()
			synctest.Wait()
			take := func(request string) ([]Post, time.Duration) {
				began := time.Now()
				step := &match.Step{Request: request, At: time.Now(), Posts: []match.OutboxPost{
					{ID: "n" + request, Game: "g", Where: match.Room{Platform: "chat", Channel: "club"}, Kind: match.Notice, Seq: int(request[0]), For: match.Asker}}}
				w.process.out.Assign(step)
				must(t, w.process.Commit(step))
				return w.process.out.Give(context.Background(), w.process.out.Take(context.Background(), step, nil)), time.Since(began)
			}
			first, _ := take("1")
			time.AfterFunc(takes, func() { must(t, w.process.out.Settle(context.Background(), first[0], "m1")) })
			second, waited := take("2")
			got := fmt.Sprint("outbox after ", waited)
			if len(second) > 0 {
				got = fmt.Sprint("asker after ", waited)
				must(t, w.process.out.Settle(context.Background(), second[0], "m2"))
			}
			time.Sleep(time.Minute)
			if shown := len(w.shown) > 0; got != want || shown != (want[0] == 'o') {
				t.Errorf("%s, not %s; shown by the outbox: %v", got, want, shown)
			}
		})
	}
}

// A decoration that was put off ends after a restart, and not before; one that has been
// done by somebody else does not come.
func TestPutOffUntilARestart(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start()
		where := match.Room{Platform: "chat", Channel: "club"}
		owe := func(key string) {
			must(t, w.process.out.Owe(context.Background(), where, Owes{Kind: Ending, Key: key, NotBefore: time.Now().Add(14 * time.Minute)}))
		}
		owe("answered")
		w.process.out.Done("chat", Ending, "answered")
		owe("thinking")
		time.Sleep(time.Minute)
		before := w.tries[Ending]
		w.process.stop()
		w.start()
		time.Sleep(time.Second)
		if after := w.tries[Ending]; before != 0 || after != 1 {
			t.Errorf("tried %d times before the restart and %d times in all", before, after)
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
