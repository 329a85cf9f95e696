-- +goose Up

-- Whose request a post answers; empty: it is no answer.
ALTER TABLE post ADD COLUMN person TEXT NOT NULL DEFAULT '';
