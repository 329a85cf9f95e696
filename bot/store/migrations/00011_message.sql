-- +goose Up

-- Less is written for each message of the local room. The number of a message is
-- that of its row: INTEGER is SQLite's name for that, other databases say BIGINT.
-- What was typed is stored together with what came of it, once, so it needs no key.
-- And as nearly all messages are in the room that everybody reads, they are found
-- there by their numbers alone; the index has the others.

CREATE TABLE message_numbered (
    n       INTEGER PRIMARY KEY,
    key     TEXT NOT NULL,
    room    TEXT NOT NULL,
    at      BIGINT NOT NULL,
    sender  TEXT NOT NULL,
    body    TEXT NOT NULL,
    game    TEXT NOT NULL,
    seq     BIGINT NOT NULL,
    kind    TEXT NOT NULL,
    removed BIGINT NOT NULL,
    extra   TEXT NOT NULL DEFAULT ''
);
INSERT INTO message_numbered (n, key, room, at, sender, body, game, seq, kind, removed, extra)
SELECT n, key, room, at, sender, body, game, seq, kind, removed, extra FROM message ORDER BY n;
DROP TABLE message;
ALTER TABLE message_numbered RENAME TO message;
CREATE UNIQUE INDEX message_key ON message (key) WHERE key <> '';
CREATE INDEX message_room ON message (room, n) WHERE room <> 'local';
