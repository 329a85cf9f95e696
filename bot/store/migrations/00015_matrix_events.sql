-- +goose Up

-- What came from the homeserver of Matrix is written down together with the token
-- that says how far the bot has read, so that the homeserver need never tell it
-- again. The adapter made these tables by itself.
CREATE TABLE IF NOT EXISTS matrix_place (
    one   INTEGER PRIMARY KEY,
    token TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS matrix_event (
    n       BIGINT NOT NULL,
    part    BIGINT NOT NULL,
    room    TEXT NOT NULL,
    event   TEXT NOT NULL UNIQUE,
    body    TEXT NOT NULL,
    state   TEXT NOT NULL,
    session TEXT NOT NULL,
    tries   INTEGER NOT NULL,
    live    INTEGER NOT NULL,
    at      BIGINT NOT NULL,
    told    INTEGER NOT NULL DEFAULT 0,
    edits   TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (n, part)
);
CREATE INDEX IF NOT EXISTS matrix_event_open ON matrix_event (state, room, n, part);
CREATE INDEX IF NOT EXISTS matrix_event_told ON matrix_event (state, told, n, part);
CREATE INDEX IF NOT EXISTS matrix_event_edits ON matrix_event (edits) WHERE edits <> '';
