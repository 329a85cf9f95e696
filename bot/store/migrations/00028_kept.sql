-- +goose Up

-- Until when nobody else can have a seat, where several processes use the database; 0: only the
-- process knows.
ALTER TABLE holder ADD COLUMN kept BIGINT NOT NULL DEFAULT 0;
