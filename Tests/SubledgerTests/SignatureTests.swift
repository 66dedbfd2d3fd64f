import AppStore
import AppStoreSimulator
import EventLog
import Events
import Postgres
import Subledger
import TestSupport
import Testing

/// Verifying the stored payloads again: this finds what the chain of digests cannot show.
@Suite(.enabled { await TestServer.isAvailable })
struct SignatureTests {
    private static let simulator = FilledLedger.simulator
    private static let other = AppStoreSimulator(seed: 78)

    @Test(arguments: [FilledLedger.plain, FilledLedger.divided], [1, 3])
    func `a simulated ledger is fully proven`(template: TestTemplate, jobs: Int) async throws {
        try await TestServer.shared.withDatabase(from: template) { settings in
            let log = try await EventLog.open(settings, FilledLedger.options)
            let report = try await prove(log, jobs: jobs)
            #expect(report.firstFailure == nil)
            #expect(report.payloads == report.verified)
            #expect(report.byTrust == [.signed: report.verified])
            let stored = try await Self.number("SELECT count(*) FROM ledger.evidence", settings)
            #expect(report.verified == stored)
            await log.close()
        }
    }

    @Test func `a missing root is named with the first event under it`() async throws {
        try await withLedger { log, _ in
            try await append(Self.simulator.life(0), by: Self.simulator, to: log)
            let next = try await log.heads()[0].map { $0.offset + 1 }
            try await append(Self.other.life(1), by: Self.other, to: log)
            #expect(try await log.verify().isOK)
            let report = try await prove(log)
            let failure = try #require(report.firstFailure)
            #expect(failure.reason == "root-not-given")
            #expect(failure.position.offset == next)
            let root = try RootCertificate(der: Self.other.store.pki.rootDER).digest
            #expect(failure.message.contains(root.hex))
            #expect(failure.message.contains("--root-certificate"))
            let both = try await prove(log, roots: [Self.simulator, Self.other])
            #expect(both.isOK)
        }
    }

    /// A way to commit data that no payload proves: the chain of digests matches in every case.
    enum Forgery: String, CaseIterable, Sendable {
        case signatureChanged, foreignRootUnderOurName, genuineUnderForeignName, factsOfAnother,
            factInvented, asOfMoved, bundleChanged, streamChanged, vouchedForge, signedAsVouched,
            kindChanged, noPayload
    }

    @Test(arguments: Forgery.allCases)
    func `an event that its payload does not prove is found, with position and reason`(
        forgery: Forgery
    ) async throws {
        try await withLedger { log, _ in
            try await append(Self.simulator.life(0), by: Self.simulator, to: log)
            let head = try #require(try await log.heads()[0]).offset
            let (forged, reason, ordinal) = try forge(forgery)
            let outcomes = try await log.append(forged)
            #expect(
                outcomes.map(\.position.offset) == Array(head + 1...head + Int64(outcomes.count))
            )
            try await append(Self.simulator.life(2), by: Self.simulator, to: log)
            #expect(try await log.verify().isOK, "the chain matches")
            let failure = try #require(
                try await prove(log, roots: [Self.simulator, Self.other]).firstFailure
            )
            #expect(failure.reason == reason, "\(failure.message)")
            #expect(failure.position.offset == head + ordinal)
            #expect(failure.evidence == forged.evidence.digest)
        }
    }

    @Test func `missing or damaged evidence and unreadable events are reported`()
        async throws
    {
        let ofSeven = "(SELECT evidence_no FROM ledger.event WHERE lane_offset = 7)"
        for (sql, reason) in [
            ("DELETE FROM ledger.evidence WHERE evidence_no = \(ofSeven)", "evidence-missing"),
            (
                "UPDATE ledger.evidence SET body = '\\x010001' WHERE evidence_no = \(ofSeven)",
                "evidence-damaged"
            ),
            (
                "UPDATE ledger.evidence SET kind = 'nonsense' WHERE evidence_no = \(ofSeven)",
                "evidence-damaged"
            ),
            ("UPDATE ledger.event SET content = '\\x63' WHERE lane_offset = 7", "event-malformed"),
        ] {
            try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
                let session = try await PostgresSession.connect(settings)
                try await session.execute("\(Tampering.begin) \(sql)")
                await session.close()
                let first = try await Self.number(
                    "SELECT min(lane_offset) FROM ledger.event WHERE evidence_no = \(ofSeven)",
                    settings
                )
                let log = try await EventLog.open(settings, FilledLedger.options)
                let failure = try #require(try await prove(log).firstFailure)
                #expect(failure.reason == reason)
                #expect(failure.position.offset == (reason == "event-malformed" ? 7 : first))
                await log.close()
            }
        }
    }

    private func forge(
        _ forgery: Forgery
    ) throws -> (Verified<[Fact]>, reason: String, ordinal: Int64) {
        let delivery = Self.simulator.life(1).deliveries()[0]
        let genuine = try Self.verify(delivery.payload, by: Self.simulator)
        let payload = genuine.evidence.payload
        let facts = genuine.value
        let ours = genuine.evidence.verification
        let theirs = try Self.verify(Self.other.life(1).deliveries()[0].payload, by: Self.other)
        switch forgery {
        case .signatureChanged:
            // The payload ends with the signature of the outermost JWS.
            var changed = payload
            changed[changed.count - 20] ^= 1
            return (Self.claim(facts, changed, genuine.evidence), "signature-invalid", 1)
        case .foreignRootUnderOurName:
            return (
                Self.claim(theirs.value, theirs.evidence.payload, genuine.evidence),
                "evidence-differs", 1
            )
        case .genuineUnderForeignName:
            return (Self.claim(facts, payload, theirs.evidence), "evidence-differs", 1)
        case .factsOfAnother:
            return (Self.claim(theirs.value, payload, genuine.evidence), "event-not-proven", 1)
        case .factInvented:
            let invented = theirs.value[0]
            return (
                Self.claim(facts + [invented], payload, genuine.evidence), "event-not-proven",
                Int64(facts.count) + 1
            )
        case .asOfMoved, .bundleChanged, .streamChanged:
            return (
                Self.claim(
                    facts.dropLast() + [facts[facts.count - 1].forged(forgery)],
                    payload,
                    genuine.evidence
                ), "event-not-proven", Int64(facts.count)
            )
        case .vouchedForge:
            var changed = payload
            changed[changed.count - 20] ^= 1
            let vouched = Verification(trust: .vouched, root: nil)
            return (
                Self.claim(facts, changed, genuine.evidence, vouched), "signature-invalid", 1
            )
        case .signedAsVouched:
            let vouched = Verification(trust: .vouched, root: nil)
            return (Self.claim(facts, payload, genuine.evidence, vouched), "evidence-differs", 1)
        case .kindChanged:
            return (
                Self.claim(facts, payload, genuine.evidence, kind: .subscriptionStatus),
                "evidence-differs", 1
            )
        case .noPayload:
            return (
                Self.claim(facts, Array("nothing".utf8), genuine.evidence, ours),
                "unsupported-format", 1
            )
        }
    }
}

extension SignatureTests {
    private static func claim(
        _ facts: [Fact],
        _ payload: [UInt8],
        _ record: Evidence,
        _ verification: Verification? = nil,
        kind: PayloadKind? = nil
    ) -> Verified<[Fact]> {
        Verified(
            facts,
            evidence: Evidence(
                payload: payload,
                kind: kind ?? record.kind,
                source: record.source,
                verification: verification ?? record.verification,
                receivedAt: record.receivedAt
            )
        )
    }

    private static func verify(
        _ payload: [UInt8],
        by simulator: AppStoreSimulator
    ) throws -> Verified<[Fact]> {
        try simulator.verifier().verify(
            payload: payload,
            source: "test",
            receivedAt: Instant(milliseconds: 1_790_000_000_000)
        ).groups[0]
    }

    private func append(
        _ life: SubscriptionLife,
        by simulator: AppStoreSimulator,
        to log: EventLog
    ) async throws {
        for delivery in life.deliveries() {
            _ = try await log.append(try Self.verify(delivery.payload, by: simulator))
        }
    }

    private func prove(
        _ log: EventLog,
        roots: [AppStoreSimulator] = [simulator],
        jobs: Int = 2
    ) async throws -> SignatureReport {
        try await SignatureVerification(
            log: log,
            roots: try roots.map { try RootCertificate(der: $0.store.pki.rootDER) },
            jobs: jobs
        ).run()
    }

    private static func number(_ sql: String, _ settings: ConnectionSettings) async throws -> Int64
    {
        let session = try await PostgresSession.connect(settings)
        let rows = try await session.query(sql)
        await session.close()
        return try rows.single().int8(0)
    }

    private func withLedger(
        _ body: (EventLog, ConnectionSettings) async throws -> Void
    ) async throws {
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let log = try await EventLog.open(settings, FilledLedger.options)
            try await body(log, settings)
            await log.close()
        }
    }
}

extension Fact {
    fileprivate func forged(_ forgery: SignatureTests.Forgery) -> Fact {
        let id = stream.originalTransactionId
        return Fact(
            stream: forgery == .streamChanged
                ? StreamID(environment: stream.environment, originalTransactionId: id + "0")
                : stream,
            bundleId: forgery == .bundleChanged ? bundleId + "x" : bundleId,
            kind: kind,
            purchaseDate: purchaseDate,
            expiresDate: expiresDate,
            asOf: forgery == .asOfMoved ? Instant(milliseconds: asOf.milliseconds + 1) : asOf,
            content: content
        )
    }
}
