package storetest

import (
	"errors"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
)

func roomSettings(d *fixture) {
	of := func(where match.Room) match.RoomSettings {
		d.Helper()
		set, _ := d.room(where)
		return set
	}
	choose := func(set match.RoomSettings) {
		d.Helper()
		d.must(d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Room: &set}))
	}
	thread := garden
	thread.Thread = "t"
	elsewhere := garden
	elsewhere.Platform = "matrix"
	d.same("at first", of(garden), match.RoomSettings{Room: garden})

	ours := match.RoomSettings{Room: garden, Rules: "aga", Size: "13x13", Clock: "fischer 7d+1d max 14d", Undo: -1, Opens: "moderators", Theme: "dark", Coords: "all", Lang: "ja"}
	choose(ours)
	d.same("chosen", of(garden), ours)
	d.same("of a thread of it", of(thread), ours)
	d.same("of another channel", of(cellar), match.RoomSettings{Room: cellar})
	d.same("of the same channel of another platform", of(elsewhere), match.RoomSettings{Room: elsewhere})

	choose(match.RoomSettings{Room: cellar, Undo: 300})
	ours = match.RoomSettings{Room: thread, Size: "9x9"} // in a thread, of its channel
	choose(ours)
	ours.Room = garden
	d.same("chosen again", of(garden), ours)
	choose(match.RoomSettings{Room: garden})
	d.same("back to the default", of(garden), match.RoomSettings{Room: garden})
	d.same("of the other channel", of(cellar), match.RoomSettings{Room: cellar, Undo: 300})

	// Of two people who change the same settings at once one comes too late.
	for _, whose := range []match.RoomSettings{{Room: attic}, {Room: match.Room{Platform: "web"}, Server: "club"}} {
		for _, was := range []match.RoomSettings{{}, {Size: "9x9", Since: d.now}} {
			changed := func(change func(*match.RoomSettings)) error {
				set, was := was, was
				set.Room, set.Server = whose.Room, whose.Server
				change(&set)
				return d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Room: &set, RoomWas: &was})
			}
			d.must(changed(func(set *match.RoomSettings) { set.Size, set.Since = "9x9", d.now }))
			if was.Size == "" {
				if err := changed(func(set *match.RoomSettings) { set.Theme = "dark" }); !errors.Is(err, bot.ErrConflict) {
					d.Errorf("settings are overwritten: %v", err)
				}
			}
		}
	}
	d.same("the first change", of(attic), match.RoomSettings{Room: attic, Size: "9x9", Since: d.now})

	for _, nowhere := range []match.Room{{}, {Platform: "web"}, {Channel: "garden"}} {
		if err := d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Room: &match.RoomSettings{Room: nowhere}}); err == nil {
			d.Errorf("settings of the room %+v are kept", nowhere)
		}
	}
}

// known holds what is found in one look to what is found piece by piece.
func known(d *fixture) {
	who := outbox.User{Platform: "web", ID: "1", Name: "Ada"}
	look := func(request string) rooms.Known {
		d.Helper()
		k, err := d.Known(d.ctx(), who, garden, request)
		d.must(err)
		c, err := d.Channel(d.ctx(), garden)
		d.must(err)
		d.same("channel", k.Channel, c)
		return k
	}
	nothing := rooms.Channel{Settings: match.RoomSettings{Room: garden}}
	d.same("of nobody", look("web:1"), rooms.Known{Channel: nothing})

	a := d.person(who)
	d.same("of somebody", look("web:1"), rooms.Known{Person: a, Name: "Ada", Prefs: match.Preferences{Person: a}, Channel: nothing})

	prefs := match.Preferences{Person: a, Remind: "none", Theme: "dark"}
	set := match.RoomSettings{Room: garden, Size: "13x13"}
	answer := match.Reply{Texts: []bot.Text{{Key: "played"}}, Private: true}
	d.must(d.Commit(d.ctx(), &match.Step{Request: "web:1", At: d.now, Answer: answer, Prefs: &prefs, Room: &set}))
	d.must(d.Belongs(d.ctx(), garden, "club"))
	d.must(d.SetBookmark(d.ctx(), rooms.LangMark(garden), "de"))
	d.must(d.Commit(d.ctx(), &match.Step{Request: "web:2", At: d.now, Posts: []match.OutboxPost{{ID: "p1", Where: garden, Kind: match.Notice}, {ID: "p2", Where: cellar, Kind: match.Notice}}}))
	of := rooms.Channel{Settings: set, Lang: "de", Server: rooms.Server{Platform: "web", ID: "club", Settings: match.RoomSettings{Room: match.Room{Platform: "web"}, Server: "club"}}}
	d.same("of all", look("web:1"), rooms.Known{Person: a, Name: "Ada", Prefs: prefs, Channel: of, Answer: &answer})
	d.park(cellar, "")
	d.same("another channel is parked", look("web:3"), rooms.Known{Person: a, Name: "Ada", Prefs: prefs, Channel: of})
	d.park(garden, "")
	of.Parked = true
	d.same("parked", look("web:3"), rooms.Known{Person: a, Name: "Ada", Prefs: prefs, Channel: of})

	d.must(d.Erase(d.ctx(), bot.Forgetting{Person: a, Who: who}))
	d.same("of somebody erased", look("web:3"), rooms.Known{Channel: of})
}
