-- +goose Up

-- Events, answers and what is due are found by their keys alone, so their rows are
-- kept in the order of the keys, without a second index for them: less is written
-- for each turn and kept of each game. WITHOUT ROWID is SQLite's own; other
-- databases do without it.

CREATE TABLE event_keyed (
    game  TEXT NOT NULL REFERENCES game (id),
    seq   BIGINT NOT NULL,
    at    BIGINT NOT NULL,
    actor TEXT NOT NULL,
    body  TEXT NOT NULL,
    proof TEXT NOT NULL,
    PRIMARY KEY (game, seq)
) WITHOUT ROWID;
INSERT INTO event_keyed (game, seq, at, actor, body, proof)
SELECT game, seq, at, actor, body, proof FROM event ORDER BY game, seq;
DROP TABLE event;
ALTER TABLE event_keyed RENAME TO event;
CREATE INDEX event_actor ON event (actor);

CREATE TABLE inbox_keyed (
    request  TEXT NOT NULL PRIMARY KEY,
    at       BIGINT NOT NULL,
    answer   TEXT NOT NULL,
    platform TEXT NOT NULL DEFAULT '',
    channel  TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
INSERT INTO inbox_keyed (request, at, answer, platform, channel)
SELECT request, at, answer, platform, channel FROM inbox ORDER BY request;
DROP TABLE inbox;
ALTER TABLE inbox_keyed RENAME TO inbox;

CREATE TABLE due_keyed (
    game TEXT NOT NULL REFERENCES game (id),
    kind TEXT NOT NULL,
    at   BIGINT NOT NULL,
    seq  BIGINT NOT NULL,
    PRIMARY KEY (game, kind, at)
) WITHOUT ROWID;
INSERT INTO due_keyed (game, kind, at, seq) SELECT game, kind, at, seq FROM due ORDER BY game, kind, at;
DROP TABLE due;
ALTER TABLE due_keyed RENAME TO due;
CREATE INDEX due_at ON due (at, game, kind);
