package store

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// ofPerson is the condition on the lines of the transcript that go with the person $1: what
// they typed as $2, the bot's private messages to them in the room $3, diagrams that they showed,
// and quotes of their comments. Of a seat these are the lines after $4, up to $5, because others used it before
// and may use it later.
const ofPerson = `(n > $4 AND n <= $5 AND (person = $2 OR room = $3 OR extra LIKE '%{"k":"shared.show","a":[{"p":"' || $1 || '"}%"diagram":%')
	OR key <> '' AND key IN (` + noticesBy + `)
	OR extra LIKE '%{"k":"remark","a":[{"p":"' || $1 || '"}%')`

// theirLines finds these lines, and those that have to be looked into. Lines of earlier
// releases have names, of who typed them or is mentioned; and a record of a game names the
// players.
const theirLines = "SELECT " + messageColumns + ", " + ofPerson + ` AS certain FROM message WHERE ` + ofPerson + `
	OR person = '' AND sender <> '' OR extra LIKE '{"to":%' OR extra LIKE '%"file":{"name":"game-%' ORDER BY n`

// linesOf returns the lines that go with a person.
func (s *Store) linesOf(ctx context.Context, p match.PersonID, f storedForgetting) ([]outbox.Message, error) {
	if !f.Room {
		return nil, nil
	}
	typedAs := match.PersonID(f.ID)
	called := func(name string) bool { return name == f.Name }
	id, isName := strings.CutPrefix(f.ID, "name:") // else a seat
	if isName {
		typedAs = p
		called = func(name string) bool { return strings.ToLower(text.CleanName(name)) == id }
	}
	records, err := values[string](ctx, s.costly, recordsOf, p)
	if err != nil {
		return nil, err
	}
	type line struct {
		outbox.Message
		theirs bool
	}
	lines, err := list(ctx, s.costly, func(scan scanner) (l line, err error) {
		l.Message, err = scanMessage(func(to ...any) error { return scan(append(to, &l.theirs)...) })
		l.theirs = l.theirs ||
			l.From != "" && l.N > f.Since && l.N <= f.Until && called(l.From) ||
			isName && slices.ContainsFunc(l.To, called) ||
			l.File != nil && len(l.File.Data) > 0 && slices.Contains(records, l.File.Name)
		return l, err
	}, theirLines, p, typedAs, publicRoom+"/"+f.ID, f.Since, f.Until)
	var theirs []outbox.Message
	for _, l := range lines {
		if l.theirs {
			theirs = append(theirs, l.Message)
		}
	}
	return theirs, err
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

// removeLines deletes lines, a few at a time. Of the newest line it leaves the number, which an
// import would give to another one.
func (s *Store) removeLines(ctx context.Context, lines []outbox.Message) error {
	var ns []string
	for _, m := range lines {
		ns = append(ns, strconv.FormatInt(m.N, 10))
	}
	return s.forEach(ctx, ns, forgetRows,
		"UPDATE message SET key = '', room = '', at = 0, person = '', sender = '', body = '', game = '', seq = 0, kind = '', removed = 1, extra = '' WHERE n IN ids",
		"DELETE FROM message WHERE n IN ids AND n < (SELECT MAX(n) FROM message)")
}
