import EventLog
import Events
import Subledger
import TestSupport
import Testing

/// A token in renewal info is about the next period (Decisions: whose subscription it is).
@Suite(.enabled { await TestServer.isAvailable })
struct UpcomingTokenTests {
    @Test func `an id that only renewal info names owns nothing, and the error says so`()
        async throws
    {
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let ledger = Ledger(
                log: try await EventLog.open(settings, FilledLedger.options),
                verifier: try FilledLedger.simulator.verifier()
            )
            let start = try #require(Instant("2026-03-01"))
            let end = try #require(Instant("2026-04-01"))
            func fact(_ kind: Kind, _ format: Format, token: String) -> Fact {
                var content = Content(format: format)
                content[.appAccountToken] = .text(token)
                content[.productId] = .text("monthly")
                content[.autoRenewStatus] = kind == .renewal ? .integer(1) : nil
                return Fact(
                    stream: StreamID(environment: .production, originalTransactionId: "1000"),
                    bundleId: "example.subledger",
                    kind: kind,
                    purchaseDate: kind == .renewal ? nil : start,
                    expiresDate: kind == .renewal ? nil : end,
                    asOf: start,
                    content: content
                )
            }
            let facts = [
                fact(.transaction, .signedTransaction, token: "today"),
                fact(.renewal, .signedRenewalInfo, token: "tomorrow"),
            ]
            let evidence = Evidence(
                payload: [1],
                kind: .signedTransaction,
                source: "test",
                verification: Verification(trust: .vouched, root: nil),
                receivedAt: end
            )
            _ = try await ledger.log.append([Verified(facts, evidence: evidence)])
            let known = try await ledger.known(of: "today", at: start, knownAt: .latest)
            #expect(known.timelines.count == 1)
            let error = await #expect(throws: QuestionError.self) {
                try await ledger.known(of: "tomorrow", at: start, knownAt: .latest)
            }
            #expect(error?.code == .unknownId)
            #expect(error?.message.contains("renewal info") == true, "\(String(describing: error))")
            await ledger.log.close()
        }
    }
}
