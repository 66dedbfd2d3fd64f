-- Consumers read effects or events: cursors of one are none of the other.
ALTER TABLE operation.consumer
    ADD COLUMN IF NOT EXISTS stream text COLLATE "C" NOT NULL DEFAULT 'effects';
ALTER TABLE operation.consumer DROP CONSTRAINT IF EXISTS consumer_stream_known;
ALTER TABLE operation.consumer
    ADD CONSTRAINT consumer_stream_known CHECK (stream IN ('effects', 'events'));
COMMENT ON TABLE operation.consumer IS
    'The named readers of effects or events: one row each. Not part of the log; a reader whose row is deleted begins again.';
COMMENT ON COLUMN operation.consumer.stream IS 'What it reads: effects or events.';
COMMENT ON COLUMN operation.consumer.cursor IS
    'The cursor of the last effect or event that it acknowledged; empty at the beginning of the log.';
