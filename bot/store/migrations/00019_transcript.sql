-- +goose Up

-- The transcript of the local room refers to people by ids, and the bot's lines are worded
-- when somebody reads them: person is who typed a line, a person or a seat. Lines of
-- earlier releases stay as they are: sender is a name, and the text may hold others.
ALTER TABLE message ADD COLUMN person TEXT NOT NULL DEFAULT '';
