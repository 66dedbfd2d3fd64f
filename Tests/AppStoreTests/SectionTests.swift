import Events
import Testing

@testable import AppStore

/// Notifications with a section of their own, of which Apple documents no more than a part.
struct SectionTests {
    private let pki: TestPKI

    init() throws {
        pki = try TestPKI()
    }

    private func payload(_ section: String) throws -> String {
        let body =
            "{\"notificationType\":\"UNCLAIM_SEATS\",\"notificationUUID\":\"u\","
            + "\"version\":\"2.0\",\"signedDate\":1700000002000,\(section)}"
        return "{\"signedPayload\":\"\(try pki.sign(body))\"}"
    }

    private func facts(_ section: String, bundleIds: Set<String> = ["app.a"]) throws -> [Fact] {
        var policy = try pki.policy()
        policy = VerificationPolicy(roots: policy.roots, bundleIds: bundleIds)
        return try AppStoreVerifier(policy: policy).facts(try payload(section))
    }

    private let identity = "\"bundleId\":\"app.a\",\"environment\":\"Sandbox\""

    @Test func `released seats are kept, with app and environment from their own section`()
        throws
    {
        let seats = "\"unclaimSeatIds\":[\"6a0e\",\"6a0f\"]"
        let fact = try #require(try facts("\"unclaimInfo\":{\(identity),\(seats)}").first)
        #expect(fact.stream == StreamID(environment: .sandbox, originalTransactionId: ""))
        #expect(fact.bundleId == "app.a")
        #expect(fact.content.text(.notificationType) == "UNCLAIM_SEATS")
        // Whole, as programs before this one kept it where another section named the app.
        #expect(
            fact.content.text(.extra)
                == "{\"unclaimInfo\":{\"bundleId\":\"app.a\",\"environment\":\"Sandbox\",\(seats)}}"
        )
    }

    @Test func `a section that names a subscription belongs to its history`() throws {
        let section = "\"unclaimInfo\":{\(identity),\"originalTransactionId\":\"77\"}"
        let fact = try #require(try facts(section).first)
        #expect(fact.stream.originalTransactionId == "77")
    }

    @Test func `a transaction nested in a new section is a fact of its own`() throws {
        let nested = try pki.sign(
            "{\"transactionId\":\"9\",\"originalTransactionId\":\"7\",\(identity),"
                + "\"purchaseDate\":1700000000000,\"expiresDate\":1700086400000,"
                + "\"signedDate\":1700000001000}"
        )
        let facts = try facts(
            "\"unclaimInfo\":{\(identity),\"signedTransactionInfo\":\"\(nested)\"}"
        )
        #expect(facts.map(\.kind) == [.transaction, .notification])
        #expect(facts.allSatisfy { $0.stream.originalTransactionId == "7" })
        #expect(facts.last?.purchaseDate == facts.first?.purchaseDate)
    }

    @Test func `next to the usual section, that one names app and environment`() throws {
        let other = "\"bundleId\":\"app.other\",\"environment\":\"Production\""
        let fact = try #require(
            try facts("\"aNewSection\":{\(other)},\"data\":{\(identity)}").first
        )
        #expect(fact.bundleId == "app.a")
        #expect(fact.stream.environment == .sandbox)
    }

    @Test func `a section of another app is refused as that app's`() throws {
        let other = "\"bundleId\":\"app.other\",\"environment\":\"Sandbox\""
        let policy = VerificationPolicy(roots: try pki.policy().roots, bundleIds: ["app.a"])
        let refusal = AppStoreVerifier(policy: policy).refusal(
            try payload("\"unclaimInfo\":{\(other)}")
        )
        #expect(refusal == .bundleIdMismatch)
    }
}
