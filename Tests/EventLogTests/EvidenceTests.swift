import AppStore
import AppStoreSimulator
import EventLog
import Events
import Foundation
import Postgres
import TestSupport
import Testing

/// Payloads in the database: which are kept, and that they come back.
@Suite(.enabled { await TestServer.isAvailable })
struct EvidenceTests {
    @Test(arguments: Variant.all)
    func `an event leads to the exact bytes that prove it`(variant: Variant) async throws {
        let simulator = AppStoreSimulator(seed: 3)
        let verifier = try AppStoreVerifier(simulator)
        try await variant.withLog { log, settings in
            for delivery in simulator.sampleHistory(count: 3) {
                let verified = try verifier.verify(
                    payload: delivery.payload,
                    source: "test",
                    receivedAt: TestClock.noon
                ).groups[0]
                let outcomes = try await log.append(verified)
                for (fact, outcome) in zip(verified.value, outcomes) {
                    guard outcome.isNew else { continue }
                    let events = try await log.history(of: fact.stream).events
                    let event = try #require(events.first { $0.position == outcome.position })
                    #expect(event.evidence == Digest.of(delivery.payload))
                    #expect(try await log.payload(of: event) == delivery.payload)
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
    func `a payload without news is not kept`(variant: Variant) async throws {
        try await variant.withLog { log, settings in
            let fact = TestFacts.transaction()
            _ = try await log.append(verified([fact], payload: [1]))
            _ = try await log.append(verified([fact], payload: [2]))
            _ = try await log.append(verified([TestFacts.transaction(asOf: 9)], payload: [3]))
            let evidence = try await Inspector.count("evidence", settings)
            #expect(evidence == 1)
            let event = try #require(try await log.history(of: fact.stream).events.first)
            #expect(try await log.payload(of: event) == [1])
            try await expectSound(log, settings)
        }
    }

    /// How a payload first came is what is recorded; later ways of the same bytes add nothing.
    @Test(arguments: Variant.all)
    func `a payload that comes again with news is kept once, as it first came`(
        variant: Variant
    ) async throws {
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
                try await inspector.texts("SELECT source FROM ledger.evidence")
            }
            #expect(sources == ["first"])
            try await expectSound(log, settings)
        }
    }

    @Test(.enabled(if: RealNotifications.isPresent), arguments: Variant.extremes)
    func `real notifications shrink to an eighth, segments included`(
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
            #expect(Int(stored) * 8 <= raw, "\(stored) of \(raw) bytes")
            try await expectSound(log, settings)
        }
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
