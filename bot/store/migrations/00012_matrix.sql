-- +goose Up

-- What Matrix still had to do after its posts becomes decorations: edits of the first
-- messages of games, pictures that follow their words, reactions. The adapter makes its
-- tables by itself; a database without them has nothing to move.
CREATE TABLE IF NOT EXISTS matrix_room (
    room   TEXT PRIMARY KEY,
    known  TEXT NOT NULL,
    last   TEXT NOT NULL,
    people INTEGER NOT NULL,
    joined INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS matrix_mark (
    kind  TEXT NOT NULL,
    key   TEXT NOT NULL,
    value TEXT NOT NULL,
    at    BIGINT NOT NULL,
    PRIMARY KEY (kind, key)
);

INSERT INTO decoration (platform, kind, key, n, channel, thread, game, seq, follows, target, data, not_before, not_after, sleeps, attempt)
SELECT 'matrix', 'header', message, at, channel, '', game, seq, 'show', message,
    CASE notice WHEN '' THEN '' ELSE room || '/' || notice END, 0, 0, 0, 1
FROM (
    SELECT at, room, room || '/' || event AS message, COALESCE((SELECT known FROM matrix_room r WHERE r.room = m.room), room) AS channel, game, seq, notice
    FROM (
        SELECT at, json_extract(value, '$.Room') AS room, json_extract(value, '$.Event') AS event, json_extract(value, '$.Game') AS game,
            json_extract(value, '$.Seq') AS seq, COALESCE(json_extract(value, '$.Notice'), '') AS notice
        FROM matrix_mark WHERE kind = 'status' AND json_valid(value)
    ) AS m
) AS waiting
WHERE message IS NOT NULL AND game IS NOT NULL AND seq IS NOT NULL
ON CONFLICT DO NOTHING;

-- A challenge that is over has no reactions any more.
INSERT INTO decoration (platform, kind, key, n, channel, thread, game, seq, follows, target, data, not_before, not_after, sleeps, attempt)
SELECT 'matrix', 'reaction', key, n, channel, '', game, seq, 'notice', target, 'none', 0, 0, 0, 1
FROM decoration WHERE platform = 'matrix' AND kind = 'header' AND data <> ''
ON CONFLICT DO NOTHING;

INSERT INTO decoration (platform, kind, key, n, channel, thread, game, seq, follows, target, data, not_before, not_after, sleeps, attempt)
SELECT 'matrix', 'reaction', message, MAX(at), COALESCE((SELECT known FROM matrix_room r WHERE r.room = substr(message, 1, instr(message, '/$') - 1)),
    substr(message, 1, instr(message, '/$') - 1)), '', '', 0, '', message, group_concat(emoji, ' ' ORDER BY value, emoji), 0, 0, 0, 1
FROM (
    SELECT substr(key, 1, instr(key, ' ') - 1) AS message, substr(key, instr(key, ' ') + 1) AS emoji, value, at
    FROM matrix_mark WHERE kind = 'press' AND instr(key, '/$') > 0 AND instr(key, ' ') > 0
) AS waiting
GROUP BY message
ON CONFLICT DO NOTHING;

-- Words that were not sent yet say themselves what follows them.
INSERT INTO decoration (platform, kind, key, n, channel, thread, game, seq, follows, target, data, not_before, not_after, sleeps, attempt)
SELECT 'matrix', 'attach', key, at, channel, '', game, seq, 'show', room || '/' || CASE root WHEN '' THEN '$' ELSE root END,
    json_object('Post', post, 'Root', root), 0, at + 86400000, 0, 1
FROM (
    SELECT key, at, json_extract(value, '$.Room') AS room, COALESCE(json_extract(value, '$.Root'), '') AS root, json_extract(value, '$.Post') AS post,
        json_extract(value, '$.Channel') AS channel, json_extract(value, '$.Game') AS game, json_extract(value, '$.Seq') AS seq
    FROM matrix_mark WHERE kind = 'promise' AND json_valid(value) AND json_extract(value, '$.Said')
) AS waiting
WHERE room IS NOT NULL AND post IS NOT NULL AND channel IS NOT NULL AND game IS NOT NULL AND seq IS NOT NULL
ON CONFLICT DO NOTHING;

DELETE FROM matrix_mark WHERE kind IN ('status', 'press', 'promise');
