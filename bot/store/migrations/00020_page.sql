-- +goose Up

-- The slug in the address of a game's page. Games from before have none: they get one if
-- both players agree.
ALTER TABLE game ADD COLUMN page TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX game_page ON game (page) WHERE page <> '';
