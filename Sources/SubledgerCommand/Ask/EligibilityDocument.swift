import CommandSupport
import Events
import Projections

/// The JSON of `eligibility`.
struct EligibilityDocument: Encodable {
    let id: String
    let environment: String
    let at: Int64
    let groups: [Group]
    /// All subscriptions that were looked at, each with what makes it the customer's.
    let subscriptions: JSONTree

    /// The offers of one group.
    struct Group: Encodable {
        let subscriptionGroupIdentifier: GroupName
        let subscriber: String
        let introductory: Verdict
        let promotional: Verdict
        let winBack: Verdict
    }

    /// Whether one kind of offer may be made, and the rule that says so.
    struct Verdict: Encodable {
        let eligible: Bool
        let rule: String
        let blocking: Blocking?
        let listedByApple: Listed?
    }

    /// The offers that Apple lists, the best one first.
    struct Listed: Encodable {
        let eligibleWinBackOfferIds: [String]
        let originalTransactionId: String
        let asOf: Int64
        let positions: [PositionValue]

        init(_ list: WinBackList, lanes: LaneCount) {
            eligibleWinBackOfferIds = list.offerIds
            originalTransactionId = list.stream.originalTransactionId
            asOf = list.asOf.milliseconds
            positions = [PositionValue(list.position, lanes: lanes)]
        }
    }

    /// The purchase that stands in the way.
    struct Blocking: Encodable {
        let originalTransactionId: String
        let transactionIds: [String]
        let productId: String
        let purchaseDate: Int64
        let expiresDate: Int64
        let positions: [PositionValue]

        init(_ blocking: BlockingTransaction, lanes: LaneCount) {
            originalTransactionId = blocking.stream.originalTransactionId
            transactionIds = blocking.transactionIds
            productId = blocking.productId
            purchaseDate = blocking.purchaseDate.milliseconds
            expiresDate = blocking.expiresDate.milliseconds
            positions = blocking.positions.map { PositionValue($0, lanes: lanes) }
        }
    }

    init(
        _ groups: [GroupEligibility],
        _ question: CustomerOptions,
        _ known: KnownCustomer,
        at instant: Instant
    ) {
        let lanes = known.lanes
        id = question.id
        subscriptions = known.everGrounds.document
        environment = question.environment
        at = instant.milliseconds
        func verdict(_ ruling: Ruling) -> Verdict {
            Verdict(
                eligible: ruling.isEligible,
                rule: ruling.rule,
                blocking: ruling.blocking.map { Blocking($0, lanes: lanes) },
                listedByApple: ruling.list.map { Listed($0, lanes: lanes) }
            )
        }
        self.groups = groups.map { group in
            Group(
                subscriptionGroupIdentifier: GroupName(group.group),
                subscriber: group.subscriber.rawValue,
                introductory: verdict(Ruling(group.introductory)),
                promotional: verdict(Ruling(group.promotional)),
                winBack: verdict(Ruling(group.winBack))
            )
        }
    }

    /// The same for people.
    static func print(
        _ groups: [GroupEligibility],
        _ question: CustomerOptions,
        _ known: KnownCustomer,
        at instant: Instant
    ) {
        let lanes = known.lanes
        Terminal.print("\(question.id) · \(question.environment) · \(instant.clock) UTC")
        guard !groups.isEmpty else {
            Terminal.print(
                "no subscription is known of this customer, and only subscriptions have offers; "
                    + "--group asks about a group that is not known"
            )
            return
        }
        var table = TextTable(["group", "offer", "eligible", "rule", "because of"])
        for group in groups {
            let rulings = [
                ("introductory", Ruling(group.introductory)),
                ("promotional", Ruling(group.promotional)), ("win-back", Ruling(group.winBack)),
            ]
            for (index, (offer, ruling)) in rulings.enumerated() {
                table.add([
                    index == 0 ? "\(group.group)" : "", offer, ruling.isEligible ? "yes" : "no",
                    ruling.rule,
                    ruling.blocking.map { text($0, lanes) }
                        ?? ruling.list.map { text($0, lanes) } ?? "",
                ])
            }
            table.add(["", "offer code", "as \(group.subscriber.rawValue)", "", ""])
        }
        Terminal.print(table.text)
        for line in known.everGrounds.lines { Terminal.print(line) }
    }

    private static func text(_ list: WinBackList, _ lanes: LaneCount) -> String {
        let offers = list.offerIds.isEmpty ? "no offer" : list.offerIds.joined(separator: ", ")
        return "\(offers) as of \(list.asOf.clock) (\(list.stream.originalTransactionId) "
            + "\([list.position].marks(lanes: lanes)))"
    }

    private static func text(_ blocking: BlockingTransaction, _ lanes: LaneCount) -> String {
        let positions = blocking.positions.marks(lanes: lanes)
        return "\(blocking.productId) \(blocking.purchaseDate.clock) → "
            + "\(blocking.expiresDate.clock) (\(blocking.stream.originalTransactionId) \(positions))"
    }
}

/// A verdict about one kind of offer in the words of the command line.
struct Ruling {
    let isEligible: Bool
    let rule: String
    let blocking: BlockingTransaction?
    var list: WinBackList?

    init(_ verdict: IntroductoryOfferEligibility) {
        isEligible = verdict.isEligible
        (rule, blocking) =
            switch verdict {
            case .neverSubscribed: ("neverSubscribed", nil)
            case .usedIntroductoryOffer(let used): ("usedIntroductoryOffer", used)
            case .refunded(let refund): ("refunded", refund)
            case .currentlySubscribed(let current): ("currentlySubscribed", current)
            case .inGracePeriod(let grace): ("inGracePeriod", grace)
            case .lapsed: ("lapsed", nil)
            }
    }

    init(_ verdict: PromotionalOfferEligibility) {
        isEligible = verdict.isEligible
        rule = verdict == .subscriber ? "subscriber" : "neverSubscribed"
        blocking = nil
    }

    init(_ verdict: WinBackOfferEligibility) {
        isEligible = verdict.isEligible
        (rule, blocking) =
            switch verdict {
            case .neverSubscribed: ("neverSubscribed", nil)
            case .currentlySubscribed(let current): ("currentlySubscribed", current)
            case .inGracePeriod(let grace): ("inGracePeriod", grace)
            case .listedByApple: ("listedByApple", nil)
            case .inBillingRetry(let retry): ("inBillingRetry", retry)
            case .awaitingRenewal(let awaiting): ("awaitingRenewal", awaiting)
            case .churned: ("churned", nil)
            }
        if case .listedByApple(let list) = verdict { self.list = list }
    }
}
