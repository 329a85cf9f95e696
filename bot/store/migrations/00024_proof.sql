-- +goose Up

-- The head of the proof of a game, whose events are chained since this version: the column
-- proof of an event has its link. Games have none until their next event.
ALTER TABLE game ADD COLUMN head TEXT NOT NULL DEFAULT '';
