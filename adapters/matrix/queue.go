package matrix

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"go.mau.fi/util/dbutil"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/bot"
)

// The states of an event.
const (
	waiting  = "waiting"  // for its turn
	keyless  = "keyless"  // encrypted, and its key has not come
	accepted = "accepted" // a command that was done
	refused  = "refused"  // a command that was not
	ignored  = "ignored"  // nothing for the bot
	poison   = "poison"   // what failed so often that it is left alone
)

// The order of a room's events is that of n, then of part. What was missing is
// put where it was missing: it has the n of its gap, and as it is found
// backwards each part is below the one before. The gap itself comes first.
const gapFirst = -1 << 40

// A queue stores in the tables of the bot's store: events until the adapter has handled
// them, together with the token that says how far the bot has read, so that the
// homeserver need never send them again; rooms; and small facts. Its methods may be
// called concurrently.
type queue struct{ db *dbutil.Database }

// A row is an event that was written down.
type row struct {
	n, part int64
	room    id.RoomID
	event   id.EventID
	state   string
	tries   int       // see [Adapter.processEvent]
	live    bool      // it came at once, not after the bot was away
	at      time.Time // when it came
	evt     *event.Event
	broken  error // what is on disk cannot be read
}

// A batch is what one answer of the homeserver brought.
type batch struct {
	token  string
	live   bool                 // its events are new, not of a time when the bot was away
	events []*event.Event       // in the order of each room
	last   map[id.RoomID]last   // how far each room has been read
	left   map[id.RoomID]bool   // where the bot is no longer
	marks  map[[2]string]string // by kind and key
	gone   []redaction
}

// A redaction is an event that was taken back.
type redaction struct {
	event id.EventID
	by    id.UserID
	any   bool // who did it may take back what others have said
}

// last is what a room was when it was read.
type last struct {
	event  id.EventID // the newest that was seen; empty: none new
	people int        // joined members; 0: not said
}

// take writes a batch down. Events that are there already stay as they are. It
// gives the rooms in which something is to be done.
func (q *queue) take(ctx context.Context, b batch, now time.Time) (rooms map[id.RoomID]bool, err error) {
	rooms = map[id.RoomID]bool{}
	err = q.db.DoTxn(ctx, nil, func(ctx context.Context) error {
		n, err := q.newest(ctx)
		if err != nil {
			return err
		}
		for _, e := range b.events {
			n++
			part := int64(0)
			if e.Type.Type == gap.Type {
				part = gapFirst
			}
			fresh, err := q.insert(ctx, &row{n: n, part: part, live: b.live, at: now, evt: e})
			if err != nil {
				return err
			}
			if fresh {
				rooms[e.RoomID] = true
			}
		}
		if err := q.takeBack(ctx, b.gone); err != nil {
			return err
		}
		for room, l := range b.last {
			if err := q.exec(ctx, `INSERT INTO matrix_room (room, known, last, people, joined) VALUES ($1, $1, $2, $3, 1)
				ON CONFLICT (room) DO UPDATE SET joined = 1,
				last = CASE WHEN excluded.last = '' THEN matrix_room.last ELSE excluded.last END,
				people = CASE WHEN excluded.people = 0 THEN matrix_room.people ELSE excluded.people END`, room, l.event, l.people); err != nil {
				return err
			}
		}
		for room := range b.left {
			if err := q.left(ctx, room); err != nil {
				return err
			}
		}
		for k, v := range b.marks {
			if err := q.mark(ctx, k[0], k[1], v, now); err != nil {
				return err
			}
		}
		return q.exec(ctx, "INSERT INTO matrix_place (one, token) VALUES (1, $1) ON CONFLICT (one) DO UPDATE SET token = excluded.token", b.token)
	})
	return rooms, err
}

// newest returns the n of the newest event.
func (q *queue) newest(ctx context.Context) (n int64, err error) {
	err = q.db.QueryRow(ctx, "SELECT COALESCE(MAX(n), 0) FROM matrix_event").Scan(&n)
	return n, err
}

// insert writes an event down, unless it is there.
func (q *queue) insert(ctx context.Context, r *row) (fresh bool, err error) {
	e := *r.evt
	e.Unsigned = event.Unsigned{} // what the homeserver says of it
	if e.Content.VeryRaw != nil { // as it came, and nothing that was read into it
		e.Content = event.Content{VeryRaw: e.Content.VeryRaw}
	}
	body, err := json.Marshal(&e)
	if err != nil {
		return false, err
	}
	edits := idOf(replaced(r.evt))
	if e.Type.Type == inClear.Type { // which changes nothing
		edits = ""
	}
	live := 0
	if r.live {
		live = 1
	}
	res, err := q.db.Exec(ctx, `INSERT INTO matrix_event (n, part, room, event, body, state, session, tries, live, at, edits)
		VALUES ($1, $2, $3, $4, $5, $6, '', 0, $7, $8, $9) ON CONFLICT (event) DO NOTHING`, r.n, r.part, e.RoomID, e.ID, string(body), waiting, live, r.at.UnixMilli(), edits)
	if err != nil {
		return false, err
	}
	k, err := res.RowsAffected()
	return k > 0, err
}

// maxID is the length of an id in bytes that homeservers allow.
const maxID = 255

// idOf returns an id that somebody else has written as it may be looked for, empty
// if it can be none: not all databases keep everything.
func idOf[ID ~string](s ID) ID {
	if len(s) > maxID || strings.ContainsFunc(string(s), func(r rune) bool { return r < ' ' }) {
		return ""
	}
	return s
}

// takeBack drops waiting events that were redacted, if the sender, or somebody who may
// redact the messages of others, has done so.
func (q *queue) takeBack(ctx context.Context, gone []redaction) error {
	for _, g := range gone {
		rows, err := q.rows(ctx, "event = $1 AND state IN ($2, $3)", g.event, waiting, keyless)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if !g.any && r.evt.Sender != g.by {
				continue
			}
			if err := q.settle(ctx, r, ignored, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// changed reports whether a newer edit of an event, or of an edit, waits to be handled.
func (q *queue) changed(ctx context.Context, r *row, first id.EventID) (bool, error) {
	rows, err := q.rows(ctx, "edits = $1 AND edits <> '' AND room = $2 AND state = $3 AND (n > $4 OR n = $4 AND part > $5)", first, r.room, waiting, r.n, r.part)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(rows, func(later *row) bool { return later.broken == nil && later.evt.Sender == r.evt.Sender }), nil
}

// fill writes down what was found in a gap, and how far it has been looked
// through. The gap is closed if done says so, or something was found that is there
// already from before it: otherwise, if the program ended now, the search would go
// further back, to events that were handled and partly forgotten.
func (q *queue) fill(ctx context.Context, g *row, found []*row, gone []redaction, body []byte, done bool) (closed bool, err error) {
	closed = done
	err = q.db.DoTxn(ctx, nil, func(ctx context.Context) error {
		for _, r := range found {
			fresh, err := q.insert(ctx, r)
			if err != nil {
				return err
			}
			if !fresh {
				var n int64
				if err := q.db.QueryRow(ctx, "SELECT n FROM matrix_event WHERE event = $1", r.evt.ID).Scan(&n); err != nil {
					return err
				}
				closed = closed || n < g.n
			}
		}
		if err := q.takeBack(ctx, gone); err != nil {
			return err
		}
		if closed {
			return q.settle(ctx, g, ignored, "")
		}
		return q.exec(ctx, "UPDATE matrix_event SET body = $1 WHERE n = $2 AND part = $3", string(body), g.n, g.part)
	})
	return closed, err
}

// text reads one value; empty if there is none.
func (q *queue) text(ctx context.Context, query string, args ...any) (value string, err error) {
	err = q.db.QueryRow(ctx, query, args...).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return value, err
}

// token returns how far the bot has read; empty: nothing yet.
func (q *queue) token(ctx context.Context) (string, error) {
	return q.text(ctx, "SELECT token FROM matrix_place WHERE one = 1")
}

// next returns the oldest waiting event of a room; nil if none waits.
func (q *queue) next(ctx context.Context, room id.RoomID) (*row, error) {
	rows, err := q.rows(ctx, "state = $1 AND room = $2 ORDER BY n, part LIMIT 1", waiting, room)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// open returns the rooms in which something waits, first where it has waited
// longest.
func (q *queue) open(ctx context.Context) ([]id.RoomID, error) {
	return q.names(ctx, "SELECT room FROM matrix_event WHERE state = $1 GROUP BY room ORDER BY MIN(n)", waiting)
}

func (q *queue) names(ctx context.Context, query string, args ...any) ([]id.RoomID, error) {
	return dbutil.ConvertRowFn[id.RoomID](dbutil.ScanSingleColumn[id.RoomID]).NewRowIter(q.db.Query(ctx, query, args...)).AsList()
}

func (q *queue) rows(ctx context.Context, where string, args ...any) ([]*row, error) {
	read := func(rows dbutil.Scannable) (*row, error) {
		var r row
		var body string
		var at int64
		err := rows.Scan(&r.n, &r.part, &r.room, &r.event, &body, &r.state, &r.tries, &r.live, &at)
		r.at, r.evt = time.UnixMilli(at), &event.Event{}
		if body != "" {
			r.broken = json.Unmarshal([]byte(body), r.evt)
		}
		r.evt.RoomID = r.room
		return &r, err
	}
	return dbutil.ConvertRowFn[*row](read).NewRowIter(q.db.Query(ctx, "SELECT n, part, room, event, body, state, tries, live, at FROM matrix_event WHERE "+where, args...)).AsList()
}

// exec changes something.
func (q *queue) exec(ctx context.Context, query string, args ...any) error {
	_, err := q.db.Exec(ctx, query, args...)
	return err
}

// trying writes down how often an event has been tried.
func (q *queue) trying(ctx context.Context, r *row, tries int) error {
	r.tries = tries
	return q.exec(ctx, "UPDATE matrix_event SET tries = $1 WHERE n = $2 AND part = $3", tries, r.n, r.part)
}

// settle writes down what became of an event. Its text is kept only while
// something is still to be done with it.
func (q *queue) settle(ctx context.Context, r *row, state, session string) error {
	if state == keyless {
		return q.exec(ctx, "UPDATE matrix_event SET state = $1, session = $2, tries = 0 WHERE n = $3 AND part = $4", state, session, r.n, r.part)
	}
	return q.exec(ctx, "UPDATE matrix_event SET state = $1, body = CASE WHEN $1 = $2 THEN body ELSE '' END WHERE n = $3 AND part = $4", state, poison, r.n, r.part)
}

// state returns what became of an event; empty if it is not known.
func (q *queue) state(ctx context.Context, e id.EventID) (string, error) {
	return q.text(ctx, "SELECT state FROM matrix_event WHERE event = $1", e)
}

// keyCame lets what waited for a key be tried again. An empty session means all.
func (q *queue) keyCame(ctx context.Context, session id.SessionID) ([]id.RoomID, error) {
	rooms, err := q.names(ctx, "SELECT DISTINCT room FROM matrix_event WHERE state = $1 AND ($2 = '' OR session = $2)", keyless, session)
	if err != nil || len(rooms) == 0 {
		return nil, err
	}
	err = q.exec(ctx, "UPDATE matrix_event SET state = $1 WHERE state = $2 AND ($3 = '' OR session = $3)", waiting, keyless, session)
	return rooms, err
}

// overdue returns events whose key has been missing since before and which no message has
// reported yet, the oldest first.
func (q *queue) overdue(ctx context.Context, before time.Time) ([]*row, error) {
	return q.rows(ctx, "state = $1 AND told = 0 AND at < $2 ORDER BY n, part LIMIT 100", keyless, before.UnixMilli())
}

// told stores that the missing key of an event needs no further message.
func (q *queue) told(ctx context.Context, r *row) error {
	return q.exec(ctx, "UPDATE matrix_event SET told = 1 WHERE n = $1 AND part = $2", r.n, r.part)
}

// forget drops what is no longer needed: what became of events, nothings sooner
// than the rest, and small facts that nobody will ask for again. What is still
// to be done stays.
func (q *queue) forget(ctx context.Context, now time.Time) error {
	return q.each(ctx,
		sqlOf("DELETE FROM matrix_event WHERE state = $1 AND at < $2", ignored, now.Add(-keepNothing).UnixMilli()),
		sqlOf("DELETE FROM matrix_event WHERE state IN ($1, $2, $3, $4) AND at < $5", accepted, refused, keyless, poison, now.Add(-keepFor).UnixMilli()),
		sqlOf("DELETE FROM matrix_mark WHERE kind IN ('reaction', 'unread', 'edited', 'uninvited', 'invited') AND at < $1", now.Add(-keepMark).UnixMilli()),
		sqlOf("DELETE FROM mx_user_profile WHERE membership IN ('leave', 'ban')")) // nobody needs their names any more
}

// A statement is SQL with its arguments.
type statement struct {
	query string
	args  []any
}

func sqlOf(query string, args ...any) statement { return statement{query, args} }

// each executes statements until one fails.
func (q *queue) each(ctx context.Context, list ...statement) error {
	for _, s := range list {
		if err := q.exec(ctx, s.query, s.args...); err != nil {
			return err
		}
	}
	return nil
}

// left stores that the bot is no longer in a room, and drops who was there. That it is
// encrypted stays, which cannot change.
func (q *queue) left(ctx context.Context, room id.RoomID) error {
	return q.each(ctx,
		sqlOf("UPDATE matrix_room SET joined = 0, last = '' WHERE room = $1", room),
		sqlOf("DELETE FROM mx_user_profile WHERE room_id = $1", room),
		sqlOf("UPDATE mx_room_state SET power_levels = NULL, create_event = NULL, join_rules = NULL, members_fetched = false WHERE room_id = $1", room),
		sqlOf("DELETE FROM matrix_mark WHERE kind = 'uninvited' AND key = $1", room))
}

// erase drops what is kept of somebody who is not to be known any more: where
// they are to be reached directly, and what they have said that could not be
// read or dealt with.
func (q *queue) erase(ctx context.Context, user id.UserID) error {
	return q.db.DoTxn(ctx, nil, func(ctx context.Context) error {
		all := []statement{
			sqlOf("DELETE FROM matrix_mark WHERE kind IN ('direct', 'making', 'invited') AND key = $1", user),
			sqlOf("DELETE FROM matrix_mark WHERE kind = 'unread' AND substr(key, 1, $1) = $2", len([]rune(user))+1, user+" "),
			sqlOf("DELETE FROM matrix_mark WHERE kind = 'uninvited' AND value IN ($1, $2)", user, user+" direct"),
		}
		if asked, err := q.db.TableExists(ctx, "matrix_key_asked"); err != nil {
			return err
		} else if asked { // it is the encryption's
			all = append(all, sqlOf("DELETE FROM matrix_key_asked WHERE user_id = $1", user))
		}
		rows, err := q.rows(ctx, "state IN ($1, $2) AND body <> ''", poison, keyless)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if r.broken != nil || r.evt.Sender == user {
				all = append(all, sqlOf("UPDATE matrix_event SET body = '', state = CASE WHEN state = $1 THEN $2 ELSE state END WHERE n = $3 AND part = $4", keyless, ignored, r.n, r.part))
			}
		}
		return q.each(ctx, all...)
	})
}

// roomsKnown returns all rooms that the bot has read: by id as they are now.
func (q *queue) roomsKnown(ctx context.Context) (map[id.RoomID]*room, error) {
	read := func(rows dbutil.Scannable) (*room, error) {
		var r room
		return &r, rows.Scan(&r.id, &r.known, &r.last, &r.people, &r.joined)
	}
	all := dbutil.ConvertRowFn[*room](read).NewRowIter(q.db.Query(ctx, "SELECT room, known, last, people, joined FROM matrix_room"))
	return dbutil.RowIterAsMap(all, func(r *room) (id.RoomID, *room) { return r.id, r })
}

// current returns the room that continues the room with an id; see [Adapter.current].
func (q *queue) current(ctx context.Context, known id.RoomID) (id.RoomID, error) {
	next, err := q.text(ctx, "SELECT room FROM matrix_room WHERE known = $1 AND room <> $1 AND joined = 1", known)
	return cmp.Or(id.RoomID(next), known), err
}

// moved writes down that the bot's games of a room go on in another.
func (q *queue) moved(ctx context.Context, known, to id.RoomID) error {
	return q.exec(ctx, `INSERT INTO matrix_room (room, known, last, people, joined) VALUES ($1, $2, '', 0, 0)
		ON CONFLICT (room) DO UPDATE SET known = excluded.known`, to, known)
}

// mark keeps a small fact of the adapter's own.
func (q *queue) mark(ctx context.Context, kind, key, value string, now time.Time) error {
	return q.exec(ctx, `INSERT INTO matrix_mark (kind, key, value, at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (kind, key) DO UPDATE SET value = excluded.value, at = excluded.at`, kind, key, value, now.UnixMilli())
}

// marked returns a fact; empty if there is none.
func (q *queue) marked(ctx context.Context, kind, key string) (string, error) {
	return q.text(ctx, "SELECT value FROM matrix_mark WHERE kind = $1 AND key = $2", kind, key)
}

// markedAfter reports whether a fact was written down after a time.
func (q *queue) markedAfter(ctx context.Context, kind, key string, after time.Time) (is bool, err error) {
	err = q.db.QueryRow(ctx, "SELECT COUNT(*) > 0 FROM matrix_mark WHERE kind = $1 AND key = $2 AND at > $3", kind, key, after.UnixMilli()).Scan(&is)
	return is, err
}

// reactions returns the bot's reactions to a message with what is stored of each, by emoji.
func (q *queue) reactions(ctx context.Context, on string) (map[string]string, error) {
	all := dbutil.ConvertRowFn[[2]string](scanPair).NewRowIter(q.db.Query(ctx, "SELECT substr(key, $1), value FROM matrix_mark WHERE kind = 'reaction' AND key > $2 AND key < $3",
		len([]rune(on))+2, on+" ", on+"!")) // "!" comes after " "
	return dbutil.RowIterAsMap(all, func(r [2]string) (string, string) { return r[0], r[1] })
}

// uninvited returns the invitations that were ignored: who invited, by room.
func (q *queue) uninvited(ctx context.Context) (map[id.RoomID]string, error) {
	all := dbutil.ConvertRowFn[[2]string](scanPair).NewRowIter(q.db.Query(ctx, "SELECT key, value FROM matrix_mark WHERE kind = 'uninvited' AND value <> ''"))
	return dbutil.RowIterAsMap(all, func(r [2]string) (id.RoomID, string) { return id.RoomID(r[0]), r[1] })
}

func scanPair(rows dbutil.Scannable) (r [2]string, err error) {
	err = rows.Scan(&r[0], &r[1])
	return r, err
}

// restored returns when the database was copied that was put back last, and when that was
// found out, in milliseconds of Unix time; 0: never.
func (q *queue) restored(ctx context.Context) (copied, at int64, err error) {
	err = q.db.QueryRow(ctx, "SELECT CAST(value AS INTEGER), at FROM matrix_mark WHERE kind = 'restored' AND key = 'copied'").Scan(&copied, &at)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return copied, at, err
}

// unmark drops a fact.
func (q *queue) unmark(ctx context.Context, kind, key string) error {
	return q.exec(ctx, "DELETE FROM matrix_mark WHERE kind = $1 AND key = $2", kind, key)
}

// An Abandoned is an event that the adapter could not handle and has given up.
type Abandoned struct {
	Room  id.RoomID
	Event id.EventID
}

// LeftAlone returns the events that are left alone, oldest first. The database may be
// in use, and need have nothing of Matrix in it.
func LeftAlone(ctx context.Context, db *dbutil.Database) (list []Abandoned, err error) {
	if there, err := db.TableExists(ctx, "matrix_event"); err != nil || !there {
		return nil, err
	}
	read := func(rows dbutil.Scannable) (v Abandoned, err error) {
		err = rows.Scan(&v.Room, &v.Event)
		return v, err
	}
	rows, err := db.Query(ctx, "SELECT room, event FROM matrix_event WHERE state = $1 ORDER BY n, part", poison)
	return dbutil.NewRowIterWithError(rows, read, err).AsList()
}

// Leftovers tells which rows of the tables of Matrix belong to nobody.
var Leftovers = []bot.Leftovers{
	// mautrix stores that the bot itself joins or leaves when the homeserver says so, before or after /sync does.
	{Table: "mx_user_profile", Where: "room_id IN (SELECT room FROM matrix_room WHERE joined = 0) AND user_id NOT IN (SELECT user_id FROM matrix_device)", Why: "the bot has left the rooms whose members they are"},
	{Table: "matrix_event", Where: "body <> '' AND state IN ('" + accepted + "', '" + refused + "', '" + ignored + "')", Why: "the messages whose texts they have were handled"},
	{Table: "matrix_key_sent", Where: "session_id NOT IN (SELECT session_id FROM crypto_megolm_inbound_session)", Why: "the keys that were sent do not exist"},
	{Table: "crypto_account", Where: "device_id NOT IN (SELECT device_id FROM matrix_device)", Why: "the bot no longer uses the device whose keys they are"},
	{Table: "crypto_olm_session", Where: noAccount, Why: noAccountWhy},
	{Table: "crypto_megolm_inbound_session", Where: noAccount, Why: noAccountWhy},
	{Table: "crypto_megolm_outbound_session", Where: noAccount, Why: noAccountWhy},
	{Table: "crypto_secrets", Where: noAccount, Why: noAccountWhy},
}

const (
	noAccount    = "account_id NOT IN (SELECT user_id FROM matrix_device)"
	noAccountWhy = "the bot no longer uses the account whose keys they are"
)
