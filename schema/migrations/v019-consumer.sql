-- Readers of effects whose place is kept here, by name. A place is the text of a cursor: commits of
-- several lanes, which no column could name. A lost row makes a reader begin again.
CREATE TABLE operation.consumer (
    name            text COLLATE "C" NOT NULL,
    cursor          text COLLATE "C" NOT NULL,
    holder          text COLLATE "C" NOT NULL,
    acknowledged_at timestamptz      NOT NULL,
    CONSTRAINT consumer_pkey PRIMARY KEY (name),
    CONSTRAINT consumer_name_length CHECK (octet_length(name) BETWEEN 1 AND 200)
);
COMMENT ON TABLE operation.consumer IS
    'The named readers of effects: one row each. Not part of the log; a reader whose row is deleted begins again.';
COMMENT ON COLUMN operation.consumer.cursor IS
    'The cursor of the last effect that it acknowledged; empty at the beginning of the log.';
COMMENT ON COLUMN operation.consumer.holder IS
    'A random word of the process that last took the name. Only that process moves the cursor.';
COMMENT ON COLUMN operation.consumer.acknowledged_at IS
    'When the cursor last moved, on the server''s clock.';
