package storetest

import (
	"errors"
	"fmt"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

func holders(d *fixture) {
	hold := func(h bot.Holder, instead string) bot.Holder {
		d.Helper()
		now, err := d.Hold(d.ctx(), h, bot.Holder{Secret: instead})
		d.must(err)
		return now
	}
	imitates := func(h bot.Holder) bool {
		d.Helper()
		now, err := d.Hold(d.ctx(), h, bot.Holder{})
		if errors.Is(err, bot.ErrAlike) {
			return true
		}
		d.must(err)
		d.same("holder", now, h)
		d.must(d.Release(d.ctx(), h.Platform, h.ID, nil))
		return false
	}
	if _, err := d.Holder(d.ctx(), "web", "name:bob"); !errors.Is(err, bot.ErrNotFound) {
		d.Errorf("the holder of a new name: %v", err)
	}
	first := bot.Holder{Platform: "web", ID: "name:bob", Looks: "bob", Secret: "s1", Since: 7}
	d.same("the first", hold(first, ""), first)
	other := bot.Holder{Platform: "web", ID: "name:bob", Looks: "bob", Secret: "s2"}
	d.same("another does not get it", hold(other, ""), first)
	d.same("nor with a wrong secret", hold(other, "s3"), first)
	read, err := d.Holder(d.ctx(), "web", "name:bob")
	d.must(err)
	d.same("read", read, first)
	d.same("another instead", hold(other, "s1"), other)
	elsewhere := bot.Holder{Platform: "here", ID: "name:bob", Secret: "s1"}
	d.same("on another platform", hold(elsewhere, ""), elsewhere)

	d.same("a name that looks like it", imitates(bot.Holder{Platform: "web", ID: "name:b\u043eb", Looks: "bob", Secret: "s1"}), true)
	d.same("of the same holder", imitates(bot.Holder{Platform: "web", ID: "name:b\u043eb", Looks: "bob", Secret: "s2"}), false)
	d.same("another name", imitates(bot.Holder{Platform: "web", ID: "name:eve", Looks: "eve", Secret: "s1"}), false)
	d.same("no looks", imitates(bot.Holder{Platform: "here", ID: "name:eve", Secret: "s2"}), false)

	d.must(d.Release(d.ctx(), "web", "name:bob", nil))
	d.must(d.Release(d.ctx(), "web", "name:bob", nil))
	d.same("released", hold(first, ""), first)

	// A seat is taken only as it was seen, and kept by its holder alone.
	seat := bot.Holder{Platform: "web", ID: "seat:black", Secret: "s1", Kept: d.now}
	d.same("an empty seat", hold(seat, ""), seat)
	mine := bot.Holder{Platform: "web", ID: "seat:black", Secret: "s2", Since: 3, Kept: d.now.Add(time.Minute)}
	for _, k := range []struct {
		secret string
		kept   bool
	}{{"s1", true}, {"s2", false}} {
		kept, err := d.KeepHolder(d.ctx(), bot.Holder{Platform: "web", ID: "seat:black", Secret: k.secret, Kept: d.now.Add(time.Second)})
		d.must(err)
		d.same("kept by "+k.secret, kept, k.kept)
	}
	later := seat
	later.Kept = d.now.Add(time.Second)
	for _, c := range []struct{ seen, want bot.Holder }{{seat, later}, {bot.Holder{Secret: "s1"}, later}, {later, mine}, {later, mine}} {
		now, err := d.Hold(d.ctx(), mine, c.seen)
		d.must(err)
		d.same("taken", now, c.want)
	}

	// Forgetting the person forgets who held their name.
	bob := d.person(outbox.User{Platform: "web", ID: "name:bob", Name: "Bob"})
	d.must(d.Erase(d.ctx(), bot.Forgetting{Person: bob, Who: outbox.User{Platform: "web", ID: "name:bob", Name: "Bob"}}))
	if _, err := d.Holder(d.ctx(), "web", "name:bob"); !errors.Is(err, bot.ErrNotFound) {
		d.Errorf("the holder of a forgotten name: %v", err)
	}
	if _, err := d.Holder(d.ctx(), "here", "name:bob"); err != nil {
		d.Errorf("the same name elsewhere: %v", err)
	}
}

func racingHolders(d *fixture) {
	const n = 8
	names := []rune{'o', '\u043e', '\u03bf', '\u0585', '\u1d0f', '\u0d20', '\u0ed0', '\u06f5'} // which look alike
	held := 0
	for _, err := range atOnce(n, func(i int) (err error) {
		_, err = d.Hold(d.ctx(), bot.Holder{Platform: "web", ID: fmt.Sprintf("name:b%cb2", names[i]), Looks: "bob2", Secret: fmt.Sprint("s", i)}, bot.Holder{})
		return err
	}) {
		if err == nil {
			held++
		} else if !errors.Is(err, bot.ErrAlike) {
			d.must(err)
		}
	}
	d.same("names that look alike and were claimed at once", held, 1)
	got := make([]bot.Holder, n)
	for _, err := range atOnce(n, func(i int) (err error) {
		got[i], err = d.Hold(d.ctx(), bot.Holder{Platform: "web", ID: "name:bob", Secret: fmt.Sprint("s", i)}, bot.Holder{})
		return err
	}) {
		d.must(err)
	}
	for _, h := range got {
		d.same("holder", h, got[0])
	}
}

func links(d *fixture) {
	ada := d.person(outbox.User{Platform: "web", ID: "name:ada", Name: "Ada"})
	bob := d.person(outbox.User{Platform: "web", ID: "name:bob", Name: "Bob"})
	commits := func(l match.Linking) error {
		d.Helper()
		return d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Where: garden, Link: &l})
	}
	link := func(secret string) string {
		d.Helper()
		l, err := d.Link(d.ctx(), secret)
		if errors.Is(err, bot.ErrNotFound) {
			return "nobody"
		}
		d.must(err)
		return fmt.Sprint(l.Who.Name, " ", l.Name, " ", l.Where == garden, " ", l.At.Equal(d.now))
	}
	browsers := func(p match.PersonID) (out []string) {
		d.Helper()
		all, err := d.Browsers(d.ctx(), p)
		d.must(err)
		for _, l := range all {
			out = append(out, l.Secret)
		}
		return out
	}
	conflicts := func(what string, l match.Linking) {
		d.Helper()
		if err := commits(l); !errors.Is(err, bot.ErrConflict) {
			d.Errorf("%s: %v", what, err)
		}
	}
	d.must(commits(match.Linking{Person: ada, Secret: "first"}))
	d.must(commits(match.Linking{Person: bob, Secret: "other"}))
	d.must(commits(match.Linking{Person: ada, Secret: "second"}))
	d.same("an address that another has replaced", link("first"), "nobody")
	d.same("the other", link("second"), "Ada  true true")
	conflicts("an address of somebody else", match.Linking{Person: ada, Spends: "other", Secret: "b", Name: "Firefox"})
	conflicts("the address of nobody", match.Linking{Person: "p", Secret: "third"})
	d.must(commits(match.Linking{Person: ada, Spends: "second", Secret: "b1", Name: "Firefox"}))
	conflicts("an address that was used", match.Linking{Person: ada, Spends: "second", Secret: "b2", Name: "Chrome"})
	conflicts("a browser instead of an address", match.Linking{Person: ada, Spends: "b1", Secret: "b2", Name: "Chrome"})
	d.same("the browser", link("b1"), "Ada Firefox true true")
	d.same("an address once used", link("second"), "nobody")
	d.must(commits(match.Linking{Person: ada, Secret: "third"}))
	d.same("her browsers", browsers(ada), []string{"b1"})

	d.must(commits(match.Linking{Person: bob, End: []string{"b1"}}))
	d.same("somebody else ends it", link("b1"), "Ada Firefox true true")
	d.must(d.Unlink(d.ctx(), "third"))
	d.same("addresses stay", link("third"), "Ada  true true")
	d.must(d.Unlink(d.ctx(), "b1"))
	d.must(d.Unlink(d.ctx(), "b1"))
	d.same("signed out", browsers(ada), []string(nil))

	// Who releases a name, or forgets its person, ends the browsers.
	d.must(commits(match.Linking{Person: ada, Spends: "third", Secret: "b3", Name: "Firefox"}))
	d.must(commits(match.Linking{Person: bob, Spends: "other", Secret: "b4", Name: "Firefox"}))
	d.must(d.Release(d.ctx(), "web", "name:ada", nil))
	d.same("of a name that was released", link("b3"), "nobody")
	d.same("of another name", link("b4"), "Bob Firefox true true")
	d.must(d.Forget(d.ctx(), bot.Forgetting{Person: bob, Who: outbox.User{Platform: "web", ID: "name:bob", Name: "Bob"}}))
	d.same("of somebody who is being forgotten", link("b4"), "nobody")

	// An address is kept for an hour, a browser for a year; and their person as long.
	cid := d.person(outbox.User{Platform: "chat", ID: "cid", Name: "Cid"})
	d.must(commits(match.Linking{Person: cid, Secret: "b5", Name: "Firefox"}))
	d.must(commits(match.Linking{Person: cid, Secret: "unused"}))
	began := d.now
	left := func(after time.Duration) (out []string) {
		d.now = began.Add(after)
		d.prune()
		d.now = began
		for _, secret := range []string{"b5", "unused"} {
			if link(secret) != "nobody" {
				out = append(out, secret)
			}
		}
		return out
	}
	d.same("after an hour", left(time.Hour), []string{"b5", "unused"})
	d.same("after two hours", left(2*time.Hour), []string{"b5"})
	d.same("after a year", left(365*24*time.Hour), []string{"b5"})
	d.same("after more", left(366*24*time.Hour), []string(nil))
}
