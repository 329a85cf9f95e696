package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
)

// A Report says what Check found in a database.
type Report struct {
	Games    int // that it read
	Old      int // those of them that an earlier version began, whose proofs say less
	Events   int // of games
	Contests int // leagues and tournaments
	Compared int // games of the backup
	Damage   []Damage
	Jobs     []Job
}

// A Damage is something in a database that is not as the bot wrote it. It is about a game,
// or a league or tournament; else about rows of a table; else about the file.
type Damage struct {
	Game   match.GameID // or league or tournament
	Where  match.Room
	Number int // of the game in its room
	Seq    int // of the event of the game, or line of the log; 0: of the row that stands for all of it
	Table  string
	Rows   int
	Why    string
}

// OfContest reports whether the damage is that of a league or tournament.
func (d Damage) OfContest() bool { return d.Table == "" && contest.Is(d.Game) }

// A Job is deleting that is still to be done.
type Job struct {
	Table  string         // whose rows are kept no longer, see sweeps; else
	Person match.PersonID // who is being forgotten; else
	Server string         // PLATFORM/ID, which the bot has left, and forgets
	Rows   int            // that are left
	Late   int            // of those, how many should have been deleted before
	Due    time.Time      // of a server: when it is to be forgotten
}

// lateAfter is after how long what should have been deleted is late. The bot looks once a day.
const lateAfter = 2 * 24 * time.Hour

// gamesAtOnce is how many games Check holds in each of a few portions.
const gamesAtOnce = 100

// Check reads everything in the database called name as it is at one moment, folds every
// game and proves it. Another process may be using the database, and notices nothing. An
// error means that it could not be checked; damage is no error. Check changes nothing.
// Unless backup is empty, Check also compares every game with the one in that backup, a file or an
// address on PostgreSQL. The
// adapters say which rows of their own tables would be leftovers.
func Check(ctx context.Context, name, backup string, now time.Time, progress Progress, adapters ...bot.Leftovers) (r Report, err error) {
	path, err := existing(name)
	if err != nil {
		return r, err
	}
	defer annotate(&err, "check %s", Redacted(name))
	db, release, err := asStored(ctx, path, progress)
	if err != nil {
		return r, err
	}
	defer release()
	c := &checker{db: db, postgres: IsPostgres(name), now: now, progress: progress, leftovers: slices.Concat(leftovers, adapters), report: &r}
	parts := []func(context.Context) error{c.file, c.games, c.contests, c.rows, c.jobs}
	if c.postgres { // which sees to its files
		parts = parts[1:]
	}
	if err := c.parts(ctx, parts...); err != nil {
		return r, err
	}
	if backup != "" {
		if err := c.against(ctx, backup); err != nil {
			return r, err
		}
	}
	slices.SortStableFunc(r.Damage, byPlace)
	return r, nil
}

// asStored returns what the database at path holds at one moment, although another process
// may be using it, until release.
func asStored(ctx context.Context, path string, progress Progress) (db reader, release func(), err error) {
	if IsPostgres(path) {
		return readPostgres(ctx, path)
	}
	return snapshot(ctx, path, progress)
}

// damage returns what is damaged in a database that has just been filled, like Check: games,
// leagues and tournaments, and rows that refer to nothing.
func damage(ctx context.Context, db *sql.DB, progress Progress) ([]Damage, error) {
	c := &checker{db: db, postgres: onPostgres(db), progress: progress, leftovers: leftovers, report: &Report{}}
	err := c.parts(ctx, c.games, c.contests, c.rows)
	slices.SortStableFunc(c.report.Damage, byPlace)
	return c.report.Damage, err
}

func byPlace(a, b Damage) int {
	return cmp.Or(strings.Compare(a.Table, b.Table), strings.Compare(a.Where.Platform, b.Where.Platform), strings.Compare(a.Where.Channel, b.Where.Channel),
		cmp.Compare(a.Number, b.Number), strings.Compare(string(a.Game), string(b.Game)))
}

// A checker is a check under way.
type checker struct {
	db        reader
	postgres  bool // where the database is
	now       time.Time
	progress  Progress
	leftovers []bot.Leftovers
	mu        sync.Mutex // guards report while games are proven
	report    *Report
}

func (c *checker) found(d Damage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Damage = append(c.report.Damage, d)
}

// parts does parts of a check. Where one cannot read the file, that is damage.
func (c *checker) parts(ctx context.Context, parts ...func(context.Context) error) error {
	for _, part := range parts {
		if err := part(ctx); err != nil {
			if ctx.Err() != nil || !errors.Is(unreadable(err), ErrUnreadable) {
				return err
			}
			c.found(Damage{Why: unreadable(err).Error()})
		}
	}
	return nil
}

// file lets SQLite check the file, and what rows refer to. References of the events of games
// are seen when these are read.
func (c *checker) file(ctx context.Context) error {
	c.progress.at("checking the file", 0, 0)
	says, err := values[string](ctx, c.db, "PRAGMA integrity_check(20)")
	if err != nil {
		return err
	}
	for _, s := range says {
		if s != "ok" {
			c.found(Damage{Why: "SQLite says: " + strings.Join(strings.Fields(s), " ")})
		}
	}
	for _, t := range tables {
		if t.name == "event" {
			continue
		}
		var n int
		var to sql.NullString
		err := c.db.QueryRowContext(ctx, `SELECT COUNT(*), MIN("parent") FROM pragma_foreign_key_check($1)`, t.name).Scan(&n, &to)
		if err != nil {
			return err
		}
		if n > 0 {
			c.found(Damage{Table: t.name, Rows: n, Why: "what they refer to in " + to.String + " does not exist"})
		}
	}
	return nil
}

// A checked game is a game with its events as they are stored.
type checkedGame struct {
	match.Match
	events []match.Event
	listed string  // its state, as its room has it; empty: it has no room
	broken *Damage // its row cannot be read
}

// games proves every game.
func (c *checker) games(ctx context.Context) (err error) {
	var all int
	if err := c.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM game").Scan(&all); err != nil {
		return err
	}
	work := make(chan []*checkedGame)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer close(work)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for games := range work {
				for _, g := range games {
					c.game(g)
				}
			}
		})
	}
	after := ""
	for {
		c.progress.at("checking games", c.report.Games, all)
		games, err := list(ctx, c.db, scanChecked, checkedFrom+limited(gamesAtOnce), after)
		if err != nil {
			return err
		}
		games = slices.CompactFunc(games, func(a, b *checkedGame) bool { return a.ID == b.ID })
		last := len(games) == 0 || string(games[len(games)-1].ID) <= after
		upTo := ""
		if !last {
			upTo = string(games[len(games)-1].ID)
		}
		if err := c.events(ctx, games, after, upTo, last); err != nil {
			return err
		}
		if last {
			return nil
		}
		c.report.Games += len(games)
		work <- games
		after = upTo
	}
}

// checkedFrom finds the next games, and the state of each as its room has it.
const checkedFrom = `
	SELECT g.id, g.rules, g.setup, g.opener, g.invited, COALESCE(c.platform, ''), COALESCE(c.channel, ''), COALESCE(c.thread, ''), COALESCE(c.number, 0), g.opened,
		g.state, g.black, g.white, g.to_move, g.seq, g.result, g.changed, g.clock, g.deadline, g.rated, g.page,
		g.contest, g.round, g.tbl, g.head, COALESCE(c.state, '')
	FROM game g LEFT JOIN game_channel c ON c.game = g.id WHERE g.id > $1 ORDER BY g.id`

func scanChecked(scan scanner) (*checkedGame, error) {
	g := &checkedGame{}
	var err error
	if g.Match, err = scanMatch(scan, &g.listed); err != nil {
		g.broken = &Damage{Why: "its row cannot be read: " + err.Error()}
	}
	return g, nil
}

// events reads the events of games after one id and up to another, or to the end, and says
// which of them belong to no game.
func (c *checker) events(ctx context.Context, games []*checkedGame, after, upTo string, toEnd bool) error {
	query, args := "SELECT game, seq, at, actor, body, proof FROM event WHERE game > $1 AND game <= $2 ORDER BY game, seq", []any{after, upTo}
	if toEnd {
		query, args = "SELECT game, seq, at, actor, body, proof FROM event WHERE game > $1 ORDER BY game, seq", args[:1]
	}
	rows, err := c.db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var id, actor, body string
	var at int64
	orphans := map[string]int{}
	for rows.Next() {
		var e match.Event
		err := rows.Scan(&id, &e.Seq, &at, &actor, &body, &e.Proof)
		for len(games) > 0 && string(games[0].ID) < id {
			games = games[1:]
		}
		if len(games) == 0 || string(games[0].ID) != id {
			orphans[id]++
			continue
		}
		g := games[0]
		if err != nil && g.broken == nil {
			g.broken = &Damage{Seq: e.Seq, Why: "it cannot be read: " + err.Error()}
		}
		e.At, e.By, e.Body = moment(at), match.PersonID(actor), match.ParseBody(body)
		if e.Body.String() != body && g.broken == nil { // a space at its end, which no proof sees
			g.broken = &Damage{Seq: e.Seq, Why: "it is not what was stored"}
		}
		if g.events == nil {
			g.events = make([]match.Event, 0, min(max(g.Seq, 0), 4096))
		}
		g.events = append(g.events, e)
		c.report.Events++
	}
	for id, n := range orphans {
		c.found(Damage{Game: match.GameID(id), Table: "event", Rows: n, Why: "the game to which they belong does not exist"})
	}
	return rows.Err()
}

// game proves a game.
func (c *checker) game(g *checkedGame) {
	d := Damage{Game: g.ID, Where: g.Where, Number: g.Number}
	if g.broken != nil {
		d.Seq, d.Why = g.broken.Seq, g.broken.Why
		c.found(d)
		return
	}
	old, err := match.Verify(g.Match, g.events)
	if old {
		c.mu.Lock()
		c.report.Old++
		c.mu.Unlock()
	}
	if damage := (*match.Damage)(nil); errors.As(err, &damage) {
		d.Seq = damage.Seq
		err = damage.Err
	}
	switch {
	case err != nil:
		d.Why = err.Error()
	case g.listed == "":
		d.Why = "it is in no room"
	case g.listed != string(g.State):
		d.Why = fmt.Sprintf("its room has it as %s, and it is %s", g.listed, g.State)
	default:
		return
	}
	c.found(d)
}

// contests folds every league and tournament.
func (c *checker) contests(ctx context.Context) error {
	heads, err := list(ctx, c.db, scanHead, contestsFrom+" ORDER BY c.id")
	if err != nil {
		return err
	}
	for i, h := range heads {
		c.progress.at("checking events", i, len(heads))
		seq, why, err := c.contest(ctx, h)
		if err != nil {
			return err
		}
		if why != "" {
			c.found(Damage{Game: h.ID, Where: h.Where, Number: h.Number, Seq: seq, Why: why})
		}
	}
	c.report.Contests = len(heads)
	return nil
}

// contest folds a league or tournament, and returns which line is wrong and why; 0: its row.
func (c *checker) contest(ctx context.Context, h contest.Head) (seq int, why string, err error) {
	log, err := list(ctx, c.db, func(scan scanner) (contest.Event, error) {
		e, err := scanContestEvent(scan)
		if err != nil && why == "" {
			seq, why = e.Seq, "it cannot be read: "+err.Error()
		}
		return e, nil
	}, "SELECT seq, at, actor, body FROM contest_event WHERE contest = $1 ORDER BY seq", h.ID)
	if err != nil || why != "" {
		return seq, why, err
	}
	folded := &contest.Contest{Head: h}
	folded.Seq = 0
	for i, e := range log {
		if e.Seq != i+1 {
			return i + 1, "it is missing", nil
		}
		if folded, err = folded.With(e); err != nil {
			return e.Seq, err.Error(), nil
		}
	}
	switch is := folded.Head; {
	case len(log) < h.Seq || len(log) == 0:
		return len(log) + 1, "it is missing", nil
	case len(log) > h.Seq:
		return h.Seq + 1, "it comes after the last line that the event has", nil
	case is.State != h.State || is.Title != h.Title || is.Page != h.Page || is.Where != h.Where || !is.Opened.Equal(h.Opened) || !is.Changed.Equal(h.Changed):
		return 0, "state, title, place, page or times are not those after the last line of its log", nil
	}
	return 0, "", nil
}

// Rows that refer to what does not exist, which no foreign key forbids. A person whom games
// name may be forgotten.
var leftovers = []bot.Leftovers{
	{Table: "post", Where: "game <> '' AND game NOT IN (SELECT id FROM game) AND game NOT IN (SELECT id FROM contest)", Why: "the game or event that they show does not exist"},
	{Table: "due", Where: "game NOT IN (SELECT id FROM game) AND game NOT IN (SELECT id FROM contest)", Why: "the game or event that they are to change does not exist"},
	{Table: "preference", Where: noPerson, Why: "the person whose settings they are was forgotten"},
	{Table: "link", Where: noPerson, Why: "the person who linked these browsers was forgotten"},
	{Table: "draft", Where: noPerson, Why: "the person whose drafts they are was forgotten"},
	{Table: "contest_person", Where: noPerson, Why: "the person who is in the event was forgotten"},
	{Table: "record", Where: "person <> '' AND " + noPerson, Why: "the person who showed them was forgotten"},
	{Table: "event", Where: noTurn + " AND body LIKE 'comment %' AND actor NOT IN (SELECT id FROM person)", Why: "they are comments of people who were forgotten"},
}

const noPerson = "person NOT IN (SELECT id FROM person)"

// rows finds rows that refer to nothing.
func (c *checker) rows(ctx context.Context) error {
	for i, o := range c.leftovers {
		c.progress.at("checking other rows", i, len(c.leftovers))
		var n int
		err := c.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+tablesOf(c.postgres)+" AS t WHERE name = $1", o.Table).Scan(&n)
		if err == nil && n > 0 {
			err = c.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+o.Table+" WHERE "+o.Where).Scan(&n)
		}
		if err != nil {
			return err
		}
		if n > 0 {
			c.found(Damage{Table: o.Table, Rows: n, Why: o.Why})
		}
	}
	return nil
}

// jobs finds what is still to be deleted.
func (c *checker) jobs(ctx context.Context) error {
	for i, sw := range sweeps {
		c.progress.at("looking for rows to delete", i, len(sweeps))
		count := func(now time.Time) (n int, err error) {
			err = c.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+sw.table+" WHERE "+sw.useless, millis(now.Add(-sw.keep))).Scan(&n)
			return n, err
		}
		j := Job{Table: sw.table}
		var err error
		if j.Rows, err = count(c.now); err == nil && j.Rows > 0 && sw.keep > 0 {
			j.Late, err = count(c.now.Add(-lateAfter))
		}
		if err != nil {
			return err
		}
		if j.Rows > 0 {
			c.report.Jobs = append(c.report.Jobs, j)
		}
	}
	people, err := values[match.PersonID](ctx, c.db, "SELECT substr(adapter, length($1) + 1) FROM bookmark WHERE adapter > $1 AND adapter < $1 || '~' ORDER BY adapter", forgetMark)
	if err != nil {
		return err
	}
	for _, p := range people {
		j := Job{Person: p}
		err := c.db.QueryRowContext(ctx, "SELECT (SELECT COUNT(*) FROM person WHERE id = $1) + (SELECT COUNT(*) FROM event WHERE actor = $1 AND "+noTurn+
			" AND body LIKE 'comment %') + (SELECT COUNT(*) FROM ("+answersTo+") AS answers)", p).Scan(&j.Rows)
		if err != nil {
			return err
		}
		c.report.Jobs = append(c.report.Jobs, j)
	}
	servers, err := list(ctx, c.db, func(scan scanner) (j Job, err error) {
		var platform, server string
		var gone int64
		err = scan(&platform, &server, &gone, &j.Rows)
		j.Server, j.Due = platform+"/"+server, moment(gone).Add(rooms.ForgetAfter)
		return j, err
	}, `SELECT platform, server, gone, (SELECT COUNT(*) FROM server_channel c JOIN game_channel g ON g.platform = c.platform AND g.channel = c.channel
		WHERE c.platform = server.platform AND c.server = server.server) FROM server WHERE gone <> 0 ORDER BY gone`)
	c.report.Jobs = append(c.report.Jobs, servers...)
	return err
}
