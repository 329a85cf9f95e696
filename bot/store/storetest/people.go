package storetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// person returns the id of somebody.
func (d *fixture) person(who outbox.User) match.PersonID {
	d.Helper()
	id, err := d.Person(d.ctx(), who)
	d.must(err)
	return id
}

// people returns who ids are.
func (d *fixture) people(ids ...match.PersonID) map[match.PersonID]outbox.User {
	d.Helper()
	people, err := d.People(d.ctx(), ids)
	d.must(err)
	return people
}

func onePerson(d *fixture) {
	// Long enough not to be in an id by chance.
	const number = "231798412345678901"
	who := outbox.User{Platform: "discord", ID: number, Name: "Ada"}
	id := d.person(who)
	if id == "" || strings.Contains(string(id), number) {
		d.Errorf("id is %q", id)
	}
	d.same("id the second time", d.person(who), id)
	renamed := who
	renamed.Name = "Ada L."
	d.same("id under another name", d.person(renamed), id)
	d.same("name", d.people(id), map[match.PersonID]outbox.User{id: renamed})
	d.same("id without a name", d.person(outbox.User{Platform: "discord", ID: number}), id)
	d.same("name", d.people(id), map[match.PersonID]outbox.User{id: renamed})

	namesake := d.person(outbox.User{Platform: "matrix", ID: number, Name: "Ada"})
	if namesake == id {
		d.Error("people of two platforms are one")
	}
}

func racingPeople(d *fixture) {
	const n = 8
	ids := make([]match.PersonID, n)
	for _, err := range atOnce(n, func(i int) (err error) {
		ids[i], err = d.Person(d.ctx(), outbox.User{Platform: "web", ID: "1", Name: fmt.Sprint("name ", i)})
		return err
	}) {
		d.must(err)
	}
	for _, id := range ids {
		d.same("id", id, ids[0])
	}
}

func strangeNames(d *fixture) {
	long := strings.Repeat("\u202eab\x01\x07\x1b[31m\r\n\t\u200f\u0301\U0001f468\u200d\U0001f9b3 ' \" ; -- % <@&1> @everyone ", 5000)
	names := []string{" ", "'; DROP TABLE person; --", "\u202e\u202d\u2066\u200f\u200e", string([]rune(long)[:5000])}
	for i, name := range names {
		who := outbox.User{Platform: "matrix", ID: fmt.Sprint("@u", i, ":example.org"), Name: name}
		id := d.person(who)
		d.same("person", d.people(id), map[match.PersonID]outbox.User{id: who})
	}
}

// preferences returns what somebody has chosen.
func (d *fixture) preferences(p match.PersonID) match.Preferences {
	d.Helper()
	_, all, err := d.Players(d.ctx(), []match.PersonID{p})
	d.must(err)
	prefs := all[p]
	prefs.Person = p
	return prefs
}

func preferences(d *fixture) {
	of := d.preferences
	choose := func(prefs match.Preferences) {
		d.Helper()
		d.must(d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Prefs: &prefs}))
	}
	a := d.person(outbox.User{Platform: "web", ID: "1", Name: "Ada"})
	b := d.person(outbox.User{Platform: "web", ID: "2", Name: "Bob"})
	d.same("at first", of(a), match.Preferences{Person: a})
	d.same("of nobody", of("unknown"), match.Preferences{Person: "unknown"})

	mine := match.Preferences{Person: a, Remind: "direct", Zone: "Europe/Paris", Quiet: clock.Hours{From: 23 * 60, To: 6*60 + 45}, Lang: "de", Theme: "slate"}
	choose(mine)
	d.same("chosen", of(a), mine)
	d.same("of somebody else", of(b), match.Preferences{Person: b})
	mine = match.Preferences{Person: a, Remind: "none", Quiet: clock.Hours{From: 0, To: 60}}
	choose(mine)
	d.same("chosen again", of(a), mine)
	theirs := match.Preferences{Person: b, Zone: "America/New_York"}
	choose(theirs)
	for _, was := range []match.Preferences{{Person: b}, mine} {
		err := d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Prefs: &match.Preferences{Person: b, Lang: "de"}, PrefsWas: &was})
		if !errors.Is(err, bot.ErrConflict) {
			d.Errorf("what was chosen meanwhile is overwritten: %v", err)
		}
	}
	was := theirs
	theirs.Lang = "ja"
	d.must(d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Prefs: &theirs, PrefsWas: &was}))
	d.same("chosen by one who knew", of(b), theirs)

	if err := d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Prefs: &match.Preferences{}}); err == nil {
		d.Error("preferences of nobody are kept")
	}

	d.must(d.Erase(d.ctx(), bot.Forgetting{Person: a, Who: outbox.User{Platform: "web", ID: "1", Name: "Ada"}}))
	d.same("of who is erased", of(a), match.Preferences{Person: a})
	choose(mine) // in a request that was under way
	d.same("of who is erased, later", of(a), match.Preferences{Person: a})
	d.same("of who is not", of(b), theirs)
	choose(match.Preferences{Person: b})
	d.same("back to the default", of(b), match.Preferences{Person: b})
}

func erased(d *fixture) {
	ada := outbox.User{Platform: "web", ID: "1", Name: "Ada"}
	bob := outbox.User{Platform: "web", ID: "2", Name: "Bob"}
	a, b := d.person(ada), d.person(bob)
	m := d.open("g1", garden, func(m *match.Match) { m.Black, m.White = a, b })
	d.play(m)
	before, log, err := d.Match(d.ctx(), "g1")
	d.must(err)

	d.must(d.Erase(d.ctx(), bot.Forgetting{Person: a, Who: ada}))
	d.must(d.Erase(d.ctx(), bot.Forgetting{Person: a, Who: ada})) // who is forgotten may be forgotten again
	d.same("people", d.people(a, b, "unknown"), map[match.PersonID]outbox.User{b: bob})
	d.same("nobody", d.people(), map[match.PersonID]outbox.User{})
	after, logAfter, err := d.Match(d.ctx(), "g1")
	d.must(err)
	d.same("match", after, before)
	d.same("events", logAfter, log)
	if again := d.person(ada); again == a {
		d.Error("who was erased is recognized")
	}
}
