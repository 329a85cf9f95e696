-- +goose Up

-- Interactions that were deferred, and whose end is not known to be shown, had a
-- table that the adapter made by itself; they are decorations now. A token is of no
-- use to anybody after 15 minutes.
CREATE TABLE IF NOT EXISTS discord_deferral (
    token TEXT PRIMARY KEY,
    lang  TEXT NOT NULL,
    at    BIGINT NOT NULL
);
INSERT INTO decoration (platform, kind, key, n, channel, thread, game, seq, follows, target, data, not_before, not_after, sleeps, attempt)
SELECT 'discord', 'ending', token, at, '', '', '', 0, '', '',
    '{"Token":"' || token || '","Lang":"' || lang || '"}', 0, at + 15 * 60 * 1000, 0, 0
FROM discord_deferral;
DROP TABLE discord_deferral;
