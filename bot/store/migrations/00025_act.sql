-- +goose Up

-- What moderators did in a room, or without a channel in all channels of a server: a text by its
-- key, with its arguments. Person is who did it, or nobody known.
CREATE TABLE act (
	n        BIGINT PRIMARY KEY,
	platform TEXT NOT NULL,
	channel  TEXT NOT NULL,
	server   TEXT NOT NULL,
	at       BIGINT NOT NULL,
	person   TEXT NOT NULL,
	what     TEXT NOT NULL
);
CREATE INDEX act_room ON act (platform, channel, server, n);
CREATE INDEX act_person ON act (person) WHERE person <> '';
