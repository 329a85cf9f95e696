-- +goose Up

-- The row 'oldest' has the oldest version of tables whose programs can work with these. Later
-- versions only add, so that they can work beside this one; one that takes something away, raises it.
INSERT INTO counter (name, n) VALUES ('oldest', 29) ON CONFLICT DO NOTHING;
