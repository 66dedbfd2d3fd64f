import Events
@testable import SubledgerAppStore
import Testing

/// What a policy may say, and what it prefers.
@Suite struct ConsumptionPolicyTests {
    private static func facts(
        refunds: Int = 0,
        days: Int = 100,
        used: Int? = 50_000,
        reason: String? = nil,
        hadTrial: Bool = false
    ) -> ConsumptionFacts {
        let then = Instant(milliseconds: 1_700_000_000_000)
        return ConsumptionFacts(
            position: Position(lane: .only, offset: 1),
            environment: .production,
            bundleId: "example.app",
            originalTransactionId: "1",
            transactionId: "2",
            productId: "monthly",
            purchaseDate: then,
            expiresDate: nil,
            appAccountToken: nil,
            customerId: "42",
            consumptionRequestReason: reason,
            requestedAt: then,
            dueAt: then,
            earlierRefunds: refunds,
            accountDays: days,
            usedMilliPercent: used,
            hadTrialOrIntroOffer: hadTrial,
            notNeeded: nil
        )
    }

    private static func proposal(
        _ members: String,
        _ facts: ConsumptionFacts
    ) throws -> ConsumptionProposal {
        try ConsumptionPolicy(json: Array(#"{"consent":"terms"\#(members)}"#.utf8))
            .proposal(for: facts)
    }

    @Test func `the first rule that matches decides`() throws {
        let rules = """
            ,"rules":[
            {"when":{"earlierRefunds":{"atLeast":2}},"refundPreference":"DECLINE"},
            {"when":{"accountDays":{"below":7},"usedPercent":{"below":10}},
             "refundPreference":"GRANT_FULL"},
            {"when":{"consumptionRequestReasons":["LEGAL"]},"refundPreference":"NONE"},
            {"when":{"productIds":["yearly"]},"refundPreference":"DECLINE"},
            {"when":{"usedPercent":{"atLeast":80}},"refundPreference":"DECLINE"},
            {"refundPreference":"GRANT_PRORATED"}]
            """
        func preference(
            _ facts: ConsumptionFacts
        ) throws -> ConsumptionInformation.RefundPreference? {
            try Self.proposal(rules, facts).refundPreference
        }
        #expect(try preference(Self.facts()) == .grantProrated)
        #expect(try preference(Self.facts(refunds: 2, days: 1, used: 0)) == .decline)
        #expect(try preference(Self.facts(refunds: 1, days: 6, used: 9_999)) == .grantFull)
        #expect(try preference(Self.facts(days: 7, used: 9_999)) == .grantProrated)
        #expect(try preference(Self.facts(days: 6, used: 10_000)) == .grantProrated)
        #expect(try preference(Self.facts(used: 80_000)) == .decline)
        #expect(try preference(Self.facts(reason: "LEGAL")) == nil)
        #expect(try preference(Self.facts(used: nil)) == .grantProrated, "unknown is not 80 %")
    }

    @Test func `what the ledger does not know comes from the policy`() throws {
        let own = #","consumptionPercentage":25000,"deliveryStatus":"UNDELIVERED_OTHER""#
        let oneTime = try Self.proposal(own, Self.facts(used: nil))
        #expect(oneTime.consumptionPercentage == 25_000)
        #expect(oneTime.deliveryStatus == .undeliveredOther && !oneTime.sampleContentProvided)
        #expect(try Self.proposal(own, Self.facts()).consumptionPercentage == 50_000)
        #expect(try Self.proposal("", Self.facts(used: nil)).consumptionPercentage == nil)
        #expect(try Self.proposal("", Self.facts(hadTrial: true)).sampleContentProvided)
        let sample = try Self.proposal(#","sampleContentProvided":true"#, Self.facts())
        #expect(sample.sampleContentProvided)
    }

    @Test(arguments: [
        ("{}", "consent"), ("[]", "a JSON object"), ("", "at byte 0"),
        (#"{"consent":"yes"}"#, "member consent is wrong; expected callback, customers, terms"),
        (#"{"consent":true}"#, "member consent"),
        (#"{"consent":"callback"}"#, "callback is missing"),
        (#"{"consent":"customers"}"#, "consentingCustomers is missing"),
        (#"{"consent":"customers","consentingCustomers":[]}"#, "at least one"),
        (#"{"consent":"customers","consentingCustomers":[7]}"#, "a list of texts"),
        (#"{"consent":"terms","callback":"https://a.example"}"#, "callback has no meaning"),
        (#"{"consent":"terms","consentingCustomers":["1"]}"#, "consentingCustomers has no meaning"),
        (#"{"consent":"callback","callback":"http://a.example"}"#, "member callback is wrong"),
        (#"{"consent":"callback","callback":"https://me@a.example"}"#, "member callback is wrong"),
        (#"{"consent":"terms","consent":"terms"}"#, "member consent occurs twice"),
        (#"{"consent":"terms","rule":[]}"#, "unknown member rule; expected one of consent, "),
        (#"{"consent":"terms","consumptionPercentage":100001}"#, "from 0 to 100000"),
        (#"{"consent":"terms","consumptionPercentage":"1"}"#, "consumptionPercentage"),
        (#"{"consent":"terms","deliveryStatus":"LOST"}"#, "expected DELIVERED, "),
        (#"{"consent":"terms","sampleContentProvided":1}"#, "expected true or false"),
        (#"{"consent":"terms","rules":[{}]}"#, "rules[0].refundPreference is missing"),
        (#"{"consent":"terms","rules":[{"refundPreference":"NO"}]}"#, "rules[0].refundPreference"),
        (
            #"{"consent":"terms","rules":[{"when":{"age":1},"refundPreference":"NONE"}]}"#,
            "unknown member rules[0].when.age"
        ),
        (
            #"{"consent":"terms","rules":[{"when":{"usedPercent":{"atLeast":9,"below":9}},"#
                + #""refundPreference":"NONE"}]}"#,
            "rules[0].when.usedPercent can never hold"
        ),
        (
            #"{"consent":"terms","rules":[{"refundPreference":"NONE"},"#
                + #"{"refundPreference":"DECLINE"}]}"#,
            "rules[1] is never used"
        ),
    ])
    func `a policy that is wrong names what is wrong`(json: String, words: String) {
        let error = #expect(throws: ConsumptionPolicyError.self) {
            _ = try ConsumptionPolicy(json: Array(json.utf8))
        }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }
}
