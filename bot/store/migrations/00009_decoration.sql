-- +goose Up

-- What follows posts, outside their order: the first message of a game says how the
-- game stands, a picture follows its words, old controls go, reactions come. Of those
-- of a platform, kind and key there is one, the newest; n says which is newer. A row
-- that sleeps waits until something newer of its game was shown in its channel.
CREATE TABLE decoration (
    platform   TEXT NOT NULL,
    kind       TEXT NOT NULL,
    key        TEXT NOT NULL,
    n          BIGINT NOT NULL,
    channel    TEXT NOT NULL,
    thread     TEXT NOT NULL,
    game       TEXT NOT NULL,
    seq        BIGINT NOT NULL,
    follows    TEXT NOT NULL,
    target     TEXT NOT NULL,
    data       TEXT NOT NULL,
    not_before BIGINT NOT NULL,
    not_after  BIGINT NOT NULL,
    sleeps     BIGINT NOT NULL,
    attempt    BIGINT NOT NULL,
    PRIMARY KEY (platform, kind, key)
) WITHOUT ROWID;
