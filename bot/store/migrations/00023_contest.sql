-- +goose Up

-- Leagues and tournaments. Where and number are those of the first place. State, seq and so on
-- follow from the log, and are kept so that lists need no replay.
CREATE TABLE contest (
	id       TEXT PRIMARY KEY,
	page     TEXT NOT NULL,
	platform TEXT NOT NULL,
	channel  TEXT NOT NULL,
	thread   TEXT NOT NULL,
	number   BIGINT NOT NULL,
	title    TEXT NOT NULL,
	state    TEXT NOT NULL,
	seq      BIGINT NOT NULL,
	opened   BIGINT NOT NULL,
	changed  BIGINT NOT NULL,
	UNIQUE (platform, channel, number)
);
CREATE UNIQUE INDEX contest_page ON contest (page) WHERE page <> '';

-- Actor is who caused a line of the log, person whom it is about; either may be nobody. With
-- the indexes a person's lines are found for their export and for forgetting them. WITHOUT
-- ROWID is SQLite's own; other databases do without it.
CREATE TABLE contest_event (
	contest TEXT NOT NULL REFERENCES contest (id),
	seq     BIGINT NOT NULL,
	at      BIGINT NOT NULL,
	actor   TEXT NOT NULL,
	person  TEXT NOT NULL,
	body    TEXT NOT NULL,
	PRIMARY KEY (contest, seq)
) WITHOUT ROWID;
CREATE INDEX contest_event_actor ON contest_event (actor) WHERE actor <> '';
CREATE INDEX contest_event_person ON contest_event (person) WHERE person <> '';

-- Who is in now: plays, waits for a seat, or organises.
CREATE TABLE contest_person (
	person  TEXT NOT NULL,
	contest TEXT NOT NULL REFERENCES contest (id),
	PRIMARY KEY (person, contest)
) WITHOUT ROWID;
CREATE INDEX contest_person_contest ON contest_person (contest);

-- What somebody has chosen so far of an event that they have not published.
CREATE TABLE draft (
	person   TEXT NOT NULL,
	platform TEXT NOT NULL,
	channel  TEXT NOT NULL,
	at       BIGINT NOT NULL,
	text     TEXT NOT NULL,
	PRIMARY KEY (person, platform, channel)
) WITHOUT ROWID;

-- The table of an event at which a game is played; empty and 0: it belongs to none.
ALTER TABLE game ADD COLUMN contest TEXT NOT NULL DEFAULT '';
ALTER TABLE game ADD COLUMN round BIGINT NOT NULL DEFAULT 0;
ALTER TABLE game ADD COLUMN tbl BIGINT NOT NULL DEFAULT 0;
CREATE INDEX game_contest ON game (contest) WHERE contest <> '';

-- Games and events alike have timed actions, so due refers to neither.
CREATE TABLE due_any (
	game TEXT NOT NULL,
	kind TEXT NOT NULL,
	at   BIGINT NOT NULL,
	seq  BIGINT NOT NULL,
	PRIMARY KEY (game, kind, at)
) WITHOUT ROWID;
INSERT INTO due_any (game, kind, at, seq) SELECT game, kind, at, seq FROM due ORDER BY game, kind, at;
DROP TABLE due;
ALTER TABLE due_any RENAME TO due;
CREATE INDEX due_at ON due (at, game, kind);
