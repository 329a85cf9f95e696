-- +goose Up

-- Whether the result of a game is to count for a rating: 0 or 1. Games from
-- before that could be chosen do not.
ALTER TABLE game ADD COLUMN rated BIGINT NOT NULL DEFAULT 0;

-- What has been chosen for a channel.
CREATE TABLE room_setting (
    platform TEXT NOT NULL,
    channel  TEXT NOT NULL,
    body     TEXT NOT NULL,
    PRIMARY KEY (platform, channel)
);

-- What comes with a message of the local room besides its text: whom it calls,
-- buttons, a file. Empty: nothing.
ALTER TABLE message ADD COLUMN extra TEXT NOT NULL DEFAULT '';

-- The game that a message belongs to, for what is asked in the thread under it.
CREATE INDEX post_receipt ON post (platform, receipt) WHERE receipt <> '';
