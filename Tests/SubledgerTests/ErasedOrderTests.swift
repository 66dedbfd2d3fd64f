import AppStoreSimulator
import EventLog
import Events
import Postgres
import Projector
import Subledger
import TestSupport
import Testing

/// Promises 4 and 12 together: orders of arrival with erasures among them.
@Suite(.enabled { await TestServer.isAvailable })
struct ErasedOrderTests {
    private static let orders =
        Acceptance.count("SUBLEDGER_ERASED_ORDERS", test: 3, acceptance: 200)

    private static let deliveries = Array(FilledLedger.simulator.sampleHistory(count: 12))

    /// What is erased: subscriptions that share no payload with others, because what of a shared one
    /// can be kept depends on which came first.
    private struct Reference {
        var targets: [ErasureTarget] = []
        var digests: [Digest] = []
    }

    @Test func `in any order with erasures anywhere, the tables end the same`() async throws {
        for lanes in [1, 4] {
            let reference = try await Self.reference(lanes: lanes)
            #expect(reference.targets.count >= 4)
            for seed in stride(from: lanes == 1 ? 1 : 2, through: Self.orders, by: 2) {
                try await Self.follow(UInt64(seed), lanes: lanes, reference)
            }
        }
    }

    // Everything in order, then the erasures.
    private static func reference(lanes: Int) async throws -> Reference {
        var reference = Reference()
        try await FollowTests.withLedger(lanes: lanes) { ledger, settings in
            try await ledger.ingest(deliveries)
            for (number, stream) in try await ledger.allStreams().enumerated() {
                let scope: Erasure.Scope = number % 3 == 0 ? .subscription : .customer
                let target = ErasureTarget(stream: stream, scope: scope)
                let planned = try await ledger.plannedErasures(of: [target])
                guard planned.map(\.stream) == [stream] else { continue }
                if number % 2 == 0 { reference.targets.append(target) }
            }
            try await erase(reference.targets, of: ledger)
            reference.digests = try await Projector(log: ledger.log, settings: settings).rebuild()
                .map(\.digest)
        }
        return reference
    }

    private static func erase(_ targets: [ErasureTarget], of ledger: Ledger) async throws {
        for target in targets {
            _ = try await ledger.erase([target], reason: ErasureTests.reason, withSiblings: true)
        }
    }

    private static func follow(
        _ seed: UInt64,
        lanes: Int,
        _ reference: Reference
    ) async throws {
        try await FollowTests.withLedger(lanes: lanes) { ledger, settings in
            var random = TestSupport.SeededGenerator(seed: seed)
            let projector = Projector(log: ledger.log, settings: settings)
            var rest = deliveries.disordered(seed: seed)[...]
            var isBuilt = false
            while !rest.isEmpty {
                let count = Int.random(in: 1...40, using: &random)
                try await ledger.ingest(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
                if Int.random(in: 0..<2, using: &random) == 0,
                    let target = reference.targets
                        .randomElement(using: &random)
                {
                    try await erase([target], of: ledger)
                }
                if isBuilt {
                    _ = try await projector.follow(.once("test"))
                } else {
                    _ = try await projector.rebuild()
                    isBuilt = true
                }
            }
            // What was erased before it arrived.
            try await erase(reference.targets, of: ledger)
            #expect(try await ledger.ingest(deliveries).appended == 0, "seed \(seed)")
            let report = try await ledger.log.verify()
            #expect(report.isOK, "seed \(seed): \(String(describing: report.firstMismatch))")
            #expect(report.erasedEvents > 0)
            _ = try await projector.follow(.once("test"))
            try await FollowTests.expectEqualsRebuild(projector, settings, "seed \(seed)")
            let live = try await projector.tables().filter { $0.state == .live }
            #expect(live.map(\.digest) == reference.digests, "seed \(seed)")
        }
    }
}
