-- +goose Up

-- The browsers that hold the names and seats of rooms that the bot keeps itself.
-- Secret is the hash of what the browser has, empty for a name from before there
-- were any; since is the last message for its bearer that came before, and looks
-- what confusable names have in common.
CREATE TABLE holder (
    platform    TEXT NOT NULL,
    platform_id TEXT NOT NULL,
    looks       TEXT NOT NULL,
    secret      TEXT NOT NULL,
    since       BIGINT NOT NULL,
    PRIMARY KEY (platform, platform_id)
);

CREATE INDEX holder_looks ON holder (platform, looks) WHERE looks <> '';

INSERT INTO holder (platform, platform_id, looks, secret, since)
SELECT platform, platform_id, '', '', 0 FROM person WHERE platform = 'web' AND platform_id LIKE 'name:%';
