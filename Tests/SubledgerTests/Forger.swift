import AppStore
import AppStoreSimulator
import EventLog
import Events
import Postgres
import TestSupport
import Testing

/// Commits with no more rights than those of a role: the digests match, and nothing proves the rest.
struct Forger {
    let log: EventLog
    let settings: ConnectionSettings
    var role = "ledger_writer"
    /// Added to the time of the commit, in milliseconds.
    var shift: Int64 = 0

    /// A payload that claims to be signed by the simulator's root, and is not kept.
    func unkept(_ kind: PayloadKind, trust: Verification.Trust = .signed) throws -> Evidence {
        Evidence(
            payload: [],
            digest: Digest(placeholder: .random()),
            kind: kind,
            source: "forger",
            arrival: .live,
            verification: Verification(
                trust: trust,
                root: trust == .signed
                    ? try RootCertificate(der: FilledLedger.simulator.store.pki.rootDER).digest
                    : nil
            ),
            context: nil,
            receivedAt: .systemClock()
        )
    }

    /// Appends events of facts that cite a payload, and confirmations of earlier events.
    ///
    /// - Returns: The position of the first event.
    /// - Throws: What the database refused.
    @discardableResult
    func commit(
        _ facts: [Fact],
        confirming: [Event] = [],
        citing evidence: Evidence,
        in lane: Int = 0,
        then: (PostgresSession, Int64) async throws -> Void = { _, _ in }
    ) async throws -> Position {
        let head = try #require(try await log.newestCommit(lane: lane))
        let session = try await PostgresSession.connect(settings)
        let clock = try await session.query(
            "SELECT date_trunc('milliseconds', clock_timestamp())"
        )[0].timestamptz(0)
        let forged = ForgedCommit(
            facts,
            confirming,
            evidence,
            upon: head,
            at: Instant(milliseconds: clock / 1000 + shift)
        )
        do {
            try await session.execute("BEGIN; SET LOCAL ROLE \(role)")
            for (target, values) in forged.rows {
                let places = values.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
                try await session.query("INSERT INTO ledger.\(target) VALUES (\(places))", values)
            }
            try await then(session, forged.commit.firstOffset)
            try await session.execute("COMMIT")
            await session.close()
        } catch {
            await session.close()
            throw error
        }
        return Position(lane: Lane(lane), offset: forged.commit.firstOffset)
    }
}

/// The rows of a commit whose digests match.
private struct ForgedCommit {
    let commit: Commit
    private let evidence: Evidence
    private let events: [(event: Event, salt: Salt)]
    private let confirmations: [(row: ConfirmationRow, salt: Salt)]
    private let digest: Digest

    init(
        _ facts: [Fact],
        _ confirming: [Event],
        _ evidence: Evidence,
        upon head: CommitMark,
        at now: Instant
    ) {
        let number = head.commit.lastEvidence + 1
        let repeated = confirming.map {
            Events.Confirmation(
                position: $0.position,
                asOf: $0.fact.asOf,
                fields: $0.fact.content.asserted,
                transactionId: "",
                evidence: number
            )
        }
        confirmations =
            confirming.isEmpty
            ? []
            : ConfirmationRow.rows(of: repeated, stream: confirming[0].fact.stream).map {
                ($0, Salt.random())
            }
        commit = Commit(
            lane: head.commit.lane,
            number: head.commit.number + 1,
            firstOffset: head.commit.lastOffset + 1,
            count: facts.count,
            firstEvidence: number,
            evidence: 1,
            confirmations: confirmations.count,
            committedAt: now
        )
        self.evidence = evidence
        let first = commit.firstOffset
        events = facts.enumerated().map { index, fact in
            (
                Event(
                    position: Position(lane: Lane(head.commit.lane), offset: first + Int64(index)),
                    recordedAt: now,
                    fact: fact,
                    evidence: number,
                    isImported: false
                ), Salt.random()
            )
        }
        digest = ForgedCommit.digest(
            of: commit,
            after: head.digest,
            events,
            confirmations,
            evidence.recordDigest
        )
    }

    private static func digest(
        of commit: Commit,
        after previous: Digest,
        _ events: [(event: Event, salt: Salt)],
        _ confirmations: [(row: ConfirmationRow, salt: Salt)],
        _ record: Digest
    ) -> Digest {
        var hasher = CommitHasher(after: previous, commit: commit)
        for (event, salt) in events {
            hasher.update(
                event.commitments(keys: CommitmentKeys(salt), evidence: record).digest
            )
        }
        for (row, salt) in confirmations {
            hasher.update(
                row.commitments(
                    lane: commit.lane,
                    keys: CommitmentKeys(salt),
                    evidence: [record]
                ).digest
            )
        }
        return hasher.digest()
    }

    /// The rows, with the tables and columns that they go into.
    var rows: [(target: String, values: [PostgresValue])] {
        let packed =
            evidence.digest.isPlaceholder
            ? nil : EvidencePacking.pack(evidence.payload, dictionary: nil)
        return [
            ("commit (\(ForgedCommit.columns))", ownValues),
            (
                "evidence (\(StoredRow.evidenceColumns))",
                StoredRow.evidence(
                    evidence,
                    packed,
                    number: commit.firstEvidence,
                    commit: commit
                )
            ),
        ]
            + events.map { event, salt in
                (
                    "event (\(StoredRow.eventColumns))",
                    StoredRow.event(
                        event,
                        key: FactKey(event.fact).bytes,
                        salt: salt,
                        isLate: false
                    )
                )
            }
            + confirmations.map { row, salt in
                ("confirmation (\(ForgedCommit.confirmationColumns))", values(of: row, salt))
            }
    }

    private var time: PostgresValue {
        .timestamptz(microseconds: commit.committedAt.milliseconds * 1000)
    }

    private var ownValues: [PostgresValue] {
        [
            .int4(Int32(commit.lane)), .int4(Int32(commit.count)), .int8(commit.number),
            .int8(commit.firstOffset), .int8(commit.firstEvidence), time,
            .int4(Int32(commit.evidence)), .int4(Int32(commit.confirmations)),
            .int4(Int32(commit.format)), .bytea(digest.bytes),
        ]
    }

    private func values(of row: ConfirmationRow, _ salt: Salt) -> [PostgresValue] {
        [
            .int4(Int32(commit.lane)), .int8(commit.number), .int8(commit.firstOffset), time,
            .int8(row.asOf.milliseconds), .int8(row.evidence),
            .text(row.stream.environment.word), .text(row.stream.originalTransactionId),
            .bytea(salt.bytes), .bytea(row.repetitions),
        ]
    }

    private static let columns = """
        lane, count, commit_no, first_offset, first_evidence_no, committed_at, evidence,
        confirmations, format, digest
        """

    private static let confirmationColumns = """
        lane, commit_no, known_from_offset, recorded_at, as_of_ms, evidence_no, environment,
        original_transaction_id, salt, repetitions
        """
}
