-- +goose Up

-- What only one of several processes may do at a time, and the processes; see package units.
CREATE TABLE unit (
	name   TEXT PRIMARY KEY,
	holder TEXT NOT NULL,
	term   BIGINT NOT NULL,
	beat   BIGINT NOT NULL,
	lease  BIGINT NOT NULL, -- in milliseconds
	state  TEXT NOT NULL
);

CREATE TABLE process (
	id    TEXT PRIMARY KEY,
	beat  BIGINT NOT NULL,
	wants TEXT NOT NULL,
	epoch BIGINT NOT NULL
);
