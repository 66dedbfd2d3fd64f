import EventLog
import Events
import Subledger
import TestSupport
import Testing

/// Names and tokens that Unicode takes for the same text, but that are other bytes: `String` finds
/// them equal, the log does not.
@Suite(.enabled { await TestServer.isAvailable })
struct EquivalentNamesTests {
    private static let composed = "caf\u{e9}"
    private static let decomposed = "cafe\u{301}"

    private static func bought(_ id: String, token: String? = nil) -> ChargedFact {
        .purchase("2026-04-01", to: "2026-05-01", of: id, token: token)
    }

    @Test func `an import of links keeps two names apart, and an erasure takes one`() async throws {
        let names = [Self.composed, Self.decomposed]
        try await ChargedFact.withLedger([Self.bought("1"), Self.bought("2")]) { ledger in
            let imported = try await Self.link([(names[0], "1"), (names[1], "2")], ledger)
            #expect(imported.appended == 2)
            for (name, id) in zip(names, ["1", "2"]) {
                let targets = try await ledger.erasureTargets(ofCustomer: name)
                #expect(targets.map(\.stream.originalTransactionId) == [id])
                #expect(targets.first?.customer.map { Array($0.utf8) } == Array(name.utf8))
            }
            let both = try await ledger.erasureTargets(ofCustomer: names[0])
            _ = try await ledger.erase(both, reason: ErasureTests.reason, withSiblings: true)
            #expect(try await ledger.erasureTargets(ofCustomer: names[0]).isEmpty)
            #expect(try await ledger.erasureTargets(ofCustomer: names[1]).count == 1)
        }
    }

    @Test func `a name that only resembles the id of a subscription can be imported`()
        async throws
    {
        try await ChargedFact.withLedger([Self.bought(Self.composed), Self.bought("2")]) { ledger in
            let resembling = try await Self.link([(Self.decomposed, "2")], ledger)
            #expect(resembling.appended == 1, "\(resembling)")
            let same = try await Self.link([(Self.composed, "2")], ledger)
            #expect(same.rejections.count == 1, "\(same)")
        }
    }

    @Test func `both tokens of a customer lead to what is erased`() async throws {
        let facts = [
            Self.bought("1", token: Self.composed), Self.bought("2", token: Self.decomposed),
            Self.bought("3", token: Self.composed), Self.bought("4", token: Self.decomposed),
        ]
        try await ChargedFact.withLedger(facts) { ledger in
            _ = try await Self.link([("anna", "1"), ("anna", "2")], ledger)
            let targets = try await ledger.erasureTargets(ofCustomer: "anna")
            #expect(targets.map(\.stream.originalTransactionId).sorted() == ["1", "2", "3", "4"])
        }
    }

    private static func link(
        _ lines: [(customer: String, id: String)],
        _ ledger: Ledger
    ) async throws -> LinkImportDocument {
        var batches = [
            lines.enumerated().map { index, line -> Result<LinkLine, RefusedLine> in
                .success(
                    LinkLine(
                        number: index + 1,
                        customer: line.customer,
                        originalTransactionId: line.id,
                        from: nil
                    )
                )
            }
        ]
        return try await ledger.importLinks(
            LinkImport(statedBy: "support"),
            next: { batches.popLast() }
        )
    }
}
