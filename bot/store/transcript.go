package store

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// theirLines is the condition on the lines of the transcript that go with the person $1:
// what they typed as $2, the bot's private messages to them in the room $3, and quotes of
// their comments. Of a seat these are the lines after $4, up to $5, because others used it
// before and may use it later.
//
// Lines of earlier releases have names. They go as a whole if somebody with one of the
// names $6 typed them or is mentioned, or with a record of a game that names the person.
const theirLines = `
	n > $4 AND n <= $5 AND (person = $2 OR room = $3 OR person = '' AND sender IN (SELECT value FROM json_each($6)))
	OR key <> '' AND key IN (` + noticesBy + `)
	OR instr(extra, '{"k":"remark","a":[{"p":"' || $1 || '"}') > 0
	OR $1 = $2 AND instr(extra, '{"to":') = 1 AND EXISTS (
		SELECT 1 FROM json_each(NULLIF(extra, ''), '$.to') AS name WHERE name.value IN (SELECT value FROM json_each($6)))
	OR NULLIF(extra, '') ->> '$.file.data' <> '' AND extra ->> '$.file.name' IN (` + recordsOf + `)`

// formerNames lists the names in lines of earlier releases.
const formerNames = `SELECT sender FROM message WHERE person = '' AND sender <> ''
	UNION SELECT name.value FROM message, json_each(NULLIF(extra, ''), '$.to') AS name WHERE instr(extra, '{"to":') = 1`

// linesOf returns the lines that go with a person.
func (s *Store) linesOf(ctx context.Context, p match.PersonID, f storedForgetting) ([]outbox.Message, error) {
	if !f.Room {
		return nil, nil
	}
	typedAs, names := match.PersonID(f.ID), []string{f.Name}
	if name, ok := strings.CutPrefix(f.ID, "name:"); ok { // else a seat
		typedAs = p
		all, err := values[string](ctx, s.costly, formerNames)
		if err != nil {
			return nil, err
		}
		names = slices.DeleteFunc(all, func(n string) bool { return strings.ToLower(text.CleanName(n)) != name })
	}
	former, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}
	return list(ctx, s.costly, scanMessage, messagesFrom+"WHERE "+theirLines+" ORDER BY n",
		p, typedAs, publicRoom+"/"+f.ID, f.Since, f.Until, string(former))
}

// MessagesOf returns the lines of the local room's transcript that go with a person: what
// they typed, quotes of their comments, and private messages to them.
func (s *Store) MessagesOf(ctx context.Context, p match.PersonID, who outbox.User) (messages []outbox.Message, err error) {
	defer annotate(&err, "find the messages of person %s", p)
	f, err := s.knownAs(ctx, who)
	if err != nil {
		return nil, err
	}
	return s.linesOf(ctx, p, f)
}

// removeLines deletes lines, a few at a time. It empties the newest line instead of
// deleting it, so that its number is not used again.
func (s *Store) removeLines(ctx context.Context, lines []outbox.Message) error {
	var ns []string
	for _, m := range lines {
		ns = append(ns, strconv.FormatInt(m.N, 10))
	}
	return s.forEach(ctx, ns, forgetRows, "DELETE FROM message WHERE n IN ids AND n < (SELECT MAX(n) FROM message)",
		`UPDATE message SET key = '', room = '', at = 0, person = '', sender = '', body = '', game = '', seq = 0, kind = '', removed = 1, extra = ''
			WHERE n IN ids AND n = (SELECT MAX(n) FROM message)`)
}
