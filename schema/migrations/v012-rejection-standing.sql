-- Anyone can send payloads that are refused, as many as they like. What shows nothing of its origin
-- has room of its own, so that it never takes the room of what Apple signed or a token vouches for.

-- Of rows from before this migration it is not known: they take no room of what is proven, and do
-- not expire.
ALTER TABLE ledger.rejection
    ADD COLUMN standing text COLLATE "C" NOT NULL DEFAULT 'chained',
    ADD CONSTRAINT rejection_standing_known CHECK (standing IN ('proven', 'chained', 'unproven'));
ALTER TABLE ledger.rejection
    ALTER COLUMN standing DROP DEFAULT;
COMMENT ON COLUMN ledger.rejection.standing IS 'proven: signed under a pinned root, or sent with a token or by the operator. chained: with a certificate chain that ends at a pinned root. unproven: neither; deleted when it is old (ledger.forget_rejections).';
COMMENT ON COLUMN ledger.rejection.body IS 'Its first MiB, every password blanked; NULL where a secret could not be told from the rest, and where the bodies of its standing had reached their limit (the message says so).';
COMMENT ON TABLE ledger.rejection IS
    'Payloads that were refused, each once a reason, as far as the limits of their standing allow. Outside of the chain: input nobody has to believe. The owner may delete rows, the writer may only insert, and delete through ledger.forget_rejections.';
