package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// What a person has done is found by an index, however many games there are.
func TestPrivacyReadsNoWholeTable(t *testing.T) {
	s, err := Open(t.Context(), Memory)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, query := range map[string]string{"comments": commentsBy, "their posts": saidBy, "events": eventsBy, "strangers": strangersOf} {
		plan := explain(t, s, query, "p1")
		if name == "strangers" {
			plan = strings.Replace(plan, "SCAN person", "", 1)
		}
		if strings.Contains(plan, "SCAN") || !strings.Contains(plan, "event_actor") {
			t.Errorf("%s:\n%s", name, plan)
		}
	}
	for _, sw := range sweeps {
		query := "SELECT " + sw.key + ", " + sw.useless + " FROM " + sw.table + " WHERE " + sw.key + " > $2 ORDER BY " + sw.key + " LIMIT $3"
		if plan := explain(t, s, query, 1, "a", 500); strings.Contains(plan, "SCAN") || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("prune %s:\n%s", sw.table, plan)
		}
	}
	query, args := matchesQuery(bot.Query{Player: "p1", Limit: 100})
	if plan := explain(t, s, query, args...); strings.Contains(plan, "SCAN") {
		t.Errorf("games:\n%s", plan)
	}
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
	s, err := Open(t.Context(), Memory)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const games = 2*forgetRows + 1
	err = s.change(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		for _, who := range []string{"p1", "p2"} {
			if _, err := tx.ExecContext(ctx, "INSERT INTO person (id, platform, platform_id, name) VALUES ($1, 'chat', $1, 'Ada')", who); err != nil {
				return err
			}
		}
		for i := range games {
			game := fmt.Sprint("g", i)
			if _, err := tx.ExecContext(ctx, `INSERT INTO game (id, rules, setup, opener, invited, opened, state, black, white, to_move, seq, result, changed)
				VALUES ($1, '', '', 'p1', '', 0, 'ended', 'p1', 'p2', '', 2, '', 0)`, game); err != nil {
				return err
			}
			for seq, who := range []string{"p1", "p2"} {
				if _, err := tx.ExecContext(ctx, "INSERT INTO event (game, seq, at, actor, body, proof) VALUES ($1, $2, 0, $3, 'comment 1 canary of ' || $3, '')", game, seq+1, who); err != nil {
					return err
				}
				state := "settled"
				if i == 0 {
					state = "waiting"
				}
				if _, err := tx.ExecContext(ctx, `INSERT INTO post (id, game, platform, channel, thread, n, kind, seq, private, body, state, due, attempt, receipt, why)
					VALUES ($1 || '-' || $2 || '-before', $1, 'chat', 'club', '', $2, 'notice', $2, 0, 'canary of ' || $3, $4, 0, 0, '', '')`, game, seq+1, who, state); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	count := func(query string) (n int) {
		t.Helper()
		if err := s.read.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if err := s.Erase(t.Context(), "p1", outbox.User{Platform: "chat", ID: "p1", Name: "Ada"}, "somebody"); err != nil {
		t.Fatal(err)
	}
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
