import Events
import Testing

@testable import AppStore

/// The content of a verifyReceipt response that is vouched for (Apple's data: verifyReceipt).
struct VerifyReceiptTests {
    private let responses = VouchedResponses()

    @Test func `an entry becomes the fact of its period, as of the request`() throws {
        let facts = try responses.facts(responses.response(latest: "[\(VouchedResponses.row)]"))
        let fact = try #require(facts.first)
        #expect(facts.count == 1)
        #expect(fact.stream == StreamID(environment: .sandbox, originalTransactionId: "100"))
        #expect(fact.bundleId == "com.example")
        #expect(fact.asOf == Instant(milliseconds: 1_595_440_486_402))
        #expect(fact.purchaseDate == Instant(milliseconds: 1_595_439_546_000))
        #expect(fact.expiresDate == Instant(milliseconds: 1_595_443_146_000))
        #expect(fact.content.format == .responseTransaction)
        #expect(fact.content.text(.transactionId) == "101")
        #expect(fact.content.text(.productId) == "pro")
        #expect(fact.content.text(.webOrderLineItemId) == "9")
        #expect(fact.content.text(.subscriptionGroupIdentifier) == "20")
        #expect(fact.content.integer(.quantity) == 1)
        #expect(fact.content[.offerType] == nil)
        #expect(fact.content[.extra] == nil)
        #expect(fact.content.asserted.contains(.revocationDate), "not cancelled is a statement")
        #expect(!fact.content.asserted.contains(.isUpgraded), "no upgrade flag is not a statement")
    }

    @Test(arguments: [
        ("\"purchase_date_ms\":\"1595439546000\",", "\"purchase_date_ms\":1595439546000,"),
        ("\"purchase_date_ms\":\"1595439546000\",", ""),
        ("\"purchase_date_ms\":\"1595439546000\",", "\"purchase_date_ms\":\"\","),
        ("\"purchase_date_ms\":\"1595439546000\",", "\"purchase_date_ms\":null,"),
        ("\"expires_date_ms\":\"1595443146000\",", ""),
        (
            "\"expires_date\":\"2020-07-22 18:39:06 Etc/GMT\",\"expires_date_ms\":\"1595443146000\"",
            "\"expires_date\":\"1595443146000\""
        ),
        ("\"transaction_id\":\"101\"", "\"transaction_id\":101"),
        ("\"original_transaction_id\":\"100\"", "\"original_transaction_id\":100"),
        ("\"quantity\":\"1\"", "\"quantity\":1"),
        ("\"is_trial_period\":\"false\"", "\"is_trial_period\":false"),
        ("\"is_trial_period\":\"false\"", "\"is_trial_period\":\"0\""),
        ("\"is_trial_period\":\"false\",", ""),
        ("\"quantity\":\"1\",", "\"quantity\":\"1\",\"cancellation_date\":\"\","),
        ("\"quantity\":\"1\",", "\"quantity\":\"1\",\"cancellation_date_ms\":null,"),
        ("\"quantity\":\"1\",", "\"quantity\":\"1\",\"app_item_id\":\"\","),
        (
            "\"quantity\":\"1\",",
            "\"quantity\":\"1\",\"original_purchase_date_ms\":\"134723435406809\","
        ),
        (
            "\"quantity\":\"1\",",
            "\"quantity\":\"1\",\"original_purchase_date_ms\":\"1595439548000\","
        ),
    ])
    func `odd spellings of an entry give the same fact`(part: String, odd: String) throws {
        // Apple's data: traps 12, 13, 48, odd values
        let row = VouchedResponses.row.replacing(part, with: odd)
        #expect(row != VouchedResponses.row)
        #expect(
            try responses.facts(responses.response(latest: "[\(row)]"))
                == responses.facts(responses.response(latest: "[\(VouchedResponses.row)]"))
        )
    }

    @Test func `an id above 2^53 written as a number keeps every digit`() throws {
        // Apple's data: trap 48
        let row = VouchedResponses.row.replacing("\"100\"", with: "9007199254740993")
        let fact = try #require(try responses.facts(responses.response(latest: "[\(row)]")).first)
        #expect(fact.stream.originalTransactionId == "9007199254740993")
    }

    @Test func `an entry in both places is one fact, and the more complete one counts`()
        throws
    {
        let poorer = VouchedResponses.row.replacing(
            ",\"in_app_ownership_type\":\"PURCHASED\"",
            with: ""
        )
        let facts = try responses.facts(
            responses.response(latest: "[\(VouchedResponses.row)]", inApp: "[\(poorer)]")
        )
        #expect(facts.count == 1)
        #expect(facts.first?.content.text(.inAppOwnershipType) == "PURCHASED")
    }

    @Test func `an entry found only in the sent receipt is as of that receipt`() throws {
        let other = VouchedResponses.row.replacing("\"101\"", with: "\"102\"")
        let facts = try responses.facts(
            responses.response(latest: "[\(VouchedResponses.row)]", inApp: "[\(other)]")
        )
        #expect(facts.map(\.asOf.milliseconds) == [1_595_440_486_402, 1_595_439_548_000])
    }

    @Test(
        arguments: [
            ("\"is_trial_period\":\"false\"", "\"is_trial_period\":true", 1, "FREE_TRIAL"),
            (
                "\"is_in_intro_offer_period\":\"false\"", "\"is_in_intro_offer_period\":\"1\"", 1,
                nil
            ),
            ("\"quantity\":\"1\"", "\"promotional_offer_id\":\"back\"", 2, nil),
            ("\"quantity\":\"1\"", "\"offer_code_ref_name\":\"back\"", 3, nil),
        ] as [(String, String, Int64, String?)]
    )
    func `offers are stated in the terms of a JWS`(
        part: String,
        new: String,
        offerType: Int64,
        discount: String?
    ) throws {
        let row = VouchedResponses.row.replacing(part, with: new)
        let fact = try #require(try responses.facts(responses.response(latest: "[\(row)]")).first)
        #expect(fact.content.integer(.offerType) == offerType)
        #expect(fact.content.text(.offerDiscountType) == discount)
        #expect(fact.content.text(.offerIdentifier) == (offerType > 1 ? "back" : nil))
    }

    @Test func `a cancellation is a revocation, and an upgrade mark is kept`() throws {
        let row = VouchedResponses.row.replacing(
            "\"quantity\":\"1\"",
            with: """
                "cancellation_date":"2020-07-22 18:00:00 Etc/GMT","cancellation_reason":"1",\
                "is_upgraded":"true"
                """
        )
        let content = try #require(
            try responses.facts(responses.response(latest: "[\(row)]")).first
        ).content
        #expect(content.instant(.revocationDate) == Instant(milliseconds: 1_595_440_800_000))
        #expect(content.integer(.revocationReason) == 1)
        #expect(content.boolean(.isUpgraded) == true)
    }

    @Test func `unknown properties are kept`() throws {
        let row = VouchedResponses.row.replacing(
            "\"quantity\":\"1\"",
            with: "\"new_thing\":{\"b\":1,\"a\":\"x\"}"
        )
        let content = try #require(
            try responses.facts(responses.response(latest: "[\(row)]")).first
        ).content
        #expect(content.text(.extra) == "{\"new_thing\":{\"a\":\"x\",\"b\":1}}")
    }

    @Test func `pending renewals become renewal facts`() throws {
        let pending = """
            "pending_renewal_info":[{"original_transaction_id":"100","product_id":"pro",\
            "auto_renew_product_id":"max","auto_renew_status":"1","expiration_intent":"2",\
            "is_in_billing_retry_period":"1","price_consent_status":"0",\
            "grace_period_expires_date":"2020-08-01 00:00:00 Etc/GMT",\
            "grace_period_expires_date_ms":"1596240000000",\
            "grace_period_expires_date_pst":"2020-07-31 17:00:00 America/Los_Angeles"}]
            """
        let facts = try responses.facts(
            responses.response(latest: "[\(VouchedResponses.row)]", more: pending)
        )
        try #require(facts.map(\.kind) == [.transaction, .renewal])
        let renewal = facts[1]
        #expect(renewal.stream.originalTransactionId == "100")
        #expect(renewal.content.format == .pendingRenewalInfo)
        #expect(renewal.content.text(.autoRenewProductId) == "max")
        #expect(renewal.content.integer(.autoRenewStatus) == 1)
        #expect(renewal.content.integer(.expirationIntent) == 2)
        #expect(renewal.content.boolean(.isInBillingRetryPeriod) == true)
        #expect(renewal.content.integer(.priceIncreaseStatus) == 0)
        #expect(
            renewal.content.instant(.gracePeriodExpiresDate)
                == Instant(milliseconds: 1_596_240_000_000)
        )
        #expect(renewal.content[.extra] == nil)
    }

    @Test func `a missing renewal element states that there is neither grace nor retry`() throws {
        let facts = try responses.facts(
            responses.response(
                latest: "[\(VouchedResponses.row)]",
                more: "\"pending_renewal_info\":[]"
            )
        )
        try #require(facts.map(\.kind) == [.transaction, .renewal])
        #expect(facts[1].content.entries.isEmpty)
        #expect(facts[1].content.asserted.contains(.gracePeriodExpiresDate))
        #expect(facts[1].content.asserted.contains(.isInBillingRetryPeriod))
        #expect(!facts[1].content.asserted.contains(.autoRenewStatus))
    }

    @Test func `a consumable never expires and has no renewal`() throws {
        let row = """
            {"product_id":"coins","transaction_id":"7","original_transaction_id":"7",\
            "purchase_date_ms":"1595439546000"}
            """
        let facts = try responses.facts(
            responses.response(latest: "[\(row)]", more: "\"pending_renewal_info\":[]")
        )
        try #require(facts.map(\.kind) == [.transaction])
        #expect(facts[0].expiresDate == Instant(milliseconds: 0))
    }

    @Test(arguments: [
        "{\"status\":0,\"receipt\":ROW,\"latest_receipt_info\":ROW,\"auto_renew_status\":1}",
        "{\"status\":21006,\"receipt\":ROW,\"latest_expired_receipt_info\":ROW,"
            + "\"auto_renew_status\":0,\"expiration_intent\":\"1\"}",
    ])
    func `an iOS 6 response is one transaction, rounded down to the second`(body: String) throws {
        let facts = try VouchedResponses(assuming: .production)
            .facts(body.replacing("ROW", with: VouchedResponses.single))
        try #require(facts.map(\.kind) == [.transaction, .renewal])
        let isOver = body.contains("21006")
        #expect(facts[0].content.format == .singleTransaction)
        #expect(facts[0].bundleId == "com.example")
        #expect(facts[0].purchaseDate == Instant(milliseconds: 1_355_271_005_000))
        #expect(facts[0].expiresDate == Instant(milliseconds: 1_355_271_305_000))
        #expect(
            facts[0].asOf
                == Instant(milliseconds: isOver ? 1_355_271_305_612 : 1_355_271_005_612),
            "the latest date of something that had happened"
        )
        #expect(facts[0].stream.environment == .production)
        #expect(facts[1].content.format == .topLevelRenewalInfo)
        #expect(facts[1].content.integer(.autoRenewStatus) == (isOver ? 0 : 1))
    }

    @Test func `the assumed environment applies if none is named`() throws {
        let assuming = AppStoreVerifier(policy: VerificationPolicy(assumedEnvironment: .production))
        let body = "{\"status\":0,\"receipt\":\(VouchedResponses.single)}"
        let verified = try assuming.verify(
            payload: Array(body.utf8),
            source: "test",
            receivedAt: receivedAt,
            voucher: .operator
        )
        #expect(verified.facts.first?.stream.environment == .production)
        #expect(verified.notices.isEmpty)
    }

    @Test(arguments: [[.production], [.production, .sandbox]] as [Set<StoreEnvironment>])
    func `an environment is never guessed, even if the payload is vouched for`(
        accepted: Set<StoreEnvironment>
    ) throws {
        let verifier = AppStoreVerifier(policy: VerificationPolicy(environments: accepted))
        let error = #expect(throws: Rejection.self) {
            try verifier.verify(
                payload: Array("{\"status\":0,\"receipt\":\(VouchedResponses.single)}".utf8),
                source: "test",
                receivedAt: receivedAt,
                voucher: .operator
            )
        }
        #expect(error?.code == .environmentUnknown)
        #expect(error?.message.contains("name the environment to assume") == true)
    }

    @Test(
        arguments: [
            ("21000", Rejection.Code.receiptStatusRequest, "POST"),
            ("21001", .receiptStatusRequest, "no longer"),
            ("21002", .receiptStatusRetry, "malformed"),
            ("21003", .receiptStatusForged, "authenticate"),
            ("21004", .receiptStatusRequest, "secret"),
            ("21005", .receiptStatusRetry, "later"),
            ("21007", .receiptStatusEnvironment, "to the sandbox"),
            ("21008", .receiptStatusEnvironment, "to production"),
            ("21009", .receiptStatusRetry, "later"),
            ("21010", .receiptStatusAccount, "account"),
            ("21100", .receiptStatusRetry, "again"),
            ("21199,\"is-retryable\":true", .receiptStatusRetry, "again"),
            ("21150,\"is-retryable\":\"0\"", .receiptStatusGaveUp, "permanently"),
            ("21150,\"is_retryable\":false", .receiptStatusGaveUp, "permanently"),
            ("42", .receiptStatusGaveUp, "unknown status"),
            ("\"21007\"", .receiptStatusEnvironment, "to the sandbox"),
            ("{}", .claimMalformed, "status"),
        ] as [(String, Rejection.Code, String)]
    )
    func `a status without data is refused with advice on what to do`(
        status: String,
        code: Rejection.Code,
        words: String
    ) throws {
        let rejection = try #require(responses.refusal(of: "{\"status\":\(status)}"))
        #expect(rejection.code == code)
        #expect(rejection.message.contains(words), "\(rejection.message)")
    }

    @Test(arguments: [
        ("\"purchase_date_ms\":\"1595439546000\"", "\"purchase_date_ms\":\"134723435406809\""),
        ("\"expires_date_ms\":\"1595443146000\"", "\"expires_date_ms\":\"yesterday\""),
        ("\"expires_date_ms\":\"1595443146000\"", "\"expires_date_ms\":1e300"),
    ])
    func `an impossible date in the key refuses the payload`(part: String, new: String) throws {
        let row = VouchedResponses.row.replacing(part, with: new)
        #expect(
            responses.refusal(of: responses.response(latest: "[\(row)]"))?.code == .dateImplausible
        )
    }

    @Test func `a period without a start and a malformed entry are refused`() {
        let row = "{\"transaction_id\":\"1\",\"product_id\":\"p\"}"
        #expect(responses.refusal(of: responses.response(latest: "[\(row)]"))?.code == .dateMissing)
        #expect(responses.refusal(of: responses.response(latest: "[1]"))?.code == .claimMalformed)
        #expect(
            responses.refusal(
                of: responses.response(latest: "[]", more: "\"pending_renewal_info\":[{}]")
            )?.code
                == .claimMalformed
        )
    }
}
