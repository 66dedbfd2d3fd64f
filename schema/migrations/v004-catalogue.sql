-- What the app sold, and since when: the levels that tell an upgrade from a downgrade are in no
-- payload of Apple's (app-store.md §G-23). Outside of the chain of digests: it is the operator's own
-- statement, and proves nothing about Apple's data.
--
-- All versions are in one lane, so that the primary key keeps their numbers unique: two imports at
-- once cannot become one version.

CREATE TABLE ledger.catalogue (
    lane              int         NOT NULL,
    version           int         NOT NULL,
    effective_from_ms bigint      NOT NULL,
    recorded_at       timestamptz NOT NULL,
    source            text        COLLATE "C" NOT NULL,
    digest            bytea       NOT NULL,
    body              text        COMPRESSION lz4 COLLATE "C" NOT NULL,
    CONSTRAINT catalogue_pkey PRIMARY KEY (lane, version),
    CONSTRAINT catalogue_in_one_lane CHECK (lane = ledger.lane_of('catalogue')),
    CONSTRAINT catalogue_version_from_one CHECK (version >= 1),
    CONSTRAINT catalogue_digest_is_of_body CHECK (digest = sha256(convert_to(body, 'UTF8'))),
    CONSTRAINT catalogue_body_capped CHECK (octet_length(body) <= 33554432)
) /* by lane */;
COMMENT ON TABLE ledger.catalogue IS
    'The versions of the product catalogue, one a row, never changed: a mistake is answered by a new version.';
COMMENT ON COLUMN ledger.catalogue.lane IS 'lane_of(''catalogue''): it belongs to no subscription.';
COMMENT ON COLUMN ledger.catalogue.version IS 'From 1, without holes, in the order of import.';
COMMENT ON COLUMN ledger.catalogue.effective_from_ms IS 'The first instant it holds for, as the operator says. Milliseconds since 1970, UTC. Of two versions from one instant on, the higher number holds.';
COMMENT ON COLUMN ledger.catalogue.recorded_at IS 'Our clock: when it was imported; whole milliseconds.';
COMMENT ON COLUMN ledger.catalogue.source IS 'The file it was read from, as it was named then.';
COMMENT ON COLUMN ledger.catalogue.digest IS 'SHA-256 of body as UTF-8: importing the same again is told by it.';
COMMENT ON COLUMN ledger.catalogue.body IS 'The catalogue as normalised JSON, whatever the format of the file was (schema/README.md).';
