-- +goose Up

-- One text for SQLite and PostgreSQL: TEXT and BIGINT, no generated ids, no
-- constraint that only one of them knows. Times are milliseconds of Unix time.

-- The only place where people are: deleting a row here is forgetting a person,
-- for every other table knows them by id alone.
CREATE TABLE person (
    id          TEXT PRIMARY KEY,
    platform    TEXT NOT NULL,
    platform_id TEXT NOT NULL,
    name        TEXT NOT NULL,
    UNIQUE (platform, platform_id)
);

CREATE TABLE game (
    id      TEXT PRIMARY KEY,
    rules   TEXT NOT NULL,
    setup   TEXT NOT NULL,
    opener  TEXT NOT NULL,
    invited TEXT NOT NULL,
    opened  BIGINT NOT NULL,
    -- how it stands: follows from the events, kept so that lists need no replay
    state   TEXT NOT NULL,
    black   TEXT NOT NULL,
    white   TEXT NOT NULL,
    to_move TEXT NOT NULL,
    seq     BIGINT NOT NULL,
    result  TEXT NOT NULL,
    changed BIGINT NOT NULL
);

-- A person's games. Indices hold only what seldom changes, so that a move
-- does not touch them; lists are sorted after they are found.
CREATE INDEX game_opener ON game (opener, state);
CREATE INDEX game_black ON game (black, state);
CREATE INDEX game_white ON game (white, state);

-- Where a game is played. State repeats game.state, so that what is going on
-- in a room is found without a look at all that ever was.
CREATE TABLE game_channel (
    game     TEXT NOT NULL REFERENCES game (id),
    platform TEXT NOT NULL,
    channel  TEXT NOT NULL,
    thread   TEXT NOT NULL,
    number   BIGINT NOT NULL,
    state    TEXT NOT NULL,
    PRIMARY KEY (game, platform, channel),
    UNIQUE (platform, channel, number)
);

CREATE INDEX game_channel_state ON game_channel (platform, channel, state);
CREATE INDEX game_channel_thread ON game_channel (platform, channel, thread);

CREATE TABLE event (
    game  TEXT NOT NULL REFERENCES game (id),
    seq   BIGINT NOT NULL,
    at    BIGINT NOT NULL,
    actor TEXT NOT NULL,
    body  TEXT NOT NULL,
    proof TEXT NOT NULL,
    PRIMARY KEY (game, seq)
);

-- Requests that were taken, and the answers they got.
CREATE TABLE inbox (
    request TEXT PRIMARY KEY,
    at      BIGINT NOT NULL,
    answer  TEXT NOT NULL
);

-- What is owed to rooms. n is the order within a game and a channel. State is
-- waiting, settled, parked or superseded; due is when it may be claimed.
CREATE TABLE post (
    id       TEXT PRIMARY KEY,
    game     TEXT NOT NULL,
    platform TEXT NOT NULL,
    channel  TEXT NOT NULL,
    thread   TEXT NOT NULL,
    n        BIGINT NOT NULL,
    kind     TEXT NOT NULL,
    seq      BIGINT NOT NULL,
    private  BIGINT NOT NULL,
    body     TEXT NOT NULL,
    state    TEXT NOT NULL,
    due      BIGINT NOT NULL,
    attempt  BIGINT NOT NULL,
    receipt  TEXT NOT NULL,
    why      TEXT NOT NULL,
    UNIQUE (platform, channel, game, n)
);

CREATE INDEX post_waiting ON post (platform, channel, game, n) WHERE state = 'waiting';

-- Channels that asked to wait.
CREATE TABLE room_wait (
    platform TEXT NOT NULL,
    channel  TEXT NOT NULL,
    due      BIGINT NOT NULL,
    PRIMARY KEY (platform, channel)
);

-- Rooms that could not be reached when last tried.
CREATE TABLE room_parked (
    platform TEXT NOT NULL,
    channel  TEXT NOT NULL,
    thread   TEXT NOT NULL,
    why      TEXT NOT NULL,
    PRIMARY KEY (platform, channel, thread)
);

CREATE TABLE bookmark (
    adapter TEXT PRIMARY KEY,
    value   TEXT NOT NULL
);

-- What was said in the local room.
CREATE TABLE message (
    n       BIGINT PRIMARY KEY,
    key     TEXT NOT NULL UNIQUE,
    room    TEXT NOT NULL,
    at      BIGINT NOT NULL,
    sender  TEXT NOT NULL,
    body    TEXT NOT NULL,
    game    TEXT NOT NULL,
    seq     BIGINT NOT NULL,
    kind    TEXT NOT NULL,
    removed BIGINT NOT NULL
);

CREATE INDEX message_room ON message (room, n);
