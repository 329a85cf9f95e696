package store

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// The transcript of the local room holds texts with names, not ids, so all of it has to
// be read to find what concerns a person. A name is compared as a whole, and only where it
// says who wrote a message or whom it addresses: within a text any word may be one.

// A speaker is a person as the transcript knows them.
type speaker struct {
	id    string          // of the platform; part of the name of their private room
	name  string          // in lower case; empty: they are a seat, which several people use
	seat  string          // the author of messages from the seat
	since int64           // messages from the seat after this one are theirs,
	until int64           // up to this one
	posts map[string]bool // ids of the posts with their comments on games
	files map[string]bool // names of the records of games that they have played or commented on
}

// speaker returns how the transcript knows a person, or nil if it does not.
func (s *Store) speaker(ctx context.Context, p match.PersonID, f storedForgetting) (*speaker, error) {
	if !f.Room {
		return nil, nil
	}
	sp := &speaker{id: f.ID, since: f.Since, until: f.Until, posts: map[string]bool{}, files: map[string]bool{}}
	if name, ok := strings.CutPrefix(f.ID, "name:"); ok {
		sp.name = name
	} else {
		sp.seat = f.Name
	}
	posts, err := values[string](ctx, s.costly, noticesBy, p)
	if err != nil {
		return nil, err
	}
	for _, id := range posts {
		sp.posts[id] = true
	}
	files, err := values[string](ctx, s.costly, recordsOf, p, f.Platform)
	for _, name := range files {
		sp.files[name] = true
	}
	return sp, err
}

// is reports whether a name is the speaker's.
func (sp *speaker) is(name string) bool {
	return sp.name != "" && name != "" && strings.ToLower(bot.CleanName(name)) == sp.name
}

// owns reports whether a message is the speaker's: they wrote it, it quotes them, or it
// was for them alone.
func (sp *speaker) owns(m outbox.Message) bool {
	if post, _, _ := strings.Cut(m.Key, "/"); sp.posts[post] {
		return true
	}
	theirs := sp.since < m.N && m.N <= sp.until
	if _, id, private := strings.Cut(m.Room, "/"); private {
		return id == sp.id && theirs
	}
	return sp.is(m.From) || sp.seat != "" && m.From == sp.seat && theirs
}

// without returns a message of others that does not address the speaker, and has no record
// of their games: that has their name, and people can ask for it again. It reports whether
// it differs.
func (sp *speaker) without(m outbox.Message, instead string) (outbox.Message, bool) {
	changed := false
	for i, name := range m.To {
		if sp.is(name) {
			m.To[i], changed = instead, true
		}
	}
	if m.File != nil && m.From == "" && sp.files[m.File.Name] {
		m.File, changed = nil, true
	}
	return m, changed
}

// eachMessage calls f with every message of the transcript, in order.
func (s *Store) eachMessage(ctx context.Context, f func(outbox.Message)) error {
	for after := int64(-1); ; {
		ms, err := messagesAfter(ctx, s.costly, after, forgetRows)
		if err != nil || len(ms) == 0 {
			return err
		}
		for _, m := range ms {
			f(m)
		}
		after = ms[len(ms)-1].N
	}
}

// MessagesOf returns the messages of the local room's transcript that concern a person:
// their own, those that quote them, and private answers to them.
func (s *Store) MessagesOf(ctx context.Context, p match.PersonID, who outbox.User) (messages []outbox.Message, err error) {
	defer annotate(&err, "find the messages of person %s", p)
	f, err := s.knownAs(ctx, who)
	if err != nil {
		return nil, err
	}
	sp, err := s.speaker(ctx, p, f)
	if sp == nil || err != nil {
		return nil, err
	}
	err = s.eachMessage(ctx, func(m outbox.Message) {
		if sp.owns(m) {
			messages = append(messages, m)
		}
	})
	return messages, err
}

// hush deletes a speaker from the transcript, a few messages at a time. It empties the
// newest message instead of deleting it, so that its number is not used again.
func (s *Store) hush(ctx context.Context, sp *speaker, instead string) error {
	var gone []string
	var stay []outbox.Message
	err := s.eachMessage(ctx, func(m outbox.Message) {
		if sp.owns(m) {
			gone = append(gone, strconv.FormatInt(m.N, 10))
		} else if m, changed := sp.without(m, instead); changed {
			stay = append(stay, m)
		}
	})
	if err != nil {
		return err
	}
	err = s.forEach(ctx, gone, forgetRows, "DELETE FROM message WHERE n IN ids AND n < (SELECT MAX(n) FROM message)",
		`UPDATE message SET key = '', room = '', at = 0, sender = '', body = '', game = '', seq = 0, kind = '', removed = 1, extra = ''
			WHERE n IN ids AND n = (SELECT MAX(n) FROM message)`)
	if err != nil {
		return err
	}
	return portions(ctx, s, stay, forgetRows, func(ctx context.Context, tx *sql.Tx, some []outbox.Message) error {
		for _, m := range some {
			extra, err := encodeExtra(m)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "UPDATE message SET extra = $1 WHERE n = $2", extra, m.N); err != nil {
				return err
			}
		}
		return nil
	})
}
