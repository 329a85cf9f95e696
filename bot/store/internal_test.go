package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// Every later version must read the databases of today: these texts
// may be added to, and never changed.
func TestWrittenFormsStay(t *testing.T) {
	setup := rules.Setup{W: 9, H: 13, Komi: -1, Handicap: 2, First: rules.White,
		Black: []rules.Point{{X: 3, Y: 3}}, White: []rules.Point{{X: 8, Y: 12}}}
	reply := match.Reply{
		Texts:   []bot.Text{text.Say("started", text.Somebody("p1"))},
		Private: true, Game: "g1",
		Controls: []match.Control{{Label: "Pass", Command: "pass", Args: map[string]string{"seq": "2"}}},
	}
	asking := match.Reply{Controls: []match.Control{{Label: "Place", Command: "place", Ask: "at"}}}
	prefs := match.Preferences{Remind: "none", Zone: "Europe/Paris", Quiet: clock.Hours{From: 1380, To: 405}, Lang: "de", Theme: "slate", Layout: "portrait"}
	room := match.RoomSettings{Rules: "aga", Size: "13x13", Clock: "3d", Undo: -1, Opens: "moderators", Theme: "dark", Layout: "portrait", Coords: "none", Lang: "ja"}
	message := outbox.Message{To: []string{"Ada"}, Controls: asking.Controls,
		File: &outbox.File{Name: "game-1.sgf", Type: "application/x-go-sgf", Data: []byte("(;)")}}
	body := storedBody{Texts: reply.Texts, Notify: []match.PersonID{"p1"}, Reply: "route", Again: true}
	for _, c := range []struct {
		text  string
		value any
		write func() (string, error)
		read  func(string) (any, error)
	}{
		{`{"w":9,"h":13,"komi":-1,"handicap":2,"black":["D4"],"white":["J13"],"first":"W","noHints":true}`, setup,
			func() (string, error) { return encodeSetup(setup, true) },
			func(s string) (any, error) {
				got, noHints, err := decodeSetup(s)
				if !noHints {
					t.Error("the setup has lost that the game has no hints")
				}
				return got, err
			}},
		{`{"texts":[{"k":"started","a":[{"p":"p1"}]}],"private":true,"controls":[{"label":"Pass","command":"pass","args":{"seq":"2"}}],"game":"g1"}`, reply,
			func() (string, error) { return encodeReply(reply, "") },
			func(s string) (any, error) { return decodeReply(s) }},
		{`{"remind":"none","zone":"Europe/Paris","quiet":{"from":1380,"to":405},"lang":"de","theme":"slate","layout":"portrait"}`, prefs,
			func() (string, error) { return encodePreferences(prefs) },
			func(s string) (any, error) { return decodePreferences(s) }},
		{`{"controls":[{"label":"Place","command":"place","ask":"at"}]}`, asking,
			func() (string, error) { return encodeReply(asking, "") },
			func(s string) (any, error) { return decodeReply(s) }},
		{`{"rules":"aga","size":"13x13","clock":"3d","undo":-1,"opens":"moderators","theme":"dark","layout":"portrait","coords":"none","lang":"ja"}`, room,
			func() (string, error) { return encodeRoom(room) },
			func(s string) (any, error) { return decodeRoom(s) }},
		{`{"to":["Ada"],"controls":[{"label":"Place","command":"place","ask":"at"}],"file":{"name":"game-1.sgf","type":"application/x-go-sgf","data":"KDsp"}}`, message,
			func() (string, error) { return encodeExtra(message) },
			func(s string) (any, error) { var m outbox.Message; err := decodeExtra(s, &m); return m, err }},
		{``, outbox.Message{},
			func() (string, error) { return encodeExtra(outbox.Message{}) },
			func(s string) (any, error) { var m outbox.Message; err := decodeExtra(s, &m); return m, err }},
		{`{"texts":[{"k":"started","a":[{"p":"p1"}]}],"notify":["p1"],"reply":"route","again":true}`, body,
			func() (string, error) { return encode(body) },
			func(s string) (any, error) { var b storedBody; err := decode(s, &b); return b, err }},
	} {
		written, err := c.write()
		must(t, err)
		if diff := cmp.Diff(c.text, written); diff != "" {
			t.Errorf("written (-want +got):\n%s", diff)
		}
		read, err := c.read(c.text)
		must(t, err)
		if diff := cmp.Diff(c.value, read); diff != "" {
			t.Errorf("read (-want +got):\n%s", diff)
		}
	}
}

// Frequent queries must use an index, or they grow slower with every
// match that was ever played.
func TestQueriesUseIndices(t *testing.T) {
	s := memory(t)
	here := match.Room{Platform: "web", Channel: "c"}
	going := []match.State{match.Going}
	for name, c := range map[string]struct {
		query bot.Query
		use   string
	}{
		"going on here":      {bot.Query{Where: here, States: going}, "game_channel_state"},
		"mine here":          {bot.Query{Where: here, Player: "p", States: going}, "game_white"},
		"mine":               {bot.Query{Player: "p"}, "game_white"},
		"mine, own":          {bot.Query{Where: here, Player: "p", States: going, Own: true}, "game_white"},
		"own here":           {bot.Query{Where: here, States: going, Own: true}, "game_channel_state"},
		"of an event":        {bot.Query{Where: here, Event: "e-1", States: going}, "game_contest"},
		"mine, going on":     {bot.Query{Player: "p", States: going}, "game_white"},
		"of a thread":        {bot.Query{Where: match.Room{Platform: "web", Channel: "c", Thread: "t"}}, "game_channel_thread"},
		"by number":          {bot.Query{Where: here, Number: 3}, "number=?"},
		"of a thread, going": {bot.Query{Where: match.Room{Platform: "web", Channel: "c", Thread: "t"}, States: going}, "game_channel_thread"},
	} {
		query, args := matchesQuery(c.query)
		plan := explain(t, s, query, args...)
		if strings.Contains(plan, "SCAN") || !strings.Contains(plan, c.use) {
			t.Errorf("%s: the plan should use %s:\n%s", name, c.use, plan)
		}
	}
}

// Repeated queries use an index: that for due actions does not read all matches
// that have a deadline, a message not among all that were said.
func TestLookupsUseIndices(t *testing.T) {
	s := memory(t)
	contestsHere, _ := contestsQuery(match.Room{Platform: "web", Channel: "c"}, nil)
	for _, c := range []struct {
		query string
		args  []any
		use   []string // a line of the plan each
	}{
		{dueBy + limited(1), []any{0}, []string{"SEARCH due USING INDEX due_at (at<?)"}},
		{nextDue, nil, []string{"SEARCH due USING COVERING INDEX due_at"}},
		{running + limited(1), []any{"", "g"}, []string{"SEARCH game USING INDEX game_running (id>?)",
			"CORRELATED SCALAR SUBQUERY", "SEARCH game_channel USING COVERING INDEX sqlite_autoindex_game_channel_1 (game=? AND platform=?)"}},
		{forgetDue, []any{"g"}, []string{"SEARCH due USING"}},
		{gameUnder, []any{"web", "1"}, []string{"SEARCH post USING INDEX post_receipt (platform=? AND receipt=?)"}},
		{messagesOf("local", 9), []any{"local", 1}, []string{"SEARCH message USING INTEGER PRIMARY KEY (rowid>?)"}},
		{messagesOf("local/a", 9), []any{"local/a", 1}, []string{"SEARCH message USING INDEX message_room (room=? AND n>?)"}},
		{messageWithKey, []any{"k"}, []string{"SEARCH message USING INDEX message_key (key=?)"}},
		{known, []any{"web", "c", "l", "web", "1", "r", "s"}, []string{"CO-ROUTINE here", "SCAN CONSTANT ROW", "SCAN here",
			"SEARCH r USING INDEX sqlite_autoindex_room_setting_1 (platform=? AND channel=?)",
			"SEARCH c USING INDEX sqlite_autoindex_server_channel_1 (platform=? AND channel=?)",
			"SEARCH s USING INDEX sqlite_autoindex_server_1 (platform=? AND server=?)",
			"SEARCH l USING INDEX sqlite_autoindex_bookmark_1 (adapter=?)",
			"SEARCH p USING INDEX sqlite_autoindex_person_2 (platform=? AND platform_id=?)",
			"SEARCH f USING INDEX sqlite_autoindex_preference_1 (person=?)", "SEARCH i USING PRIMARY KEY (request=?)",
			"CORRELATED SCALAR SUBQUERY", "SEARCH post USING COVERING INDEX post_parked (platform=? AND channel=?)",
			"CORRELATED SCALAR SUBQUERY", "SEARCH bookmark USING COVERING INDEX sqlite_autoindex_bookmark_1 (adapter=?)"}},
		{paged, []any{"p"}, []string{"SEARCH g USING INDEX game_page (page=?)", "SEARCH c USING INDEX sqlite_autoindex_game_channel_1 (game=?)"}},
		{contestsOf, []any{"p"}, []string{"SEARCH p USING PRIMARY KEY (person=?)", "SEARCH c USING INDEX sqlite_autoindex_contest_1 (id=?)", "USE TEMP B-TREE FOR ORDER BY"}},
		{silences, nil, []string{"SCAN c USING INDEX sqlite_autoindex_contest_1", "CORRELATED SCALAR SUBQUERY", "SEARCH inbox USING PRIMARY KEY (request=?)",
			"SEARCH p USING INDEX post_parked (platform=? AND channel=?)", "CORRELATED SCALAR SUBQUERY", "SEARCH g USING INDEX sqlite_autoindex_game_1 (id=?)",
			"CORRELATED SCALAR SUBQUERY", "SEARCH newer USING INDEX sqlite_autoindex_post_2 (platform=? AND channel=? AND game=? AND n>?)", "USE TEMP B-TREE FOR LAST"}},
		{heardAgain, nil, []string{"SEARCH inbox USING PRIMARY KEY (request>? AND request<?)",
			"CORRELATED SCALAR SUBQUERY", "SEARCH c USING INDEX sqlite_autoindex_contest_1 (id=?)", "SEARCH p USING INDEX post_parked (platform=? AND channel=?)",
			"CORRELATED SCALAR SUBQUERY", "SEARCH g USING INDEX sqlite_autoindex_game_1 (id=?)",
			"CORRELATED SCALAR SUBQUERY", "SEARCH newer USING INDEX sqlite_autoindex_post_2 (platform=? AND channel=? AND game=? AND n>?)",
			"CORRELATED SCALAR SUBQUERY", "SEARCH c USING INDEX sqlite_autoindex_contest_1 (id=?)", "SEARCH p USING INDEX post_waiting (platform=? AND channel=?)",
			"CORRELATED SCALAR SUBQUERY", "SEARCH g USING INDEX sqlite_autoindex_game_1 (id=?)"}},
		{contestsHere, []any{"web", "c"}, []string{"SEARCH c USING INDEX sqlite_autoindex_contest_2 (platform=? AND channel=?)", "USE TEMP B-TREE FOR ORDER BY"}},
	} {
		plan := explain(t, s, c.query, c.args...)
		lines := strings.Split(plan, "\n")
		if len(lines) != len(c.use) {
			t.Fatalf("%s\nshould be %q and is:\n%s", c.query, c.use, plan)
		}
		for i, line := range lines {
			if !strings.HasPrefix(line, c.use[i]) {
				t.Errorf("%s\nshould be %q and is:\n%s", c.query, c.use, plan)
			}
		}
	}
}

// An export has every column of every table, or something would be lost; but for what
// an adapter keeps by itself, and for what processes keep of themselves.
func TestExportKnowsAllTables(t *testing.T) {
	s := memory(t)
	want, err := values[string](t.Context(), s.read, `
		SELECT t.name || ' ' || c.name || ' ' || replace(c.type, 'INTEGER', 'BIGINT') -- of message.n, see its migration
		FROM sqlite_schema t JOIN pragma_table_info(t.name) c
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' AND t.name NOT LIKE 'matrix%' AND t.name NOT IN ('unit', 'process', 'counter') AND t.name <> $1
			AND (t.name <> 'holder' OR c.name <> 'kept')`, versionTable)
	must(t, err)
	var has []string
	for _, table := range tables {
		for _, c := range table.columns {
			has = append(has, table.name+" "+c.name+" "+map[bool]string{true: "BIGINT", false: "TEXT"}[c.number])
		}
		// The order of its rows is that of a key.
		if plan := explain(t, s, "SELECT "+table.names()+" FROM "+table.name+" ORDER BY "+table.key); strings.Contains(plan, "TEMP") {
			t.Errorf("%s is sorted:\n%s", table.name, plan)
		}
	}
	slices.Sort(want)
	slices.Sort(has)
	wants(t, "tables", want, has, nil)
}

// broughtUp returns the store of a database as a version of the tables had it, with
// what was put into it, when it is opened for the second time.
func broughtUp(t *testing.T, version int64, statements string) *Store {
	t.Helper()
	name := filepath.Join(t.TempDir(), "halfpoint.db")
	db, err := sql.Open("sqlite", name)
	must(t, err)
	provider, err := migrator(db)
	must(t, err)
	_, err = provider.UpTo(t.Context(), version)
	must(t, err)
	_, err = db.ExecContext(t.Context(), statements)
	must(t, errors.Join(err, db.Close()))
	s, err := Open(t.Context(), name)
	must(t, err)
	must(t, s.Close())
	s, err = Open(t.Context(), name)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

// wants compares what was read with what is wanted.
func wants(t *testing.T, what string, want, got any, err error) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%s: %v (-want +got):\n%s", what, err, diff)
	}
}

// A database of the first version is brought up with everything kept.
func TestFirstVersionIsBroughtUp(t *testing.T) {
	ctx := t.Context()
	s := broughtUp(t, 1, `
		INSERT INTO person VALUES ('pa', 'web', '1', 'Ada'), ('pb', 'web', '2', 'Bob');
		INSERT INTO game VALUES ('g', 'two-button@1', '{"w":9,"h":9,"komi":13}', 'pa', 'pb', 1700000000000, 'going', 'pa', 'pb', 'pb', 1, '', 1700000001000);
		INSERT INTO game_channel VALUES ('g', 'web', 'c', 't', 3, 'going');
		INSERT INTO event VALUES ('g', 1, 1700000001000, 'pa', 'turn B place D4', '0123456789abcdef');
		INSERT INTO inbox VALUES ('web:1', 1700000001000, '{"texts":[{"k":"played","a":["D4"]}]}');
		INSERT INTO post VALUES ('o1', 'g', 'web', 'c', 't', 1, 'show', 1, 0, '{"texts":[{"k":"to move"}]}', 'settled', 0, 1, 'r1', '');
		INSERT INTO post VALUES ('o2', 'g', 'web', 'c', 't', 2, 'show', 1, 0, '{"texts":[{"k":"to move"}]}', 'waiting', 1800000001000, 0, '', ''); -- by a clock that was ahead
		INSERT INTO room_wait VALUES ('web', 'd', 1700000009000);
		INSERT INTO room_parked VALUES ('web', 'd', '', 'gone');
		INSERT INTO bookmark VALUES ('matrix', 's1');
		INSERT INTO message VALUES (1, 'k', 'c', 1700000000000, 'Ada', 'hello', 'g', 1, 'show', 0);`)
	start := time.UnixMilli(1700000000000).UTC()
	where := match.Room{Platform: "web", Channel: "c", Thread: "t"}
	want := match.Match{ID: "g", Rules: "two-button@1", Setup: rules.Setup{W: 9, H: 9, Komi: 13},
		Opener: "pa", Invited: "pb", Where: where, Number: 3, Opened: start,
		Standing: match.Standing{State: match.Going, Black: "pa", White: "pb", ToMove: "pb", Seq: 1, Changed: start.Add(time.Second)}}
	m, events, err := s.Match(ctx, "g")
	wants(t, "match", want, m, err)
	wants(t, "events", []match.Event{{Seq: 1, At: want.Changed, By: "pa", Body: match.ParseBody("turn B place D4"), Proof: "0123456789abcdef"}}, events, nil)
	people, err := s.People(ctx, []match.PersonID{"pa", "pb"})
	wants(t, "people", map[match.PersonID]outbox.User{"pa": {Platform: "web", ID: "1", Name: "Ada"}, "pb": {Platform: "web", ID: "2", Name: "Bob"}}, people, err)
	answer, _, err := s.Answered(ctx, "web:1")
	wants(t, "answer", match.Reply{Texts: []bot.Text{text.Say("played", "D4")}}, answer, err)
	receipt, _, err := s.Shown(ctx, "g", where, match.Show, false)
	wants(t, "receipt", outbox.Receipt("r1"), receipt, err)
	bookmark, err := s.Bookmark(ctx, "matrix")
	wants(t, "bookmark", "s1", bookmark, err)
	messages, err := s.Since(ctx, "c", 0, 9)
	wants(t, "messages", []outbox.Message{{N: 1, Key: "k", Room: "c", At: start, From: "Ada", Text: "hello", Game: "g", Seq: 1, Kind: match.Show}}, messages, err)
	_, first, err := s.Park(ctx, match.Room{Platform: "web", Channel: "d"}, "", "gone")
	wants(t, "parked for the first time", false, first, err)
	posts, err := s.Waiting(ctx)
	wants(t, "posts", 1, len(posts), err)
	due, err := s.DueBy(ctx, start.AddDate(100, 0, 0), 9)
	wants(t, "due", 0, len(due), err)
	running, err := s.Running(ctx, "", "", "", 9)
	wants(t, "running", 0, len(running), err)
	_, prefs, err := s.Players(ctx, []match.PersonID{"pa"})
	wants(t, "preferences", match.Preferences{Person: "pa"}, prefs["pa"], err)
	room, err := s.Channel(ctx, where)
	wants(t, "the room", rooms.Channel{Settings: match.RoomSettings{Room: match.Room{Platform: "web", Channel: "c"}}}, room, err)
}

// The second version brought preferences, clocks and what is due.
func TestSecondVersionIsBroughtUp(t *testing.T) {
	ctx := t.Context()
	s := broughtUp(t, 2, `
		INSERT INTO person VALUES ('pa', 'web', '1', 'Ada');
		INSERT INTO preference VALUES ('pa', '{"remind":"direct","quiet":{"from":1380,"to":405}}');
		INSERT INTO game VALUES ('g', 'aga@1', '{"w":9,"h":9,"komi":15}', 'pa', '', 1700000000000, 'going', 'pa', 'pa', 'pa', 0, '', 1700000000000, '3d', 1700259200000);
		INSERT INTO game_channel VALUES ('g', 'web', 'c', '', 1, 'going');
		INSERT INTO due VALUES ('g', 'flag', 1700259200000, 0), ('g', 'remind', 1700200000000, 0);
		INSERT INTO message VALUES (1, 'k', 'c', 1700000000000, '', 'hello', '', 0, 'notice', 0);`)
	m, _, err := s.Match(ctx, "g")
	if err != nil || m.Rated || m.Clock.String() != "3d" || m.Deadline.UnixMilli() != 1700259200000 {
		t.Errorf("match: %+v, %v", m, err)
	}
	due, err := s.DueBy(ctx, m.Deadline, 9)
	wants(t, "due", []match.Due{{Game: "g", Kind: "remind", At: time.UnixMilli(1700200000000).UTC()}, {Game: "g", Kind: "flag", At: m.Deadline}}, due, err)
	_, prefs, err := s.Players(ctx, []match.PersonID{"pa"})
	wants(t, "preferences", match.Preferences{Person: "pa", Remind: "direct", Quiet: clock.Hours{From: 1380, To: 405}}, prefs["pa"], err)
	said, err := s.Message(ctx, "k")
	wants(t, "message", outbox.Message{N: 1, Key: "k", Room: "c", At: time.UnixMilli(1700000000000).UTC(), Text: "hello", Kind: "notice"}, said, err)
}

// The fourth version knew no servers: what a room has chosen holds as it did, and what
// was answered still is.
func TestFourthVersionIsBroughtUp(t *testing.T) {
	ctx := t.Context()
	s := broughtUp(t, 4, `
		INSERT INTO inbox VALUES ('web:1', 1700000000000, '{"texts":[{"k":"played"}]}');
		INSERT INTO room_setting VALUES ('web', 'c', '{"size":"13x13"}'), ('web', 'd', '{"opens":"moderators"}');`)
	for channel, want := range map[string]match.RoomSettings{"c": {Size: "13x13"}, "d": {Opens: "moderators"}, "e": {}} {
		want.Room = match.Room{Platform: "web", Channel: channel}
		got, err := s.Channel(ctx, want.Room)
		wants(t, channel, rooms.Channel{Settings: want}, got, err)
	}
	r, _, err := s.Answered(ctx, "web:1")
	wants(t, "answer", match.Reply{Texts: []bot.Text{text.Say("played")}}, r, err)
	servers, err := s.Servers(ctx, "web")
	wants(t, "servers", 0, len(servers), err)
}

// In a database of the fifth version nobody holds the names of the local room, and
// those that were used are marked.
func TestFifthVersionIsBroughtUp(t *testing.T) {
	s := broughtUp(t, 5, `
		INSERT INTO person VALUES ('pa', 'web', 'name:ada', 'Ada'), ('pb', 'web', 'seat:black', 'Black'), ('pc', 'discord', 'name:1', 'C');`)
	ada, err := s.Holder(t.Context(), "web", "name:ada")
	wants(t, "Ada's holder", bot.Holder{Platform: "web", ID: "name:ada"}, ada, err)
	for platform, id := range map[string]string{"web": "seat:black", "discord": "name:1"} {
		if h, err := s.Holder(t.Context(), platform, id); !errors.Is(err, bot.ErrNotFound) {
			t.Errorf("%s is held by %+v, %v", id, h, err)
		}
	}
}

// In a database of the eleventh version outages were bookmarks; other bookmarks stay.
func TestEleventhVersionIsBroughtUp(t *testing.T) {
	s := broughtUp(t, 11, `
		INSERT INTO bookmark VALUES ('bot:alive', '5'), ('bot:away:chat', '1700000003000'), ('bot:away:mail', ''),
			('bot:outages', '[{"from":1700000001000,"to":1700000002000},{"from":1700000004000,"to":1700000009000},{"from":900,"to":1000}]');`)
	at := func(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
	got, err := s.Outages(t.Context())
	wants(t, "outages", []rooms.Outage{{From: at(900), To: at(1000)}, {From: at(1700000001000), To: at(1700000002000)},
		{Platform: "chat", From: at(1700000003000)}, {From: at(1700000004000), To: at(1700000009000)}}, got, err)
	left, err := values[string](t.Context(), s.read, "SELECT adapter FROM bookmark WHERE adapter LIKE $1", "bot:%")
	wants(t, "bookmarks", []string{"bot:alive"}, left, err)
}

// Somebody who acted since the search for strangers is no stranger any more.
func TestStrangersAreLookedAtAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		_, err := s.write.ExecContext(t.Context(), `
		INSERT INTO person VALUES ('opens', 'web', '1', ''), ('black', 'web', '2', ''), ('white', 'web', '3', ''), ('invited', 'web', '4', ''),
			('acts', 'web', '5', ''), ('chooses', 'web', '6', ''), ('stranger', 'web', '7', ''), ('not asked about', 'web', '8', '');
		INSERT INTO preference VALUES ('chooses', '{}');
		INSERT INTO game VALUES ('g', 'aga@1', '{"w":9,"h":9}', 'opens', 'invited', 0, 'going', 'black', 'white', '', 1, '', 1700000000000, 'none', 0, 0, '', '', 0, 0, '');
		INSERT INTO event VALUES ('g', 1, 1700000000000, 'acts', 'comment 1 Nice', '');`)
		must(t, err)
		must(t, s.forEach(t.Context(), []string{"opens", "black", "white", "invited", "acts", "chooses", "stranger"}, 2, removeStrangers))
		left, err := values[string](t.Context(), s.read, "SELECT id FROM person ORDER BY platform_id")
		wants(t, "people", []string{"opens", "black", "white", "invited", "acts", "chooses", "not asked about"}, left, err)
	})
}

// The transcript of the local room is kept for 90 days, and its newest messages for
// ever.
func TestPruneMessages(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		now := time.UnixMilli(1700000000000)
		for _, test := range []struct{ from, n, at, first int64 }{
			{1, leastKept, 0, 1}, // old
			{leastKept + 1, 700, millis(now.Add(-keepMessages)), 701}, // all of these are younger than what goes
			{leastKept + 701, leastKept, millis(now.Add(-keepMessages)), 10_001},
			{2*leastKept + 701, 1, millis(now), 10_001},
		} {
			must(t, s.exec(ctx, `
				WITH RECURSIVE next(n) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT n + 1 FROM next WHERE n < $1 + $2 - 1)
				INSERT INTO message (n, key, room, at, sender, body, game, seq, kind, removed)
				SELECT n, CAST(n AS TEXT), 'r', CAST($3 AS BIGINT), '', '', '', 0, '', 0 FROM next`,
				test.from, test.n, test.at))
			for next := "message"; next != ""; {
				var err error
				next, err = s.Prune(ctx, now, next, 500)
				must(t, err)
			}
			ms, err := s.After(ctx, 0, 1)
			if err != nil || len(ms) == 0 || ms[0].N != test.first {
				t.Errorf("the oldest message is %v, want %d, %v", ms, test.first, err)
			}
		}
	})
}

// The transcripts keep their newest bytes, texts and files alike, and of one message that
// is larger nothing.
func TestTrimMessages(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		for n := range 20 {
			m := outbox.Message{Room: "local", Text: strings.Repeat("ä", 450)} // 1,000 bytes with what belongs to it
			if n%2 == 1 {
				m = outbox.Message{Room: "local/x", File: &outbox.File{Data: make([]byte, 600)}}
			}
			_, err := s.Append(t.Context(), m)
			must(t, err)
		}
		for _, test := range []struct {
			bytes int64
			first int64
		}{{1 << 20, 1}, {10_500, 11}, {10_500, 11}, {1_100, 20}, {0, 0}} {
			must(t, s.Trim(t.Context(), test.bytes))
			ms, err := s.After(t.Context(), 0, 1)
			if must(t, err); len(ms) != min(1, int(test.first)) || len(ms) > 0 && ms[0].N != test.first {
				t.Errorf("with %d bytes the oldest message is %v, want %d", test.bytes, ms, test.first)
			}
		}
	})
}

// Commits are durable only with these settings.
func TestSettings(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "halfpoint.db"))
	must(t, err)
	defer s.Close()
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "1000", "secure_delete": "1", "page_size": "2048", "wal_autocheckpoint": "2000",
	} {
		for name, db := range map[string]*sql.DB{"writer": s.write, "reader": s.read.DB} {
			var got string
			must(t, db.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got))
			if got != want {
				t.Errorf("%s: %s is %s, want %s", name, pragma, got, want)
			}
		}
	}
	if _, err := s.read.ExecContext(t.Context(), "DELETE FROM game"); err == nil {
		t.Error("a reader can write")
	}
}

// A commit that fails is told to all who had their part in it, and to nobody
// else.
func TestCommitFails(t *testing.T) {
	s := memory(t)
	bookmark := func(adapter string) change {
		return change{t.Context(), func(ctx context.Context, tx transaction) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO bookmark (adapter, value) VALUES ($1, '')", adapter)
			return err
		}, nil}
	}
	// An event of no match, which the database notices only in the end.
	bad := change{t.Context(), func(ctx context.Context, tx transaction) error {
		_, err := tx.ExecContext(ctx, `PRAGMA defer_foreign_keys = ON;
			INSERT INTO event (game, seq, at, actor, body, proof) VALUES ('none', 1, 0, '', '', '')`)
		return err
	}, nil}
	// And one that ends the transaction, as SQLite itself does when the disk is full.
	worse := change{t.Context(), func(ctx context.Context, tx transaction) error {
		_, err := tx.ExecContext(ctx, "ROLLBACK")
		return errors.Join(errors.New("the disk is full"), err)
	}, nil}
	for name, fault := range map[string]change{"commit": bad, "transaction": worse} {
		for i, err := range s.changes.(*committer).commit([]change{bookmark("a"), fault, bookmark("b")}) {
			if err == nil {
				t.Errorf("%s: change %d knows of no error", name, i)
			}
		}
		var n int
		must(t, s.read.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM bookmark").Scan(&n))
		if n != 0 {
			t.Errorf("%s: %d changes of a commit that failed are there", name, n)
		}
	}
	if err := errors.Join(s.changes.(*committer).commit([]change{bookmark("a"), bookmark("b")})...); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	// Of changes that share a commit, one that is refused leaves the others alone.
	errs := s.changes.(*committer).commit([]change{bookmark("c"), bookmark("a"), bookmark("d")})
	if errs[0] != nil || errs[1] == nil || errs[2] != nil {
		t.Errorf("the second of three should be refused: %v", errs)
	}
}

// Whoever watches commits hears of each, how many changes it had, and whether the database
// failed; a change that was refused is no failure. While a commit is under way a ping waits.
func TestWatchedCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory(t)
		var heard []string
		s.Watch(func(changes int, took time.Duration, failed error) {
			heard = append(heard, fmt.Sprintf("%d in %v, %v", changes, took, failed))
		})
		makes := func(err error) error {
			return s.change(t.Context(), func(context.Context, transaction) error {
				time.Sleep(time.Second)
				return err
			})
		}
		full := errors.New("the disk is full")
		for _, err := range []error{nil, fmt.Errorf("turn: %w", bot.ErrConflict), full} {
			if got := makes(err); got != err {
				t.Errorf("%v, want %v", got, err)
			}
		}
		must(t, s.Ping(t.Context()))
		go makes(nil)
		synctest.Wait()
		hurried, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if err := s.Ping(hurried); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a ping during a commit: %v", err)
		}
		must(t, s.Ping(t.Context()))
		want := []string{"1 in 1s, <nil>", "1 in 1s, <nil>", "1 in 1s, the disk is full", "1 in 1s, <nil>"}
		if !slices.Equal(heard, want) {
			t.Errorf("heard %q", heard)
		}
		must(t, s.Close())
		if err := s.Ping(t.Context()); !errors.Is(err, errClosed) {
			t.Errorf("a ping of a closed store: %v", err)
		}
	})
}

func TestClosedStore(t *testing.T) {
	s, err := Open(t.Context(), Memory)
	must(t, err)
	for range 2 { // closing twice is closing once
		must(t, s.Close())
	}
	if err := s.SetBookmark(t.Context(), "matrix", "s1"); !errors.Is(err, errClosed) {
		t.Errorf("error is %v, want %v", err, errClosed)
	}
}

// explain returns the plan of a query, a line for each step.
func explain(t *testing.T, s *Store, query string, args ...any) string {
	t.Helper()
	lines, err := list(t.Context(), s.read, func(scan scanner) (line string, err error) {
		var id, parent, unused int
		err = scan(&id, &parent, &unused, &line)
		return line, err
	}, "EXPLAIN QUERY PLAN "+query, args...)
	must(t, err)
	return strings.Join(lines, "\n")
}

// Up to the fifteenth version a process claimed the posts that it sent: one that may have
// been sent is looked for. A reminder that replaces another said so with its id.
func TestFifteenthVersionIsBroughtUp(t *testing.T) {
	s := broughtUp(t, 15, `
		INSERT INTO post (id, game, platform, channel, thread, n, kind, seq, private, body, state, due, attempt, receipt, why) VALUES
			('shown', 'g', 'web', 'c', '', 1, 'show', 1, 0, '{}', 'settled', 1700000030000, 1, 'r1', ''),
			('claimed', 'g', 'web', 'c', '', 2, 'show', 2, 0, '{"texts":[{"k":"to move"}]}', 'waiting', 1700000030000, 1, '', 'clean'),
			('fresh', 'g', 'web', 'c', '', 3, 'show', 3, 0, '{}', 'waiting', 1700000001000, 0, '', ''),
			('twice', 'h', 'web', 'c', '', 1, 'notice', 1, 0, '{}', 'waiting', 1700000040000, 2, '', ''),
			('k-1-remind-5-again', 'k', 'web', 'c', '', 1, 'status', 1, 0, '{}', 'waiting', 1700000001000, 0, '', ''),
			('unsent', 'i', 'web', 'c', '', 1, 'notice', 1, 0, '{}', 'waiting', 1700000050000, 1, '', 'unsent'),
			('parked', 'j', 'web', 'd', '', 1, 'notice', 1, 0, '{}', 'parked', 1700000001000, 2, '', 'gone');`)
	posts, err := s.Waiting(t.Context())
	must(t, err)
	want := map[string]string{"claimed": "attempt 1, tried true, due 0", "fresh": "attempt 0, tried false, due 1700000001000",
		"twice": "attempt 2, tried true, due 0", "unsent": "attempt 1, tried false, due 0", "k-1-remind-5-again": "attempt 0, tried false, due 1700000001000 again"}
	got := map[string]string{}
	for _, p := range posts {
		got[p.ID] = fmt.Sprintf("attempt %d, tried %v, due %d", p.Attempt, p.Tried, p.Due.UnixMilli())
		if p.Again {
			got[p.ID] += " again"
		}
	}
	wants(t, "posts", want, got, nil)
	some, err := s.Unpark(t.Context(), match.Room{Platform: "web", Channel: "d"}, time.UnixMilli(1700000000000).Add(time.Hour), false)
	wants(t, "unparked", true, some, err)
	posts, err = s.Waiting(t.Context())
	wants(t, "unparked post is tried", true, posts[len(posts)-1].ID == "parked" && posts[len(posts)-1].Tried, err)
}

// Up to the sixteenth version a game that was deleted while it was open, or after it was
// cancelled, kept that state.
func TestSixteenthVersionIsBroughtUp(t *testing.T) {
	s := broughtUp(t, 16, deletedGames)
	states, err := values[string](t.Context(), s.read, "SELECT g.id || ' ' || g.state || ' ' || c.state FROM game g JOIN game_channel c ON c.game = g.id ORDER BY g.id")
	wants(t, "states", []string{"c cancelled cancelled", "d deleted deleted", "e ended ended", "o open open", "p deleted deleted"}, states, err)
}

// Up to the twenty-second version only matches had timed actions; these stay due.
func TestTwentySecondVersionIsBroughtUp(t *testing.T) {
	s := broughtUp(t, 22, `
		INSERT INTO game (id, rules, setup, opener, invited, opened, state, black, white, to_move, seq, result, changed, clock, deadline, rated)
			VALUES ('g', 'aga@1', '{"w":9,"h":9}', 'pa', '', 1, 'going', 'pa', 'pb', 'pa', 0, '', 1, '3d', 1700259200000, 0);
		INSERT INTO game_channel VALUES ('g', 'web', 'c', '', 1, 'going');
		INSERT INTO due VALUES ('g', 'flag', 1700259200000, 0), ('g', 'remind', 1700200000000, 0);`)
	m, err := s.Header(t.Context(), "g")
	wants(t, "fixture", match.Fixture{}, m.Fixture, err)
	m.Seq = 1
	step := &match.Step{Request: "r", At: m.Changed, Match: &m, Events: []match.Event{{Seq: 1, Body: match.ParseBody("comment 1 Hello")}}, Due: []match.Due{{Game: "g", Kind: "flag", At: m.Deadline, Seq: 1}}}
	due, err := s.DueBy(t.Context(), m.Deadline, 9)
	wants(t, "due", []match.Due{{Game: "g", Kind: "remind", At: time.UnixMilli(1700200000000).UTC()}, {Game: "g", Kind: "flag", At: m.Deadline}}, due, err)
	must(t, s.Commit(t.Context(), step))
	due, err = s.DueBy(t.Context(), m.Deadline, 9)
	wants(t, "due after a step", step.Due, due, err)
}

func TestTwentySixthVersionIsBroughtUp(t *testing.T) {
	s := broughtUp(t, 26, "INSERT INTO message (n, key, room, at, sender, body, game, seq, kind, removed) VALUES (7, '', 'local', 1, '', 'hello', '', 0, '', 0)")
	m, err := s.Append(t.Context(), outbox.Message{Room: "local"})
	wants(t, "the number of the next message", int64(8), m.N, err)
}

// deletedGames are games with and without a deletion, open and over.
const deletedGames = `
	INSERT INTO game (id, rules, setup, opener, invited, opened, state, black, white, to_move, seq, result, changed, clock, deadline, rated)
		SELECT id, 'two-button@1', '{"w":9,"h":9}', 'a', '', 1, state, 'a', 'b', '', 1, '', 1, '', 0, 0
		FROM (SELECT 'o' id, 'open' state UNION SELECT 'p', 'open' UNION SELECT 'c', 'cancelled' UNION SELECT 'd', 'cancelled' UNION SELECT 'e', 'ended');
	INSERT INTO game_channel (game, platform, channel, thread, number, state) SELECT id, 'web', 'c', '', unicode(id), state FROM game;
	INSERT INTO event (game, seq, at, actor, body, proof) VALUES
		('o', 1, 1, 'a', 'open', ''), ('p', 1, 1, 'a', 'open', ''), ('p', 2, 1, 'm', 'delete', ''),
		('c', 1, 1, 'a', 'cancel', ''), ('c', 2, 1, 'a', 'ask B delete', ''),
		('d', 1, 1, 'a', 'cancel', ''), ('d', 2, 1, 'a', 'ask B delete', ''), ('d', 3, 1, 'b', 'delete', '');`

// Only what all have seen overtakes a post that was given up.
func TestRetryBesideAPrivateMessage(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		where := match.Room{Platform: "web", Channel: "room"}
		for _, p := range []match.OutboxPost{{ID: "board"}, {ID: "private", Private: true}, {ID: "public"}} {
			p.Where, p.Kind = where, match.Notice
			must(t, s.Commit(ctx, &match.Step{Request: p.ID, Posts: []match.OutboxPost{p}}))
			if p.ID == "board" {
				must(t, s.Change(ctx, p, outbox.Refused, "no"))
				continue
			}
			must(t, s.Settle(ctx, p.ID, "1", nil, outbox.Decorations{}, nil))
			if err := s.Retry(ctx, "board"); p.Private && err != nil || !p.Private && !errors.Is(err, ErrOvertaken) {
				t.Errorf("after the %s one: %v", p.ID, err)
			}
			if p.Private {
				must(t, s.Change(ctx, match.OutboxPost{ID: "board"}, outbox.Refused, "no"))
			}
		}
	})
}

// Of an answer that was dropped only that is kept, and nobody can have it tried again.
func TestDroppedAnswers(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		answer := match.OutboxPost{ID: "r:answer", Kind: match.Answer, Where: match.Room{Platform: "chat", Channel: "club"}, For: "p1", Reply: "route",
			Question: &match.Question{Command: "show", Args: map[string]string{"diagram": "canary"}}}
		must(t, s.Commit(ctx, &match.Step{Request: "r", At: time.UnixMilli(1700000000000), Posts: []match.OutboxPost{answer}}))
		must(t, s.Change(ctx, answer, outbox.Refused, "too late"))
		left, err := values[string](ctx, s.read, "SELECT state || ' ' || why || ' ' || body FROM post")
		wants(t, "posts", []string{"refused too late {}"}, left, err)
		if err := s.Retry(ctx, answer.ID); !errors.Is(err, bot.ErrNotFound) {
			t.Errorf("the error of another try is %v", err)
		}
	})
}

// All records together take no more room than they may, and nothing that is there is lost by it.
func TestRecordsAreFull(t *testing.T) {
	s, err := Open(t.Context(), Memory)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	add := func(slug string) error { return s.AddRecord(t.Context(), bot.Record{Slug: slug, Text: "(;SZ[5])"}, 10) }
	err = errors.Join(add("first"), s.exec(t.Context(), "UPDATE record SET size = $1", maxRecords-len("(;SZ[5])")))
	if err != nil {
		t.Fatal(err)
	}
	for slug, want := range map[string]error{"first": nil, "second": bot.ErrFull} {
		if err := add(slug); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", slug, err, want)
		}
	}
	if err := errors.Join(s.DeleteRecord(t.Context(), "first", nil), add("second")); err != nil {
		t.Errorf("after a deletion: %v", err)
	}
}
