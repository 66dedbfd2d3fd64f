import Events
import Testing

@testable import AppStore

/// What of an unsigned body could be lost, or believed, in silence.
struct LostStatementTests {
    private let verifier = AppStoreVerifier(policy: VerificationPolicy())

    private func facts(_ body: String) throws -> [Fact] {
        try verifier.verify(
            payload: Array(body.utf8),
            source: "test",
            receivedAt: receivedAt,
            voucher: .operator
        ).facts
    }

    private func refusal(of body: String) -> Rejection? {
        do {
            _ = try facts(body)
            return nil
        } catch let rejection as Rejection {
            return rejection
        } catch {
            Issue.record(error)
            return nil
        }
    }

    /// A response with these entries of `latest_receipt_info` and further members.
    private func response(latest: String, inApp: String = "[]", more: String = "") -> String {
        """
        {"status":0,"environment":"Sandbox","receipt":{"receipt_type":"ProductionSandbox",\
        "bundle_id":"com.example","receipt_creation_date_ms":"1595439548000",\
        "request_date_ms":"1595440486402","in_app":\(inApp)},"latest_receipt_info":\(latest)\
        \(more.isEmpty ? "" : "," + more)}
        """
    }

    private static let row = """
        {"quantity":"1","product_id":"pro","transaction_id":"101","original_transaction_id":"100",\
        "purchase_date":"2020-07-22 17:39:06 Etc/GMT","purchase_date_ms":"1595439546000",\
        "expires_date":"2020-07-22 18:39:06 Etc/GMT","expires_date_ms":"1595443146000",\
        "web_order_line_item_id":"9","is_trial_period":"false","is_in_intro_offer_period":"false",\
        "subscription_group_identifier":"20","in_app_ownership_type":"PURCHASED"}
        """

    // The object of S000 and GOIAP: milliseconds under the name of the text, and genuine ones.
    private static let single = """
        {"original_transaction_id":"1","transaction_id":"2","product_id":"p","bid":"com.example",\
        "purchase_date_ms":"1355271005612","expires_date":"1355271305612",\
        "expires_date_formatted":"2012-12-12 00:15:05 Etc/GMT","item_id":"5","bvrs":"1.0",\
        "unique_identifier":"aa","is_trial_period":"false"}
        """

    @Test func `two words for the environment that disagree are refused`() {
        let body = response(latest: "[\(Self.row)]")
            .replacing("\"environment\":\"Sandbox\"", with: "\"environment\":\"Production\"")
        #expect(refusal(of: body)?.code == .nestedMismatch)
    }

    @Test(arguments: [
        "\"transaction_id\":\"101\",\"original_transaction_id\":\"100\",",
        "\"transaction_id\":\"\",\"original_transaction_id\":null,",
    ])
    func `a row without any id belongs to nobody and is refused`(ids: String) {
        let part = "\"transaction_id\":\"101\",\"original_transaction_id\":\"100\","
        let row = Self.row.replacing(part, with: ids == part ? "" : ids)
        #expect(refusal(of: response(latest: "[\(row)]"))?.code == .idMissing)
    }

    @Test func `a cancellation that only the sent receipt tells is kept`() throws {
        let cancelled = Self.row.replacing(
            "\"quantity\":\"1\"",
            with: "\"cancellation_date_ms\":\"1595439600000\""
        )
        let facts = try facts(response(latest: "[\(Self.row)]", inApp: "[\(cancelled)]"))
        #expect(facts.count == 2)
        #expect(facts[1].content.instant(.revocationDate) != nil)
        #expect(facts[1].asOf == facts[0].asOf)
    }

    @Test func `rows of one id in one array are all facts`() throws {
        let longer = Self.row.replacing("1595443146000", with: "1595446746000")
        #expect(try facts(response(latest: "[\(Self.row),\(longer)]")).count == 2)
    }

    @Test func `objects where arrays belong are taken, and text is refused`() throws {
        let pending = "{\"original_transaction_id\":\"100\",\"auto_renew_status\":\"0\"}"
        let facts = try facts(
            response(latest: "[]", inApp: Self.row, more: "\"pending_renewal_info\":\(pending)")
        )
        #expect(facts.map(\.kind) == [.transaction, .renewal])
        #expect(refusal(of: response(latest: "\"[{}]\""))?.code == .claimMalformed)
        #expect(refusal(of: "{\"status\":0}")?.code == .claimMalformed)
        let single = Self.single.replacing("\"transaction_id\":\"2\",", with: "")
        #expect(try self.facts("{\"status\":0,\"receipt\":\(single)}").count == 1)
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
    func `a date in Pacific time alone is not passed over`(part: String, new: String) {
        let row = Self.row.replacing(part, with: new)
        #expect(refusal(of: response(latest: "[\(row)]"))?.code == .dateMissing)
    }

    @Test func `no secret of any row gets into a fact or its evidence`() throws {
        let row = Self.row.replacing(
            "\"quantity\"",
            with: "\"Password\":\"hushhush1\",\"quantity\""
        )
        let pending = """
            "pending_renewal_info":[{"original_transaction_id":"100","pass\\u0077ord":"hushhush2"}]
            """
        let body = response(latest: "[\(row)]", more: pending)
        let verified = try verifier.verify(
            payload: Array(body.utf8),
            source: "test",
            receivedAt: receivedAt,
            voucher: .operator
        )
        for group in verified.groups {
            let stored = String(decoding: group.evidence.payload, as: UTF8.self)
            #expect(!stored.contains("hushhush"))
            let again = try verifier.verify(
                payload: group.evidence.payload,
                source: "test",
                receivedAt: receivedAt,
                voucher: .operator
            )
            #expect(again.facts == verified.facts, "what is stored gives the facts again")
        }
        #expect(verified.facts.allSatisfy { $0.content.text(.extra) == nil })
        let twice = body.replacing("\"pro\"", with: "\"hushhush1\"")
        #expect(refusal(of: twice)?.code == .secretMisplaced)
        let shop = body.replacing("\"pro\"", with: "\"com.example.password.manager\"")
        #expect(refusal(of: shop) == nil, "an app may sell passwords")
    }
}
