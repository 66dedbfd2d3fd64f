import Events
import Projections
import TestSupport
import Testing

/// The events that explain an answer must not depend on the order of delivery.
@Suite struct DecisiveChainLawTests {
    static let recovered = """
        03-01 @03-01 once pro.unlock 03-01 kind=Non-Consumable
        + @03-01 notice ONE_TIME_CHARGE uuid=n1 about=03-01
        03-20 @03-19 once pro.unlock 03-01 kind=Non-Consumable revoked=03-10
        + @03-19 notice REFUND uuid=n2 about=03-01
        04-02 @04-02 once pro.unlock 03-01 kind=Non-Consumable
        + @04-02 notice REFUND_REVERSED uuid=n3 about=03-01
        """
    static let refundedInGrace = """
        03-01 @03-01 purchase monthly 03-01..04-01 woli=1
        + @03-01 renewal of=04-01 auto=1
        + @03-01 notice SUBSCRIBED INITIAL_BUY uuid=n1 about=03-01..04-01
        04-01 @04-01 purchase monthly 03-01..04-01 woli=1
        + @04-01 renewal of=04-01 grace=04-17 auto=1 retry
        + @04-01 notice DID_FAIL_TO_RENEW GRACE_PERIOD uuid=n2 about=03-01..04-01
        04-05 @04-05 purchase monthly 03-01..04-01 woli=1 revoked=04-04
        + @04-05 renewal of=04-01 auto=0
        + @04-05 notice REFUND uuid=n3 about=03-01..04-01
        """

    /// The chain without positions, because those depend on the delivery.
    private func chain(_ explanation: Explanation) -> [String] {
        explanation.because.map { event in
            let period = event.period.map { row in
                "\(row.productId) \(row.kind) \(TimelineText.text(row.validFrom)).."
                    + TimelineText.text(row.validTo)
            }
            return "\(event.role) \(event.notificationType ?? "-") "
                + "\(TimelineText.text(event.signedAt)) \(TimelineText.text(event.occurredAt)) "
                + (period ?? event.productId)
        }
    }

    /// The payloads of a story in another order, in one commit or in one commit each.
    private func shuffled(_ story: String, _ seed: UInt64, at once: Bool) throws -> RecordedHistory
    {
        var random = SeededGenerator(seed: seed)
        let facts = try RecordedStory(story).facts
        let payloads = Set(facts.map(\.payload)).sorted().shuffled(using: &random)
        let late = try TimelineText.instant("2027-01-01").milliseconds
        return RecordedStory.history(
            of: payloads.enumerated().flatMap { number, payload in
                let second = once ? 0 : Int64(number) * 1000
                return facts.filter { $0.payload == payload }.map {
                    (
                        recordedAt: Instant(milliseconds: late + second), payload: $0.payload,
                        fact: $0.fact
                    )
                }
            }
        )
    }

    @Test(arguments: UInt64(1)...60)
    func `two orders of delivery have the same chain`(seed: UInt64) throws {
        for (story, at) in [
            (Self.recovered, "03-15"), (Self.recovered, "05-01"),
            (Self.refundedInGrace, "04-03"), (Self.refundedInGrace, "04-10"),
            (ExplanationTests.march, "03-03T09:00:00"), (ExplanationTests.march, "02-09"),
            (ExplanationTests.march, "03-05"),
        ] {
            let instant = try TimelineText.instant(at)
            let (one, other) = (
                try shuffled(story, seed, at: true), try shuffled(story, seed + 1000, at: false)
            )
            let chains = [one, other].map { chain(Explanation([$0], at: instant)) }
            #expect(chains[0] == chains[1], "seed \(seed) at \(at)")
        }
    }

    @Test(arguments: UInt64(1)...20)
    func `the last event of the chain is the one with Apple's latest statement`(
        seed: UInt64
    ) throws {
        let history = try shuffled(Self.recovered, seed, at: true)
        let instant = try TimelineText.instant("05-01")
        #expect(
            chain(Explanation([history], at: instant)) == [
                "opened ONE_TIME_CHARGE 03-01 03-01 pro.unlock",
                "ended REFUND 03-19 03-10 pro.unlock",
                "restored REFUND_REVERSED 04-02 03-10 pro.unlock",
            ]
        )
    }

    @Test(arguments: UInt64(1)...20)
    func `a refund ends the grace in any order of arrival`(seed: UInt64) throws {
        for isOnce in [true, false] {
            let history = try shuffled(Self.refundedInGrace, seed, at: isOnce)
            let instant = try TimelineText.instant("04-10")
            #expect(
                chain(Explanation([history], at: instant)) == [
                    "opened SUBSCRIBED 03-01 03-01 monthly paid 03-01..04-01",
                    "grace DID_FAIL_TO_RENEW 04-01 04-01 monthly grace 04-01..04-17",
                    "ended REFUND 04-05 04-04 monthly grace 04-01..04-04",
                ]
            )
        }
    }

    @Test func `an event is named once, even if it holds both the purchase and its revocation`()
        throws
    {
        let history = try RecordedStory(
            """
            03-20 @03-19 once coins 03-01 kind=Consumable revoked=03-10
            + @03-19 notice REFUND uuid=n1 about=03-01
            """
        ).history
        let instant = try TimelineText.instant("03-15")
        #expect(
            chain(Explanation([history], at: instant)) == ["ended REFUND 03-19 03-10 coins"]
        )
    }

    @Test func `without access, the requested purchase gives the reason`() throws {
        func story(_ stream: String, _ text: String) throws -> RecordedHistory {
            let id = StreamID(environment: .production, originalTransactionId: stream)
            let facts = try TimelineText(text, stream: id).facts
            return RecordedStory.history(
                of: facts.map { (recordedAt: $0.asOf, payload: 1, fact: $0) }
            )
        }
        let coins = try story("1", "@03-01 once coins 03-01 kind=Consumable")
        let gone = try story("2", "@03-03 once gone 03-02 kind=Consumable revoked=03-03")
        let instant = try TimelineText.instant("03-15")
        func reason(_ asked: StreamID?) -> NoAccessReason? {
            Explanation([coins, gone], at: instant, askedFor: asked).entitled.reason
        }
        #expect(reason(coins.stream) == .notJudged && reason(gone.stream) == .refunded)
        #expect(reason(nil) == .refunded)
    }
}
