import Catalog
import EventLog
import Events
import Subledger
import TestSupport
import Testing

/// A customer of whom nothing is known has no access: an app gets an answer, not an error.
@Suite(.enabled { await TestServer.isAvailable })
struct UnknownCustomerTests {
    private static let bought: [ChargedFact] = [.purchase("2026-01-01", to: "2026-02-01")]
    private static let at = Instant(milliseconds: 1_768_003_200_000)  // 2026-01-10

    private static func expectNoAccess(
        _ facts: [ChargedFact],
        _ subject: SubjectID,
        knownAt: KnownAt = .latest,
        because code: QuestionError.Code
    ) async throws {
        try await ChargedFact.withLedger(facts) { ledger in
            let answer = try await ledger.access(of: subject, at: Self.at, knownAt: knownAt)
            #expect(!answer.access && !answer.isKnown && answer.id == subject.id, "\(code)")
            #expect(answer.environment == subject.environment ?? .production, "\(code)")
            #expect(answer.until == nil && answer.subscriptions.isEmpty, "\(code)")
            let error = await #expect(throws: QuestionError.self) {
                try await ledger.checkKnown(answer, of: subject, knownAt: knownAt)
            }
            #expect(error?.code == code)
        }
    }

    @Test func `who never bought has no access`() async throws {
        try await Self.expectNoAccess(Self.bought, "anna", because: .unknownId)
        try await Self.expectNoAccess([], "anna", because: .emptyLedger)
        let xcode = SubjectID("1000", in: .xcode)
        try await Self.expectNoAccess(Self.bought, xcode, because: .otherEnvironment)
        let before = KnownAt.time(.epoch)
        try await Self.expectNoAccess(
            Self.bought,
            "1000",
            knownAt: before,
            because: .nothingKnownThen
        )
    }

    @Test func `who bought is known, with access or after its end`() async throws {
        try await ChargedFact.withLedger(Self.bought) { ledger in
            for (at, access) in [(Self.at, true), (try #require(Instant("2026-03-01")), false)] {
                let answer = try await ledger.access(of: "1000", at: at)
                #expect(answer.isKnown && answer.access == access)
            }
        }
    }

    @Test func `of whom everything was erased nothing is known`() async throws {
        try await ChargedFact.withLedger(Self.bought) { ledger in
            let stream = StreamID(environment: .production, originalTransactionId: "1000")
            let target = ErasureTarget(stream: stream, scope: .subscription)
            _ = try await ledger.erase(
                [target],
                reason: ErasureReason("ticket", by: "support"),
                withSiblings: true
            )
            let answer = try await ledger.access(of: "1000", at: Self.at)
            #expect(!answer.access && !answer.isKnown && answer.erasures.count == 1)
        }
    }

    @Test func `a misspelled product is an error for them, too`() async throws {
        try await ChargedFact.withLedger(Self.bought) { ledger in
            let store = CatalogStore(log: ledger.log)
            _ = try await store.add(
                try CatalogFile.read(Array("{\"products\":[]}".utf8)),
                effectiveFrom: nil,
                source: "test",
                recordedAt: Self.at
            )
            let error = await #expect(throws: QuestionError.self) {
                try await ledger.access(of: "anna", at: Self.at, to: .product("pro.montly"))
            }
            #expect(error?.code == .unknownProduct)
        }
    }
}
