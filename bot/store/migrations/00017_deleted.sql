-- +goose Up

-- A game that was deleted while it was open, or after it was cancelled, kept that state:
-- it is deleted. An import of an old export does this, too.
UPDATE game SET state = 'deleted'
WHERE state IN ('open', 'cancelled') AND EXISTS (SELECT 1 FROM event WHERE event.game = game.id AND event.body = 'delete');

UPDATE game_channel SET state = 'deleted'
WHERE state IN ('open', 'cancelled') AND EXISTS (SELECT 1 FROM event WHERE event.game = game_channel.game AND event.body = 'delete');
