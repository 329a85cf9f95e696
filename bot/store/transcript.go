package store

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// The transcript of the local room holds texts with names, not ids, so all of it has to
// be read to find what concerns a person.

// A speaker is a person as the transcript knows them.
type speaker struct {
	id    string          // of the platform; part of the name of their private room
	name  string          // in lower case; empty: they are a seat, which several people use
	forms map[string]bool // spellings of the name in the transcript
	seat  string          // the author of messages from the seat
	since int64           // messages from the seat after this one are theirs
	posts map[string]bool // ids of the posts with their comments on games
	games map[string]bool // on which they have commented
}

// speaker returns how the transcript knows a person, or nil if it does not.
func (s *Store) speaker(ctx context.Context, p match.PersonID, who outbox.User) (*speaker, error) {
	if who.Platform != bot.LogPlatform {
		return nil, nil
	}
	sp := &speaker{id: who.ID, forms: map[string]bool{}, posts: map[string]bool{}, games: map[string]bool{}}
	if name, ok := strings.CutPrefix(who.ID, "name:"); ok {
		sp.name = name
		sp.forms[form(who.Name)] = true
	} else {
		h, err := s.Holder(ctx, who.Platform, who.ID)
		if errors.Is(err, bot.ErrNotFound) { // an empty seat, or that of all onlookers
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		sp.seat, sp.since = who.Name, h.Since
	}
	posts, err := values[string](ctx, s.read, noticesBy, p)
	if err != nil {
		return nil, err
	}
	for _, id := range posts {
		sp.posts[id] = true
		game, _, _ := strings.Cut(id, "-")
		sp.games[game] = true
	}
	err = s.eachMessage(ctx, func(m outbox.Message) {
		for _, name := range append(m.To, m.From) {
			if sp.is(name) {
				sp.forms[form(name)] = true
			}
		}
	})
	delete(sp.forms, "")
	return sp, err
}

// form returns a name without the marks around right-to-left names.
func form(name string) string { return strings.Trim(name, "\u2068\u2069") }

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
	if _, id, private := strings.Cut(m.Room, "/"); private {
		return id == sp.id && m.N > sp.since
	}
	return sp.is(m.From) || sp.seat != "" && m.From == sp.seat && m.N > sp.since
}

// without returns a message of others without the speaker's names, and reports
// whether it had any. It drops files that may contain the name or the speaker's words;
// people can ask for them again.
func (sp *speaker) without(m outbox.Message, instead string) (outbox.Message, bool) {
	changed := false
	clean := func(s string) string {
		out := s
		for name := range sp.forms {
			out = replaceName(out, name, instead)
		}
		changed = changed || out != s
		return out
	}
	m.Text = clean(m.Text)
	for i, name := range m.To {
		m.To[i] = clean(name)
	}
	for i, c := range m.Controls {
		m.Controls[i].Label = clean(c.Label)
		for option, value := range c.Args {
			c.Args[option] = clean(value)
		}
	}
	if m.File != nil {
		gone := len(sp.games) > 0 && (m.Game == "" || sp.games[string(m.Game)])
		for name := range sp.forms {
			gone = gone || strings.Contains(m.File.Name, name) || strings.Contains(string(m.File.Data), name)
		}
		if gone {
			m.File, changed = nil, true
		}
	}
	return m, changed
}

// replaceName replaces a name where it is a word of its own. Some languages put no
// blanks between words.
func replaceName(s, name, instead string) string {
	var b strings.Builder
	for from := 0; ; {
		i := strings.Index(s[from:], name)
		if i < 0 {
			b.WriteString(s[from:])
			return b.String()
		}
		at, end := from+i, from+i+len(name)
		before, _ := utf8.DecodeLastRuneInString(s[:at])
		after, _ := utf8.DecodeRuneInString(s[end:])
		first, _ := utf8.DecodeRuneInString(name)
		last, _ := utf8.DecodeLastRuneInString(name)
		b.WriteString(s[from:at])
		if inWord(before) && inWord(first) || inWord(last) && inWord(after) {
			b.WriteString(name)
		} else {
			b.WriteString(instead)
		}
		from = end
	}
}

// inWord reports whether a letter is part of a word that blanks or punctuation end.
func inWord(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// eachMessage calls f with every message of the transcript, in order.
func (s *Store) eachMessage(ctx context.Context, f func(outbox.Message)) error {
	for after := int64(-1); ; {
		ms, err := s.After(ctx, after, forgetRows)
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
	sp, err := s.speaker(ctx, p, who)
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
			if _, err := tx.ExecContext(ctx, "UPDATE message SET body = $1, extra = $2 WHERE n = $3", m.Text, extra, m.N); err != nil {
				return err
			}
		}
		return nil
	})
}
