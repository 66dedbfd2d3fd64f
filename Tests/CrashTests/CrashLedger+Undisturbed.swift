import Projector
import Subledger
import Testing

extension CrashLedger {
    /// Ingests everything again: acknowledged payloads are not news, and the result equals a ledger
    /// that was never disturbed.
    func expectUndisturbed() async throws {
        let ledger = try await open(settings)
        let again = try await ledger.ingest(
            payloads.indices.filter(acknowledged.contains).map { payloads[$0] }
        )
        #expect(again.appended == 0, "seed \(seed): acknowledged facts were lost")
        #expect(again.rejected == 0, "seed \(seed)")
        try await ledger.ingest(payloads)
        #expect(try await ledger.ingest(payloads).appended == 0, "seed \(seed)")
        let events = try await check()
        #expect(events.isEmpty, "seed \(seed): \(events)")

        let undisturbed = try await undisturbedLedger()
        let (mine, theirs) = (
            try await Projector(log: ledger.log, settings: settings).rebuild(),
            try await Projector(log: undisturbed.ledger.log, settings: undisturbed.settings)
                .rebuild()
        )
        #expect(mine.map(\.digest) == theirs.map(\.digest), "seed \(seed)")
        #expect(mine.map(\.rows) == theirs.map(\.rows), "seed \(seed)")
        let streams = try await ledger.log.streams(limit: 10_000).map(\.stream)
        #expect(
            try await undisturbed.ledger.log.streams(limit: 10_000).map(\.stream) == streams,
            "seed \(seed)"
        )
        await undisturbed.ledger.log.close()
        await ledger.log.close()
    }
}
