-- +goose Up

-- What a person has done besides turns, for their export and for forgetting them.
-- Turns are made by the players alone, who are found by game_black, game_white and
-- game_opener: without them the index is a third of what the events take.
DROP INDEX event_actor;
CREATE INDEX event_actor ON event (actor) WHERE substr(body, 1, 5) <> 'turn ';

-- The games that somebody was invited to.
CREATE INDEX game_invited ON game (invited) WHERE invited <> '';
