import Events
import Foundation
import Testing

@testable import AppStore

struct TranslationTests {
    private let pki: TestPKI
    private let verifier: AppStoreVerifier

    init() throws {
        pki = try TestPKI()
        verifier = AppStoreVerifier(policy: try pki.policy())
    }

    private func transaction(_ more: String = "", without: String = "") -> String {
        "{\"transactionId\":\"9\",\"originalTransactionId\":\"7\",\"bundleId\":\"app.a\","
            + "\"environment\":\"Sandbox\",\"purchaseDate\":1700000000612,"
            + "\"expiresDate\":1700086400999,\"signedDate\":1700000001234" + more + "}"
    }

    private func fact(_ payload: String) throws -> Fact {
        try #require(try verifier.facts(try pki.sign(payload)).first)
    }

    private func notification(
        _ data: String = "",
        outer: String = ",\"signedDate\":1700000002000",
        transaction: String? = nil,
        renewal: String? = nil
    ) throws -> String {
        var data = "\"bundleId\":\"app.a\",\"environment\":\"Sandbox\"" + data
        if let transaction { data += ",\"signedTransactionInfo\":\"\(try pki.sign(transaction))\"" }
        if let renewal { data += ",\"signedRenewalInfo\":\"\(try pki.sign(renewal))\"" }
        let payload =
            "{\"notificationType\":\"DID_RENEW\",\"notificationUUID\":\"u\","
            + "\"version\":\"2.0\"\(outer),\"data\":{\(data)}}"
        return "{\"signedPayload\":\"\(try pki.sign(payload))\"}"
    }

    @Test func `a transaction's key is rounded down to seconds, its as-of is not`() throws {
        let fact = try fact(transaction())
        #expect(fact.stream == StreamID(environment: .sandbox, originalTransactionId: "7"))
        #expect(fact.purchaseDate.milliseconds == 1_700_000_000_000)
        #expect(fact.expiresDate.milliseconds == 1_700_086_400_000)
        #expect(fact.asOf.milliseconds == 1_700_000_001_234)
        #expect(fact.content.entries.map(\.field) == [.transactionId])
    }

    @Test func `without an original id the transaction's own id names the stream`() throws {
        // Apple's data: traps 1, 48
        let payload = transaction().replacing("\"originalTransactionId\":\"7\",", with: "")
        #expect(try fact(payload).stream.originalTransactionId == "9")
        let numeric = transaction().replacing("\"7\"", with: "9007199254740993")
        #expect(try fact(numeric).stream.originalTransactionId == "9007199254740993")
    }

    @Test func `unknown properties and unexpected types are kept as they were written`() throws {
        let fact = try fact(
            transaction(
                ",\"price\":\"1.99\",\"quantity\":1.5,\"offerType\":1.0,"
                    + "\"z\":{\"b\":1.50,\"a\":[]},"
                    + "\"type\":\"Lifetime\",\"aLaterProperty\":\"MONTHLY\",\"isUpgraded\":\"no\","
                    + "\"currency\":\"A\\u0001\",\"storefront\":\"\",\"offerPeriod\":null"
            )
        )
        #expect(
            fact.content.text(.extra)
                == "{\"aLaterProperty\":\"MONTHLY\",\"currency\":\"A\\u0001\","
                + "\"isUpgraded\":\"no\",\"price\":\"1.99\",\"quantity\":1.5,"
                + "\"z\":{\"a\":[],\"b\":1.50}}"
        )
        #expect(fact.content.text(.type) == "Lifetime")
        #expect(fact.content.integer(.offerType) == 1)
        for absent: Field in [.price, .quantity, .isUpgraded, .currency, .storefront, .offerPeriod]
        {
            #expect(fact.content[absent] == nil)
        }
    }

    @Test func `a commitment and its billing plan are fields, the commitment as canonical JSON`()
        throws
    {
        let fact = try fact(
            transaction(
                ",\"billingPlanType\":\"MONTHLY\",\"commitmentInfo\":"
                    + "{ \"totalBillingPeriods\": 12, \"billingPeriodNumber\": 1 }"
            )
        )
        #expect(fact.content.text(.billingPlanType) == "MONTHLY")
        #expect(
            fact.content.text(.commitmentInfo)
                == "{\"billingPeriodNumber\":1,\"totalBillingPeriods\":12}"
        )
        #expect(fact.content[.extra] == nil)
        let odd = try self.fact(transaction(",\"commitmentInfo\":\"none\""))
        #expect(odd.content.text(.extra) == "{\"commitmentInfo\":\"none\"}")
    }

    @Test func `a missing isUpgraded means the same as false`() throws {
        #expect(
            try fact(transaction(",\"isUpgraded\":false")).content == fact(transaction()).content
        )
        #expect(
            try fact(transaction(",\"isUpgraded\":true")).content.boolean(.isUpgraded) == true
        )
    }

    @Test func `signing again changes only the as-of`() throws {
        let later = transaction(
            ",\"deviceVerification\":\"x\",\"originalPurchaseDate\":1600000000000"
        )
        .replacing("1700000001234", with: "1700000009999")
        #expect(try fact(later).content == fact(transaction()).content)
        #expect(try fact(later).asOf.milliseconds == 1_700_000_009_999)
    }

    @Test(arguments: [1_700_000_001_612, 1_700_000_002_612, 1_600_000_000_000, 134_723_435_406_809])
    func `the original purchase date is not a start, and may be later than the purchase`(
        original: Int64
    ) throws {
        // Apple's data: traps 12, 13
        let told = try fact(transaction(",\"originalPurchaseDate\":\(original)"))
        #expect(try told == fact(transaction()))
        #expect(told.purchaseDate.milliseconds == 1_700_000_000_000)
    }

    @Test func `a notification names the subscription of its nested statements and follows them`()
        throws
    {
        let renewal =
            "{\"originalTransactionId\":\"7\",\"productId\":\"p\",\"autoRenewStatus\":0,"
            + "\"isInBillingRetryPeriod\":false,\"signedDate\":1700000001500,"
            + "\"eligibleWinBackOfferIds\":[\"b\",\"a\"]}"
        let facts = try verifier.facts(
            try notification(
                ",\"status\":4,\"bundleVersion\":\"1\",\"appAppleId\":12,\"new\":1",
                transaction: transaction(),
                renewal: renewal
            )
        )
        #expect(facts.map(\.kind) == [.transaction, .renewal, .notification])
        #expect(Set(facts.map(\.stream)).count == 1)
        #expect(facts.map(\.bundleId) == ["app.a", "app.a", "app.a"])
        #expect(facts[1].purchaseDate == Instant(milliseconds: 0))
        #expect(facts[1].content.boolean(.isInBillingRetryPeriod) == false)
        #expect(
            facts[1].content.text(.eligibleWinBackOfferIds) == "[\"b\",\"a\"]"
        )
        #expect(facts[2].purchaseDate == facts[0].purchaseDate)
        #expect(facts[2].expiresDate == facts[0].expiresDate)
        #expect(facts[2].content.integer(.status) == 4)
        #expect(facts[2].content.text(.extra) == "{\"data\":{\"appAppleId\":12,\"new\":1}}")
        let alone = try verifier.facts(try notification(renewal: renewal))
        #expect(alone.map(\.stream.originalTransactionId) == ["7", "7"])
        #expect(alone[1].purchaseDate == Instant(milliseconds: 0))
    }

    @Test func `a notification without a date takes the date of its nested statement`() throws {
        let facts = try verifier.facts(try notification(outer: "", transaction: transaction()))
        #expect(facts[1].asOf.milliseconds == 1_700_000_001_234)
        #expect(verifier.refusal(try notification(outer: "")) == .dateMissing)
    }

    @Test func `a future date does not make a statement late`() throws {
        let payload = transaction().replacing(",\"signedDate\":1700000001234", with: "")
        #expect(try fact(payload).asOf.milliseconds == 1_700_000_000_612)
    }

    @Test func `every kind of section and every type of notification is kept`() throws {
        func extra(_ body: String) throws -> (Fact, String?) {
            let payload =
                "{\"notificationType\":\"BRAND_NEW\",\"subtype\":\"\","
                + "\"signedDate\":1700000002000,\(body)}"
            let fact = try fact(payload)
            #expect(fact.content.text(.notificationType) == "BRAND_NEW")
            #expect(fact.content[.subtype] == nil)
            return (fact, fact.content.text(.extra))
        }
        let summary = try extra(
            "\"summary\":{\"environment\":\"Production\",\"bundleId\":\"app.s\","
                + "\"succeededCount\":5,\"failedCount\":1},\"version\":\"3.0\""
        )
        #expect(
            summary.1
                == "{\"summary\":{\"failedCount\":1,\"succeededCount\":5},\"version\":\"3.0\"}"
        )
        #expect(summary.0.stream == StreamID(environment: .production, originalTransactionId: ""))
        let token = try extra(
            "\"externalPurchaseToken\":{\"externalPurchaseId\":\"SANDBOX_1\","
                + "\"bundleId\":\"app.t\"}"
        )
        #expect(token.0.stream.environment == .sandbox)
        #expect(token.0.bundleId == "app.t")
        #expect(token.1 == "{\"externalPurchaseToken\":{\"externalPurchaseId\":\"SANDBOX_1\"}}")
        let real = try extra("\"externalPurchaseToken\":{\"externalPurchaseId\":\"1\"}")
        #expect(real.0.stream.environment == .production)
        let app = try pki.sign(
            "{\"receiptType\":\"Sandbox\",\"bundleId\":\"app.a\","
                + "\"receiptCreationDate\":1700000000000}"
        )
        let consent = try extra(
            "\"appData\":{\"environment\":\"Sandbox\",\"bundleId\":\"app.a\",\"appAppleId\":3,"
                + "\"signedAppTransactionInfo\":\"\(app)\"}"
        )
        #expect(consent.1 == "{\"appData\":{\"appAppleId\":3}}")
    }

    @Test func `each server response gives the facts signed in it`() throws {
        let one = try pki.sign(transaction())
        let two = try pki.sign(transaction())
        let history = "{\"environment\":\"Sandbox\",\"signedTransactions\":[\"\(one)\",\"\(two)\"]}"
        #expect(try verifier.facts(history).count == 2)
        #expect(try verifier.facts("{\"signedTransactionInfo\":\"\(one)\"}").count == 1)
        let note = try notification(transaction: transaction())
        let next = try notification(transaction: transaction())
        let notes = "{\"notificationHistory\":[\(note),\(next.dropLast()),\"sendAttempts\":[]}]}"
        let facts = try verifier.facts(notes)
        #expect(facts.map(\.kind) == [.transaction, .notification, .transaction, .notification])
        #expect(verifier.refusal("{\"signedTransactions\":[]}") == .nothingSigned)
        #expect(verifier.refusal("{\"data\":[]}") == .nothingSigned)
        let bad = history.replacing(two + "\"]", with: two.dropLast(8) + "AAAAAAAA\"]")
        #expect(verifier.refusal(bad) == .signatureInvalid)
    }

    @Test func `an unsigned wrapper cannot combine statements of two subscriptions`() throws {
        let one = try pki.sign(transaction())
        let renewal = try pki.sign(
            "{\"originalTransactionId\":\"8\",\"autoRenewStatus\":1,\"signedDate\":1700000001234,"
                + "\"environment\":\"Sandbox\"}"
        )
        func statuses(_ last: String) -> String {
            "{\"data\":[{\"lastTransactions\":[{\(last)}]}]}"
        }
        let pair = "\"signedTransactionInfo\":\"\(one)\",\"signedRenewalInfo\":\"\(renewal)\""
        #expect(verifier.refusal(statuses(pair)) == .nestedMismatch)
        let swapped = "\"signedTransactionInfo\":\"\(renewal)\""
        #expect(verifier.refusal(statuses(swapped)) == .nestedMismatch)
        let facts = try verifier.facts(statuses("\"signedRenewalInfo\":\"\(renewal)\""))
        #expect(facts.map(\.kind) == [.renewal])
    }

    @Test func `old payloads take their environment from the wrapper`() throws {
        let old = transaction().replacing("\"environment\":\"Sandbox\",", with: "")
        #expect(verifier.refusal(try pki.sign(old)) == .environmentUnknown)
        let nested = try verifier.facts(try notification(transaction: old))
        #expect(nested[0].stream.environment == .sandbox)
        let wrapped =
            "{\"environment\":\"Sandbox\",\"signedTransactions\":[\"\(try pki.sign(old))\"]}"
        #expect(try verifier.facts(wrapped)[0].stream.environment == .sandbox)
        // The wrapper is not signed: it must not turn a test purchase into a real one.
        let promoted = wrapped.replacing("Sandbox", with: "Production")
        #expect(verifier.refusal(promoted) == .environmentUnknown)
        var policy = try pki.policy(environments: [.production])
        #expect(
            AppStoreVerifier(policy: policy).refusal(try pki.sign(old)) == .environmentUnknown
        )
        policy.assumedEnvironment = .production
        let assuming = AppStoreVerifier(policy: policy)
        #expect(try assuming.facts(try pki.sign(old))[0].stream.environment == .production)
    }

    @Test func `only the apps and environments of the policy are accepted`() throws {
        let policy = try pki.policy(
            bundleIds: ["app.a"],
            appAppleId: 12,
            environments: [.production]
        )
        let strict = AppStoreVerifier(policy: policy)
        let production = transaction().replacing("Sandbox", with: "Production")
        #expect(strict.refusal(try pki.sign(production)) == nil)
        #expect(strict.refusal(try pki.sign(transaction())) == .environmentNotAccepted)
        #expect(
            strict.refusal(try pki.sign(production.replacing("app.a", with: "app.b")))
                == .bundleIdMismatch
        )
        #expect(
            strict.refusal(try pki.sign(production.replacing("Production", with: "Mars")))
                == .environmentNotAccepted
        )
        func note(_ appAppleId: String) throws -> String {
            try pki.sign(
                "{\"notificationType\":\"TEST\",\"signedDate\":1700000002000,\"data\":{"
                    + "\"bundleId\":\"app.a\",\"environment\":\"Production\"\(appAppleId)}}"
            )
        }
        #expect(strict.refusal(try note(",\"appAppleId\":12")) == nil)
        #expect(strict.refusal(try note(",\"appAppleId\":13")) == .appAppleIdMismatch)
        #expect(strict.refusal(try note("")) == .appAppleIdMismatch)
    }

    @Test func `nested statements must agree with the wrapper`() throws {
        for change in [("app.a", "app.b"), ("Sandbox", "Production")] {
            let inner = transaction().replacing(change.0, with: change.1)
            #expect(verifier.refusal(try notification(transaction: inner)) == .nestedMismatch)
        }
    }

    @Test func `ids that identify nothing are kept, and noticed`() throws {
        let nothing = "00000000-0000-0000-0000-000000000000"
        let jws = try pki.sign(
            transaction(",\"appAccountToken\":\"\(nothing)\",\"appTransactionId\":\"null\"")
        )
        let verified = try verifier.verify(
            payload: Array(jws.utf8),
            source: "test",
            receivedAt: receivedAt
        )
        #expect(verified.facts.first?.content.text(.appAccountToken) == nothing)
        let notice = try #require(verified.notices.first)
        #expect(verified.notices.count == 1 && notice.code == .placeholderIds)
        #expect(notice.message.contains("appAccountToken of 7, appTransactionId of 7"))
        #expect(notice.leftOut == 0 && !verified.leavesOutUnproven)
    }

    @Test func `identifying claims must have the right type and form`() throws {
        let cases: [(String, String, Rejection.Code)] = [
            ("1700000000612", "147234354068091", .dateImplausible),
            ("1700000000612", "-1", .dateImplausible),
            ("1700000000612", "1e30", .dateImplausible),
            ("1700000000612", "\"2023-11-14\"", .claimMalformed),
            ("1700000001234", "true", .claimMalformed),
            ("\"app.a\"", "1", .claimMalformed),
            ("\"Sandbox\"", "[]", .claimMalformed),
            ("\"7\"", "{}", .idMalformed),
            ("\"7\"", "\"7\\n\"", .idMalformed),
            ("\"7\"", "\"\(String(repeating: "7", count: 129))\"", .idMalformed),
            ("\"9\"", "\"\\u0000\"", .idMalformed),
        ]
        for (old, new, code) in cases {
            let payload = transaction().replacing(old, with: new)
            #expect(verifier.refusal(try pki.sign(payload)) == code, "\(new)")
        }
        let long = String(repeating: "x", count: Content.byteCountMax)
        #expect(
            verifier.refusal(try pki.sign(transaction(",\"new\":\"\(long)\""))) == .contentTooLarge
        )
        #expect(
            verifier.refusal(try pki.sign(transaction(",\"revocationDate\":5")))
                == .dateImplausible
        )
    }

    @Test func `an app transaction is genuine and contains nothing about subscriptions`() throws {
        let payload =
            "{\"receiptType\":\"Sandbox\",\"bundleId\":\"app.a\","
            + "\"receiptCreationDate\":1700000001234}"
        #expect(verifier.refusal(try pki.sign(payload)) == .appTransaction)
        let response = "{\"signedAppTransactionInfo\":\"\(try pki.sign(payload))\"}"
        #expect(verifier.refusal(response) == .appTransaction)
    }

    @Test func `a retention message is not renewal info`() throws {
        let payload =
            "{\"originalTransactionId\":\"7\",\"productId\":\"p\",\"userLocale\":\"de\","
            + "\"requestIdentifier\":\"r\",\"environment\":\"Sandbox\","
            + "\"signedDate\":1700000001234}"
        #expect(verifier.refusal(try pki.sign(payload)) == .unsupportedFormat)
    }

    @Test func `payloads have size limits and may be surrounded by white space`() throws {
        let jws = try pki.sign(transaction())
        #expect(verifier.refusal("\n \(jws)\r\n") == nil)
        #expect(verifier.refusal("\t{\"signedTransactionInfo\":\"\(jws)\"}\n") == nil)
        #expect(verifier.refusal(" \n") == .payloadEmpty)
        let huge = [UInt8](repeating: 0x41, count: AppStoreVerifier.payloadByteCountMax + 1)
        #expect(verifier.refusal(huge) == .payloadTooLarge)
        #expect(
            verifier.refusal(jws + String(repeating: "A", count: JWS.byteCountMax))
                == .payloadTooLarge
        )
        let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        #expect(verifier.refusal("{\"a\":\(deep)}") == .jsonTooDeep)
        #expect(verifier.refusal("{\"a\":1,}") == .jsonMalformed)
        #expect(verifier.refusal("{\"a\":1,\"a\":2}") == .jsonDuplicateName)
        #expect(verifier.refusal("a.b.c") == .jwsMalformed)
    }

    @Test func `a message gives what was expected and shows no payload`() throws {
        let rejection = try #require(
            verifier.rejection(
                Array(try pki.sign(transaction().replacing("Sandbox", with: "Xcode")).utf8)
            )
        )
        #expect(rejection.code == .environmentNotAccepted)
        #expect(
            rejection.message
                == "The payload was made in the environment Xcode; accepted: Production, Sandbox."
        )
        #expect(rejection.description.hasPrefix("environment-not-accepted: "))
    }
}
