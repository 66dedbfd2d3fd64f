-- Where old payloads are that were moved out of the database (schema/README.md, "Moved payloads"). A
-- row of evidence whose body was moved has its digest and byte_count, which prove what the file holds.
CREATE TABLE ledger.evidence_file (
    lane              int         NOT NULL,
    first_evidence_no bigint      NOT NULL,
    last_evidence_no  bigint      NOT NULL,
    moved_at          timestamptz NOT NULL,
    path              text        COLLATE "C" NOT NULL,
    CONSTRAINT evidence_file_pkey PRIMARY KEY (lane, first_evidence_no),
    CONSTRAINT evidence_file_numbers CHECK (
        first_evidence_no >= 1 AND last_evidence_no >= first_evidence_no),
    CONSTRAINT evidence_file_path_absolute CHECK (path LIKE '/%')
) /* by lane */;
COMMENT ON TABLE ledger.evidence_file IS
    'The files that hold the packed payloads which `subledger evidence move` took out of ledger.evidence, one row each. Only the owner may insert; no digest covers it, because each payload in a file proves itself.';
COMMENT ON COLUMN ledger.evidence_file.first_evidence_no IS 'The first payload in it. The files of a lane follow each other from 1, without a gap.';
COMMENT ON COLUMN ledger.evidence_file.last_evidence_no IS 'The last payload in it.';
COMMENT ON COLUMN ledger.evidence_file.moved_at IS 'The server''s clock; whole milliseconds.';
COMMENT ON COLUMN ledger.evidence_file.path IS 'Where it was written. SUBLEDGER_EVIDENCE_FOLDER names another folder for all files.';
COMMENT ON COLUMN ledger.evidence.body IS 'The payload, packed (schema/README.md): repeated segments by reference, base64 decoded, deflated. NULL where it was moved to a file (evidence_file), where it was erased, and where it came after an erasure and was verified at entry only.';
