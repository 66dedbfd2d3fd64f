import Events
import Projections
import Subledger
import Testing

/// A policy as a document: what is read, what it means, and what is refused.
@Suite struct PolicyDocumentTests {
    private static func document(_ text: String) throws(PolicyError) -> PolicyDocument {
        try PolicyDocument(json: Array(text.utf8))
    }

    @Test func `all members are optional, with the same defaults as without a policy`() throws {
        let context = try Self.document("{}").context(.three)
        #expect(context == FoldContext(catalogs: .three))
        #expect(context.policy == .current)
        #expect(try Self.document("{\"graceCounts\":null}") == PolicyDocument())
        let document = try Self.document(
            """
            { "graceCounts": false, "reversalIsRetroactive": false, "familyCounts": false,
              "refundIsRetroactive": true, "catalogVersion": 2 }
            """
        )
        let other = try document.context(.three)
        #expect(!other.policy.graceCounts)
        #expect(!other.policy.familyCounts)
        #expect(!other.policy.reversalIsRetroactive)
        #expect(other.policy.refundIsRetroactive)
        #expect(other.catalogs.versions.map(\.version) == [1, 2])
    }

    @Test(arguments: [
        "{}", "{\"graceCounts\":false}", "{\"reversalIsRetroactive\":false}",
        "{\"refundIsRetroactive\":true}",
        "{\"catalogVersion\":0,\"familyCounts\":false}", "{\"catalogVersion\":3}",
    ])
    func `the canonical text has the same meaning and names every member`(
        text: String
    ) throws {
        let document = try Self.document(text)
        let again = try Self.document(document.canonicalText)
        #expect(try again.context(.three) == document.context(.three))
        #expect(again.canonicalText == document.canonicalText)
        for member in [
            "familyCounts", "graceCounts", "refundIsRetroactive", "reversalIsRetroactive",
        ] {
            #expect(document.canonicalText.contains("\"\(member)\":"))
        }
    }

    @Test func `the canonical text has one form`() throws {
        let document = try Self.document("{\"graceCounts\":false,\"catalogVersion\":2}")
        #expect(
            document.canonicalText == "{\"catalogVersion\":2,\"familyCounts\":true,"
                + "\"graceCounts\":false,\"refundIsRetroactive\":false,"
                + "\"reversalIsRetroactive\":true}"
        )
    }

    @Test(arguments: [
        ("", PolicyError.Code.notAPolicy, ["JSON object"]), ("[]", .notAPolicy, ["JSON object"]),
        ("true", .notAPolicy, ["JSON object"]), ("{", .notAPolicy, ["JSON object"]),
        ("{\"graceCounts\":\"no\"}", .malformed, ["graceCounts", "true or false"]),
        ("{\"catalogVersion\":1.5}", .malformed, ["catalogVersion", "number"]),
        (
            "{\"grace\":false}", .unknownMember,
            [
                "'grace'", "graceCounts", "familyCounts", "reversalIsRetroactive",
                "catalogVersion",
            ]
        ),
        (String(repeating: " ", count: 70_000), .tooLarge, ["65536"]),
    ])
    func `any other text is refused with what was expected`(
        text: String,
        code: PolicyError.Code,
        words: [String]
    ) {
        let error = #expect(throws: PolicyError.self) { try Self.document(text) }
        #expect(error?.code == code)
        for word in words { #expect(error?.message.contains(word) == true, "\(word)") }
    }

    @Test func `a version that was never imported is refused, and the newest is named`() throws {
        for version in [-1, 4, 99] {
            let document = try Self.document("{\"catalogVersion\":\(version)}")
            let error = #expect(throws: PolicyError.self) { try document.context(.three) }
            #expect(error?.code == .unknownCatalog)
            #expect(error?.message.contains("the newest is 3") == true)
            let empty = #expect(throws: PolicyError.self) { try document.context(.none) }
            #expect(empty?.message.contains("none was imported") == true)
        }
        let none = try Self.document("{\"catalogVersion\":0}")
        #expect(try none.context(.three).catalogs == .none)
        #expect(try none.context(.none).catalogs == .none)
    }
}

extension CatalogHistory {
    /// Three versions, of which the one imported last is effective first.
    fileprivate static let three = CatalogHistory(
        [(1, 20), (2, 30), (3, 10)].map { version, day in
            ProductCatalog(
                version: version,
                effectiveFrom: Instant(milliseconds: day * 86_400_000),
                subscriptions: []
            )
        }
    )
}
