-- +goose Up

-- Records and positions that have a page without being games here. Those that a browser
-- brought have the hash of the secret in its cookie, those that somebody showed in a room the
-- room and the person. The text is compressed, in base64. Until a record is shared, visited is
-- when it was stored.
CREATE TABLE record (
	slug     TEXT PRIMARY KEY,
	platform TEXT NOT NULL,
	channel  TEXT NOT NULL,
	person   TEXT NOT NULL,
	browser  TEXT NOT NULL,
	name     TEXT NOT NULL,
	shared   BIGINT NOT NULL,
	visited  BIGINT NOT NULL,
	size     BIGINT NOT NULL,
	body     TEXT NOT NULL
);
CREATE INDEX record_owner ON record (browser, platform, channel);
CREATE INDEX record_person ON record (person) WHERE person <> '';
CREATE INDEX record_size ON record (size);
