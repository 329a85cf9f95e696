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

// Each fate of one post or decoration, and what the chat then shows of both games, with
// times in seconds: by the outbox, and by the asker where that differs.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ fates, outbox, asker string }{
		{"", "n1@0.3 b1@0.6 b3@0.9 n2@2.3 o1@0.3 o2@4.3", ""},
		{"n1: slow", "n1@70 b3@70.3 n2@70.6 o1@0.3 o2@4.3", "n1@65.3 b3@65.6 n2@65.9 o1@0.3 o2@4.3"},
		{"n1: slower", "n1@80.3 b3@80.6 n2@80.9 o1@0.3 o2@4.3", "n1@65.3 b3@65.6 n2@65.9 o1@0.3 o2@4.3"},
		{"n1: last moment", "n1@75 b3@75.3 n2@75.6 o1@0.3 o2@4.3", "n1@60 b1@60.3 b3@60.6 n2@60.9 o1@0.3 o2@4.3"},
		{"n1: fails", "n1@5.6 b3@5.9 n2@6.2 o1@0.3 o2@4.3", ""},
		{"n1: lost", "n1@0.3 b3@5.9 n2@6.2 o1@0.3 o2@4.3", ""},
		{"n1: unclear", "n1@5.6 b3@5.9 n2@6.2 o1@0.3 o2@4.3", ""},
		{"n1: sent and unclear", "n1@0.3 b3@5.9 n2@6.2 o1@0.3 o2@4.3", ""},
		{"n1: limited", "n1@20.6 b3@20.9 n2@21.2 o1@0.3 o2@4.3", ""},
		{"n1: limited, limited", "n1@40.9 b3@41.2 n2@41.5 o1@0.3 o2@4.3", ""},
		{"n1: held", "n1@20.6 b3@21.2 n2@21.5 o1@0.3 o2@20.9", ""},
		{"n1: held, held", "n1@40.9 b3@41.5 n2@41.8 o1@0.3 o2@41.2", "n1@41.2 b3@41.5 n2@41.8 o1@0.3 o2@40.9"},
		{"n1: lost, held", "n1@0.3 b3@26.2 n2@26.5 o1@0.3 o2@4.3", ""},
		{"n1: refused", "n1@5.6 b3@5.9 n2@6.2 o1@0.3 o2@4.3", ""},
		{"n1: refused, refused, refused", "b3@16.2 n2@16.5 o1@0.3 o2@4.3 n1 refused", ""},
		{"n1: forbidden", "b2@0.7 b3@1 n2@2.3 o1@0.3 o2@4.3 n1 parked b1 parked", ""},
		{"n1: gone, forbidden", "b2@0.7 b3@1 n2@2.3 o1@0.3 o2@4.3 n1 parked b1 parked", ""},
		{"n1: thread gone", "b2@0.7 b3@1 n2@2.3 o1@0.3 o2@4.3 n1 parked b1 parked", ""},
		{"n1: too large", "b1@0.6 b3@0.9 n2@2.3 o1@0.3 o2@4.3", ""},
		{"n1: panics", "n1@5.6 b3@5.9 n2@6.2 o1@0.3 o2@4.3", ""},
		{"n1: panics, panics, panics", "b3@16.2 n2@16.5 o1@0.3 o2@4.3 n1 refused", ""},
		{"n1: sent and panics", "n1@0.3 b3@5.9 n2@6.2 o1@0.3 o2@4.3", ""},
		{"word n1: stale", "b1@0.3 b2@0.7 b3@1 n2@2.3 o1@0.3 o2@4.3", ""},
		{"word n1: fails", "n1@5.3 b3@5.6 n2@5.9 o1@0.3 o2@4.3", "n1@0.3 b1@0.6 b3@0.9 n2@2.3 o1@0.3 o2@4.3"},
		{"b1: slow", "n1@0.3 b1@70.3 b3@70.6 n2@70.9 o1@0.3 o2@4.3", "n1@0.3 b1@65.6 b3@65.9 n2@66.2 o1@0.3 o2@4.3"},
		{"b1: slower", "n1@0.3 b1@80.6 b3@80.9 n2@81.2 o1@0.3 o2@4.3", "n1@0.3 b1@65.6 b3@65.9 n2@66.2 o1@0.3 o2@4.3"},
		{"b1: fails", "n1@0.3 b1@5.9 b3@6.2 n2@6.5 o1@0.3 o2@4.3", ""},
		{"b1: lost", "n1@0.3 b1@0.6 b3@6.2 n2@6.5 o1@0.3 o2@4.3", ""},
		{"b1: sent and unclear", "n1@0.3 b1@0.6 b3@6.2 n2@6.5 o1@0.3 o2@4.3", ""},
		{"b1: limited", "n1@0.3 b3@20.9 n2@21.2 o1@0.3 o2@4.3", ""},
		{"b1: held", "n1@0.3 b3@20.9 n2@21.5 o1@0.3 o2@21.2", ""},
		{"b1: lost, limited", "n1@0.3 b1@0.6 b3@26.5 n2@26.8 o1@0.3 o2@4.3", ""},
		{"b1: refused, refused, refused", "n1@0.3 b3@16.5 n2@16.8 o1@0.3 o2@4.3 b1 refused", ""},
		{"b1: forbidden", "n1@0.3 n2@2.3 o1@0.3 o2@4.3 b1 parked b2 parked b3 parked", "n1@0.3 b3@0.9 n2@2.3 o1@0.3 o2@4.3 b1 parked b2 parked"},
		{"b1: thread gone", "n1@0.3 n2@2.3 o1@0.3 o2@4.3 b1 parked b2 parked b3 parked", "n1@0.3 b3@0.9 n2@2.3 o1@0.3 o2@4.3 b1 parked b2 parked"},
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
					{ID: "n" + request, Game: "g", Where: match.Room{Platform: "chat", Channel: "club"}, Kind: match.Notice, Seq: int(request[0]), Asker: true}}}
				own, err := w.process.out.Commit(context.Background(), step, func() (any, error) { return nil, w.process.Commit(context.Background(), step) })
				must(t, err)
				return w.process.out.Give(context.Background(), own), time.Since(began)
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
			synctest.Wait()
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
		synctest.Wait()
		where := match.Room{Platform: "chat", Channel: "club"}
		owe := func(key string) {
			must(t, w.process.out.Owe(context.Background(), where, Owes{Kind: Ending, Key: key, NotBefore: time.Now().Add(14 * time.Minute)}))
		}
		owe("answered")
		must(t, w.process.out.Owe(t.Context(), where, Owes{Kind: Ending, Key: "answered", Done: true}))
		owe("thinking")
		time.Sleep(time.Minute)
		synctest.Wait()
		before := w.tries[Ending]
		w.process.stop()
		w.start()
		time.Sleep(time.Second)
		synctest.Wait()
		if after := w.tries[Ending]; before != 0 || after != 1 {
			t.Errorf("tried %d times before the restart and %d times in all", before, after)
		}
	})
}

// A board that may be stored as tried, but then is superseded before it is sent, does not come after
// the notice that follows it, if the process is killed before it sends the newer board.
func TestKilledBetweenANoticeAndANewerBoard(t *testing.T) {
	b1, n2, b3 := board("b1", 1), notice("n2", 2), board("b3", 3)
	for what, c := range map[string]struct {
		posts        []match.OutboxPost
		begin        int    // how many are stored when the first is shown
		fate         string // of b1
		fails, where string // which step fails, having had its effect or not
		want         string
	}{
		"it is only stored":                          {[]match.OutboxPost{b1, n2, b3}, 3, "", "", "", "n2@0.4 b3@1"},
		"that it is superseded is not stored":        {[]match.OutboxPost{b1, n2, b3}, 3, "", "change b1", "before", "n2@5.4 b3@6"},
		"it is unclear whether it is tried":          {[]match.OutboxPost{notice("n0", 0), b1, n2, b3}, 2, "", "settle n0", "after", "n0@0.3 n2@6.1 b3@6.7"},
		"that it was not sent is not stored":         {[]match.OutboxPost{b1, n2, b3}, 1, "limited", "change b1", "before", "n2@20.7 b3@21.3"},
		"that it was not sent is perhaps not stored": {[]match.OutboxPost{b1, n2, b3}, 1, "limited", "change b1", "after", "n2@20.7 b3@21.3"},
	} {
		t.Run(what, func(t *testing.T) {
			inWorld(t, func(w *world) {
				p, _ := w.make()
				w.fates = map[string][]string{"b1": {c.fate}}
				w.at = func(_ int, what string) (where, how string) {
					switch what {
					case "settle n2": // by which b3 would be stored as tried
						w.at = nil
						return "before", "killed"
					case c.fails:
						c.fails = ""
						return c.where, "fails"
					}
					return "", ""
				}
				for n, o := range c.posts {
					if n == c.begin {
						p.out.Deliver(t.Context(), p) //nolint:errcheck // it fails
					}
					w.commit(o.ID, nothing, o)
				}
				for w.now() == p {
					p.out.Deliver(t.Context(), p) //nolint:errcheck // it is killed
					time.Sleep(100 * time.Millisecond)
				}
				if got := w.after(time.Minute); got != c.want {
					t.Errorf("%s, not %s", got, c.want)
				}
			})
		})
	}
}

// notice and board make posts of the game g.
func notice(id string, seq int) match.OutboxPost {
	return match.OutboxPost{ID: id, Game: "g", Where: match.Room{Platform: "chat", Channel: "club"}, Kind: match.Notice, Seq: seq}
}

func board(id string, seq int) match.OutboxPost {
	o := notice(id, seq)
	o.Kind = match.Show
	return o
}

func nothing() {}

// failOnce makes a step fail once, without effect.
func (w *world) failOnce(step string) {
	w.at = func(_ int, what string) (string, string) {
		if what != step {
			return "", ""
		}
		w.at = nil
		return "before", "fails"
	}
}

// The store is written to only when a step is stored and when a post was shown, unless
// decorations change.
func TestWrites(t *testing.T) {
	inWorld(t, func(w *world) {
		var calls []string
		w.at = func(_ int, what string) (string, string) {
			if !strings.HasPrefix(what, "show ") && what != "decorate" {
				calls = append(calls, what)
			}
			return "", ""
		}
		w.play(slices.DeleteFunc(slices.Clone(aGame), func(p plan) bool { return p.game == "h" }))
		if got, want := strings.Join(calls, ", "), "read decorations, read posts, commit 0, settle n1, commit 1, commit 2, settle b1, settle b3, "+
			"commit 3, settle n2, read posts"; got != want {
			t.Errorf("%s\nnot\n%s", got, want)
		}
	})
}

// Two steps of a game are stored one after the other, but the outbox learns of the second
// one first: their posts come in their order. It may also read posts from the store
// before it learns that they were stored, and may have shown them by then: they come once.
func TestStoredBeforeKnown(t *testing.T) {
	for _, c := range []struct {
		read   time.Duration // before the outbox learns of it; 0: it does not read
		second string
	}{{0, "0.6"}, {100 * time.Millisecond, "0.6"}, {400 * time.Millisecond, "0.7"}} {
		for _, asker := range []bool{false, true} {
			inWorld(t, func(w *world) {
				w.begin()
				first := notice("n1", 1)
				first.Asker = asker
				own := w.commit("1", func() {
					if c.read > 0 {
						w.process.out.Reread()
						time.Sleep(c.read)
					}
					go w.commit("2", nothing, notice("n2", 2))
					time.Sleep(100 * time.Millisecond)
				}, first)
				if len(own) > 0 {
					t.Errorf("the asker shows %s, which the outbox shows", own[0].ID)
				}
				if got := w.after(time.Minute); got != "n1@0.3 n2@"+c.second || w.tries["n1"]+w.tries["n2"] != 2 {
					t.Errorf("read %v, asker %v: %s, %v", c.read, asker, got, w.tries)
				}
			})
		}
	}
}

// The outbox may have read both posts of a step before it learns that they were stored, and be
// showing the first of them. The asker shows the second one after that, if at all.
func TestFirstOfTwoStoredBeforeKnown(t *testing.T) {
	for read := 50 * time.Millisecond; read < 800*time.Millisecond; read += 100 * time.Millisecond {
		inWorld(t, func(w *world) {
			w.begin()
			began := time.Now()
			first, second := board("b1", 1), notice("n1", 1)
			first.Asker, second.Asker = true, true
			own := w.commit("1", func() {
				w.process.out.Reread()
				time.Sleep(read)
			}, first, second)
			want := "b1@0.3 n1@0.6"
			for _, p := range own {
				if at := time.Since(began); p.ID != "n1" || at < 300*time.Millisecond {
					t.Errorf("read %v: the asker shows %s after %v", read, p.ID, at)
				}
				must(t, w.process.out.Settle(t.Context(), p, "by the asker"))
				want = "b1@0.3"
			}
			if got := w.after(time.Minute); got != want {
				t.Errorf("read %v: %s", read, got)
			}
		})
	}
}

// While the first of three posts is sent, the outbox learns of the third before it learns
// of the second: they come in their order.
func TestMissingPost(t *testing.T) {
	inWorld(t, func(w *world) {
		w.begin()
		w.commit("1", nothing, notice("n1", 1))
		go w.commit("2", func() { time.Sleep(400 * time.Millisecond) }, notice("n2", 2))
		time.Sleep(50 * time.Millisecond)
		w.commit("3", nothing, notice("n3", 3))
		if got := w.after(time.Minute); got != "n1@0.3 n2@0.6 n3@0.9" {
			t.Error(got)
		}
	})
}

// A post that is unparked while a newer one of its game is being shown comes after it, not
// beside it.
func TestUnparkedWhileNewerIsShown(t *testing.T) {
	for _, asker := range []bool{false, true} {
		inWorld(t, func(w *world) {
			w.fates = map[string][]string{"n1": {"forbidden"}}
			w.begin()
			w.commit("1", nothing, notice("n1", 1))
			time.Sleep(time.Second)
			b1 := board("b1", 1)
			b1.Asker = asker
			own := w.commit("2", nothing, b1)
			time.Sleep(50 * time.Millisecond)
			w.process.unpark()
			for _, post := range own {
				r, owes, err := w.process.Deliver(context.Background(), post)
				must(t, err)
				must(t, w.process.out.Settle(context.Background(), post, r, owes...))
			}
			want := "b1@1.3 n1@1.6"
			if asker {
				want = "b1@1.35 n1@1.65"
			}
			if got := w.after(time.Minute); got != want {
				t.Errorf("asker %v: %s, not %s", asker, got, want)
			}
		})
	}
}

// However often others are unparked, a post is tried again neither sooner nor later.
func TestRereadWhilePostsWait(t *testing.T) {
	for what, want := range map[string]string{
		"a year ahead": "b0@3600",
		// The second attempt takes too long: that it failed is not stored.
		"not stored": "b0@90.6",
	} {
		t.Run(what, func(t *testing.T) {
			inWorld(t, func(w *world) {
				b0 := board("b0", 1)
				if what == "not stored" {
					w.fates = map[string][]string{"b0": {"fails", "slower"}}
				} else {
					b0.Attempt, b0.Due = 1, time.Now().AddDate(1, 0, 0)
				}
				w.disk.posts = []*stored{{b0, Waiting}}
				w.start()
				for range 120 {
					time.Sleep(time.Minute / 2)
					w.process.out.Reread()
				}
				if got := w.after(time.Minute); got != want {
					t.Errorf("%s, not %s", got, want)
				}
			})
		})
	}
}

// A platform that asks to wait is left alone, even if that cannot be stored.
func TestRetryAfterIsNotStored(t *testing.T) {
	inWorld(t, func(w *world) {
		w.fates = map[string][]string{"n1": {"limited"}}
		w.failOnce("change n1")
		w.begin()
		w.commit("1", nothing, notice("n1", 1))
		if got := w.after(time.Minute); got != "n1@20.6" {
			t.Error(got)
		}
	})
}

// A slowReader gets the posts that wait only after a second.
type slowReader struct{ *process }

func (r slowReader) Waiting(ctx context.Context) ([]match.OutboxPost, error) {
	posts, err := r.process.Waiting(ctx)
	time.Sleep(time.Second)
	return posts, err
}

// A post that was shown while the posts that wait were read is not shown again. One whose
// next attempt is a year away, by a clock that was ahead, comes after an hour.
func TestRead(t *testing.T) {
	inWorld(t, func(w *world) {
		late := board("b0", 1)
		late.Game, late.Attempt, late.Due = "h", 1, time.Now().AddDate(1, 0, 0)
		w.disk.posts = []*stored{{late, Waiting}}
		w.start()
		synctest.Wait()
		w.process.out.Rows = slowReader{w.process}
		w.commit("1", nothing, notice("n1", 1))
		synctest.Wait()
		w.process.out.Reread()
		if got := w.after(2 * time.Hour); got != "n1@0.3 b0@3600" || w.tries["n1"] != 1 {
			t.Errorf("%s, n1 sent %d times", got, w.tries["n1"])
		}
	})
}

// A board that only some may see supersedes none.
func TestSupersede(t *testing.T) {
	b := New(Config{Now: time.Now})
	private := board("b3", 3)
	private.Private = true
	for n, o := range []match.OutboxPost{board("b1", 1), board("b2", 2), notice("n1", 2), private} {
		o.N = n
		b.put(&pending{Pending: Pending{OutboxPost: o}})
	}
	var left []string
	for _, p := range b.lanes[private.Lane()].posts {
		left = append(left, p.ID)
	}
	if got := fmt.Sprint(left); got != "[b2 n1 b3]" {
		t.Errorf("left are %s", got)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
