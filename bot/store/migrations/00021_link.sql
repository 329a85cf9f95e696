-- +goose Up

-- The browsers that are a person of some platform, by the hash of the secret in their
-- cookie. Without a name of the browser it is the address, by the hash of its secret, that
-- makes one browser that person. Platform and channel are where they asked for it.
CREATE TABLE link (
	secret   TEXT PRIMARY KEY,
	person   TEXT NOT NULL,
	platform TEXT NOT NULL,
	channel  TEXT NOT NULL,
	name     TEXT NOT NULL,
	at       BIGINT NOT NULL
);
CREATE INDEX link_person ON link (person);
