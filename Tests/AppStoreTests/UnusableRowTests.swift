import Events
import Foundation
import Testing

@testable import AppStore

/// Unreadable rows in responses and receipts whose other rows are readable.
struct UnusableRowTests {
    private let responses = VouchedResponses()
    private static let row = VouchedResponses.row

    private func verified(_ body: String) throws -> VerifiedPayload {
        try responses.verifier.verify(
            payload: Array(body.utf8),
            source: "test",
            receivedAt: receivedAt,
            voucher: .operator
        )
    }

    @Test func `an element of pending_renewal_info without an id is left out with a notice`()
        throws
    {
        let pending = """
            "pending_renewal_info":[{"auto_renew_product_id":"pro","auto_renew_status":"1"},\
            {"original_transaction_id":"100","auto_renew_status":"0"}]
            """
        let verified = try verified(responses.response(latest: "[\(Self.row)]", more: pending))
        #expect(verified.facts.map(\.kind) == [.transaction, .renewal])
        let notice = try #require(verified.notices.first)
        #expect(verified.notices.count == 1 && notice.code == .rowsLeftOut && notice.leftOut == 1)
        #expect(notice.message.contains("pending_renewal_info[0]"), "\(notice.message)")
        #expect(notice.message.contains("claim-malformed"), "\(notice.message)")
    }

    @Test func `next to an element without an id, a missing renewal is not read as absence`()
        throws
    {
        let nameless = "\"pending_renewal_info\":[{\"auto_renew_status\":\"1\"}]"
        let facts = try responses.facts(
            responses.response(latest: "[\(Self.row)]", more: nameless)
        )
        #expect(facts.map(\.kind) == [.transaction])
        let none = try responses.facts(
            responses.response(latest: "[\(Self.row)]", more: "\"pending_renewal_info\":[]")
        )
        #expect(none.map(\.kind) == [.transaction, .renewal], "an absence is a statement")
    }

    @Test(arguments: [
        ("1", "claim-malformed"), ("{}", "id-missing"),
        ("{\"transaction_id\":\"7\",\"product_id\":\"p\"}", "date-missing"),
        (
            row.replacing(
                "\"purchase_date_ms\":\"1595439546000\"",
                with: "\"purchase_date_ms\":\"7\""
            )
            .replacing("\"101\"", with: "\"102\""), "date-implausible"
        ),
    ])
    func `a bad row does not refuse the others`(bad: String, code: String) throws {
        for latest in ["[\(bad),\(Self.row)]", "[\(Self.row),\(bad)]"] {
            let verified = try verified(responses.response(latest: latest))
            #expect(verified.facts.map(\.stream.originalTransactionId) == ["100"])
            #expect(verified.notices.map(\.code) == [.rowsLeftOut])
            let message = try #require(verified.notices.first?.message)
            #expect(message.contains("latest_receipt_info["), "\(message)")
            #expect(message.contains("[\(code)]"), "\(message)")
        }
    }

    @Test func `if no readable row is left, the row's reason refuses the payload`() {
        #expect(
            responses.refusal(of: responses.response(latest: "[1,{}]"))?.code == .claimMalformed
        )
    }

    @Test func `a notice names at most twenty rows and counts them all`() throws {
        let bad = [String](repeating: "{}", count: 30).joined(separator: ",")
        let notice = try #require(
            try verified(responses.response(latest: "[\(Self.row),\(bad)]")).notices.first
        )
        #expect(notice.leftOut == 30)
        #expect(notice.message.contains("latest_receipt_info[20]"))
        #expect(!notice.message.contains("latest_receipt_info[21]"))
        #expect(notice.message.hasSuffix("and 10 more."))
    }

    @Test func `an empty period is accepted and reported`() throws {
        let empty = Self.row.replacing("1595439546000", with: "1595443146000")
            .replacing("\"101\"", with: "\"102\"")
        let verified = try verified(responses.response(latest: "[\(Self.row),\(empty)]"))
        #expect(verified.facts.count == 2)
        let notice = try #require(verified.notices.first)
        #expect(verified.notices.map(\.code) == [.periodsEmpty] && notice.leftOut == 0)
        #expect(notice.message.hasPrefix("1 period gives no access"), "\(notice.message)")
    }

    @Suite(.enabled(if: RealData.isPresent))
    struct OfRealPayloads {
        private func verified(
            _ name: String,
            replacing part: String = "",
            with new: String = ""
        ) throws -> VerifiedPayload {
            let bytes = try RealData.bytes("../real-data-more/\(name)")
            let text = try #require(String(bytes: bytes, encoding: .utf8))
            return try AppStoreVerifier(policy: VerificationPolicy()).verify(
                payload: Array((part.isEmpty ? text : text.replacing(part, with: new)).utf8),
                source: "test",
                receivedAt: receivedAt,
                voucher: .operator
            )
        }

        @Test func `an old response is accepted without a renewal that names no subscription`()
            throws
        {
            let verified = try verified("vr-aporat-old-1.json")
            #expect(verified.facts.contains { $0.kind == .transaction })
            #expect(!verified.facts.contains { $0.kind == .renewal })
            #expect(verified.notices.map(\.code).contains(.rowsLeftOut))
            #expect(verified.notices.map(\.code).contains(.periodsEmpty))
        }

        @Test func `the response of 2014 gives the periods that ended before its request`()
            throws
        {
            let notices = try verified("vr-nov-array_of_latest_receipt_info.json").notices
            let empty = try #require(notices.first { $0.code == .periodsEmpty })
            #expect(empty.message.hasPrefix("3 periods give no access"), "\(empty.message)")
        }

        @Test func `a V2 notification of 2022 without an outer date gives one period`() throws {
            let facts = try verified("jws-gopay-did-renew-2022.json").facts
            #expect(facts.count { $0.kind == .transaction } == 1)
        }
    }
}
