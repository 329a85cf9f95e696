package storetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
)

// room returns what has been chosen for a channel, and its server.
func (d *fixture) room(where match.Room) (match.RoomSettings, rooms.Server) {
	d.Helper()
	c, err := d.Channel(d.ctx(), where)
	d.must(err)
	return c.Settings, c.Server
}

// servers returns the servers of a platform that are known.
func (d *fixture) servers(platform string) []rooms.Server {
	d.Helper()
	all, err := d.Servers(d.ctx(), platform)
	d.must(err)
	return append([]rooms.Server{}, all...)
}

func serverSettings(d *fixture) {
	of := func(id string, set match.RoomSettings) rooms.Server {
		set.Room, set.Server = match.Room{Platform: "web"}, id
		return rooms.Server{Platform: "web", ID: id, Settings: set}
	}
	same := func(what string, where match.Room, own match.RoomSettings, server rooms.Server) {
		d.Helper()
		set, got := d.room(where)
		own.Room = match.Room{Platform: where.Platform, Channel: where.Channel}
		d.same(what+": settings", set, own)
		d.same(what+": server", got, server)
	}
	choose := func(set match.RoomSettings) {
		d.Helper()
		d.must(d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Room: &set}))
	}
	same("at first", garden, match.RoomSettings{}, rooms.Server{})
	d.same("servers at first", d.servers("web"), []rooms.Server{})

	thread := garden
	thread.Thread = "t"
	d.must(d.Belongs(d.ctx(), thread, "club"))
	d.must(d.Belongs(d.ctx(), cellar, "club"))
	d.must(d.Belongs(d.ctx(), match.Room{Platform: "web", Channel: "hall"}, "other"))
	same("of a server that has chosen nothing", garden, match.RoomSettings{}, of("club", match.RoomSettings{}))

	theirs := match.RoomSettings{Rules: "aga", Size: "13x13", Clock: "3d", Undo: -1, Opens: "nobody", Theme: "dark", Coords: "all", Lang: "ja"}
	choose(of("club", theirs).Settings)
	choose(match.RoomSettings{Room: cellar, Opens: "anyone"})
	same("of a channel that has chosen nothing", thread, match.RoomSettings{}, of("club", theirs))
	same("of one that has", cellar, match.RoomSettings{Opens: "anyone"}, of("club", theirs))
	same("of another server", match.Room{Platform: "web", Channel: "hall"}, match.RoomSettings{}, of("other", match.RoomSettings{}))
	same("of a channel of the server's name", match.Room{Platform: "web", Channel: "club"}, match.RoomSettings{}, rooms.Server{})
	same("of another platform", match.Room{Platform: "matrix", Channel: "garden"}, match.RoomSettings{}, rooms.Server{})
	d.same("servers", d.servers("web"), []rooms.Server{of("club", theirs), of("other", match.RoomSettings{})})
	d.same("servers of another platform", d.servers("matrix"), []rooms.Server{})

	d.must(d.Belongs(d.ctx(), garden, "club")) // again: nothing is lost
	same("told again", garden, match.RoomSettings{}, of("club", theirs))
	sets, err := d.Rooms(d.ctx(), "web", "club")
	d.must(err)
	d.same("channels that have chosen", sets, []match.RoomSettings{{Room: cellar, Opens: "anyone"}})
	sets, err = d.Rooms(d.ctx(), "matrix", "club")
	d.must(err)
	d.same("channels of another platform", sets, []match.RoomSettings(nil))

	left := of("club", theirs)
	left.Left = d.now
	d.must(d.Left(d.ctx(), "web", "club", d.now))
	same("left", garden, match.RoomSettings{}, left)
	choose(of("club", match.RoomSettings{}).Settings)
	left.Settings = of("club", match.RoomSettings{}).Settings
	same("what is chosen changes nothing in that", garden, match.RoomSettings{}, left)
	d.must(d.Left(d.ctx(), "web", "club", time.Time{}))
	same("back", garden, match.RoomSettings{}, of("club", match.RoomSettings{}))
	d.conflict(d.Left(d.ctx(), "web", "unknown", d.now))

	for _, nowhere := range []match.Room{{}, {Platform: "web"}, {Channel: "garden"}} {
		if err := d.Belongs(d.ctx(), nowhere, "club"); err == nil {
			d.Errorf("%+v belongs to a server", nowhere)
		}
	}
	if err := d.Belongs(d.ctx(), garden, ""); err == nil {
		d.Error("a channel belongs to no server")
	}
	both := match.RoomSettings{Room: garden, Server: "club"}
	if err := d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Room: &both}); err == nil {
		d.Error("settings are kept that are of a channel and of a server")
	}
}

// forgottenServer forgets one of two servers, in which people play who play in
// both, in one, and in none.
func forgottenServer(d *fixture) {
	here := func(channel string) match.Room { return match.Room{Platform: "chat", Channel: channel} }
	elsewhere := match.Room{Platform: "mail", Channel: "lost"}
	who := map[string]match.PersonID{}
	for _, name := range []string{"ada", "bob", "eve", "kim", "lee", "mod", "pat", "una"} {
		who[name] = d.person(outbox.User{Platform: "chat", ID: name, Name: name})
	}
	far := d.person(outbox.User{Platform: "mail", ID: "far", Name: "far"})
	d.must(d.Belongs(d.ctx(), here("lost"), "gone"))
	d.must(d.Belongs(d.ctx(), here("lost2"), "gone"))
	d.must(d.Belongs(d.ctx(), here("kept"), "here"))
	// Long enough to be more than one portion of everything.
	many := 45
	play := func(id match.GameID, where match.Room, black, white, by match.PersonID) *match.Match {
		m := d.open(id, where, func(m *match.Match) {
			m.Opener, m.Black, m.White, m.Deadline = black, black, white, d.now.Add(day)
		})
		step := d.turn(m, post("show-"+string(id), match.Show, m))
		step.Request = fmt.Sprintf("request of %s", id)
		step.Where = where
		step.Events[0].By, step.Events[0].Body = by, match.ParseBody("adjudicate W+R")
		step.Due = []match.Due{{Game: id, Kind: "flag", At: d.now.Add(day), Seq: step.Match.Seq}}
		d.must(d.Commit(d.ctx(), step))
		return step.Match
	}
	// Ada plays in both, Bob in the lost one, Eve in the kept one; Kim has opened
	// a game there that Ada and Eve play, Lee is invited, Mod has decided one; Pat
	// has chosen something, and Una has done nothing anywhere.
	for i := range many {
		play(match.GameID(fmt.Sprintf("lost-%d", i)), here([]string{"lost", "lost2"}[i%2]), who["ada"], who["bob"], who["mod"])
	}
	play("lost-kim", here("lost"), who["kim"], who["lee"], who["pat"])
	play("kept-1", here("kept"), who["ada"], who["eve"], who["mod"])
	d.open("kept-2", here("kept"), func(m *match.Match) { m.Opener, m.Invited, m.Black, m.White = who["kim"], who["lee"], "", "" })
	play("kept-3", elsewhere, far, far, far)
	play("kept-4", here("unbound"), who["eve"], who["eve"], who["eve"])
	d.must(d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Prefs: &match.Preferences{Person: who["pat"], Remind: "none"}}))
	d.drain()
	refused := func(id string, where match.Room) {
		d.must(d.Commit(d.ctx(), &match.Step{Request: id, At: d.now, Where: where, Answer: match.Reply{Texts: []bot.Text{{Key: "no"}}}}))
	}
	refused("refused lost", here("lost"))
	refused("refused kept", here("kept"))
	refused("refused mail", elsewhere)
	refused("refused nowhere", match.Room{})
	refused("flag:lost-1:7", match.Room{}) // from before it was known where
	refused("flag:kept-1:7", match.Room{})
	d.must(d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Room: &match.RoomSettings{Room: here("lost"), Size: "5x5"}}))
	d.must(d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Room: &match.RoomSettings{Room: here("kept"), Size: "7x7"}}))
	d.must(d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Room: &match.RoomSettings{Room: match.Room{Platform: "chat"}, Server: "gone", Size: "9x9"}}))
	for _, where := range []match.Room{here("lost"), here("kept"), elsewhere} {
		d.park(where, "")
		d.must(d.SetBookmark(d.ctx(), rooms.LangMark(where), "de"))
	}
	d.must(d.Left(d.ctx(), "chat", "gone", d.now))
	d.pass(30 * time.Hour)
	d.must(d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Posts: []match.OutboxPost{
		{ID: "loose lost", Where: here("lost2"), Kind: match.Notice}, {ID: "loose kept", Where: here("kept2"), Kind: match.Notice}}}))
	kept := func() []any {
		var out []any
		for _, id := range []match.GameID{"kept-1", "kept-2", "kept-3", "kept-4"} {
			m, events, err := d.Match(d.ctx(), id)
			d.must(err)
			receipt, _, err := d.Shown(d.ctx(), id, m.Where, match.Show, false)
			d.must(err)
			answer, ok, err := d.Answered(d.ctx(), "request of "+string(id))
			d.must(err)
			own, of := d.room(m.Where)
			mark, err := d.Bookmark(d.ctx(), rooms.LangMark(m.Where))
			d.must(err)
			out = append(out, m, events, receipt, answer, ok, own, of, mark)
		}
		for _, request := range []string{"refused kept", "refused mail", "refused nowhere", "flag:kept-1:7"} {
			_, ok, err := d.Answered(d.ctx(), request)
			d.must(err)
			out = append(out, ok)
		}
		return out
	}
	before := kept()
	readers := map[string]match.PersonID{} // who do nothing but link a browser, show a position, and organise an event
	for id, where := range map[string]match.Room{"lost": here("lost"), "kept": here("kept"), "far": elsewhere} {
		p := d.person(outbox.User{Platform: where.Platform, ID: "reader of " + id, Name: id})
		readers[id] = p
		d.must(d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Where: where, Link: &match.Linking{Person: p, Secret: "link " + id, Name: "Firefox"}}))
		d.must(d.AddRecord(d.ctx(), bot.Record{Slug: "shown " + id, Where: where, Person: p, Text: "(;SZ[5])", Shared: true, Visited: d.now}, 10))
		event := d.opensFor(p, contest.ID("e-"+id), where)
		event.Timed = []match.Due{d.timed(event.Contest, "close", day)}
		event.Owes = []match.Due{d.timed(event.Contest, "result:g", day)}
		event.Posts = []match.OutboxPost{{ID: "event " + id, Game: event.Contest.ID, Where: match.Room{Platform: "chat", Channel: "direct"}, Kind: match.Notice}}
		event.Draft = &match.Draft{Person: p, Where: where, Text: "{}", At: d.now}
		d.commits(event)
	}

	for range 2 { // what is forgotten may be forgotten again
		d.must(d.ForgetServer(d.ctx(), "chat", "gone"))
	}
	d.same("what is of the others", kept(), before)
	for _, id := range []string{"lost", "kept", "far"} {
		_, noLink := d.Link(d.ctx(), "link "+id)
		_, noRecord := d.Record(d.ctx(), "shown "+id)
		_, _, noEvent := d.Contest(d.ctx(), contest.ID("e-"+id))
		draft, err := d.Draft(d.ctx(), readers[id], map[string]match.Room{"lost": here("lost"), "kept": here("kept"), "far": elsewhere}[id], d.now)
		d.must(err)
		stays := id != "lost"
		d.same("link, record, event, draft and reader of "+id, []bool{noLink == nil, noRecord == nil, noEvent == nil, draft != "", len(d.people(readers[id])) > 0},
			[]bool{stays, stays, stays, stays, stays})
		d.same("events that reader of "+id+" is in", len(d.heads(d.ContestsOf(d.ctx(), readers[id]))) > 0, stays)
	}
	d.same("servers", len(d.servers("chat")), 1)
	ms, err := d.Matches(d.ctx(), bot.Query{Where: match.Room{Platform: "chat"}})
	d.must(err)
	for _, m := range ms {
		if strings.HasPrefix(string(m.ID), "lost") {
			d.Errorf("game %s is there", m.ID)
		}
	}
	if _, _, err := d.Match(d.ctx(), "lost-3"); !errors.Is(err, bot.ErrNotFound) {
		d.Errorf("a game of it: %v", err)
	}
	for _, request := range []string{"request of lost-2", "refused lost", "flag:lost-1:7"} {
		if _, ok, err := d.Answered(d.ctx(), request); ok || err != nil {
			d.Errorf("%s is answered: %v", request, err)
		}
	}
	d.same("owed", d.drain(), []string{"event far", "event kept", "loose kept"})
	due, err := d.DueBy(d.ctx(), d.now.Add(100*day), 1000)
	d.must(err)
	d.same("due", len(due), 3+2*2)
	own, of := d.room(here("lost"))
	d.same("settings of a channel of it", own, match.RoomSettings{Room: here("lost")})
	d.same("its server", of, rooms.Server{})
	mark, err := d.Bookmark(d.ctx(), rooms.LangMark(here("lost")))
	d.must(err)
	d.same("its language", mark, "")
	d.parks(here("lost"), "", true)
	var names []string
	for _, name := range []string{"ada", "bob", "eve", "kim", "lee", "mod", "pat", "una"} {
		if len(d.people(who[name])) > 0 {
			names = append(names, name)
		}
	}
	d.same("people", names, []string{"ada", "eve", "kim", "lee", "mod", "pat"})
	d.same("of another platform", len(d.people(far)), 1)
}

// A step by somebody who was forgotten meanwhile, or for them, is not taken.
func strangersStep(d *fixture) {
	a := d.person(outbox.User{Platform: "web", ID: "1", Name: "Ada"})
	b := d.person(outbox.User{Platform: "web", ID: "2", Name: "Bob"})
	d.must(d.Belongs(d.ctx(), garden, "club"))
	d.must(d.ForgetServer(d.ctx(), "web", "club"))
	step := &match.Step{Request: d.request(), At: d.now, Match: d.fresh("g1", garden), New: true, People: []match.PersonID{a, b}}
	d.conflict(d.Commit(d.ctx(), step))
	_, ok, err := d.Answered(d.ctx(), step.Request)
	d.must(err)
	d.same("answered", ok, false)
	step.People = []match.PersonID{d.person(outbox.User{Platform: "web", ID: "1", Name: "Ada"}), d.person(outbox.User{Platform: "web", ID: "2", Name: "Bob"})}
	d.must(d.Commit(d.ctx(), step))
}
