-- +goose Up

-- The tables as the migrations of SQLite have made them up to this version, which is the first on
-- PostgreSQL. Texts compare byte by byte, as they do there: exports have the same order.

CREATE TABLE person (
	id          TEXT COLLATE "C" PRIMARY KEY,
	platform    TEXT COLLATE "C" NOT NULL,
	platform_id TEXT COLLATE "C" NOT NULL,
	name        TEXT COLLATE "C" NOT NULL,
	UNIQUE (platform, platform_id)
);

CREATE TABLE preference (
	person TEXT COLLATE "C" PRIMARY KEY,
	body   TEXT COLLATE "C" NOT NULL
);

CREATE TABLE game (
	id       TEXT COLLATE "C" PRIMARY KEY,
	rules    TEXT COLLATE "C" NOT NULL,
	setup    TEXT COLLATE "C" NOT NULL,
	opener   TEXT COLLATE "C" NOT NULL,
	invited  TEXT COLLATE "C" NOT NULL,
	opened   BIGINT NOT NULL,
	state    TEXT COLLATE "C" NOT NULL,
	black    TEXT COLLATE "C" NOT NULL,
	white    TEXT COLLATE "C" NOT NULL,
	to_move  TEXT COLLATE "C" NOT NULL,
	seq      BIGINT NOT NULL,
	result   TEXT COLLATE "C" NOT NULL,
	changed  BIGINT NOT NULL,
	clock    TEXT COLLATE "C" NOT NULL DEFAULT 'none',
	deadline BIGINT NOT NULL DEFAULT 0,
	rated    BIGINT NOT NULL DEFAULT 0,
	page     TEXT COLLATE "C" NOT NULL DEFAULT '',
	contest  TEXT COLLATE "C" NOT NULL DEFAULT '',
	round    BIGINT NOT NULL DEFAULT 0,
	tbl      BIGINT NOT NULL DEFAULT 0,
	head     TEXT COLLATE "C" NOT NULL DEFAULT ''
);
CREATE INDEX game_opener ON game (opener, state);
CREATE INDEX game_black ON game (black, state);
CREATE INDEX game_white ON game (white, state);
CREATE INDEX game_running ON game (id) WHERE deadline <> 0;
CREATE INDEX game_invited ON game (invited) WHERE invited <> '';
CREATE UNIQUE INDEX game_page ON game (page) WHERE page <> '';
CREATE INDEX game_contest ON game (contest) WHERE contest <> '';

CREATE TABLE game_channel (
	game     TEXT COLLATE "C" NOT NULL REFERENCES game (id),
	platform TEXT COLLATE "C" NOT NULL,
	channel  TEXT COLLATE "C" NOT NULL,
	thread   TEXT COLLATE "C" NOT NULL,
	number   BIGINT NOT NULL,
	state    TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (game, platform, channel),
	UNIQUE (platform, channel, number)
);
CREATE INDEX game_channel_state ON game_channel (platform, channel, state);
CREATE INDEX game_channel_thread ON game_channel (platform, channel, thread);

CREATE TABLE event (
	game  TEXT COLLATE "C" NOT NULL REFERENCES game (id),
	seq   BIGINT NOT NULL,
	at    BIGINT NOT NULL,
	actor TEXT COLLATE "C" NOT NULL,
	body  TEXT COLLATE "C" NOT NULL,
	proof TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (game, seq)
);
CREATE INDEX event_actor ON event (actor) WHERE substr(body, 1, 5) <> 'turn ';

CREATE TABLE due (
	game TEXT COLLATE "C" NOT NULL,
	kind TEXT COLLATE "C" NOT NULL,
	at   BIGINT NOT NULL,
	seq  BIGINT NOT NULL,
	PRIMARY KEY (game, kind, at)
);
CREATE INDEX due_at ON due (at, game, kind);

CREATE TABLE inbox (
	request  TEXT COLLATE "C" PRIMARY KEY,
	at       BIGINT NOT NULL,
	answer   TEXT COLLATE "C" NOT NULL,
	platform TEXT COLLATE "C" NOT NULL DEFAULT '',
	channel  TEXT COLLATE "C" NOT NULL DEFAULT ''
);

CREATE TABLE post (
	id       TEXT COLLATE "C" PRIMARY KEY,
	game     TEXT COLLATE "C" NOT NULL,
	platform TEXT COLLATE "C" NOT NULL,
	channel  TEXT COLLATE "C" NOT NULL,
	thread   TEXT COLLATE "C" NOT NULL,
	n        BIGINT NOT NULL,
	kind     TEXT COLLATE "C" NOT NULL,
	seq      BIGINT NOT NULL,
	private  BIGINT NOT NULL,
	body     TEXT COLLATE "C" NOT NULL,
	state    TEXT COLLATE "C" NOT NULL,
	due      BIGINT NOT NULL,
	attempt  BIGINT NOT NULL,
	receipt  TEXT COLLATE "C" NOT NULL,
	why      TEXT COLLATE "C" NOT NULL,
	tried    BIGINT NOT NULL DEFAULT 0,
	person   TEXT COLLATE "C" NOT NULL DEFAULT '',
	UNIQUE (platform, channel, game, n)
);
CREATE INDEX post_waiting ON post (platform, channel, game, n) WHERE state = 'waiting';
CREATE INDEX post_receipt ON post (platform, receipt) WHERE receipt <> '';
CREATE INDEX post_parked ON post (platform, channel) WHERE state = 'parked';

CREATE TABLE room_wait (
	platform TEXT COLLATE "C" NOT NULL,
	channel  TEXT COLLATE "C" NOT NULL,
	due      BIGINT NOT NULL,
	PRIMARY KEY (platform, channel)
);

CREATE TABLE room_parked (
	platform TEXT COLLATE "C" NOT NULL,
	channel  TEXT COLLATE "C" NOT NULL,
	thread   TEXT COLLATE "C" NOT NULL,
	why      TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (platform, channel, thread)
);

CREATE TABLE room_setting (
	platform TEXT COLLATE "C" NOT NULL,
	channel  TEXT COLLATE "C" NOT NULL,
	body     TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (platform, channel)
);

CREATE TABLE server (
	platform TEXT COLLATE "C" NOT NULL,
	server   TEXT COLLATE "C" NOT NULL,
	body     TEXT COLLATE "C" NOT NULL,
	gone     BIGINT NOT NULL,
	PRIMARY KEY (platform, server)
);

CREATE TABLE server_channel (
	platform TEXT COLLATE "C" NOT NULL,
	channel  TEXT COLLATE "C" NOT NULL,
	server   TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (platform, channel)
);
CREATE INDEX server_channel_server ON server_channel (platform, server);

CREATE TABLE holder (
	platform    TEXT COLLATE "C" NOT NULL,
	platform_id TEXT COLLATE "C" NOT NULL,
	looks       TEXT COLLATE "C" NOT NULL,
	secret      TEXT COLLATE "C" NOT NULL,
	since       BIGINT NOT NULL,
	PRIMARY KEY (platform, platform_id)
);
CREATE INDEX holder_looks ON holder (platform, looks) WHERE looks <> '';

CREATE TABLE bookmark (
	adapter TEXT COLLATE "C" PRIMARY KEY,
	value   TEXT COLLATE "C" NOT NULL
);

CREATE TABLE message (
	n       BIGINT PRIMARY KEY,
	key     TEXT COLLATE "C" NOT NULL,
	room    TEXT COLLATE "C" NOT NULL,
	at      BIGINT NOT NULL,
	sender  TEXT COLLATE "C" NOT NULL,
	body    TEXT COLLATE "C" NOT NULL,
	game    TEXT COLLATE "C" NOT NULL,
	seq     BIGINT NOT NULL,
	kind    TEXT COLLATE "C" NOT NULL,
	removed BIGINT NOT NULL,
	extra   TEXT COLLATE "C" NOT NULL DEFAULT '',
	person  TEXT COLLATE "C" NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX message_key ON message (key) WHERE key <> '';
CREATE INDEX message_room ON message (room, n) WHERE room <> 'local';

CREATE TABLE decoration (
	platform   TEXT COLLATE "C" NOT NULL,
	kind       TEXT COLLATE "C" NOT NULL,
	key        TEXT COLLATE "C" NOT NULL,
	n          BIGINT NOT NULL,
	channel    TEXT COLLATE "C" NOT NULL,
	thread     TEXT COLLATE "C" NOT NULL,
	game       TEXT COLLATE "C" NOT NULL,
	seq        BIGINT NOT NULL,
	follows    TEXT COLLATE "C" NOT NULL,
	target     TEXT COLLATE "C" NOT NULL,
	data       TEXT COLLATE "C" NOT NULL,
	not_before BIGINT NOT NULL,
	not_after  BIGINT NOT NULL,
	sleeps     BIGINT NOT NULL,
	attempt    BIGINT NOT NULL,
	PRIMARY KEY (platform, kind, key)
);

CREATE TABLE outage (
	platform TEXT COLLATE "C" NOT NULL,
	server   TEXT COLLATE "C" NOT NULL,
	started  BIGINT NOT NULL,
	ended    BIGINT NOT NULL,
	PRIMARY KEY (platform, server, started)
);

CREATE TABLE link (
	secret   TEXT COLLATE "C" PRIMARY KEY,
	person   TEXT COLLATE "C" NOT NULL,
	platform TEXT COLLATE "C" NOT NULL,
	channel  TEXT COLLATE "C" NOT NULL,
	name     TEXT COLLATE "C" NOT NULL,
	at       BIGINT NOT NULL
);
CREATE INDEX link_person ON link (person);

CREATE TABLE record (
	slug     TEXT COLLATE "C" PRIMARY KEY,
	platform TEXT COLLATE "C" NOT NULL,
	channel  TEXT COLLATE "C" NOT NULL,
	person   TEXT COLLATE "C" NOT NULL,
	browser  TEXT COLLATE "C" NOT NULL,
	name     TEXT COLLATE "C" NOT NULL,
	shared   BIGINT NOT NULL,
	visited  BIGINT NOT NULL,
	size     BIGINT NOT NULL,
	body     TEXT COLLATE "C" NOT NULL
);
CREATE INDEX record_owner ON record (browser, platform, channel);
CREATE INDEX record_person ON record (person) WHERE person <> '';
CREATE INDEX record_size ON record (size);

CREATE TABLE contest (
	id       TEXT COLLATE "C" PRIMARY KEY,
	page     TEXT COLLATE "C" NOT NULL,
	platform TEXT COLLATE "C" NOT NULL,
	channel  TEXT COLLATE "C" NOT NULL,
	thread   TEXT COLLATE "C" NOT NULL,
	number   BIGINT NOT NULL,
	title    TEXT COLLATE "C" NOT NULL,
	state    TEXT COLLATE "C" NOT NULL,
	seq      BIGINT NOT NULL,
	opened   BIGINT NOT NULL,
	changed  BIGINT NOT NULL,
	UNIQUE (platform, channel, number)
);
CREATE UNIQUE INDEX contest_page ON contest (page) WHERE page <> '';

CREATE TABLE contest_event (
	contest TEXT COLLATE "C" NOT NULL REFERENCES contest (id),
	seq     BIGINT NOT NULL,
	at      BIGINT NOT NULL,
	actor   TEXT COLLATE "C" NOT NULL,
	person  TEXT COLLATE "C" NOT NULL,
	body    TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (contest, seq)
);
CREATE INDEX contest_event_actor ON contest_event (actor) WHERE actor <> '';
CREATE INDEX contest_event_person ON contest_event (person) WHERE person <> '';

CREATE TABLE contest_person (
	person  TEXT COLLATE "C" NOT NULL,
	contest TEXT COLLATE "C" NOT NULL REFERENCES contest (id),
	PRIMARY KEY (person, contest)
);
CREATE INDEX contest_person_contest ON contest_person (contest);

CREATE TABLE act (
	n        BIGINT PRIMARY KEY,
	platform TEXT COLLATE "C" NOT NULL,
	channel  TEXT COLLATE "C" NOT NULL,
	server   TEXT COLLATE "C" NOT NULL,
	at       BIGINT NOT NULL,
	person   TEXT COLLATE "C" NOT NULL,
	what     TEXT COLLATE "C" NOT NULL
);
CREATE INDEX act_room ON act (platform, channel, server, n);
CREATE INDEX act_person ON act (person) WHERE person <> '';

CREATE TABLE draft (
	person   TEXT COLLATE "C" NOT NULL,
	platform TEXT COLLATE "C" NOT NULL,
	channel  TEXT COLLATE "C" NOT NULL,
	at       BIGINT NOT NULL,
	text     TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (person, platform, channel)
);

-- The tables of the adapter for Matrix.
CREATE TABLE matrix_room (
	room   TEXT COLLATE "C" PRIMARY KEY,
	known  TEXT COLLATE "C" NOT NULL,
	last   TEXT COLLATE "C" NOT NULL,
	people BIGINT NOT NULL,
	joined BIGINT NOT NULL
);

CREATE TABLE matrix_mark (
	kind  TEXT COLLATE "C" NOT NULL,
	key   TEXT COLLATE "C" NOT NULL,
	value TEXT COLLATE "C" NOT NULL,
	at    BIGINT NOT NULL,
	PRIMARY KEY (kind, key)
);

CREATE TABLE matrix_place (
	one   BIGINT PRIMARY KEY,
	token TEXT COLLATE "C" NOT NULL
);

CREATE TABLE matrix_event (
	n       BIGINT NOT NULL,
	part    BIGINT NOT NULL,
	room    TEXT COLLATE "C" NOT NULL,
	event   TEXT COLLATE "C" NOT NULL,
	body    TEXT COLLATE "C" NOT NULL,
	state   TEXT COLLATE "C" NOT NULL,
	session TEXT COLLATE "C" NOT NULL,
	tries   BIGINT NOT NULL,
	live    BIGINT NOT NULL,
	at      BIGINT NOT NULL,
	told    BIGINT NOT NULL DEFAULT 0,
	edits   TEXT COLLATE "C" NOT NULL DEFAULT '',
	PRIMARY KEY (n, part),
	UNIQUE (event)
);
CREATE INDEX matrix_event_open ON matrix_event (state, room, n, part);
CREATE INDEX matrix_event_told ON matrix_event (state, told, n, part);
CREATE INDEX matrix_event_edits ON matrix_event (edits) WHERE edits <> '';
