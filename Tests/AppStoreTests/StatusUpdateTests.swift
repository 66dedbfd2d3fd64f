import Events
import Testing

@testable import AppStore

/// The content of a version 1 notification, in every shape it came in (Apple's data: version 1
/// notifications, odd values).
struct StatusUpdateTests {
    private let verifier = AppStoreVerifier(policy: VerificationPolicy())

    private func verified(_ body: String) throws -> VerifiedPayload {
        try verifier.verify(
            payload: Array(body.utf8),
            source: "test",
            receivedAt: receivedAt,
            voucher: .operator
        )
    }

    private static let row = """
        {"product_id":"pro","transaction_id":"101","original_transaction_id":"100",\
        "purchase_date_ms":"1606292762000","expires_date_ms":"1606293062000"}
        """

    private static let pending = """
        {"original_transaction_id":"100","product_id":"pro","auto_renew_product_id":"pro",\
        "auto_renew_status":"0","expiration_intent":"1","is_in_billing_retry_period":"0"}
        """

    private static let body = """
        {"notification_type":"DID_CHANGE_RENEWAL_STATUS","environment":"PROD","password":"hush",\
        "bid":"com.example","bvrs":"34","auto_renew_status":"false","auto_renew_product_id":"pro",\
        "auto_renew_status_change_date_ms":"1606293002000",\
        "unified_receipt":{"status":0,"environment":"Production","latest_receipt_info":[\(row)],\
        "pending_renewal_info":[\(pending)]},"deprecation":"Mon, 1 Jan 2030 00:00:00 GMT"}
        """

    @Test func `a version 1 notification gives its transactions, its renewal info and itself`()
        throws
    {
        let facts = try verified(Self.body).facts
        try #require(facts.map(\.kind) == [.transaction, .renewal, .notification])
        #expect(
            facts.allSatisfy {
                $0.stream == StreamID(environment: .production, originalTransactionId: "100")
            }
        )
        #expect(facts.allSatisfy { $0.bundleId == "com.example" })
        #expect(
            facts.allSatisfy { $0.asOf == Instant(milliseconds: 1_606_293_062_000) },
            "an intent is told after the expiry, which is later than the toggle"
        )
        let notification = facts[2]
        #expect(notification.content.format == .statusUpdateNotification)
        #expect(notification.content.text(.notificationType) == "DID_CHANGE_RENEWAL_STATUS")
        #expect(notification.content.integer(.autoRenewStatus) == 0)
        #expect(notification.purchaseDate == facts[0].purchaseDate)
        #expect(notification.subject.name == "DID_CHANGE_RENEWAL_STATUS")
        #expect(
            notification.content.text(.extra)
                == "{\"auto_renew_status_change_date_ms\":\"1606293002000\"}"
        )
    }

    @Test(arguments: [
        ("\"expiration_intent\":\"1\",", ""),
        (
            "\"expiration_intent\":\"1\",\"is_in_billing_retry_period\":\"0\"",
            "\"price_consent_status\":\"0\""
        ),
    ])
    func `a statement before the expiry takes the latest past date as its as-of`(
        part: String,
        less: String
    ) throws {
        let facts = try verified(Self.body.replacing(part, with: less)).facts
        #expect(facts.allSatisfy { $0.asOf == Instant(milliseconds: 1_606_293_002_000) })
    }

    @Test(arguments: [
        "\"is_in_billing_retry_period\":\"1\"", "\"expiration_intent\":\"2\"",
        "\"grace_period_expires_date_ms\":\"1606293962000\"",
        "\"grace_period_expires_date\":\"2020-11-25 08:46:02 Etc/GMT\"",
    ])
    func `retry, grace and an expiration intent are dated after the newest period's expiry`(
        member: String
    ) throws {
        let older = Self.row.replacing("\"101\"", with: "\"100\"")
            .replacing("1606292762000", with: "1606292462000")
            .replacing("1606293062000", with: "1606292762000")
        let replaced = Self.row.replacing("\"101\"", with: "\"99\"")
            .replacing("1606292762000", with: "1606292162000")
            .replacing("\"1606293062000\"", with: "\"1700000000000\",\"is_upgraded\":\"true\"")
        let body = """
            {"notification_type":"DID_FAIL_TO_RENEW","environment":"PROD","bid":"com.example",\
            "unified_receipt":{"status":0,"latest_receipt_info":[\(older),\(Self.row),\(replaced)],\
            "pending_renewal_info":[{"original_transaction_id":"100","product_id":"pro",\
            "auto_renew_product_id":"pro","auto_renew_status":"1",\(member)}]}}
            """
        let facts = try verified(body).facts
        #expect(facts.count == 5)
        #expect(facts.allSatisfy { $0.asOf == Instant(milliseconds: 1_606_293_062_000) })
    }

    @Test(arguments: [
        ("\"PROD\"", "\"Production\""), ("\"PROD\"", "\"PRODUCTION\""), ("\"PROD\"", "\"\""),
        ("\"false\",\"auto_renew_product", "false,\"auto_renew_product"),
        ("\"false\",\"auto_renew_product", "\"0\",\"auto_renew_product"),
        ("\"false\",\"auto_renew_product", "0,\"auto_renew_product"),
        ("\"original_transaction_id\":\"100\"", "\"original_transaction_id\":100"),
        ("\"bid\":", "\"original_transaction_id\":100,\"bid\":"),
        ("\"bid\":", "\"original_transaction_id\":\"100\",\"bid\":"),
        ("\"bid\":", "\"original_transaction_id\":100.0,\"bid\":"),
        ("\"original_transaction_id\":\"100\"", "\"original_transaction_id\":100.0"),
        ("\"transaction_id\":\"101\"", "\"transaction_id\":1.01e2"),
        ("\"bid\":", "\"latest_receipt_info\":{},\"latest_expired_receipt\":\"\",\"bid\":"),
        ("\"bid\":", "\"latest_receipt_info\":[],\"cancellation_date\":\"\",\"bid\":"),
        ("\"bid\":", "\"latest_receipt_info\":\(row),\"bid\":"),
        ("\"auto_renew_status\":\"0\"", "\"auto_renew_status\":0"),
        ("\"expiration_intent\":\"1\"", "\"expiration_intent\":1"),
        ("\"is_in_billing_retry_period\":\"0\"", "\"is_in_billing_retry_period\":false"),
    ])
    func `odd spellings of a notification give the same facts`(part: String, odd: String) throws {
        let body = Self.body.replacing(part, with: odd)
        #expect(body != Self.body)
        #expect(try verified(body).facts == verified(Self.body).facts)
    }

    @Test(arguments: ["150001223579830.5", "-100.0", "9007199254740993.0", "1.5e300"])
    func `an id that floating point may have changed is refused`(number: String) {
        let body = Self.body.replacing(
            "\"bid\":",
            with: "\"original_transaction_id\":\(number),\"bid\":"
        )
        #expect(throws: Rejection(.idMalformed, "")) { try verified(body) }
    }

    @Test func `a floating point id of fifteen digits is the same id`() throws {
        let id = "150001223579830"
        let body = Self.body.replacing("\"100\"", with: "\"\(id)\"")
        let number = body.replacing(
            "\"bid\":",
            with: "\"original_transaction_id\":\(id).0,\"bid\":"
        )
        #expect(try verified(number).facts == verified(body).facts)
    }

    @Test func `evidence keeps everything but the shared secret`() throws {
        let evidence = try #require(try verified("  \(Self.body)\n").groups.last).evidence
        let stored = String(decoding: evidence.payload, as: UTF8.self)
        #expect(stored == Self.body.replacing("\"hush\"", with: "\"\""))
        #expect(evidence.kind == .statusUpdateNotification)
        #expect(evidence.verification == Verification(trust: .vouched, root: nil))
        #expect(try verified(stored).facts == verified(Self.body).facts)
        let escaped = Self.body.replacing("\"password\":\"hush\"", with: "\"pass\\u0077ord\":12345")
        let other = try #require(try verified(escaped).groups.last).evidence.payload
        #expect(!String(decoding: other, as: UTF8.self).contains("12345"))
    }

    @Test func `the right shared secret proves a notification, and a wrong one refuses it`()
        throws
    {
        func read(_ secret: String..., of body: String = Self.body) throws -> VerifiedPayload {
            try AppStoreVerifier(policy: VerificationPolicy(sharedSecrets: secret)).verify(
                payload: Array(body.utf8),
                source: "test",
                receivedAt: receivedAt
            )
        }
        let trusted = try read("hush")
        #expect(trusted.groups.map(\.evidence.verification.trust) == [.sharedSecret])
        #expect(trusted.facts == (try verified(Self.body).facts))
        #expect(throws: Rejection(.sharedSecretMismatch, "")) { try read("hust") }
        #expect(throws: Rejection(.sharedSecretMismatch, "")) { try read("hush2") }
        let without = Self.body.replacing("\"password\":\"hush\",", with: "")
        #expect(throws: Rejection(.unproven, "")) { try read("hush", of: without) }
        #expect(try read("of another app", "", "hush", "older").facts == trusted.facts)
        #expect(throws: Rejection(.sharedSecretMismatch, "")) { try read("hust", "hus", "") }
        #expect(throws: Rejection(.unproven, "")) {
            try AppStoreVerifier(policy: VerificationPolicy()).verify(
                payload: Array(Self.body.utf8),
                source: "test",
                receivedAt: receivedAt
            )
        }
    }

    @Test func `a secret proves only its own body, and a wrong one is refused even if vouched for`()
        throws
    {
        let knowing = AppStoreVerifier(policy: VerificationPolicy(sharedSecrets: ["hush"]))
        let wrong = Self.body.replacing("\"hush\"", with: "\"hust\"")
        #expect(throws: Rejection(.sharedSecretMismatch, "")) {
            try knowing.verify(
                payload: Array(wrong.utf8),
                source: "test",
                receivedAt: receivedAt,
                voucher: .operator
            )
        }
        let response = """
            {"status":0,"password":"hush","receipt":{"in_app":[\(Self.row)],\
            "receipt_type":"Production","request_date_ms":"1606293002000"}}
            """
        #expect(throws: Rejection(.unproven, "")) {
            try knowing.verify(
                payload: Array(response.utf8),
                source: "test",
                receivedAt: receivedAt
            )
        }
        let words = Self.body.replacing(
            "\"environment\":\"Production\"",
            with: "\"environment\":\"Sandbox\""
        )
        #expect(throws: Rejection(.nestedMismatch, "")) { try verified(words) }
    }

    @Test(arguments: ["\"PROD\"", "\"Production\"", "\"com.example\"", "\"pro\""])
    func `a secret in the wrong place appears in no message`(part: String) throws {
        let secret = "5ec4e75ec4e75ec4"
        let body = Self.body.replacing("\"hush\"", with: "\"\(secret)\"")
            .replacing(part, with: "\"\(secret)\"")
        for policy in [VerificationPolicy(), VerificationPolicy(sharedSecrets: [secret])] {
            let rejection = try #require(throws: Rejection.self) {
                try AppStoreVerifier(policy: policy).verify(
                    payload: Array(body.utf8),
                    source: "test",
                    receivedAt: receivedAt,
                    voucher: .operator
                )
            }
            #expect(!rejection.message.contains(secret), "\(rejection.message)")
        }
    }

    @Test func `the old shape gives one period and its renewal info`() throws {
        let single = """
            {"original_transaction_id":"1","transaction_id":"2","product_id":"p",\
            "purchase_date_ms":"1531643137200","expires_date":"1534321537200"}
            """
        let facts = try verified(
            """
            {"notification_type":"CANCEL","environment":"PROD","latest_receipt_info":{},\
            "latest_expired_receipt_info":\(single),"auto_renew_status":"false",\
            "auto_renew_product_id":"p","cancellation_date":"2018-07-16 00:00:00 Etc/GMT",\
            "web_order_line_item_id":"77"}
            """
        ).facts
        try #require(facts.map(\.kind) == [.transaction, .renewal, .notification])
        #expect(facts[0].expiresDate == Instant(milliseconds: 1_534_321_537_000))
        #expect(facts[0].asOf == Instant(milliseconds: 1_531_699_200_000))
        #expect(facts[1].content.format == .topLevelRenewalInfo)
        #expect(facts[2].content.text(.webOrderLineItemId) == "77")
        #expect(facts[2].stream == facts[0].stream)
    }

    @Test func `of several subscriptions the notification is about the one it renews into`()
        throws
    {
        // Apple's data: scenario 17
        let other = Self.row.replacing("\"100\"", with: "\"200\"").replacing("101", with: "201")
        let second = Self.pending.replacing("\"100\"", with: "\"200\"")
            .replacing(
                "\"auto_renew_product_id\":\"pro\"",
                with: "\"auto_renew_product_id\":\"max\""
            )
        let body = Self.body.replacing("[\(Self.row)]", with: "[\(other),\(Self.row)]")
            .replacing("[\(Self.pending)]", with: "[\(second),\(Self.pending)]")
        let facts = try verified(body).facts
        #expect(facts.last?.stream.originalTransactionId == "100")
        let unclear = body.replacing("\"max\"", with: "\"pro\"")
        #expect(try verified(unclear).facts.last?.stream.originalTransactionId.isEmpty == true)
    }

    @Test func `a notification without transactions still gives a fact`() throws {
        let facts = try verified(
            """
            {"notification_type":"CONSUMPTION_REQUEST","environment":"Sandbox","bid":"com.example",\
            "unified_receipt":{"status":0,"latest_receipt_info":[]},\
            "auto_renew_status_change_date_ms":"1606293002000"}
            """
        ).facts
        try #require(facts.map(\.kind) == [.notification])
        #expect(facts[0].stream.originalTransactionId.isEmpty)
    }

    @Test func `a notification without any date is refused`() {
        #expect(throws: Rejection(.dateMissing, "")) {
            try verified("{\"notification_type\":\"CANCEL\",\"environment\":\"PROD\"}")
        }
    }
}
