import AppStore
import AppStoreSimulator
import EventLog
import Events
import Foundation
import Postgres
import TestSupport
import Testing

/// Payloads in the database: which ones are stored, and that they are restored exactly.
@Suite(.enabled { await TestServer.isAvailable })
struct EvidenceTests {
    @Test(arguments: Variant.all)
    func `an event leads to the exact bytes that prove it`(variant: Variant) async throws {
        let simulator = AppStoreSimulator(seed: 3)
        let verifier = try AppStoreVerifier(simulator)
        try await variant.withLog { log, settings in
            for delivery in simulator.sampleHistory(count: 3) {
                let groups = try verifier.verify(
                    payload: delivery.payload,
                    source: "test",
                    receivedAt: TestClock.noon
                ).groups
                for (verified, outcomes) in zip(groups, try await log.append(groups)) {
                    for outcome in outcomes where outcome.isNew {
                        #expect(try await log.evidence(at: outcome.position) == verified.evidence)
                    }
                }
            }
            // Every JWS carries the same certificates.
            let segments = try await Inspector.count("evidence_segment", settings)
            let lanes = try await log.heads().count
            #expect(segments == Int64(lanes))
            try await expectSound(log, settings)
        }
    }

    @Test(arguments: Variant.all)
    func `a payload wrongly believed known is still stored if it brings news`(
        variant: Variant
    ) async throws {
        let simulator = AppStoreSimulator(seed: 4)
        let verifier = try AppStoreVerifier(simulator)
        try await variant.withLog { log, settings in
            let groups = try verifier.verify(
                payload: try #require(Array(simulator.sampleHistory(count: 1)).first).payload,
                source: "test",
                receivedAt: TestClock.noon
            ).groups
            let known = Set(groups.map(\.evidence.digest))
            for (verified, outcomes) in zip(groups, try await log.append(groups, known: known)) {
                #expect(outcomes.contains { $0.isNew })
                for outcome in outcomes where outcome.isNew {
                    #expect(try await log.evidence(at: outcome.position) == verified.evidence)
                }
            }
            try await expectSound(log, settings)
        }
    }

    @Test(arguments: Variant.all)
    func `a payload that confirms an event is stored, one that adds nothing is not`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            let fact = TestFacts.transaction()
            let first = try await log.append(verified([fact], payload: [1]))
            let other = try await log.append(verified([fact], payload: [2]))
            let later = verified([TestFacts.transaction(asOf: 9)], payload: [3])
            let confirming = try await log.append(later)
            let again = try await log.append(later)
            #expect(
                (first + other + confirming + again).map(\.isNew) == [true, false, false, false]
            )
            #expect(
                (first + other + confirming + again).map(\.isConfirmation)
                    == [false, false, true, false]
            )
            let digests = try await Inspector.inspect(settings) { inspector in
                try await inspector.texts(
                    "SELECT encode(digest, 'hex') FROM ledger.evidence ORDER BY evidence_no"
                )
            }
            #expect(digests == [[1], [3]].map { Digest.of($0).hex })
            let confirmations = try await log.history(of: fact.stream).confirmations
            #expect(confirmations.map(\.evidence) == [2])
            try await expectSound(log, settings)
        }
    }

    @Test(arguments: Variant.all)
    func `after a proof only a stronger one is stored`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            let fact = TestFacts.transaction()
            var kept: [Bool] = []
            for (number, trust) in [
                Verification.Trust.fetched, .vouched, .fetched, .signed, .signed, .sharedSecret,
            ].enumerated() {
                let proof = verified([fact], payload: [UInt8(number)], trust: trust)
                kept += try await log.append(proof).map { $0.isNew || $0.isConfirmation }
            }
            #expect(kept == [true, false, false, true, false, false])
            // The same bytes, better proven: at the same as-of, the confirmation records it.
            let bytes = verified(
                [TestFacts.transaction(purchased: 9)],
                payload: [9],
                trust: .vouched
            )
            let better = verified([TestFacts.transaction(purchased: 9)], payload: [9])
            #expect(try await log.append(bytes).map(\.isNew) == [true])
            #expect(try await log.append(better).map(\.isConfirmation) == [true])
            #expect(try await log.append(better).map(\.isConfirmation) == [false])
            #expect(try await log.append(bytes).map(\.isConfirmation) == [false])
            try await expectSound(log, settings)
        }
    }

    /// A commit cites only the payloads it brought, so that each commit can be verified by itself.
    @Test(arguments: Variant.all)
    func `a payload that arrives again with news is stored again`(variant: Variant) async throws {
        try await variant.withLog { log, settings in
            for (number, source) in ["first", "second"].enumerated() {
                _ = try await log.append(
                    verified(
                        [TestFacts.transaction(purchased: Int64(number))],
                        payload: [1, 2, 3],
                        source: source,
                        receivedAt: Instant(milliseconds: Int64(number))
                    )
                )
            }
            let sources = try await Inspector.inspect(settings) { inspector in
                try await inspector.texts("SELECT source FROM ledger.evidence ORDER BY evidence_no")
            }
            #expect(sources == ["first", "second"])
            try await expectSound(log, settings)
        }
    }

    @Test(.enabled(if: RealNotifications.isPresent), arguments: Variant.extremes)
    func `real notifications shrink to a twentieth, including their segments`(
        variant: Variant
    ) async throws {
        let verifier = AppStoreVerifier(policy: VerificationPolicy())
        try await variant.withLog { log, settings in
            let payloads = try RealNotifications.all()
            #expect(payloads.count == 5)
            for payload in payloads {
                let verified = try verifier.verify(
                    payload: payload,
                    source: "test",
                    receivedAt: TestClock.noon
                ).groups[0]
                _ = try await log.append(verified)
            }
            let stored = try await Inspector.inspect(settings) { inspector in
                try await inspector.number(
                    """
                    SELECT (SELECT sum(octet_length(body)) FROM ledger.evidence)
                        + (SELECT sum(octet_length(body)) FROM ledger.evidence_segment)
                    """
                )
            }
            let raw = payloads.reduce(0) { $0 + $1.count }
            #expect(Int(stored) * 20 <= raw, "\(stored) of \(raw) bytes")
            try await expectSound(log, settings)
        }
    }
}

extension EventLog {
    /// The payload that proves the event at a position; nil if there is none.
    func evidence(at position: Position) async throws -> Evidence? {
        guard case .whole(let evidence)? = try await event(at: position)?.evidence else {
            return nil
        }
        return evidence
    }
}

extension AppStoreVerifier {
    /// A verifier that trusts a simulated App Store.
    init(_ simulator: AppStoreSimulator) throws {
        let root = try RootCertificate(der: simulator.store.pki.rootDER)
        self.init(policy: VerificationPolicy(roots: [root]))
    }
}

/// Five notifications of one subscription, signed by Apple.
enum RealNotifications {
    private static let folder: URL? = {
        var folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        while folder.path != "/" {
            let candidate = folder.appendingPathComponent("shared/real-data")
            if FileManager.default.fileExists(atPath: candidate.path) {
                return candidate.appendingPathComponent(
                    "session-foundation__session-pro-backend/lineage-2000001024993299"
                )
            }
            folder.deleteLastPathComponent()
        }
        print("SKIPPED: no shared/real-data beside the project: real notifications are not tested")
        return nil
    }()

    static var isPresent: Bool { folder != nil }

    static func all() throws -> [[UInt8]] {
        let folder = try #require(folder)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        return try names.map { Array(try Data(contentsOf: folder.appendingPathComponent($0))) }
    }
}
