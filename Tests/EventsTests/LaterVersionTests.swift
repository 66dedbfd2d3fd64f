import Events
import Testing

/// Contents from other versions of this program: nothing in them is lost, and nothing becomes news.
struct LaterVersionTests {
    private let stream = StreamID(environment: .production, originalTransactionId: "1")

    private func fact(asOf: Int64, _ content: Content) -> Fact {
        Fact(
            stream: stream,
            bundleId: "",
            kind: .transaction,
            purchaseDate: nil,
            expiresDate: nil,
            asOf: Instant(milliseconds: asOf),
            content: content
        )
    }

    @Test func `an unknown tag is preserved`() throws {
        var content = Content(format: .signedTransaction)
        content[.price] = .integer(9)
        let bytes = content.canonicalBytes + [30, 2, 0x68, 0x69, 200, 0]
        let later = try #require(Content(canonicalBytes: bytes))
        #expect(later.canonicalBytes == bytes)
        #expect(later[.price] == .integer(9))
        #expect(later.unrecognised.map(\.value) == [[0x68, 0x69], []])
        var changed = later
        changed[.productId] = .text("p")
        #expect(changed.unrecognised.map(\.tag) == [30, 200])
        #expect(Content(canonicalBytes: content.canonicalBytes + [30, 0, 30, 0]) == nil, "twice")
        #expect(Content(canonicalBytes: content.canonicalBytes + [30, 5, 0]) == nil, "too short")
        var known = Knowledge()
        known.learn(offset: 1, asOf: Instant(milliseconds: 1), content: later)
        #expect(known.judge(fact(asOf: 1, content)) == .known(offset: 1, repetitions: []))
    }

    @Test(arguments: [
        (Format.signedTransaction, "\"offerPeriod\":\"P1M\"", Field.offerPeriod, "P1M"),
        (.signedTransaction, "\"offerPeriod\":\"P\\u00311M\"", .offerPeriod, "P11M"),
        (.responseTransaction, "\"app_transaction_id\":\"7\"", .appTransactionId, "7"),
        (
            .signedTransaction, "\"commitmentInfo\":{\"billingPeriodNumber\":1}", .commitmentInfo,
            "{\"billingPeriodNumber\":1}"
        ),
        (
            .signedRenewalInfo, "\"eligibleWinBackOfferIds\":[\"b\",\"a\"]",
            .eligibleWinBackOfferIds, "[\"b\",\"a\"]"
        ),
    ])
    func `a property once stored in extra equals the same property under its later tag`(
        format: Format,
        member: String,
        field: Field,
        value: String
    ) {
        var old = Content(format: format)
        old[.extra] = .text("{\"a\":[1,{\"b\":\",}\"}],\(member),\"z\":\"\\\"\"}")
        var new = Content(format: format)
        new[.extra] = .text("{\"a\":[1,{\"b\":\",}\"}],\"z\":\"\\\"\"}")
        new[field] = .text(value)
        for (first, second) in [(old, new), (new, old)] {
            var known = Knowledge()
            known.learn(offset: 1, asOf: Instant(milliseconds: 1), content: first)
            #expect(known.state(of: field) == .value(.text(value)))
            let judgement = known.judge(fact(asOf: 1, second))
            #expect(judgement == .known(offset: 1, repetitions: []), "\(member)")
        }
    }

    @Test func `numbers, flags and instants in extra are read in both of Apple's spellings`() {
        var old = Content(format: .pendingRenewalInfo)
        old[.extra] = .text(
            "{\"grace_period_expires_date_ms\":\"1700000000000\","
                + "\"is_in_billing_retry_period\":\"true\",\"renewalPrice\":9990}"
        )
        let assertion = Assertion(offset: 1, asOf: Instant(milliseconds: 1), content: old)
        let date = Instant(milliseconds: 1_700_000_000_000)
        #expect(assertion.state(of: .gracePeriodExpiresDate) == .value(.instant(date)))
        #expect(assertion.state(of: .isInBillingRetryPeriod) == .value(.boolean(true)))
        #expect(assertion.state(of: .renewalPrice) == .value(.integer(9990)))
        #expect(assertion.content[.extra] == nil)
    }

    @Test func `a value that its tag cannot hold stays in extra`() {
        var odd = Content(format: .signedTransaction)
        odd[.extra] = .text("{\"price\":\"nine\",\"isUpgraded\":1}")
        let assertion = Assertion(offset: 1, asOf: Instant(milliseconds: 1), content: odd)
        #expect(assertion.state(of: .extra) == odd.state(of: .extra))
        #expect(!assertion.fields.contains(.isUpgraded), "present, not denied")
    }
}
