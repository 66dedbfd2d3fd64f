import Events
import Testing

@testable import AppStore

/// Statements of an unsigned body that could be lost, or trusted, silently.
struct LostStatementTests {
    private let responses = VouchedResponses()

    @Test func `two contradictory environments are refused`() {
        let body = responses.response(latest: "[\(VouchedResponses.row)]")
            .replacing("\"environment\":\"Sandbox\"", with: "\"environment\":\"Production\"")
        #expect(responses.refusal(of: body)?.code == .nestedMismatch)
    }

    @Test(arguments: [
        "\"transaction_id\":\"101\",\"original_transaction_id\":\"100\",",
        "\"transaction_id\":\"\",\"original_transaction_id\":null,",
    ])
    func `a row without any id is refused, because it belongs to no subscription`(ids: String) {
        let part = "\"transaction_id\":\"101\",\"original_transaction_id\":\"100\","
        let row = VouchedResponses.row.replacing(part, with: ids == part ? "" : ids)
        #expect(responses.refusal(of: responses.response(latest: "[\(row)]"))?.code == .idMissing)
    }

    @Test func `a cancellation that only the sent receipt contains is kept`() throws {
        let cancelled = VouchedResponses.row.replacing(
            "\"quantity\":\"1\"",
            with: "\"cancellation_date_ms\":\"1595439600000\""
        )
        let facts = try responses.facts(
            responses.response(latest: "[\(VouchedResponses.row)]", inApp: "[\(cancelled)]")
        )
        try #require(facts.count == 2)
        #expect(facts[1].content.instant(.revocationDate) != nil)
        #expect(facts[1].asOf == facts[0].asOf)
    }

    @Test func `each row with the same id in one array is a fact`() throws {
        let longer = VouchedResponses.row.replacing("1595443146000", with: "1595446746000")
        #expect(
            try responses.facts(responses.response(latest: "[\(VouchedResponses.row),\(longer)]"))
                .count == 2
        )
    }

    @Test func `an object in place of an array is accepted, and text is refused`() throws {
        let pending = "{\"original_transaction_id\":\"100\",\"auto_renew_status\":\"0\"}"
        let facts = try responses.facts(
            responses.response(
                latest: "[]",
                inApp: VouchedResponses.row,
                more: "\"pending_renewal_info\":\(pending)"
            )
        )
        try #require(facts.map(\.kind) == [.transaction, .renewal])
        #expect(
            responses.refusal(of: responses.response(latest: "\"[{}]\""))?.code == .claimMalformed
        )
        #expect(responses.refusal(of: "{\"status\":0}")?.code == .claimMalformed)
        let single = VouchedResponses.single.replacing("\"transaction_id\":\"2\",", with: "")
        let assuming = VouchedResponses(assuming: .production)
        #expect(try assuming.facts("{\"status\":0,\"receipt\":\(single)}").count == 1)
    }

    @Test(arguments: [
        (
            "\"expires_date\":\"2020-07-22 18:39:06 Etc/GMT\",\"expires_date_ms\":\"1595443146000\"",
            "\"expires_date_pst\":\"2020-07-22 11:39:06 America/Los_Angeles\""
        ),
        (
            "\"quantity\":\"1\"",
            "\"cancellation_reason\":\"1\",\"cancellation_date_pst\":\"2020-07-22 11:39:06"
                + " America/Los_Angeles\""
        ),
    ])
    func `a date given only in Pacific time is refused, not ignored`(part: String, new: String) {
        let row = VouchedResponses.row.replacing(part, with: new)
        #expect(responses.refusal(of: responses.response(latest: "[\(row)]"))?.code == .dateMissing)
    }

    @Test func `a secret in a row never reaches a fact or its evidence`() throws {
        let row = VouchedResponses.row.replacing(
            "\"quantity\"",
            with: "\"Password\":\"hushhush1\",\"quantity\""
        )
        let pending = """
            "pending_renewal_info":[{"original_transaction_id":"100","pass\\u0077ord":"hushhush2"}]
            """
        let body = responses.response(latest: "[\(row)]", more: pending)
        let verified = try responses.verifier.verify(
            payload: Array(body.utf8),
            source: "test",
            receivedAt: receivedAt,
            voucher: .operator
        )
        for group in verified.groups {
            let stored = String(decoding: group.evidence.payload, as: UTF8.self)
            #expect(!stored.contains("hushhush"))
            let again = try responses.verifier.verify(
                payload: group.evidence.payload,
                source: "test",
                receivedAt: receivedAt,
                voucher: .operator
            )
            #expect(again.facts == verified.facts, "the stored bytes give the facts again")
        }
        #expect(verified.facts.allSatisfy { $0.content.text(.extra) == nil })
        let twice = body.replacing("\"pro\"", with: "\"hushhush1\"")
        #expect(responses.refusal(of: twice)?.code == .secretMisplaced)
        let shop = body.replacing("\"pro\"", with: "\"com.example.password.manager\"")
        #expect(responses.refusal(of: shop) == nil, "an app may sell passwords")
    }
}
