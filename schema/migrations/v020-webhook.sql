-- Where effects are sent: one row for each webhook. Its place in the log is that of the consumer
-- `webhook/NAME`. The secrets are needed to sign, so only a writer may read them.
CREATE TABLE operation.webhook (
    name            text COLLATE "C" NOT NULL,
    url             text COLLATE "C" NOT NULL,
    format          text COLLATE "C" NOT NULL,
    effects         text[]           NOT NULL,
    environments    text[]           NOT NULL,
    bundle_ids      text[]           NOT NULL,
    hears_alerts    boolean          NOT NULL,
    allows_private  boolean          NOT NULL,
    secrets         text[]           NOT NULL,
    older_sign_until timestamptz     NULL,
    created_at      timestamptz      NOT NULL,
    paused_at       timestamptz      NULL,
    pause_reason    text             NULL,
    CONSTRAINT webhook_pkey PRIMARY KEY (name),
    CONSTRAINT webhook_format_known CHECK (format IN ('subledger', 'revenuecat')),
    CONSTRAINT webhook_has_secret CHECK (cardinality(secrets) > 0),
    CONSTRAINT webhook_pause_has_reason CHECK ((paused_at IS NULL) = (pause_reason IS NULL))
);
COMMENT ON TABLE operation.webhook IS
    'Where effects are sent: one row for each webhook. Not part of the log.';
COMMENT ON COLUMN operation.webhook.effects IS 'The effects that it receives; empty for all.';
COMMENT ON COLUMN operation.webhook.environments IS 'The environments; empty for all.';
COMMENT ON COLUMN operation.webhook.bundle_ids IS 'The bundle ids of the apps; empty for all.';
COMMENT ON COLUMN operation.webhook.hears_alerts IS 'Whether it also receives alerts.';
COMMENT ON COLUMN operation.webhook.allows_private IS
    'Whether it may be at a private address, and without TLS.';
COMMENT ON COLUMN operation.webhook.secrets IS
    'The secrets that sign, newest first: whsec_ for HMAC-SHA256, whsk_ for Ed25519.';
COMMENT ON COLUMN operation.webhook.older_sign_until IS
    'Until when secrets other than the first one also sign.';
COMMENT ON COLUMN operation.webhook.paused_at IS 'Since when nothing is sent; NULL if it is active.';
