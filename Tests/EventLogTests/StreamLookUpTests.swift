import EventLog
import Events
import TestSupport
import Testing

/// Which subscriptions an id or a payload leads to, including payloads that only confirmed them.
@Suite(.enabled { await TestServer.isAvailable })
struct StreamLookUpTests {
    @Test(arguments: Variant.extremes)
    func `a web order line item and an app transaction lead to their subscriptions`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, _ in
            for id in ["1", "2", "3"] {
                let fact = TestFacts.transaction(id).carrying([
                    (.webOrderLineItemId, "w\(id)"), (.appTransactionId, id == "3" ? "b" : "a"),
                ])
                _ = try await log.append(verified(fact))
            }
            func ids(_ streams: [StreamID]) -> [String] { streams.map(\.originalTransactionId) }
            #expect(
                ids(
                    try await log.streams(with: [
                        .webOrderLineItemId("w2"), .webOrderLineItemId("x"),
                    ])
                ) == ["2"]
            )
            #expect(ids(try await log.streams(with: [.appTransactionId("a")])) == ["1", "2"])
            #expect(
                try await log.streams(with: [.appTransactionId(""), .appTransactionId("x")]).isEmpty
            )
        }
    }

    @Test(arguments: Variant.all)
    func `a receipt leads to all it proved or confirmed, in every lane`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, _ in
            let receipt: [UInt8] = [1, 2, 3]
            _ = try await log.append(verified(TestFacts.transaction("7")))
            let facts = (1...6).map { TestFacts.transaction("\($0)", asOf: 2) }
            let all = facts + [TestFacts.transaction("7", asOf: 2)]
            let outcomes = try await log.append(verified(all, payload: receipt))
            #expect(outcomes.map(\.isConfirmation).last == true)
            _ = try await log.append(verified(TestFacts.transaction("8")))
            let found = try await log.streams(with: [.payload(Digest.of(receipt))])
            #expect(found.map(\.originalTransactionId) == (1...7).map(String.init))
            #expect(try await log.streams(with: [.payload(.zero)]).isEmpty)
            #expect(try await log.streams(with: []).isEmpty)
        }
    }
}

extension Fact {
    /// The same fact with further text fields.
    func carrying(_ texts: [(Field, String)]) -> Fact {
        var content = content
        for (field, text) in texts { content[field] = .text(text) }
        return Fact(
            stream: stream,
            bundleId: bundleId,
            kind: kind,
            purchaseDate: purchaseDate,
            expiresDate: expiresDate,
            asOf: asOf,
            content: content
        )
    }
}
