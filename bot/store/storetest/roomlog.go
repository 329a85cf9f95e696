package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

func bookmarks(d *fixture) {
	get := func(adapter string) string {
		d.Helper()
		value, err := d.Bookmark(d.ctx(), adapter)
		d.must(err)
		return value
	}
	d.same("before it is set", get("matrix"), "")
	d.must(d.SetBookmark(d.ctx(), "matrix", "s1"))
	d.must(d.SetBookmark(d.ctx(), "discord", "7"))
	d.must(d.SetBookmark(d.ctx(), "matrix", "s2"))
	d.same("matrix", get("matrix"), "s2")
	d.same("discord", get("discord"), "7")
	for _, value := range []string{"first", "second"} {
		kept, err := d.FirstBookmark(d.ctx(), "secret", value)
		d.must(err)
		d.same("the first "+value, kept, "first")
	}
	d.same("kept", get("secret"), "first")
}

func outages(d *fixture) {
	at := func(hour time.Duration) time.Time { return d.now.Add(hour * time.Hour) }
	own, lasts, ended := rooms.Outage{From: at(1), To: at(2)}, rooms.Outage{Platform: "chat", From: at(0)}, rooms.Outage{Platform: "chat", Server: "s", From: at(0), To: at(3)}
	are := func(what string, want ...rooms.Outage) {
		d.Helper()
		got, err := d.Outages(d.ctx())
		d.must(err)
		d.same(what, append([]rooms.Outage{}, got...), append([]rooms.Outage{}, want...))
	}
	are("at first")
	for range 2 { // doing it twice is doing it once
		d.must(d.ChangeOutages(d.ctx(), []rooms.Outage{own, lasts}, nil))
		are("put", lasts, own)
	}
	d.must(d.ChangeOutages(d.ctx(), []rooms.Outage{ended}, []rooms.Outage{own}))
	are("one for another", lasts, ended)
	lasts.To = at(4)
	d.must(d.ChangeOutages(d.ctx(), []rooms.Outage{lasts}, nil))
	are("ended", lasts, ended)
	d.must(d.ChangeOutages(d.ctx(), nil, []rooms.Outage{lasts, ended, own}))
	are("dropped")
}

// say appends a message.
func (d *fixture) say(key, room, text string) outbox.Message {
	d.Helper()
	m, err := d.Append(d.ctx(), outbox.Message{Key: key, Room: room, At: d.now, Text: text})
	d.must(err)
	return m
}

// heard returns the texts of messages of a room.
func (d *fixture) heard(room string, after int64, limit int) []string {
	d.Helper()
	messages, err := d.Since(d.ctx(), room, after, limit)
	d.must(err)
	texts := []string{}
	for _, m := range messages {
		texts = append(texts, m.Text)
	}
	return texts
}

func messages(d *fixture) {
	none, err := d.Last(d.ctx())
	d.must(err)
	d.same("the newest of none", none, int64(0))
	full := outbox.Message{Key: "k", Room: "local", At: d.now, By: "p1", From: "Ada", Text: "/place D4 \u202e<b>", Game: "g1", Seq: 3, Kind: match.Show, Removed: true}
	kept, err := d.Append(d.ctx(), full)
	d.must(err)
	full.N = 1
	d.same("message", kept, full)
	read, err := d.Since(d.ctx(), "local", 0, 10)
	d.must(err)
	d.same("messages", read, []outbox.Message{full})

	for i := range 3 {
		d.say(fmt.Sprint("a", i), "attic", fmt.Sprint("attic ", i))
		d.say(fmt.Sprint("h", i), "local", fmt.Sprint("hall ", i))
	}
	d.same("all of the attic", d.heard("attic", 0, 10), []string{"attic 0", "attic 1", "attic 2"})
	d.same("the newest two", d.heard("attic", 0, 2), []string{"attic 1", "attic 2"})
	d.same("after the first", d.heard("local", kept.N, 10), []string{"hall 0", "hall 1", "hall 2"})
	d.same("after the last", d.heard("local", 7, 10), []string{})
	d.same("none", d.heard("local", 0, 0), []string{})
	d.same("of nowhere", d.heard("nowhere", 0, 10), []string{})

	last, err := d.Last(d.ctx())
	d.must(err)
	d.same("the newest", last, int64(7))
	texts := []string{}
	some, err := d.After(d.ctx(), kept.N+1, 3)
	d.must(err)
	for _, m := range some {
		texts = append(texts, m.Text)
	}
	d.same("of all rooms", texts, []string{"hall 0", "attic 1", "hall 1"})
}

func messageTwice(d *fixture) {
	first := d.say("k", "hall", "first")
	d.same("again", d.say("k", "hall", "second"), first)
	d.same("heard", d.heard("hall", 0, 10), []string{"first"})
	d.same("next", d.say("l", "hall", "third").N, first.N+1)
}

// messagesOfSteps: what was typed is stored with its step, or not at all, and what a
// post became when it is settled.
func messagesOfSteps(d *fixture) {
	m := d.open("g1", garden)
	step := d.turn(m, post("p1", match.Show, m))
	step.Typed = &match.Typed{Room: "hall", At: d.now, By: "seat:black", Text: "/place D4"}
	d.must(d.Commit(d.ctx(), step))
	if err := d.Commit(d.ctx(), step); !errors.Is(err, bot.ErrConflict) {
		d.Errorf("taken twice: %v", err)
	}
	for range 2 {
		d.must(d.Settle(d.ctx(), "p1", "", &outbox.Message{Key: "p1", Room: "hall", At: d.now, Text: "board"}, outbox.Decorations{}, nil))
	}
	if err := d.Settle(d.ctx(), "never owed", "", &outbox.Message{Key: "k", Room: "hall", Text: "nothing"}, outbox.Decorations{}, nil); !errors.Is(err, bot.ErrNotFound) {
		d.Errorf("a post that was never owed: %v", err)
	}
	d.same("heard", d.heard("hall", 0, 10), []string{"/place D4", "board"})
	last, _, err := d.Shown(d.ctx(), "g1", garden, match.Show, false)
	d.must(err)
	d.same("the receipt", last, outbox.Receipt("2"))
}

func messageExtra(d *fixture) {
	full := outbox.Message{Key: "web:1:answer", Room: "hall", At: d.now, Text: "Game 3 is over", To: []string{"Ada", "<b> ½ \u2068א\u2069"},
		Texts: []bot.Text{text.Say("called", text.Somebody("p1")), text.Say("of.game", text.ThisGame, 7)}, Lang: "ja", Number: 3, Notify: []match.PersonID{"p1"},
		Question: &match.Question{Command: "sgf", Args: map[string]string{"game": "3"}},
		Controls: []match.Control{
			{Label: "Rematch", Command: "rematch", Args: map[string]string{"game": "3", "seq": "12"}},
			{Label: "Place", Command: "place", Ask: "at"}},
		File: &outbox.File{Name: "game 3 ½.sgf", Type: "application/x-go-sgf", Data: []byte("(;C[\x00\xff])")}}
	empty := outbox.Message{Key: "k", Room: "hall", At: d.now, File: &outbox.File{Name: "empty", Type: "text/plain"}}
	for i, m := range []*outbox.Message{&full, &empty} {
		kept, err := d.Append(d.ctx(), *m)
		d.must(err)
		m.N = int64(i) + 1
		d.same("kept", kept, *m)
		again, err := d.Append(d.ctx(), outbox.Message{Key: m.Key, Room: "hall", To: []string{"Eve"}})
		d.must(err)
		d.same("kept again", again, *m)
		found, err := d.Message(d.ctx(), m.Key)
		d.must(err)
		d.same("found by its key", found, *m)
	}
	read, err := d.Since(d.ctx(), "hall", 0, 10)
	d.must(err)
	d.same("read", read, []outbox.Message{full, empty})
	if _, err := d.Message(d.ctx(), "web:1"); !errors.Is(err, bot.ErrNotFound) {
		d.Errorf("a key that nobody used: error is %v, want %v", err, bot.ErrNotFound)
	}
}

func racingMessages(d *fixture) {
	const n = 16
	kept := make([]outbox.Message, n)
	for _, err := range atOnce(n, func(i int) (err error) {
		kept[i], err = d.Append(d.ctx(), outbox.Message{Key: fmt.Sprint(i / 2), Room: "hall", At: d.now}) // each said twice
		return err
	}) {
		d.must(err)
	}
	var ns []int64
	for i := 0; i < n; i += 2 {
		d.same("twin", kept[i+1], kept[i])
		ns = append(ns, kept[i].N)
	}
	slices.Sort(ns)
	for i, got := range ns {
		d.same("number", got, int64(i+1))
	}
}
