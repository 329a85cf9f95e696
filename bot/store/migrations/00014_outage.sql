-- +goose Up

-- The times in which people could not reach the bot: all, with no platform; those of
-- a platform; or those of a server. Ended is 0 while it lasts. A row goes when every
-- game whose clock ran has been credited with it.
CREATE TABLE IF NOT EXISTS outage (
    platform TEXT NOT NULL,
    server   TEXT NOT NULL,
    started  BIGINT NOT NULL,
    ended    BIGINT NOT NULL,
    PRIMARY KEY (platform, server, started)
);

-- They were in bookmarks: since when a platform is away, and the times in which the
-- bot was, as JSON: [{"from":1,"to":2},{"from":3,"to":4}]. Of that the numbers are
-- read in turn. An import of an old export does this, too.
INSERT INTO outage (platform, server, started, ended)
SELECT substr(adapter, 10), '', CAST(value AS BIGINT), 0 FROM bookmark WHERE adapter LIKE 'bot:away:%' AND value <> '';

INSERT INTO outage (platform, server, started, ended)
WITH RECURSIVE number (i, digits, rest) AS (
    SELECT 0, '', ltrim(value, '[{"from:') FROM bookmark WHERE adapter = 'bot:outages'
    UNION ALL
    SELECT i + 1, substr(rest, 1, length(rest) - length(ltrim(rest, '0123456789'))), ltrim(ltrim(rest, '0123456789'), '},{"from:to]')
    FROM number WHERE rest <> ''
)
SELECT '', '', CAST(f.digits AS BIGINT), MAX(CAST(t.digits AS BIGINT)) FROM number f JOIN number t ON t.i = f.i + 1
WHERE f.i % 2 = 1 GROUP BY f.digits;

DELETE FROM bookmark WHERE adapter LIKE 'bot:away:%' OR adapter = 'bot:outages';
