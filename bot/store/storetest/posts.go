package storetest

import (
	"errors"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

func postReadBack(d *fixture) {
	m := d.open("g1", match.Room{Platform: "matrix", Channel: "!r:example.org", Thread: "$root"})
	owed := match.OutboxPost{
		ID: "p1", Game: m.ID, Where: m.Where, Kind: match.Show, Seq: 7,
		Texts:   []bot.Text{text.Say("turn", text.Somebody(string(ada)), "D4", 3, text.ThisGame), text.Say("your turn", text.Say("nested", "x"))},
		Notify:  []match.PersonID{bob, ada},
		Private: true, Reply: "route/opaque?x=1", Tried: true,
	}
	d.play(m, owed, post("p2", match.Notice, m))
	d.play(m, post("p3", match.Notice, m))
	owed.N, owed.Due = 1, d.now
	got := d.waits()
	d.same("the first", got[0], owed)
	d.same("in order", d.waiting(), []string{"p1", "p2", "p3"})
	d.pass(time.Second)
	got[1].Attempt, got[1].Tried, got[1].Due = 3, true, d.now.Add(time.Minute)
	d.must(d.Change(d.ctx(), got[1], outbox.Waiting, "the line is broken"))
	d.same("the second", d.waits()[1], got[1])
}

// fails says that an attempt to show a post has failed.
func (d *fixture) fails(o match.OutboxPost) {
	d.Helper()
	o.Attempt, o.Due = o.Attempt+1, d.now
	d.must(d.Change(d.ctx(), o, outbox.Waiting, "the line is broken"))
}

// Commit marks as tried what is first in its lane, and what an asker shows after that.
func triedByStep(d *fixture) {
	m, other := d.open("g1", garden), d.open("g2", garden)
	take := func(m *match.Match, posts ...match.OutboxPost) (tried []bool) {
		d.Helper()
		step := d.turn(m, posts...)
		d.must(d.Commit(d.ctx(), step))
		*m = *step.Match
		for _, p := range step.Posts {
			tried = append(tried, p.Tried)
		}
		return tried
	}
	elsewhere := post("elsewhere", match.Show, m)
	elsewhere.Where = cellar
	d.same("tried", take(m, post("a1", match.Notice, m), post("a2", match.Show, m), elsewhere), []bool{true, false, true})
	d.same("another game", take(other, post("b1", match.Show, other)), []bool{true})
	d.same("behind those", take(m, post("a3", match.Show, m)), []bool{false})
	d.settle("a1", "a2", "a3")
	d.same("after all are shown", take(m, post("a4", match.Show, m)), []bool{true})
	var tried []string
	for _, p := range d.waits() {
		if p.Tried {
			tried = append(tried, p.ID)
		}
	}
	d.same("as stored", tried, []string{"elsewhere", "a4", "b1"})

	// An asker shows all its posts of a game, but nothing that is before or between
	// others'.
	mine := func(id, kind string) match.OutboxPost {
		p := post(id, kind, other)
		p.Where, p.Asker = attic, true
		return p
	}
	others := post("c3", match.Notice, other)
	others.Where = attic
	d.same("the asker's", take(other, mine("c1", match.Notice), mine("c2", match.Show), others, mine("c4", match.Show)), []bool{true, true, false, false})
	d.same("behind the asker's", take(other, mine("c5", match.Notice)), []bool{false})
}

// A newer board, status or sheet supersedes older ones once it is tried, if all may see it. A
// post that waits no longer is left as it is.
func changePosts(d *fixture) {
	m := d.open("g1", garden)
	private := post("p5", match.Show, m)
	private.Private = true
	d.play(m, post("p1", match.Notice, m), post("p2", match.Show, m), post("p3", match.Show, m), post("p4", match.Notice, m), private)
	all := d.waits()
	next := all[2]
	next.Tried = true
	d.must(d.Settle(d.ctx(), "p1", "r", nil, outbox.Decorations{}, &next))
	d.same("left", d.waits(), []match.OutboxPost{next, all[3], all[4]})
	for _, gone := range all[:2] {
		if err := d.Change(d.ctx(), gone, outbox.Waiting, ""); !errors.Is(err, bot.ErrNotFound) {
			d.Errorf("%s: error is %v", gone.ID, err)
		}
	}
	for _, o := range all[3:] {
		o.Tried = true
		d.must(d.Change(d.ctx(), o, outbox.Waiting, ""))
	}
	d.same("left", d.waiting(), []string{"p3", "p4", "p5"})
	d.must(d.Change(d.ctx(), next, outbox.Refused, "filtered"))
	d.same("left", d.waiting(), []string{"p4", "p5"})
	d.park(garden, "")
	d.must(d.Change(d.ctx(), all[3], outbox.Waiting, "")) // it was being sent meanwhile
	d.same("left", d.waiting(), []string{})
	d.pass(day)
	d.unparks(garden, true)
	d.same("left", d.waiting(), []string{"p4", "p5"})

	other := d.open("g2", garden)
	d.play(other, post("s1", match.Sheet, other), post("s2", match.Sheet, other), post("s3", match.Sheet, other))
	newest := d.waits()[4]
	newest.Tried = true
	d.must(d.Change(d.ctx(), newest, outbox.Waiting, ""))
	d.same("the message of an event", d.waiting(), []string{"p4", "p5", "s3"})
	d.settle("s3")
	shown, err := d.Delivered(d.ctx(), []string{"s3", "s2", "p4", "unheard of"})
	d.must(err)
	d.same("delivered", shown, map[string]bool{"s3": true})
	if shown, err = d.Delivered(d.ctx(), nil); err != nil || len(shown) != 0 {
		d.Errorf("of no posts: %v, %v", shown, err)
	}
}

// Answers have lanes by person. They are not parked with their room, are no messages of a
// game, and are deleted with their person and when nobody can ask again.
func answers(d *fixture) {
	answer := func(id string, who match.PersonID) match.OutboxPost {
		return match.OutboxPost{ID: id, Kind: match.Answer, Where: match.Room{Platform: garden.Platform, Channel: garden.Channel, Thread: "$root"}, For: who, Private: true,
			Refused: true, Lang: "ja", Reply: "route", NotAfter: d.now.Add(day), Texts: []bot.Text{text.Say("no", "x")},
			Question: &match.Question{Command: "score", Args: map[string]string{"game": "1"}, Game: "g1", Moderator: true, Except: []string{"adjudicate"}},
			Controls: []match.Control{{Label: "label.more", Command: "more", Args: map[string]string{"seq": "1"}, Ask: "at"}}}
	}
	give := func(o match.OutboxPost) match.OutboxPost {
		step := &match.Step{Request: d.request(), At: d.now, By: o.For, Posts: []match.OutboxPost{o}}
		d.must(d.Commit(d.ctx(), step))
		o = step.Posts[0]
		o.Due = d.now
		return o
	}
	m := d.open("g1", garden)
	d.play(m, post("board", match.Show, m))
	outside := answer("b1", bob)
	outside.Where.Thread = ""
	first, other, second := give(answer("a1", ada)), give(outside), give(answer("a2", ada))
	d.same("tried", []bool{first.Tried, other.Tried, second.Tried}, []bool{true, true, false})
	d.same("as stored", d.waits()[:3], []match.OutboxPost{first, other, second})
	d.park(garden, "")
	d.same("after the room is parked", d.waiting(), []string{"a1", "b1", "a2"})
	d.settle("a1", "b1")
	d.parks(garden, "", false) // that an answer was shown says nothing about boards
	if _, err := d.GameUnder(d.ctx(), garden.Platform, "a1"); !errors.Is(err, bot.ErrNotFound) {
		d.Errorf("the answer is a message of a game: %v", err)
	}
	d.must(d.Forget(d.ctx(), bot.Forgetting{Person: ada}))
	d.same("after ada is forgotten", d.waiting(), []string{})
	d.pass(31 * day)
	d.prune()
	give(answer("b1", bob)) // its row is gone
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
	d.must(d.Settle(d.ctx(), "p1", "r", nil, outbox.Decorations{Put: []outbox.Row{newer}}, nil))
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

func settleTwice(d *fixture) {
	m := d.open("g1", garden)
	d.play(m, post("p1", match.Show, m), post("p2", match.Notice, m))
	d.must(d.Settle(d.ctx(), "p1", "first", nil, outbox.Decorations{}, nil))
	d.must(d.Settle(d.ctx(), "p1", "second", nil, outbox.Decorations{}, nil))
	receipt, _, err := d.Shown(d.ctx(), "g1", garden, match.Show, false)
	d.must(err)
	d.same("receipt", receipt, outbox.Receipt("first"))
	d.same("waits", d.waiting(), []string{"p2"})
	if err := d.Settle(d.ctx(), "never owed", "r", nil, outbox.Decorations{}, nil); !errors.Is(err, bot.ErrNotFound) {
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
	d.must(d.Settle(d.ctx(), "pointless", "", nil, outbox.Decorations{}, nil))
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
	d.same("beside the thread", d.waiting(), []string{"away", "p1", "p2"})
	d.parks(garden, "", true)
	d.settle("away")
	d.same("waits", d.waiting(), []string{})

	// Later posts are tried again, and the owner is not told again.
	d.play(m, post("p3", match.Notice, m))
	d.same("waits", d.waiting(), []string{"p3"})
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
	for _, where := range []match.Room{garden, cellar} {
		d.park(where, "")
	}
	d.unparks(garden, false) // a moment ago it could not be reached
	d.pass(3 * time.Minute)
	d.unparks(match.Room{Platform: "another platform", Channel: garden.Channel}, false)
	d.unparks(garden, true)
	d.same("shown", d.drain(), []string{"p1", "s1", "p2", "o1"}) // without the posts of the cellar
	d.unparks(garden, false)

	// A post after which a newer one was shown stays where it is.
	d.play(m, post("p3", match.Notice, m))
	d.park(garden, "")
	d.play(m, post("p4", match.Notice, m))
	d.same("shown", d.drain(), []string{"p4"})
	d.play(other, post("o2", match.Notice, other))
	d.park(garden, "")
	d.pass(3 * time.Minute)
	d.unparks(garden, true)
	d.same("shown", d.drain(), []string{"o2"})

	// A private message says nothing of what all may see.
	d.play(m, post("p5", match.Show, m))
	d.park(garden, "")
	private := post("p6", match.Notice, m)
	private.Private = true
	d.play(m, private)
	d.same("shown", d.drain(), []string{"p6"})
	d.pass(3 * time.Minute)
	d.unparks(garden, true)
	d.same("shown", d.drain(), []string{"p5"})

	// A room that can surely be reached again gets its posts at once.
	d.play(other, post("o3", match.Notice, other))
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
	d.pass(3 * time.Minute)
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
		got := d.waits()
		if len(got) == 0 {
			continue
		}
		d.same("tried", got[0].ID, "p1") // never what comes after it
		tries++
		d.fails(got[0])
		d.park(garden, "")
	}
	if tries < 5 || tries > 12 {
		d.Errorf("tried %d times in a day", tries)
	}
}

func parkedBesideOthers(d *fixture) {
	m, other := d.open("g1", garden), d.open("g2", garden)
	d.play(m, post("p1", match.Notice, m))
	for range 7 {
		d.fails(d.waits()[0])
		d.pass(time.Minute)
	}
	d.park(garden, "")
	d.play(other, post("o1", match.Notice, other))
	d.same("shown of the other game", d.drain(), []string{"o1"}) // it is permitted again
	d.pass(18 * time.Hour)
	d.unparks(garden, true)
	d.same("shown", d.drain(), []string{"p1"})
}
