-- +goose Up

-- The servers that channels belong to, where a platform has such, with what has
-- been chosen for all channels of one. Gone is since when the bot is known not
-- to be there; 0: it is.
CREATE TABLE server (
    platform TEXT NOT NULL,
    server   TEXT NOT NULL,
    body     TEXT NOT NULL,
    gone     BIGINT NOT NULL,
    PRIMARY KEY (platform, server)
);

CREATE TABLE server_channel (
    platform TEXT NOT NULL,
    channel  TEXT NOT NULL,
    server   TEXT NOT NULL,
    PRIMARY KEY (platform, channel)
);

CREATE INDEX server_channel_server ON server_channel (platform, server);

-- Where a request was made, so that it is forgotten with its server. Of those
-- from before it is not known.
ALTER TABLE inbox ADD COLUMN platform TEXT NOT NULL DEFAULT '';
ALTER TABLE inbox ADD COLUMN channel TEXT NOT NULL DEFAULT '';
