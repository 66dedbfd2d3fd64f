import AppStore
import AppStoreSimulator
import EventLog
import Events
import Postgres
import Subledger
import TestSupport
import Testing

/// A confirmation can change an answer, so it is proven like an event: the right to insert and
/// matching digests are not enough.
@Suite(.enabled { await TestServer.isAvailable })
struct ForgedConfirmationTests {
    /// A claim about a payload with other content.
    enum Claim: String, CaseIterable, Sendable {
        case true_, laterAsOf, otherField, alias, otherEvent
    }

    @Test(arguments: Claim.allCases)
    func `a confirmation that its payload does not prove is found`(claim: Claim) async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let log = try await EventLog.open(settings, FilledLedger.options)
            let (first, second) = try await Self.transactions(of: log)
            let stored = try #require(try await log.event(at: first.position))
            guard case .whole(let evidence) = stored.evidence else {
                Issue.record("the payload of \(first.position) is missing")
                return
            }
            let (fields, asOf) = (first.fact.content.asserted, first.fact.asOf)
            let head = try #require(try await log.newestCommit(lane: 0))
            let forged = Events.Confirmation(
                position: claim == .otherEvent ? second.position : first.position,
                asOf: claim == .laterAsOf ? Instant(milliseconds: asOf.milliseconds + 1) : asOf,
                fields: claim == .otherField ? fields.union(FieldSet([.expirationIntent])) : fields,
                transactionId: claim == .alias ? "2000000999999999" : "",
                evidence: head.commit.lastEvidence + 1
            )
            try await Self.insert(
                forged,
                stream: first.fact.stream,
                copyOf: first.evidence,
                record: evidence.recordDigest,
                upon: head,
                settings
            )
            #expect(try await log.verify().isOK, "the chain alone cannot show it")
            let report = try await SignatureVerification(
                log: log,
                roots: [try .init(der: FilledLedger.simulator.store.pki.rootDER)],
                jobs: 2
            ).run()
            if claim == .true_ {
                #expect(report.firstFailure == nil)
            } else {
                #expect(report.firstFailure?.reason == "confirmation-not-proven")
                #expect(report.firstFailure?.position == forged.position)
                #expect(report.firstFailure?.evidence == evidence.digest)
            }
            await log.close()
        }
    }

    // Two transactions of one stream.
    private static func transactions(of log: EventLog) async throws -> (Event, Event) {
        for summary in try await log.streams() {
            let events = try await log.history(of: summary.stream).events
                .filter { $0.fact.kind == .transaction }
            if events.count > 1 { return (events[0], events[1]) }
        }
        throw NoStream()
    }

    private struct NoStream: Error {}

    // With only the rights of the writer.
    private static func insert(
        _ confirmation: Events.Confirmation,
        stream: StreamID,
        copyOf evidence: Int64,
        record: Digest,
        upon head: CommitMark,
        _ settings: ConnectionSettings
    ) async throws {
        let session = try await PostgresSession.connect(settings)
        // The database refuses the time of another clock.
        let clock = try await session.query(
            "SELECT date_trunc('milliseconds', clock_timestamp())"
        )[0].timestamptz(0)
        let salt = Salt.random()
        let rows = ConfirmationRow.rows(of: [confirmation], stream: stream)
        let row = try #require(rows.first)
        let commit = Commit(
            lane: 0,
            number: head.commit.number + 1,
            firstOffset: head.commit.lastOffset + 1,
            count: 0,
            firstEvidence: confirmation.evidence,
            evidence: 1,
            confirmations: 1,
            committedAt: Instant(milliseconds: clock / 1000)
        )
        var hasher = CommitHasher(after: head.digest, commit: commit)
        hasher.update(
            row.commitments(lane: 0, keys: CommitmentKeys(salt), evidence: [record]).digest
        )
        let time = PostgresValue.timestamptz(microseconds: commit.committedAt.milliseconds * 1000)
        try await session.execute("BEGIN; SET LOCAL ROLE ledger_writer")
        try await session.query(
            insertCommit,
            [
                .int8(commit.number), .int8(commit.firstOffset), .int8(commit.firstEvidence), time,
                .int4(Int32(commit.format)), .bytea(hasher.digest().bytes),
            ]
        )
        try await session.query(
            insertEvidence,
            [.int8(confirmation.evidence), .int8(commit.number), .int8(evidence)]
        )
        try await session.query(
            insertConfirmation,
            [
                .int8(commit.number), .int8(commit.firstOffset), time,
                .int8(row.asOf.milliseconds), .int8(row.evidence),
                .text(stream.environment.word), .text(stream.originalTransactionId),
                .bytea(salt.bytes), .bytea(row.repetitions),
                .textArray(row.transactionIds.isEmpty ? nil : row.transactionIds),
            ]
        )
        try await session.execute("COMMIT")
        await session.close()
    }

    private static let insertCommit = """
        INSERT INTO ledger.commit (lane, count, commit_no, first_offset, first_evidence_no,
            committed_at, evidence, confirmations, format, digest)
        VALUES (0, 0, $1, $2, $3, $4, 1, 1, $5, $6)
        """

    private static let insertEvidence = """
        INSERT INTO ledger.evidence (lane, byte_count, root_key, is_imported, evidence_no,
            commit_no, received_at, digest, kind, source, verification, context, body)
        SELECT lane, byte_count, root_key, is_imported, $1, $2, received_at, digest, kind, source,
            verification, context, body
        FROM ledger.evidence WHERE evidence_no = $3
        """

    private static let insertConfirmation = """
        INSERT INTO ledger.confirmation (lane, commit_no, known_from_offset, recorded_at,
            as_of_ms, evidence_no, environment, original_transaction_id, salt, repetitions,
            transaction_ids)
        VALUES (0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        """
}
