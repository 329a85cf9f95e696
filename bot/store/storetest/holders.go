package storetest

import (
	"errors"
	"fmt"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

func holders(d *fixture) {
	hold := func(h bot.Holder, instead string) bot.Holder {
		d.Helper()
		now, err := d.Hold(d.ctx(), h, instead)
		d.must(err)
		return now
	}
	imitates := func(h bot.Holder) bool {
		d.Helper()
		now, err := d.Hold(d.ctx(), h, "")
		if errors.Is(err, bot.ErrAlike) {
			return true
		}
		d.must(err)
		d.same("holder", now, h)
		d.must(d.Release(d.ctx(), h.Platform, h.ID))
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

	d.must(d.Release(d.ctx(), "web", "name:bob"))
	d.must(d.Release(d.ctx(), "web", "name:bob"))
	d.same("released", hold(first, ""), first)

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
		_, err = d.Hold(d.ctx(), bot.Holder{Platform: "web", ID: fmt.Sprintf("name:b%cb2", names[i]), Looks: "bob2", Secret: fmt.Sprint("s", i)}, "")
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
		got[i], err = d.Hold(d.ctx(), bot.Holder{Platform: "web", ID: "name:bob", Secret: fmt.Sprint("s", i)}, "")
		return err
	}) {
		d.must(err)
	}
	for _, h := range got {
		d.same("holder", h, got[0])
	}
}
