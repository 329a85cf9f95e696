package store_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// SQLite leaves no copies of what was erased in the pages from which rows were moved
// when these were split.
func TestErasedLeavesNoTraces(t *testing.T) {
	ctx := t.Context()
	name := newFile(t)
	s := open(t, name)
	rng := rand.New(rand.NewPCG(3, 3))
	who := make([]outbox.User, 120)
	people := make([]match.PersonID, len(who))
	mark := func(i int) string { return []string{"zyxq", "stay"}[i%2] }
	for _, i := range rng.Perm(len(who)) {
		var err error
		who[i] = outbox.User{Platform: "chat", ID: fmt.Sprintf("%03d%sid", i, mark(i)), Name: fmt.Sprintf("%sname%03d", mark(i), i)}
		people[i], err = s.Person(ctx, who[i])
		must(t, err)
		_, err = s.Hold(ctx, bot.Holder{Platform: "chat", ID: who[i].ID, Looks: who[i].ID + mark(i) + "looks", Secret: "s"}, bot.Holder{})
		must(t, err)
	}
	for _, i := range rng.Perm(len(who)) {
		m := &match.Match{ID: match.GameID(fmt.Sprint("g", i)), Rules: "two-button@1", Setup: rules.Setup{W: 9, H: 9},
			Opener: people[i], Where: match.Room{Platform: "chat", Channel: "c"}, Opened: noon, Standing: match.Standing{State: match.Ended, Changed: noon, Seq: 3}}
		step := &match.Step{Request: fmt.Sprint("r", i), At: noon, By: people[i], Match: m, New: true, Where: m.Where, Prefs: &match.Preferences{Person: people[i], Zone: fmt.Sprint(mark(i), "zone", i)},
			Answer: match.Reply{Texts: []bot.Text{text.Say("unknown", who[i].Name)}}}
		for seq := 1; seq <= 3; seq++ {
			step.Events = append(step.Events, match.Event{Seq: seq, At: noon, By: people[i], Body: match.ParseBody(fmt.Sprintf("comment 1 %scomment%d of %d", mark(i), seq, i))})
		}
		must(t, s.Commit(ctx, step))
	}
	for i := 0; i < len(who); i += 2 {
		must(t, s.Erase(ctx, bot.Forgetting{Person: people[i], Who: who[i]}))
	}
	var all []byte
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(name + suffix)
		must(t, err)
		all = append(all, data...)
	}
	for _, trace := range []string{"id", "name", "looks", "zone", "comment"} {
		if n := bytes.Count(all, []byte("zyxq"+trace)); n > 0 {
			t.Errorf("%s: %d traces of those who are erased", trace, n)
		}
		if n := bytes.Count(all, []byte("stay"+trace)); n < len(who)/2 {
			t.Errorf("%s: %d traces of those who stay", trace, n)
		}
	}
}
