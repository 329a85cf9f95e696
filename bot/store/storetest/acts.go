package storetest

import (
	"fmt"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// does commits a step in which a moderator does something: in a channel, or without one to a
// whole server.
func (d *fixture) does(by match.PersonID, where match.Room, server, what string) {
	d.Helper()
	d.must(d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, By: by,
		Act: &match.Act{Where: where, Server: server, What: text.Say("act.x", text.Somebody("p7"), what)}}))
}

// did lists acts: who did what.
func did(acts []match.Act) (out []string) {
	for _, a := range acts {
		out = append(out, string(a.By)+" "+a.What.Args[1].Value)
	}
	return out
}

// acts: what moderators do is stored with the step in which they do it, and found by its room,
// with what was done to the whole server of the room, the newest first.
func acts(d *fixture) {
	in := func(where match.Room, server string, skip, limit int) []string {
		d.Helper()
		all, err := d.Acts(d.ctx(), where, server, skip, limit)
		d.must(err)
		return did(all)
	}
	server := match.Room{Platform: garden.Platform}
	elsewhere := garden
	elsewhere.Platform = "mail"
	d.same("at first", in(garden, "club", 0, 9), []string(nil))
	d.does("p1", garden, "", "a")
	d.pass(time.Second)
	d.does("p2", cellar, "", "b")
	d.does("p2", server, "club", "c")
	d.does("p1", server, "other", "d")
	d.does("", garden, "", "e")
	d.does("p3", elsewhere, "", "f")
	d.same("in a channel of a server", in(garden, "club", 0, 9), []string{" e", "p2 c", "p1 a"})
	d.same("in another", in(cellar, "club", 0, 9), []string{"p2 c", "p2 b"})
	d.same("of no server", in(garden, "", 0, 9), []string{" e", "p1 a"})
	d.same("a part", in(garden, "club", 1, 1), []string{"p2 c"})
	d.same("past the end", in(garden, "club", 3, 9), []string(nil))

	mine, err := d.ActsBy(d.ctx(), "p1")
	d.must(err)
	d.same("by somebody", mine, []match.Act{
		{Where: server, Server: "other", What: text.Say("act.x", text.Somebody("p7"), "d"), At: d.now, By: "p1"},
		{Where: garden, What: text.Say("act.x", text.Somebody("p7"), "a"), At: d.now.Add(-time.Second), By: "p1"}})
	nobodys, err := d.ActsBy(d.ctx(), "")
	d.must(err)
	d.same("by nobody known", did(nobodys), []string(nil))

	late := &match.Step{Request: "twice", At: d.now}
	d.must(d.Commit(d.ctx(), late))
	late.Act = &match.Act{Where: garden, What: text.Say("act.x", text.Somebody("p7"), "late")}
	d.conflict(d.Commit(d.ctx(), late))
	for _, nowhere := range []match.Act{{}, {Where: server}, {Where: garden, Server: "club"}} {
		nowhere.What = text.Say("act.x")
		if err := d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Act: &nowhere}); err == nil {
			d.Errorf("something was done in %+v", nowhere)
		}
	}
	d.same("after a step that was not stored", in(garden, "club", 0, 9), []string{" e", "p2 c", "p1 a"})

	// What is done without a step.
	act := func(what string) *match.Act {
		return &match.Act{Where: garden, At: d.now, By: "p4", What: text.Say("act.x", text.Somebody("p7"), what)}
	}
	d.must(d.Release(d.ctx(), "web", "name:bob", act("release")))
	d.must(d.DeleteRecord(d.ctx(), "r", act("record")))
	d.must(d.Release(d.ctx(), "web", "name:bob", nil))
	d.same("without a step", in(garden, "", 0, 2), []string{"p4 record", "p4 release"})
}

// prunedActs: what moderators did is kept for a year, and who did it as long.
func prunedActs(d *fixture) {
	ada := d.person(outbox.User{Platform: "chat", ID: "ada", Name: "Ada"})
	for i := range 7 {
		d.does(ada, garden, "", fmt.Sprint(i))
	}
	left := func() (string, int) {
		all, err := d.Acts(d.ctx(), garden, "", 0, 9)
		d.must(err)
		who, err := d.People(d.ctx(), []match.PersonID{ada})
		d.must(err)
		return who[ada].Name, len(all)
	}
	is := func(what, name string, acts int) {
		d.Helper()
		gotName, got := left()
		d.same(what, fmt.Sprint(gotName, got), fmt.Sprint(name, acts))
	}
	d.pass(365 * day)
	d.prune()
	is("after a year", "Ada", 7)
	d.pass(time.Millisecond)
	d.prune()
	is("after more", "", 0)
}

// forgottenActs: what moderators did goes with its server, and a person who is erased is
// nobody in what they did.
func forgottenActs(d *fixture) {
	who := outbox.User{Platform: "chat", ID: "ada", Name: "Ada"}
	ada, bob := d.person(who), d.person(outbox.User{Platform: "chat", ID: "bob", Name: "Bob"})
	here := func(channel string) match.Room { return match.Room{Platform: "chat", Channel: channel} }
	d.must(d.Belongs(d.ctx(), here("lost"), "gone"))
	d.must(d.Belongs(d.ctx(), here("kept"), "here"))
	for _, by := range []match.PersonID{ada, bob} {
		d.does(by, here("lost"), "", "lost")
		d.does(by, match.Room{Platform: "chat"}, "gone", "lost")
	}
	d.does(ada, here("kept"), "", "kept")
	d.does(ada, match.Room{Platform: "chat"}, "here", "kept")
	d.does(ada, match.Room{Platform: "mail", Channel: "lost"}, "", "kept")
	d.must(d.ForgetServer(d.ctx(), "chat", "gone"))
	for _, by := range []struct {
		match.PersonID
		name string
		acts []string
	}{{ada, "Ada", []string{"kept", "kept", "kept"}}, {bob, "", nil}} {
		all, err := d.ActsBy(d.ctx(), by.PersonID)
		d.must(err)
		var acts []string
		for _, a := range all {
			acts = append(acts, a.What.Args[1].Value)
		}
		d.same("what is left of what "+by.name+" did", acts, by.acts)
		known, err := d.People(d.ctx(), []match.PersonID{by.PersonID})
		d.must(err)
		d.same("the name", known[by.PersonID].Name, by.name)
	}
	d.must(d.Erase(d.ctx(), bot.Forgetting{Person: ada, Who: who}))
	all, err := d.Acts(d.ctx(), here("kept"), "here", 0, 9)
	d.must(err)
	d.same("who did it", all[0].By, ada)
	known, err := d.People(d.ctx(), []match.PersonID{ada})
	d.must(err)
	d.same("who that is", len(known), 0)
}
