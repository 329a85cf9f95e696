package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/rules"
)

// The processes on one database take over from each other, so they should have the same
// configuration. The one that works notes digests of it, and the others compare.

// settingsMark is the bookmark with the note.
const settingsMark = "bot:settings"

type settingsNote struct {
	Salt    string            `json:"salt"`
	Digests map[string]string `json:"digests"` // by key
}

// noteSettings notes the configuration of the process that works.
func noteSettings(ctx context.Context, st *store.Store, s bot.Settings, own []*rules.Ruleset) error {
	salt := rand.Text()
	note, err := json.Marshal(settingsNote{salt, s.Digests(salt, own)})
	if err != nil {
		return err
	}
	return st.SetBookmark(ctx, settingsMark, string(note))
}

// unlike returns the keys of the settings in which the process that works differs from this one,
// or did when it last worked; nil, too, if there was none.
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
