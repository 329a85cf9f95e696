-- +goose Up

-- Whether a waiting or parked post may have been sent. Up to here a process claimed each
-- post that it sent: due was the end of its claim, and why told whether the post may have
-- been sent under an earlier one ('clean', 'unsent'). An import of an old export does
-- this, too.
ALTER TABLE post ADD COLUMN tried BIGINT NOT NULL DEFAULT 0;

UPDATE post SET tried = 1 WHERE state IN ('waiting', 'parked') AND attempt > 0 AND why <> 'unsent';
UPDATE post SET due = 0, why = '' WHERE state = 'waiting' AND attempt > 0;
