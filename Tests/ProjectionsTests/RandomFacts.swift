import Events
import TestSupport

/// Generates facts over alphabets so small that they collide in every way: keys, as-ofs, values,
/// ids, and texts that Swift considers equal although their bytes differ.
struct RandomFacts {
    var random: SeededGenerator
    /// Whether facts from receipts, verifyReceipt and version 1 notifications occur as well.
    let hasOldFormats: Bool

    init(seed: UInt64, hasOldFormats: Bool = false) {
        random = SeededGenerator(seed: seed)
        self.hasOldFormats = hasOldFormats
    }

    static let streams = [
        StreamID(environment: .production, originalTransactionId: "1000"),
        StreamID(environment: .sandbox, originalTransactionId: "1000"),
    ]

    mutating func facts(_ count: Int) -> [Fact] {
        var facts: [Fact] = []
        while facts.count < count {
            facts += hasOldFormats && chance(8) ? receipt(count - facts.count) : [fact()]
        }
        return facts
    }

    /// Duplicates some facts, shuffles all of them and splits them into batches.
    mutating func deliveries(of facts: [Fact]) -> [[Fact]] {
        let repeated = facts.filter { _ in Bool.random(using: &random) }
        var batches: [[Fact]] = [[]]
        for fact in (facts + repeated).shuffled(using: &random) {
            if Int.random(in: 0..<4, using: &random) == 0 { batches.append([]) }
            batches[batches.count - 1].append(fact)
        }
        return batches
    }

    /// One of these facts, repeated as of some hour.
    mutating func poll(of facts: [Fact]) -> Fact {
        let fact = pick(facts)
        let hour = Int64.random(in: 0...400, using: &random) * 3_600_000
        return Fact(
            stream: fact.stream,
            bundleId: fact.bundleId,
            kind: fact.kind,
            purchaseDate: fact.purchaseDate,
            expiresDate: fact.expiresDate,
            asOf: Instant(milliseconds: day(0).milliseconds + hour),
            content: fact.content
        )
    }

    mutating func fact() -> Fact {
        let stream = pick(chance(8) ? RandomFacts.streams : [RandomFacts.streams[0]])
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<9: return transaction(stream)
        case 9: return oneTimePurchase(stream)
        case 10..<16: return renewal(stream)
        default: return notification(stream)
        }
    }

    private mutating func transaction(_ stream: StreamID) -> Fact {
        if chance(4) { return seatFact(stream, isHuge: chance(9)) }
        var content = Content(format: transactionFormat())
        content[.productId] = pick([.text("a"), .text("a"), .text("b"), .text("e\u{301}")])
        content[.transactionId] = pick([nil, .text(""), .text("t1"), .text("t2"), .text("t3")])
        content[.webOrderLineItemId] = pick([nil, nil, .text("0"), .text("1"), .text("2")])
        content[.isUpgraded] = pick([nil, nil, .boolean(true), .boolean(false)])
        if chance(3) { addRevocation(to: &content) }
        if chance(3) { addOffer(to: &content) }
        if chance(2) {
            content[.price] = pick([nil, .integer(0), .integer(990), .integer(.max)])
            content[.currency] = pick([nil, .text("EUR"), .text("USD")])
        }
        if chance(4) {
            content[.inAppOwnershipType] = pick([
                .text("PURCHASED"), .text("FAMILY_SHARED"), .text("ASSIGNED"),
            ])
        }
        if chance(2) {
            content[.transactionReason] = pick([.text("PURCHASE"), .text("RENEWAL")])
        }
        if chance(3) { addPerson(to: &content) }
        if chance(4) { addBillingPlan(to: &content) }
        if chance(5) { addItems(to: &content) }
        if chance(8) { addBundle(to: &content) }
        let key = key()
        return fact(stream, .transaction, key.start, key.end, content)
    }

    // Few enough that extensions, restores and two purchases in one second occur.
    mutating func key() -> (start: Instant, end: Instant?) {
        let start = day(pick([0, 0, 1, 2, 3, 5]))
        guard !chance(12) else { return (start, nil) }
        let length: Int64 = 86_400_000 * pick([2, 2, 3, 4]) + pick([0, 0, 612])
        return (start, Instant(milliseconds: start.milliseconds + length))
    }

    mutating func addRevocation(to content: inout Content) {
        content[.revocationDate] = pick([.instant(day(2)), .instant(day(4)), .instant(day(0))])
        content[.revocationReason] = pick([nil, .integer(0), .integer(1), .integer(2)])
        content[.revocationType] = pick([
            nil, .text("REFUND_FULL"), .text("REFUND_PRORATED"), .text("FAMILY_REVOKE"),
            .text("ASSIGNMENT_REVOKE"),
        ])
        content[.revocationPercentage] = pick([
            nil, .integer(50_000), .integer(100_000), .integer(-1),
        ])
    }

    private mutating func addOffer(to content: inout Content) {
        content[.offerType] = pick([
            .integer(1), .integer(2), .integer(4), .integer(5), .integer(-1),
        ])
        content[.offerDiscountType] = pick([nil, .text("FREE_TRIAL"), .text("PAY_UP_FRONT")])
        content[.offerIdentifier] = pick([nil, .text("\u{E9}"), .text("e\u{301}")])
        content[.offerPeriod] = pick([nil, nil, .text("P1W"), .text("P1M")])
    }

    private mutating func renewal(_ stream: StreamID) -> Fact {
        var content = Content(format: renewalFormat())
        content[.renewalDate] = pick([nil, .instant(day(2)), .instant(day(3)), .instant(day(5))])
        content[.gracePeriodExpiresDate] = pick([
            nil, nil, .instant(day(4)), .instant(day(7)), .instant(day(5)),
        ])
        content[.autoRenewStatus] = pick([nil, .integer(0), .integer(1), .integer(1)])
        content[.isInBillingRetryPeriod] = pick([nil, nil, .boolean(true), .boolean(false)])
        content[.expirationIntent] = pick([
            nil, nil, nil, .integer(1), .integer(2), .integer(3), .integer(4), .integer(5),
            .integer(6), .integer(9),
        ])
        content[.priceIncreaseStatus] = pick([nil, nil, .integer(0), .integer(1)])
        content[.productId] = pick([nil, .text("a"), .text("b")])
        content[.autoRenewProductId] = pick([
            nil, .text("a"), .text("b"), .text("\u{E9}"), .text("e\u{301}"),
        ])
        if chance(4) { addOffer(to: &content) }
        if chance(3) { addPerson(to: &content) }
        if chance(3) { addNextCharge(to: &content) }
        if chance(4) { addNextSeats(to: &content) }
        return fact(stream, .renewal, nil, nil, content)
    }

    private mutating func notification(_ stream: StreamID) -> Fact {
        var content = Content(format: notificationFormat())
        content[.notificationType] = .text(pick(RandomFacts.notificationTypes))
        // Version 2 always has one, version 1 never: there the type is the name.
        let uuids: [FieldValue] = [.text("n1"), .text("n1"), .text("n2"), .text("n3")]
        let uuid = pick(uuids)
        if content.format == .signedNotification { content[.notificationUUID] = uuid }
        content[.subtype] = chance(2) ? nil : .text(pick(RandomFacts.subtypes))
        content[.consumptionRequestReason] = pick([
            nil, nil, .text("UNINTENDED_PURCHASE"), .text("LEGAL"),
        ])
        content[.status] = pick([
            nil, .integer(1), .integer(2), .integer(3), .integer(4), .integer(5), .integer(9),
        ])
        guard !chance(3) else { return fact(stream, .notification, nil, nil, content) }
        content[.productId] = pick([nil, .text("a"), .text("b")])
        let key = key()
        return fact(stream, .notification, key.start, key.end, content)
    }

    mutating func fact(
        _ stream: StreamID,
        _ kind: Kind,
        _ purchaseDate: Instant?,
        _ expiresDate: Instant?,
        _ content: Content
    ) -> Fact {
        Fact(
            stream: stream,
            bundleId: "app",
            kind: kind,
            purchaseDate: purchaseDate,
            expiresDate: expiresDate,
            asOf: Instant(
                milliseconds: day(Int.random(in: 0...6, using: &random)).milliseconds
                    + pick([0, 0, 0, 1])
            ),
            content: content
        )
    }

    func day(_ number: Int) -> Instant { RandomFacts.day(Int64(number)) }

    /// A day that the facts use, counted from the first.
    static func day(_ number: Int64) -> Instant {
        Instant(milliseconds: 1_700_000_000_000 + Int64(number) * 86_400_000)
    }

    mutating func chance(_ oneIn: Int) -> Bool {
        Int.random(in: 0..<oneIn, using: &random) == 0
    }

    mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &random)]
    }
}
