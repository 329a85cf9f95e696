-- +goose Up

-- What a person has done, for their export and for forgetting them.
CREATE INDEX event_actor ON event (actor);
