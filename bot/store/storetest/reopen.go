package storetest

import (
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// Reopen tests that a storage keeps everything while it is closed. Open opens
// the same one each time, empty at first.
func Reopen(t *testing.T, open func(*testing.T) Storage) {
	d := &fixture{T: t, Storage: open(t), now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	ada := d.person(outbox.User{Platform: "web", ID: "1", Name: "Ada"})
	m := d.open("g1", garden)
	d.play(m, post("notice", match.Notice, m), post("show", match.Show, m), post("status", match.Status, m))
	d.settle("notice")
	d.parks(cellar, "", true)
	d.must(d.SetBookmark(d.ctx(), "matrix", "s1"))
	said, err := d.Append(d.ctx(), outbox.Message{Key: "k", Room: "hall", At: d.now, Text: "hello", To: []string{"Ada"},
		Controls: []match.Control{{Label: "Join", Command: "join"}}, File: &outbox.File{Name: "game-1.sgf", Data: []byte("(;)")}})
	d.must(err)
	timed := d.turn(m)
	timed.Match.Deadline = d.now.Add(day)
	timed.Due = []match.Due{{Game: "g1", Kind: "flag", At: d.now.Add(day), Seq: timed.Match.Seq}}
	timed.Prefs = &match.Preferences{Person: ada, Remind: "none"}
	timed.Room = &match.RoomSettings{Room: garden, Size: "13x13"}
	d.must(d.Commit(d.ctx(), timed))
	*m = *timed.Match
	look := func() []any {
		m, events, err := d.Match(d.ctx(), "g1")
		d.must(err)
		answer, answered, err := d.Answered(d.ctx(), "web:"+t.Name()+":2")
		d.must(err)
		bookmark, err := d.Bookmark(d.ctx(), "matrix")
		d.must(err)
		messages, err := d.Since(d.ctx(), "hall", 0, 10)
		d.must(err)
		receipt, _, err := d.Shown(d.ctx(), "g1", garden, match.Notice, false)
		d.must(err)
		due, err := d.DueBy(d.ctx(), d.now.Add(day), 10)
		d.must(err)
		prefs := d.preferences(ada)
		room, err := d.Channel(d.ctx(), garden)
		d.must(err)
		return []any{due, prefs, m, events, answer, answered, d.people(ada), bookmark, messages, receipt, room}
	}
	before := look()
	d.same("answered", before[5], any(true))
	d.must(d.Close())

	d.Storage = open(t)
	d.same("what is kept", look(), before)
	d.same("shown", d.drain(), []string{"show", "status"})
	d.parks(cellar, "", false)
	d.same("the same message", d.say("k", "hall", "again"), said)
	d.play(m)
	d.same("number of the next match", d.open("g2", garden).Number, 2)
}
