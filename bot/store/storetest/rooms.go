package storetest

import "github.com/halfpoint-go/halfpoint/bot"

func roomSettings(d *desk) {
	of := func(where bot.Room) bot.RoomSettings {
		d.Helper()
		set, _, err := d.RoomSettings(d.ctx(), where)
		d.must(err)
		return set
	}
	choose := func(set bot.RoomSettings) {
		d.Helper()
		d.must(d.Take(d.ctx(), &bot.Step{Request: d.request(), At: d.now, Room: &set}))
	}
	thread := garden
	thread.Thread = "t"
	elsewhere := garden
	elsewhere.Platform = "matrix"
	d.same("at first", of(garden), bot.RoomSettings{Room: garden})

	ours := bot.RoomSettings{Room: garden, Rules: "aga", Size: "13x13", Clock: "fischer 7d+1d max 14d", Undo: -1, Opens: "moderators", Theme: "dark", Coords: "all", Lang: "ja"}
	choose(ours)
	d.same("chosen", of(garden), ours)
	d.same("of a thread of it", of(thread), ours)
	d.same("of another channel", of(cellar), bot.RoomSettings{Room: cellar})
	d.same("of the same channel of another platform", of(elsewhere), bot.RoomSettings{Room: elsewhere})

	choose(bot.RoomSettings{Room: cellar, Undo: 300})
	ours = bot.RoomSettings{Room: thread, Size: "9x9"} // in a thread, of its channel
	choose(ours)
	ours.Room = garden
	d.same("chosen again", of(garden), ours)
	choose(bot.RoomSettings{Room: garden})
	d.same("back to the default", of(garden), bot.RoomSettings{Room: garden})
	d.same("of the other channel", of(cellar), bot.RoomSettings{Room: cellar, Undo: 300})

	// They change with their step or not at all.
	m := d.open("g1", garden)
	stale := d.turn(m)
	d.play(m)
	stale.Room = &ours
	d.conflict(d.Take(d.ctx(), stale))
	d.same("after a step that was not taken", of(garden), bot.RoomSettings{Room: garden})
	for _, nowhere := range []bot.Room{{}, {Platform: "web"}, {Channel: "garden"}} {
		if err := d.Take(d.ctx(), &bot.Step{Request: d.request(), At: d.now, Room: &bot.RoomSettings{Room: nowhere}}); err == nil {
			d.Errorf("settings of the room %+v are kept", nowhere)
		}
	}
}
