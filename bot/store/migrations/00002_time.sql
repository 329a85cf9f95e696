-- +goose Up

-- The clock of a game in its written form, and when the flag falls if nothing
-- happens before; 0: never. Games from before there were clocks have none.
ALTER TABLE game ADD COLUMN clock TEXT NOT NULL DEFAULT 'none';
ALTER TABLE game ADD COLUMN deadline BIGINT NOT NULL DEFAULT 0;

-- The games whose flag can fall.
CREATE INDEX game_running ON game (id) WHERE deadline <> 0;

-- What is to be done for a game at a time if nothing happens before. Each step
-- of the game puts all of it anew.
CREATE TABLE due (
    game TEXT NOT NULL REFERENCES game (id),
    kind TEXT NOT NULL,
    at   BIGINT NOT NULL,
    seq  BIGINT NOT NULL,
    PRIMARY KEY (game, kind, at)
);

CREATE INDEX due_at ON due (at, game, kind);

-- What people have chosen for themselves.
CREATE TABLE preference (
    person TEXT PRIMARY KEY,
    body   TEXT NOT NULL
);
