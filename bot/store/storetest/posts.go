package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

func postsInOrder(d *fixture) {
	m := d.open("g1", garden)
	d.play(m, post("first", match.Notice, m), post("second", match.Show, m))
	d.play(m, post("third", match.Notice, m))
	for _, want := range []string{"first", "second", "third"} {
		d.same("claimed", d.claim(), []string{want})
		d.same("claimed while it is in flight", d.claim(), []string{})
		d.settle(want)
	}
	d.same("claimed when all is shown", d.claim(), []string{})
}

func postsSideBySide(d *fixture) {
	here, there := d.open("g1", garden), d.open("g2", garden)
	away := d.open("g3", cellar)
	d.play(here, post("here 1", match.Notice, here), post("here 2", match.Notice, here))
	d.play(there, post("there", match.Notice, there))
	d.play(away, post("away", match.Notice, away))
	// Posts about no match have an order of their own.
	d.must(d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Posts: []match.OutboxPost{
		{ID: "room 1", Where: garden, Kind: match.Notice}, {ID: "room 2", Where: garden, Kind: match.Notice},
		{ID: "other room", Where: cellar, Kind: match.Notice},
	}}))
	got := d.claim()
	slices.Sort(got)
	d.same("claimed", got, []string{"away", "here 1", "other room", "room 1", "there"})
	d.settle("there")
	d.play(there, post("there 2", match.Notice, there))
	d.same("claimed", d.claim(), []string{"there 2"})
	// A match shown in two rooms waits in neither for the other.
	elsewhere := post("elsewhere", match.Notice, here)
	elsewhere.Where = cellar
	d.play(here, elsewhere)
	d.same("claimed", d.claim(), []string{"elsewhere"})
}

func postReadBack(d *fixture) {
	m := d.open("g1", match.Room{Platform: "matrix", Channel: "!r:example.org", Thread: "$root"})
	owed := match.OutboxPost{
		ID: "p1", Game: m.ID, Where: m.Where, Kind: match.Show, Seq: 7,
		Texts:   []bot.Text{text.Say("turn", text.Somebody(string(ada)), "D4", 3, text.ThisGame), text.Say("your turn", text.Say("nested", "x"))},
		Notify:  []match.PersonID{bob, ada},
		Private: true, Reply: "route/opaque?x=1",
	}
	d.play(m, owed)
	for attempt := 1; attempt <= 2; attempt++ {
		got := d.claimed()
		owed.Attempt, owed.Unsent = attempt, attempt == 1
		d.same("post", got, []match.OutboxPost{owed})
		d.pass(lease)
	}
}

func claimOnce(d *fixture) {
	m := d.open("g1", garden)
	d.play(m, post("p1", match.Notice, m))
	d.same("at first", d.claim(), []string{"p1"})
	d.pass(lease - time.Millisecond)
	d.same("just before its time", d.claim(), []string{})
	d.pass(time.Millisecond)
	d.same("at its time", d.claim(), []string{"p1"})
}

func claimedByStep(d *fixture) {
	m, other := d.open("g1", garden), d.open("g2", garden)
	take := func(m *match.Match, posts ...match.OutboxPost) (attempts []int) {
		d.Helper()
		step := d.turn(m, posts...)
		step.Claim = d.now.Add(lease)
		for i := range step.Posts {
			if step.Posts[i].For == "" {
				step.Posts[i].For = match.Outbox
			}
		}
		d.must(d.Commit(d.ctx(), step))
		*m = *step.Match
		for _, p := range step.Posts {
			attempts = append(attempts, p.Attempt)
		}
		return attempts
	}
	elsewhere := post("elsewhere", match.Show, m)
	elsewhere.Where = cellar
	d.same("attempts", take(m, post("a1", match.Notice, m), post("a2", match.Show, m), elsewhere), []int{1, 0, 1})
	d.same("another game", take(other, post("b1", match.Show, other)), []int{1})
	d.same("behind those", take(m, post("a3", match.Show, m)), []int{0})
	d.same("claimed meanwhile", d.claim(), []string{})
	d.settle("a1")
	d.same("claimed next", d.claim(), []string{"a3"}) // which supersedes a2
	d.settle("a3")
	d.settle("b1")
	d.same("after all are shown", take(m, post("a4", match.Show, m)), []int{1})
	// Nobody showed it: it is somebody else's after a while.
	d.pass(lease)
	got := d.claimed()
	ids := map[string]int{}
	for _, p := range got {
		ids[p.ID] = p.Attempt
	}
	d.same("claimed again", ids, map[string]int{"a4": 2, "elsewhere": 2})

	// An asker shows all its posts of a game, but nothing that is before or between
	// others'.
	mine := func(id, kind string) match.OutboxPost {
		p := post(id, kind, other)
		p.Where, p.For = attic, match.Asker
		return p
	}
	others := post("c3", match.Notice, other)
	others.Where = attic
	d.same("the asker's", take(other, mine("c1", match.Notice), mine("c2", match.Show), others, mine("c4", match.Show)), []int{1, 1, 0, 0})
	d.same("behind the asker's", take(other, mine("c5", match.Notice)), []int{0})
}

func claimsRenewed(d *fixture) {
	m := d.open("g1", garden)
	d.play(m, post("p1", match.Notice, m))
	first := d.claimed()
	d.pass(lease - time.Millisecond)
	d.must(d.Renew(d.ctx(), first, d.now.Add(lease)))
	d.pass(lease - time.Millisecond)
	d.same("while it is renewed", d.claim(), []string{})
	d.pass(time.Millisecond)
	second := d.claimed()
	d.same("its attempt", second[0].Attempt, 2)
	// The former holder can only report that the post was shown.
	d.must(d.Renew(d.ctx(), first, d.now.Add(5*lease)))
	d.must(d.Later(d.ctx(), "p1", 1, d.now, true))
	d.must(d.Refuse(d.ctx(), "p1", 1, "refused"))
	d.same("claimed by another", d.claim(), []string{})
	d.pass(lease)
	d.same("after the second claim", d.claim(), []string{"p1"})
	d.must(d.Settle(d.ctx(), "p1", "shown after all", nil, outbox.Decorations{}))
	d.pass(lease)
	d.same("shown", d.claim(), []string{})
}

func platformsLeftAlone(d *fixture) {
	m := d.open("g1", garden)
	here, there := post("here", match.Notice, m), post("there", match.Notice, m)
	there.Where.Platform = "elsewhere"
	d.play(m, here, there)
	got, err := d.Claim(d.ctx(), d.now, d.now.Add(lease), garden.Platform)
	d.must(err)
	d.same("one", len(got), 1)
	d.same("of the other platform", got[0].ID, "there")
	d.same("afterwards", d.claim(), []string{"here"})
}

func decorations(d *fixture) {
	row := func(kind, key string, n int64, data string) outbox.Row {
		return outbox.Row{Platform: "chat", Channel: "garden", Thread: "t", Game: "g1", Kind: kind, Key: key, Seq: 3, Of: match.Show, Target: "m1", Data: data,
			NotBefore: d.now, NotAfter: d.now.Add(time.Hour), Sleeps: n%2 == 0, Attempt: int(n), N: n}
	}
	stored := func() (data []string) {
		rows, err := d.Decorations(d.ctx())
		d.must(err)
		for _, r := range rows {
			data = append(data, r.Data)
		}
		return data
	}
	old, newer, other := row(outbox.Header, "m1", 5, "old"), row(outbox.Header, "m1", 7, "newer"), row(outbox.Clear, "m1", 6, "clear")
	d.must(d.Decorate(d.ctx(), outbox.Decorations{Put: []outbox.Row{old, other}}))
	m := d.open("g1", garden)
	d.play(m, post("p1", match.Show, m))
	d.claim()
	d.must(d.Settle(d.ctx(), "p1", "r", nil, outbox.Decorations{Put: []outbox.Row{newer}}))
	d.same("the newest of each key", stored(), []string{"clear", "newer"})
	rows, err := d.Decorations(d.ctx())
	d.must(err)
	newer.Every = 0
	d.same("as stored", rows, []outbox.Row{other, newer})
	d.must(d.Decorate(d.ctx(), outbox.Decorations{Put: []outbox.Row{old}, Gone: []outbox.Row{old}}))
	d.same("an older one does nothing", stored(), []string{"clear", "newer"})
	awake := other
	awake.Sleeps, awake.Attempt = false, 9
	d.must(d.Decorate(d.ctx(), outbox.Decorations{Changed: []outbox.Row{awake, old}}))
	rows, err = d.Decorations(d.ctx())
	d.must(err)
	d.same("changed", rows, []outbox.Row{awake, newer})
	d.must(d.Decorate(d.ctx(), outbox.Decorations{Gone: []outbox.Row{newer, other}}))
	d.must(d.Decorate(d.ctx(), outbox.Decorations{Changed: []outbox.Row{newer, other}}))
	d.same("done", stored(), []string(nil))
}

func racingClaims(d *fixture) {
	const n = 8
	want := []string{}
	for i := range n {
		m := d.open(match.GameID(fmt.Sprintf("g%d", i)), garden)
		id := fmt.Sprintf("p%d", i)
		d.play(m, post(id, match.Notice, m))
		want = append(want, id)
	}
	claimed := make([][]match.OutboxPost, n)
	for _, err := range atOnce(n, func(i int) (err error) {
		claimed[i], err = d.Claim(d.ctx(), d.now, d.now.Add(lease))
		return err
	}) {
		d.must(err)
	}
	got := []string{}
	for _, posts := range claimed {
		for _, p := range posts {
			got = append(got, p.ID)
		}
	}
	slices.Sort(got)
	d.same("claimed", got, want)
}

func supersede(d *fixture) {
	m, other := d.open("g1", garden), d.open("g2", garden)
	d.play(other, post("other show", match.Show, other))
	d.play(m, post("show 1", match.Show, m), post("status 1", match.Status, m))
	d.play(m, post("show 2", match.Show, m), post("status 2", match.Status, m))
	d.play(m, post("show 3", match.Show, m), post("remove", match.Remove, m))
	got := d.drain()
	slices.Sort(got[:2])
	d.same("shown", got, []string{"other show", "status 2", "show 3", "remove"})
}

func noticesStay(d *fixture) {
	m := d.open("g1", garden)
	want := []string{}
	for i := range 3 {
		notice := post(fmt.Sprint("notice ", i), match.Notice, m)
		want = append(want, notice.ID)
		d.play(m, post(fmt.Sprint("show ", i), match.Show, m), notice)
	}
	want = slices.Insert(want, 2, "show 2")
	d.same("shown", d.drain(), want)
}

func showInFlight(d *fixture) {
	m := d.open("g1", garden)
	d.play(m, post("show 1", match.Show, m))
	d.same("claimed", d.claim(), []string{"show 1"})
	d.play(m, post("show 2", match.Show, m))
	d.play(m, post("show 3", match.Show, m))
	// Nobody knows whether it has arrived: what is newer waits.
	d.same("claimed while it is in flight", d.claim(), []string{})
	d.settle("show 1")
	d.same("shown", d.drain(), []string{"show 3"})

	d.play(m, post("show 4", match.Show, m))
	d.same("claimed", d.claim(), []string{"show 4"})
	d.play(m, post("show 5", match.Show, m))
	d.pass(lease) // it may have arrived: it is shown again, to be found
	d.same("shown", d.drain(), []string{"show 4", "show 5"})

	d.play(m, post("show 6", match.Show, m))
	d.same("claimed", d.claim(), []string{"show 6"})
	d.must(d.Later(d.ctx(), "show 6", 1, d.now, true)) // it has not been sent
	d.play(m, post("show 7", match.Show, m))
	d.same("shown", d.drain(), []string{"show 7"})
	d.play(m, post("show 8", match.Show, m))
	d.same("claimed", d.claim(), []string{"show 8"})
	d.must(d.Later(d.ctx(), "show 8", 1, d.now, false)) // it may have been,
	got := d.claimed()
	d.same("it may be there", got[0].Unsent, false)
	d.must(d.Later(d.ctx(), "show 8", 2, d.now, true)) // however the second attempt ended
	d.play(m, post("show 9", match.Show, m))
	d.same("shown", d.drain(), []string{"show 8", "show 9"})
	receipt, _, err := d.Shown(d.ctx(), "g1", garden, match.Show, false)
	d.must(err)
	d.same("receipt", receipt, outbox.Receipt("receipt of show 9"))
}

func privateShow(d *fixture) {
	m := d.open("g1", garden)
	private := post("for Ada", match.Show, m)
	private.Private, private.Notify = true, []match.PersonID{ada}
	d.play(m, post("for all", match.Show, m), private)
	d.same("shown", d.drain(), []string{"for all", "for Ada"})
}

func settleTwice(d *fixture) {
	m := d.open("g1", garden)
	d.play(m, post("p1", match.Show, m), post("p2", match.Notice, m))
	d.same("claimed", d.claim(), []string{"p1"})
	d.must(d.Settle(d.ctx(), "p1", "first", nil, outbox.Decorations{}))
	d.must(d.Settle(d.ctx(), "p1", "second", nil, outbox.Decorations{}))
	receipt, _, err := d.Shown(d.ctx(), "g1", garden, match.Show, false)
	d.must(err)
	d.same("receipt", receipt, outbox.Receipt("first"))
	d.same("claimed", d.claim(), []string{"p2"})
	if err := d.Settle(d.ctx(), "never owed", "r", nil, outbox.Decorations{}); !errors.Is(err, bot.ErrNotFound) {
		d.Errorf("error is %v, want %v", err, bot.ErrNotFound)
	}
}

func lastReceipt(d *fixture) {
	m, other := d.open("g1", garden), d.open("g2", garden)
	shown := func(kind string) outbox.Receipt {
		d.Helper()
		r, _, err := d.Shown(d.ctx(), "g1", garden, kind, false)
		d.must(err)
		return r
	}
	d.same("before anything was shown", shown(match.Show), outbox.Receipt(""))
	d.play(m, post("show 1", match.Show, m))
	d.same("shown", d.drain(), []string{"show 1"})
	d.play(m, post("status", match.Status, m), post("show 2", match.Show, m))
	d.play(other, post("other", match.Show, other))
	d.same("before the second", shown(match.Show), outbox.Receipt("receipt of show 1"))
	d.drain()
	d.same("show", shown(match.Show), outbox.Receipt("receipt of show 2"))
	d.same("status", shown(match.Status), outbox.Receipt("receipt of status"))
	d.same("notice", shown(match.Notice), outbox.Receipt(""))

	// A status that was taken away is not there to be replaced, and taking away
	// what is not there takes nothing away.
	d.play(m, post("status 2", match.Status, m))
	d.drain()
	d.play(m, post("pointless", match.Remove, m))
	d.same("claimed", d.claim(), []string{"pointless"})
	d.must(d.Settle(d.ctx(), "pointless", "", nil, outbox.Decorations{}))
	d.same("status that stands", shown(match.Status), outbox.Receipt("receipt of status 2"))
	d.play(m, post("remove", match.Remove, m))
	d.drain()
	d.same("status that is gone", shown(match.Status), outbox.Receipt(""))
	d.same("show that stands", shown(match.Show), outbox.Receipt("receipt of show 2"))
	d.play(m, post("status 3", match.Status, m))
	d.drain()
	d.same("the next status", shown(match.Status), outbox.Receipt("receipt of status 3"))
}

// The first message of a game is where its thread begins: it is found from the
// game, and the game from it.
func firstReceipt(d *fixture) {
	m, other := d.open("g1", garden), d.open("g2", garden)
	first := func(game match.GameID) outbox.Receipt {
		d.Helper()
		_, r, err := d.Shown(d.ctx(), game, garden, match.Status, true) // whatever the last one is asked of
		d.must(err)
		return r
	}
	d.play(m, post("opened", match.Notice, m), post("show", match.Show, m))
	d.same("before anything was shown", first("g1"), outbox.Receipt(""))
	d.drain()
	d.play(m, post("later", match.Notice, m))
	d.play(other, post("other", match.Notice, other))
	d.drain()
	d.same("first", first("g1"), outbox.Receipt("receipt of opened"))
	d.same("of the other", first("g2"), outbox.Receipt("receipt of other"))
	for receipt, want := range map[outbox.Receipt]match.GameID{"receipt of opened": "g1", "receipt of later": "g1", "receipt of other": "g2"} {
		game, err := d.GameUnder(d.ctx(), garden.Platform, receipt)
		d.must(err)
		d.same(string(receipt), game, want)
	}
	for _, receipt := range []outbox.Receipt{"", "receipt of nothing"} {
		if _, err := d.GameUnder(d.ctx(), garden.Platform, receipt); !errors.Is(err, bot.ErrNotFound) {
			d.Errorf("under %q: error is %v, want %v", receipt, err, bot.ErrNotFound)
		}
	}
	if _, err := d.GameUnder(d.ctx(), "another platform", "receipt of opened"); !errors.Is(err, bot.ErrNotFound) {
		d.Errorf("on another platform: error is %v, want %v", err, bot.ErrNotFound)
	}
}

func park(d *fixture) {
	thread := match.Room{Platform: "web", Channel: "garden", Thread: "t"}
	m, inThread, away := d.open("g1", garden), d.open("g2", thread), d.open("g3", cellar)
	d.play(m, post("p1", match.Notice, m), post("p2", match.Notice, m))
	d.play(inThread, post("t1", match.Notice, inThread))
	d.play(away, post("away", match.Notice, away))
	d.parks(thread, "", true)
	got := d.claim()
	slices.Sort(got)
	d.same("claimed beside the thread", got, []string{"away", "p1"})
	d.parks(garden, "", true)
	d.settle("away")
	d.pass(lease)
	d.same("claimed", d.claim(), []string{})

	// Later posts are tried again, and the owner is not told again.
	d.play(m, post("p3", match.Notice, m))
	d.same("claimed", d.claim(), []string{"p3"})
	d.parks(garden, "", false)
	d.play(m, post("p4", match.Notice, m))
	d.same("shown", d.drain(), []string{"p4"})
	d.parks(garden, "", true) // it had been in reach meanwhile
}

func unpark(d *fixture) {
	m, other, away := d.open("g1", garden), d.open("g2", garden), d.open("g3", cellar)
	d.unparks(garden, false)
	d.play(m, post("p1", match.Notice, m), post("s1", match.Show, m), post("r1", match.Status, m), post("p2", match.Notice, m))
	d.play(other, post("o1", match.Notice, other))
	d.play(away, post("away", match.Notice, away))
	d.claim()
	for _, where := range []match.Room{garden, cellar} {
		d.park(where, "")
	}
	d.unparks(garden, false) // a moment ago it could not be reached
	d.pass(lease + 2*time.Minute)
	d.unparks(match.Room{Platform: "another platform", Channel: garden.Channel}, false)
	d.unparks(garden, true)
	got := d.drain() // what the cellar is owed is not among it
	d.same("shown of the first game", filterOut(got, "o1"), []string{"p1", "s1", "p2"})
	d.same("shown of both", len(got), 4)
	d.unparks(garden, false)

	// A post after which a newer one was shown stays where it is.
	d.play(m, post("p3", match.Notice, m))
	d.claim()
	d.park(garden, "")
	d.play(m, post("p4", match.Notice, m))
	d.same("shown", d.drain(), []string{"p4"})
	d.play(other, post("o2", match.Notice, other))
	d.claim()
	d.park(garden, "")
	d.pass(lease + 2*time.Minute)
	d.unparks(garden, true)
	d.same("shown", d.drain(), []string{"o2"})

	// A room that can surely be reached again gets its posts at once.
	d.play(other, post("o3", match.Notice, other))
	d.claim()
	d.park(garden, "")
	d.unparks(garden, false)
	some, err := d.Unpark(d.ctx(), garden, d.now, true)
	d.must(err)
	d.same("something to take up", some, true)
	d.same("shown", d.drain(), []string{"o3"})
}

func parkGame(d *fixture) {
	m, other := d.open("g1", garden), d.open("g2", garden)
	d.play(m, post("p1", match.Notice, m), post("p2", match.Notice, m))
	d.play(other, post("o1", match.Notice, other), post("r1", match.Status, other))
	d.parks(garden, m.ID, true)
	d.parks(garden, m.ID, false)
	d.same("shown of the other game", d.drain(), []string{"o1", "r1"})
	d.parks(garden, m.ID, false) // what was shown of the other game says nothing of this thread
	d.pass(lease + 2*time.Minute)
	d.unparks(garden, true)
	d.same("shown", d.drain(), []string{"p1", "p2"})
	d.parks(garden, m.ID, true) // it had been in reach meanwhile
}

func parkedLonger(d *fixture) {
	m := d.open("g1", garden)
	d.play(m, post("p1", match.Notice, m), post("p2", match.Notice, m))
	tries := 0
	for end := d.now.Add(24 * time.Hour); d.now.Before(end); d.pass(5 * time.Minute) { // somebody talks all day
		d.unpark(garden)
		got := d.claim()
		if len(got) == 0 {
			continue
		}
		d.same("tried", got, []string{"p1"}) // never what comes after it
		tries++
		d.park(garden, "")
	}
	if tries < 5 || tries > 12 {
		d.Errorf("tried %d times in a day", tries)
	}
}

func parkedBesideOthers(d *fixture) {
	m, other := d.open("g1", garden), d.open("g2", garden)
	d.play(m, post("p1", match.Notice, m))
	for range 6 {
		d.same("claimed", d.claim(), []string{"p1"})
		d.pass(lease)
	}
	d.same("claimed", d.claim(), []string{"p1"})
	d.park(garden, "")
	d.play(other, post("o1", match.Notice, other))
	d.same("shown of the other game", d.drain(), []string{"o1"}) // it is permitted again
	d.pass(18 * time.Hour)
	d.unparks(garden, true)
	d.same("shown", d.drain(), []string{"p1"})
}

func later(d *fixture) {
	m, other := d.open("g1", garden), d.open("g2", garden)
	d.play(m, post("p1", match.Notice, m), post("p2", match.Notice, m))
	d.same("claimed", d.claim(), []string{"p1"})
	d.must(d.Later(d.ctx(), "p1", 1, d.now.Add(5*time.Second), true))
	d.play(other, post("o1", match.Notice, other))
	d.same("claimed", d.claim(), []string{"o1"})
	d.pass(5*time.Second - time.Millisecond)
	d.same("claimed too early", d.claim(), []string{})
	d.pass(time.Millisecond)
	d.same("claimed afterwards", d.claim(), []string{"p1"}) // long before the claim would have run out
	d.settle("p1")
	d.must(d.Later(d.ctx(), "p1", 1, d.now, true)) // it was shown after all
	d.same("claimed", d.claim(), []string{"p2"})
}

func refuse(d *fixture) {
	m := d.open("g1", garden)
	d.play(m, post("p1", match.Notice, m), post("p2", match.Notice, m))
	d.same("claimed", d.claim(), []string{"p1"})
	d.must(d.Refuse(d.ctx(), "p1", 1, "refused by the platform"))
	d.same("shown", d.drain(), []string{"p2"})
	d.pass(24 * time.Hour)
	d.unparks(garden, false)
	d.same("claimed", d.claim(), []string{})
}

// filterOut returns ids without one.
func filterOut(ids []string, id string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(s string) bool { return s == id })
}

// oracle delivers posts as badly as it can happen: claims run out with the
// post shown or not, the platform asks to wait, posts come at any moment. What
// was shown in the end must be what the rules of the outbox promise.
func oracle(d *fixture) {
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 0))
		where := match.Room{Platform: "web", Channel: fmt.Sprint("room ", seed)}
		m := d.open(match.GameID(fmt.Sprint("g", seed)), where)
		var owed, shown []match.OutboxPost
		deliver := func(fate int) (n int) {
			posts := d.claimed()
			for _, p := range posts {
				switch fate {
				case 0: // it never arrives
				case 1: // it arrives and nobody writes it down; the platform knows it by its id
					shown = append(shown, p)
				case 2:
					d.must(d.Later(d.ctx(), p.ID, p.Attempt, d.now.Add(time.Second), true))
				default:
					shown = append(shown, p)
					d.must(d.Settle(d.ctx(), p.ID, outbox.Receipt(p.ID), nil, outbox.Decorations{}))
				}
			}
			return len(posts)
		}
		for range 40 {
			switch rng.IntN(3) {
			case 0:
				var posts []match.OutboxPost
				for range 1 + rng.IntN(3) {
					kind := []string{match.Show, match.Notice, match.Status}[rng.IntN(3)]
					posts = append(posts, post(fmt.Sprintf("%d/%d", seed, len(owed)+len(posts)), kind, m))
				}
				d.play(m, posts...)
				owed = append(owed, posts...)
			case 1:
				d.pass(time.Duration(rng.IntN(int(2 * lease))))
			case 2:
				deliver(rng.IntN(5))
			}
		}
		for d.pass(lease); deliver(3) > 0; {
		}
		d.promises(seed, owed, shown)
	}
}

// promises checks the posts that were shown against those that were stored.
func (d *fixture) promises(seed uint64, owed, shown []match.OutboxPost) {
	d.Helper()
	seen := map[string]bool{}
	shown = slices.DeleteFunc(shown, func(p match.OutboxPost) bool { // what the platform recognizes
		again := seen[p.ID]
		seen[p.ID] = true
		return again
	})
	place := map[string]int{}
	for i, p := range owed {
		place[p.ID] = i
	}
	last := map[string]string{}
	for _, p := range owed {
		last[p.Kind] = p.ID
		if p.Kind == match.Notice && !seen[p.ID] {
			d.Errorf("seed %d: notice %s was never shown", seed, p.ID)
		}
	}
	for _, kind := range []string{match.Show, match.Status} {
		if id := last[kind]; id != "" && !seen[id] {
			d.Errorf("seed %d: the last %s, %s, was never shown", seed, kind, id)
		}
	}
	if !slices.IsSortedFunc(shown, func(a, b match.OutboxPost) int { return place[a.ID] - place[b.ID] }) {
		d.Errorf("seed %d: shown out of order: %v", seed, shown)
	}
}
