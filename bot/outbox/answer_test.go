package outbox

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// refusal makes an answer to ada, or to somebody else: "a1 by bob".
func refusal(id string) match.OutboxPost {
	id, who, other := strings.Cut(id, " by ")
	if !other {
		who = "ada"
	}
	return match.OutboxPost{ID: id, Where: match.Room{Platform: "chat", Channel: "club"}, Kind: match.Answer, For: match.PersonID(who), Private: true,
		Refused: true, Texts: []text.Message{text.Say("no" + id[1:])}, NotAfter: time.Now().Add(10 * time.Minute)}
}

// Answers have lanes of their own and never delay a board. Each row gives the fates of a
// board and of answers, when each answer is stored, and what the chat shows in the end.
func TestAnswers(t *testing.T) {
	for _, c := range []struct{ what, fates, answers, want string }{
		{"each at once, beside the board", "", "0 a1, 10ms a2 by bob", "b1@0.3 a1+no1@0.25 a2+no2@0.26"},
		{"one after the other", "", "0 a1, 400ms a2", "b1@0.3 a1+no1@0.25 a2+no2@0.65"},
		{"those that wait for the same person are one message", "", "0 a1, 100ms a2, 150ms a3, 160ms a4 by bob",
			"b1@0.3 a1+no1@0.25 a4+no4@0.41 a2+no2+no3@0.5"},
		{"after a hold the board comes first", "b1: held", "1s a1, 5s a2, 6s a3 by bob, 7s a4, 8s b2", "b2@20.6 a1+no1+no2+no4@20.85 a3+no3@21.1"},
		{"what may have been sent is looked for, and shown no second time with more", "a1: sent and unclear", "0 a1, 100ms a2, 2s a3",
			"b1@0.3 a1+no1@0.25 a2+no2+no3@5.75"},
		{"one that failed takes the others with it", "a1: fails", "0 a1, 2s a2", "b1@0.3 a1+no1@5.5 a2+no2@5.75"},
		{"a room that cannot be written to takes only the answer", "a1: forbidden", "0 a1, 2s a2", "b1@0.3 a2+no2@2.25 a1 refused"},
		{"a place that is gone, too", "a1: gone", "0 a1", "b1@0.3 a1 refused"},
		{"nobody waits any more", "a1: " + strings.Repeat("limited, ", 60) + "limited", "0 a1", "b1@0.3 a1 refused"},
		{"a parked board leaves them", "b1: forbidden", "0 a1, 200ms a2", "a1+no1@0.25 a2+no2@0.5 b1 parked"},
	} {
		t.Run(c.what, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.fates = map[string][]string{}
				if of, fates, ok := strings.Cut(c.fates, ": "); ok {
					w.fates[of] = strings.Split(fates, ", ")
				}
				w.begin()
				w.commit("board", nothing, board("b1", 1))
				for i, a := range strings.Split(c.answers, ", ") {
					at, id, _ := strings.Cut(a, " ")
					after, err := time.ParseDuration(at)
					must(t, err)
					time.Sleep(time.Until(w.began.Add(after)))
					o := refusal(id)
					if id[0] == 'b' {
						o = board(id, i+2)
					}
					w.commit(fmt.Sprint("r", i), nothing, o)
				}
				if got := w.after(20 * time.Minute); got != c.want {
					t.Errorf("%s\nnot\n%s", got, c.want)
				}
			})
		})
	}
}

// Refusals wait until half of the burst is left; a board does not.
func TestRefusalsLeaveTheBurst(t *testing.T) {
	inWorld(t, func(w *world) {
		w.begin()
		for range 8 { // of 10; the chat gives 5 a second
			w.process.out.queue.accounts.of("chat").Spend(time.Now(), 1)
		}
		w.commit("refusal", nothing, refusal("a1"))
		w.commit("notice", nothing, notice("n1", 1))
		if got, want := w.after(time.Minute), "n1@0.3 a1+no1@1.25"; got != want {
			t.Errorf("%s\nnot\n%s", got, want)
		}
	})
}

// Where the burst is always spent they wait for half a minute.
func TestRefusalsWaitNotForEver(t *testing.T) {
	inWorld(t, func(w *world) {
		w.begin()
		w.commit("refusal", func() {
			spent := NewAccount(0.001, 1)
			spent.Spend(time.Now(), 1)
			w.process.out.queue.accounts.Store("chat", spent)
		}, refusal("a1"))
		if got, want := w.after(2*time.Minute), "a1+no1@30.25"; got != want {
			t.Errorf("%s\nnot\n%s", got, want)
		}
	})
}

// A slowSettler takes a moment before it stores that a post was shown.
type slowSettler struct{ Rows }

func (r slowSettler) Settle(ctx context.Context, post string, receipt Receipt, line *Message, c Decorations, next *match.OutboxPost) error {
	time.Sleep(50 * time.Millisecond)
	return r.Rows.Settle(ctx, post, receipt, line, c, next)
}

// Refusals that were shown together are not shown again while that is being stored, one
// after the other.
func TestSettlingMergedRefusals(t *testing.T) {
	inWorld(t, func(w *world) {
		w.begin()
		w.process.out.Rows = slowSettler{w.process}
		for _, id := range []string{"a1", "a2", "a3", "a4"} {
			w.commit(id, nothing, refusal(id))
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(580 * time.Millisecond) // the first of the three is stored
		w.commit("a5", nothing, refusal("a5 by bob"))
		if got, want := w.after(time.Minute), "a1+no1@0.25 a2+no2+no3+no4@0.55 a5+no5@0.87"; got != want {
			t.Errorf("%s\nnot\n%s", got, want)
		}
	})
}

// A question, and an answer with buttons, are shown by themselves.
func TestOnlyRefusalsMerge(t *testing.T) {
	inWorld(t, func(w *world) {
		w.begin()
		question, choice := refusal("a2"), refusal("a4")
		question.Question = &match.Question{Command: "score"}
		choice.Controls = []match.Control{{Label: "game", Command: "score"}}
		for i, o := range []match.OutboxPost{refusal("a1"), question, refusal("a3"), choice, refusal("a5")} {
			w.commit(fmt.Sprint("r", i), nothing, o)
			time.Sleep(10 * time.Millisecond) // while a1 is shown
		}
		if got, want := w.after(time.Minute), "a1+no1@0.25 a2+no2@0.5 a3+no3+no5@0.75 a4+no4@1"; got != want {
			t.Errorf("%s\nnot\n%s", got, want)
		}
	})
}

// A question does not wait for the burst behind a refusal to the same person, which goes with
// it. A refusal alone waits.
func TestQuestionsDoNotWaitForTheBurst(t *testing.T) {
	inWorld(t, func(w *world) {
		w.begin()
		for range 8 {
			w.process.out.queue.accounts.of("chat").Spend(time.Now(), 1)
		}
		question := refusal("a2")
		question.Refused, question.Question = false, &match.Question{Command: "score"}
		w.commit("r1", nothing, refusal("a1"))
		w.commit("r2", nothing, question)
		w.commit("r3", nothing, refusal("a3 by bob"))
		if got, want := w.after(time.Minute), "a1+no1@0.25 a2+no2@0.5 a3+no3@1.45"; got != want {
			t.Errorf("%s\nnot\n%s", got, want)
		}
	})
}

// An answer whose file is too large is shown without it.
func TestFileThatIsTooLarge(t *testing.T) {
	inWorld(t, func(w *world) {
		w.fates = map[string][]string{"a1": {"too large"}}
		w.begin()
		question := refusal("a1")
		question.Question = &match.Question{Command: "replay"}
		w.commit("r", nothing, question)
		if got, want := w.after(time.Minute), "a1+no1@0.5"; got != want {
			t.Errorf("%s\nnot\n%s", got, want)
		}
	})
}

// Killed at any step, a person gets each line at least once, and a message whose fate is
// known no second time.
func TestAnswersAfterAKill(t *testing.T) {
	step := 1
	for reached := true; reached; step++ {
		reached = false
		inWorld(t, func(w *world) {
			w.at = func(n int, _ string) (string, string) {
				if n != step {
					return "", ""
				}
				reached = true
				return "after", "killed"
			}
			w.play([]plan{{0, "a", "a1"}, {100 * time.Millisecond, "a", "a2"}, {150 * time.Millisecond, "a", "a3"}})
			for _, line := range []string{"+no1", "+no2", "+no3"} {
				if !strings.Contains(w.stands(), line) {
					t.Errorf("step %d: %s", step, w.stands())
				}
			}
		})
	}
	if step < 8 {
		t.Errorf("only %d steps", step)
	}
}
