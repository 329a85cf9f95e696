package storetest

import (
	"errors"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// records are kept by whoever brought them, until they are forgotten.
func records(d *fixture) {
	now := time.UnixMilli(1_700_000_000_000).UTC()
	latin := bot.Record{Slug: "latin", Browser: "b1", Name: "a.sgf", Text: "(;PB[Andr\xe9];B[aa])", Visited: now}
	long := bot.Record{Slug: "long", Browser: "b1", Name: "b.sgf", Text: strings.Repeat("(;C[x])", 10_000), Visited: now.Add(time.Hour), Shared: true}
	shown := bot.Record{Slug: "shown", Where: match.Room{Platform: "here", Channel: "c"}, Person: d.person(outbox.User{Platform: "here", ID: "u1", Name: "Eve"}), Text: ".X.", Visited: now, Shared: true}
	for _, r := range []bot.Record{latin, long, shown} {
		d.must(d.AddRecord(d.ctx(), r, 2))
		got, err := d.Record(d.ctx(), r.Slug)
		d.must(err)
		d.same("record", got, r)
	}
	if err := d.AddRecord(d.ctx(), bot.Record{Slug: "more", Browser: "b1"}, 2); !errors.Is(err, bot.ErrTooMany) {
		d.Errorf("one too many: %v", err)
	}
	again := shown
	again.Visited = now.Add(time.Hour)
	d.must(d.AddRecord(d.ctx(), again, 1))
	if got, err := d.Record(d.ctx(), "shown"); err != nil || !got.Visited.Equal(again.Visited) {
		d.Errorf("shown again: %+v, %v", got, err)
	}
	mine := func(browser, want string) {
		d.Helper()
		all, err := d.Records(d.ctx(), browser)
		d.must(err)
		var slugs []string
		for _, r := range all {
			slugs = append(slugs, r.Slug)
		}
		d.same("records of "+browser, strings.Join(slugs, " "), want)
	}
	mine("b1", "long latin")
	mine("", "")
	d.must(d.KeepRecord(d.ctx(), "latin", true, now.Add(2*time.Hour)))
	mine("b1", "latin long")
	if got, err := d.Record(d.ctx(), "latin"); err != nil || !got.Shared || !got.Visited.Equal(now.Add(2*time.Hour)) {
		d.Errorf("shared: %+v, %v", got, err)
	}
	d.must(d.VisitRecord(d.ctx(), "latin", now.Add(3*time.Hour)))
	d.must(d.KeepRecord(d.ctx(), "long", false, now.Add(time.Hour)))
	d.must(d.VisitRecord(d.ctx(), "long", now.Add(4*time.Hour))) // by somebody who came when it was shared
	mine("b1", "latin long")
	if got, err := d.Record(d.ctx(), "long"); err != nil || got.Shared || !got.Visited.Equal(now.Add(time.Hour)) {
		d.Errorf("visited when it is no longer shared: %+v, %v", got, err)
	}
	d.must(d.DeleteRecord(d.ctx(), "long", nil))
	d.must(d.DeleteRecord(d.ctx(), "long", nil))
	mine("b1", "latin")

	// People can ask which of them are theirs.
	theirs := func(p match.PersonID, want string) {
		d.Helper()
		all, err := d.RecordsOf(d.ctx(), p)
		d.must(err)
		var slugs []string
		for _, r := range all {
			slugs = append(slugs, r.Slug)
			if r.Text == "" {
				d.Errorf("record %s has no text", r.Slug)
			}
		}
		d.same("records of "+string(p), strings.Join(slugs, " "), want)
	}
	theirs(shown.Person, "shown")
	theirs("", "")

	// In a room what was longest not visited makes way for what is new.
	newer := shown
	newer.Slug, newer.Visited = "newer", shown.Visited.Add(2*time.Hour)
	d.must(d.AddRecord(d.ctx(), newer, 1))
	theirs(shown.Person, "newer")
	d.must(d.AddRecord(d.ctx(), shown, 2))
	theirs(shown.Person, "newer shown")
	d.must(d.DeleteRecord(d.ctx(), "newer", nil))

	// Forgetting a person forgets what they showed, and what the browser brought that holds their name.
	ben := outbox.User{Platform: "web", ID: "name:ben", Name: "Ben"}
	_, err := d.Hold(d.ctx(), bot.Holder{Platform: "web", ID: "name:ben", Looks: "ben", Secret: "b1"}, bot.Holder{})
	d.must(err)
	theirs(d.person(ben), "latin")
	d.must(d.Forget(d.ctx(), bot.Forgetting{Person: d.person(ben), Who: ben}))
	mine("b1", "")
	if _, err := d.Record(d.ctx(), "shown"); err != nil {
		d.Error("what somebody else showed is forgotten, too")
	}
	d.must(d.Forget(d.ctx(), bot.Forgetting{Person: shown.Person, Who: outbox.User{Platform: "here", ID: "u1"}}))
	if _, err := d.Record(d.ctx(), "shown"); !errors.Is(err, bot.ErrNotFound) {
		d.Errorf("what a forgotten person showed: %v", err)
	}
	d.must(d.AddRecord(d.ctx(), shown, 2)) // by an answer that was under way
	d.must(d.Erase(d.ctx(), bot.Forgetting{Person: shown.Person, Who: outbox.User{Platform: "here", ID: "u1"}}))
	if _, err := d.Record(d.ctx(), "shown"); !errors.Is(err, bot.ErrNotFound) {
		d.Errorf("what they showed meanwhile: %v", err)
	}
}

// prunedRecords go a day after they were brought, or a year after the last visit if they are shared.
func prunedRecords(d *fixture) {
	now := time.UnixMilli(1_700_000_000_000).UTC()
	const day = 24 * time.Hour
	for slug, r := range map[string]bot.Record{
		"new": {Visited: now.Add(-day + time.Minute)}, "old": {Visited: now.Add(-day - time.Minute)},
		"shared": {Shared: true, Visited: now.Add(-365*day + time.Minute)}, "left": {Shared: true, Visited: now.Add(-365*day - time.Minute)},
	} {
		r.Slug, r.Browser = slug, "b1"
		d.must(d.AddRecord(d.ctx(), r, 20))
	}
	for after, first := "", true; first || after != ""; first = false {
		var err error
		after, err = d.Prune(d.ctx(), now, after, 3)
		d.must(err)
	}
	all, err := d.Records(d.ctx(), "b1")
	d.must(err)
	if len(all) != 2 || all[0].Slug != "new" || all[1].Slug != "shared" {
		d.Errorf("left are %+v", all)
	}
}
