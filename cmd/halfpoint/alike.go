package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/rules"
)

// The processes on one database do the same work, so they should have the same configuration.
// Each compares its own with a note of digests that the one before it has left, and leaves one.

// settingsMark is the bookmark with the note.
const settingsMark = "bot:settings"

type settingsNote struct {
	Salt    string            `json:"salt"`
	Digests map[string]string `json:"digests"` // by key
}

// compareSettings warns if the process that started last has another configuration, and notes
// this one's.
func compareSettings(ctx context.Context, st *store.Store, s bot.Settings, own []*rules.Ruleset, log *slog.Logger) error {
	if keys, err := unlike(ctx, s, own); err != nil {
		log.Warn("comparing the configuration with that of the halfpoint that started last failed", "error", err)
	} else if len(keys) > 0 {
		log.Warn("the configuration differs from that of the halfpoint that started last", "settings", strings.Join(keys, ", "))
	}
	return noteSettings(ctx, st, s, own)
}

// noteSettings notes the configuration of this process.
func noteSettings(ctx context.Context, st *store.Store, s bot.Settings, own []*rules.Ruleset) error {
	salt := rand.Text()
	note, err := json.Marshal(settingsNote{salt, s.Digests(salt, own)})
	if err != nil {
		return err
	}
	return st.SetBookmark(ctx, settingsMark, string(note))
}

// unlike returns the keys of the settings in which the process that started last differs from this
// one; nil, too, if there was none.
func unlike(ctx context.Context, s bot.Settings, own []*rules.Ruleset) (keys []string, err error) {
	db, err := store.Look(s.Database)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	text, err := store.LookBookmark(ctx, db, settingsMark)
	if err != nil || text == "" {
		return nil, err
	}
	var note settingsNote
	if err := json.Unmarshal([]byte(text), &note); err != nil {
		return nil, fmt.Errorf("read the settings of the other halfpoint: %w", err)
	}
	mine := s.Digests(note.Salt, own)
	for _, key := range slices.Sorted(maps.Keys(mine)) {
		if theirs := note.Digests[key]; cmp.Or(theirs, mine[key]) != mine[key] { // another version may not know it
			keys = append(keys, key)
		}
	}
	return keys, nil
}
