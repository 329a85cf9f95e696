package store

import (
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// An index finds a person's data, however many games there are.
func TestPrivacyReadsNoWholeTable(t *testing.T) {
	s := memory(t)
	for name, query := range map[string]string{"comments": commentsBy, "their posts": saidBy, "events": eventsBy, "records": recordsOf, "strangers": strangersOf} {
		plan := explain(t, s, query, "p1")
		if name == "strangers" {
			plan = strings.Replace(plan, "SCAN person", "", 1)
		}
		if strings.Contains(plan, "SCAN") || !strings.Contains(plan, "event_actor") {
			t.Errorf("%s:\n%s", name, plan)
		}
	}
	for _, sw := range sweeps {
		query := "SELECT " + sw.key + ", " + sw.useless + " FROM " + sw.table + " WHERE " + sw.key + " > $2 ORDER BY " + sw.key + limited(500)
		if plan := explain(t, s, query, 1, "a"); strings.Contains(plan, "SCAN") || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("prune %s:\n%s", sw.table, plan)
		}
	}
	for query, index := range map[string]string{contestEventsBy: "contest_event_actor", linesAbout: "contest_event_person", actsBy: "act_person", waitingSince: "game_contest"} {
		if plan := explain(t, s, query, "p1"); strings.Contains(plan, "SCAN") || !strings.Contains(plan, index) {
			t.Errorf("in events:\n%s", plan)
		}
	}
	if plan := explain(t, s, actsIn(20), "chat", "club", "guild", 0); strings.Contains(plan, "SCAN act") || strings.Contains(plan, "TEMP B-TREE") || strings.Count(plan, "act_room") != 2 {
		t.Errorf("what moderators did:\n%s", plan)
	}
	if plan := explain(t, s, dropAnswers, "p1"); !strings.Contains(plan, "post_waiting") {
		t.Errorf("answers:\n%s", plan)
	}
	query, args := matchesQuery(bot.Query{Player: "p1", Limit: 100})
	if plan := explain(t, s, query, args...); strings.Contains(plan, "SCAN") {
		t.Errorf("games:\n%s", plan)
	}
}

// A notice of what somebody has said goes with them, also where time was credited before.
func TestEraseNotices(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		for _, insert := range []string{
			"INSERT INTO person (id, platform, platform_id, name) VALUES ('p1', 'chat', 'p1', 'Ada')",
			`INSERT INTO game (id, rules, setup, opener, invited, opened, state, black, white, to_move, seq, result, changed)
			VALUES ('g1', '', '', 'p1', '', 0, 'ended', 'p1', 'p2', '', 4, '', 0)`,
			`INSERT INTO event (game, seq, at, actor, body, proof) VALUES ('g1', 1, 0, '', 'credit 0 1', ''), ('g1', 2, 0, 'p2', 'comment 1 hers', ''),
			('g1', 3, 0, '', 'credit 2 3', ''), ('g1', 4, 0, 'p1', 'comment 1 his', '')`,
			`INSERT INTO post (id, game, platform, channel, thread, n, kind, seq, private, body, state, due, attempt, receipt, why)
			VALUES ('g1-t1-before', 'g1', 'chat', 'club', '', 1, 'notice', 2, 0, 'hers', 'settled', 0, 0, '', ''),
			('g1-t2-before', 'g1', 'chat', 'club', '', 2, 'notice', 4, 0, 'his', 'settled', 0, 0, '', '')`,
		} {
			must(t, s.exec(t.Context(), insert))
		}
		must(t, s.Erase(t.Context(), bot.Forgetting{Person: "p1", Who: outbox.User{Platform: "chat", ID: "p1", Name: "Ada"}}))
		left, err := values[string](t.Context(), s.read, "SELECT body FROM post WHERE body <> '{}' ORDER BY n")
		wants(t, "notices", []string{"hers"}, left, err)
	})
}

// Forgetting somebody who has said much is done a few rows at a time, and leaves
// what others have said, and posts that are still to be delivered.
func TestEraseInPortions(t *testing.T) {
	updates := 0
	defer OnStatement(func(text string) {
		if strings.HasPrefix(text, "UPDATE ") {
			updates++
		}
	})()
	s := memory(t)
	const games = 2*forgetRows + 1
	must(t, s.exec(t.Context(), "INSERT INTO person (id, platform, platform_id, name) VALUES ('p1', 'chat', 'p1', 'Ada'), ('p2', 'chat', 'p2', 'Ada')"))
	for _, insert := range []string{
		`INSERT INTO game (id, rules, setup, opener, invited, opened, state, black, white, to_move, seq, result, changed)
			SELECT DISTINCT game, '', '', 'p1', '', 0, 'ended', 'p1', 'p2', '', 2, '', 0 FROM said`,
		"INSERT INTO event (game, seq, at, actor, body, proof) SELECT game, seq, 0, 'p' || seq, 'comment 1 canary of p' || seq, '' FROM said",
		`INSERT INTO post (id, game, platform, channel, thread, n, kind, seq, private, body, state, due, attempt, receipt, why)
			SELECT game || '-' || seq || '-before', game, 'chat', 'club', '', seq, 'notice', seq, 0, 'canary of p' || seq,
				CASE i WHEN 0 THEN 'waiting' ELSE 'settled' END, 0, 0, '', '' FROM said`,
	} {
		must(t, s.exec(t.Context(), "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < $1), said AS (SELECT i, 'g' || i AS game, seq FROM n, (SELECT 1 AS seq UNION SELECT 2)) "+insert, games-1))
	}
	count := func(query string) (n int) {
		t.Helper()
		must(t, s.read.QueryRowContext(t.Context(), query).Scan(&n))
		return n
	}
	must(t, s.Erase(t.Context(), bot.Forgetting{Person: "p1", Who: outbox.User{Platform: "chat", ID: "p1", Name: "Ada"}}))
	if updates != 5 { // 400 posts and games in 401 games
		t.Errorf("%d updates", updates)
	}
	for query, want := range map[string]int{
		"SELECT COUNT(*) FROM event WHERE body LIKE '%canary of p1%'": 0,
		"SELECT COUNT(*) FROM event WHERE body LIKE '%canary of p2%'": games,
		"SELECT COUNT(*) FROM post WHERE body LIKE '%canary of p1%'":  1, // which is still to be delivered
		"SELECT COUNT(*) FROM post WHERE body LIKE '%canary of p2%'":  games,
		"SELECT COUNT(*) FROM person":                                 1,
	} {
		if got := count(query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
}
