-- +goose Up

-- The last number that a message of a transcript got. Whoever takes the next one keeps the row
-- locked until the message is there, so that no message appears after one with a higher number.
-- The row 'holder' does the same for those who take a name.
CREATE TABLE counter (
	name TEXT PRIMARY KEY,
	n    BIGINT NOT NULL
);
INSERT INTO counter (name, n) SELECT 'message', COALESCE(MAX(n), 0) FROM message;
