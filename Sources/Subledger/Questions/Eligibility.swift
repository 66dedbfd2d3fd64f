public import EventLog
public import Events
public import Projections

/// Which offers a customer is eligible for.
package enum EligibilityQuestion: Question {
    package static let name = "eligibility"
    package static let abstract =
        "Which offers a customer is eligible for, and which purchases rule out others."
    package static let discussion = """
        Answers per subscription group: an introductory offer used for one product is used for \
        its whole group. Each answer names the first rule that applies, and the purchase that \
        it applies to. Apple makes the decision at the time of purchase; this answer is more \
        cautious and lets a refund block offers. A customer never seen before counts as one \
        who has bought nothing, and is eligible; one of whom everything was erased is unknown \
        (exit 4). --product selects the group of a product, according to the catalog.
        """
    package static let meaningOfAt = "The instant to answer for. Default: now."
    package static let parameters: [QuestionParameter: String] = [
        .group: "Only this subscription group, even if it is unknown. Default: all known groups.",
        .product: "Only the subscription group of this product; repeat for more.",
    ]
    package static let repeated: Set<QuestionParameter> = [.product]

    package static func answer(
        _ asked: QuestionInput,
        from ledger: Ledger
    ) async throws -> EligibilityDocument {
        try await ledger.eligibility(
            of: asked.subject,
            at: asked.at ?? asked.now,
            group: asked.values[.group]?.first,
            products: asked.values[.product, default: []],
            knownAt: asked.knownAt
        )
    }

    package static func notes(_ answer: EligibilityDocument) -> [String] {
        answer.erasures.compactMap(\.line)
    }

    package static func text(_ answer: EligibilityDocument, _ asked: QuestionInput) -> [Block] {
        let title = "\(answer.id) · \(answer.environment) · \(answer.at.zonedClock)"
        let nothing =
            answer.isKnown
            ? []
            : [
                "eligible, nothing bought: no purchase of \(answer.id) is known in "
                    + "\(answer.environment)"
            ]
        let links = answer.linkLines
        guard !answer.groups.isEmpty else {
            let none =
                "no subscription of this customer is known, and only subscriptions have offers; to "
                + "ask about an unknown group, use --group"
            let lines = answer.isKnown ? [title, none] : [title] + nothing + links
            return lines.map { .line($0) }
        }
        let asked = answer.products.map {
            "\($0.productId) is of group \($0.subscriptionGroupIdentifier)"
        }
        let sentences = answer.groups.prefix(EligibilityDocument.sentencesMax).map(\.sentence)
        return sentences.map { .line($0) } + [.gap]
            + ([title] + nothing + asked).map { .line($0) } + [
                .table(["group", "offer", "eligible", "rule", "because of"], answer.cells)
            ] + (answer.subscriptions.lines + links).map { .line($0) }
    }
}

/// Which offers a customer is eligible for, and what prevents others.
public struct EligibilityDocument: Codable, Hashable, Sendable {
    /// The id that was asked for.
    public let id: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// The instant asked about.
    public let at: Instant
    /// Whether anything is known of the customer; if not, they count as having bought nothing.
    public let isKnown: Bool
    /// The products that were asked about, each with its group; empty if none was.
    public let products: [Product]
    /// The subscription groups.
    public let groups: [Group]
    /// All subscriptions that were considered, each with the reason it counts as the customer's.
    public let subscriptions: [SubscriptionGround]
    /// Links to the customer that were not in force at the instant: subscriptions of a link that
    /// had ended still count, those of a link that begins later do not.
    public let linksNotInForce: [LinkNotInForce]
    /// What was erased of the subscriptions.
    public let erasures: [ErasureMark]

    /// A product, and the group whose offers apply to it.
    public struct Product: Codable, Hashable, Sendable {
        /// Apple's identifier of the product.
        public let productId: String
        /// Apple's identifier of its subscription group.
        public let subscriptionGroupIdentifier: String
    }

    /// The offers of one group.
    public struct Group: Codable, Hashable, Sendable {
        /// Apple's identifier; nil if no format named it.
        public let subscriptionGroupIdentifier: String?
        /// Its name in the newest catalog; nil if there is none.
        public let groupName: String?
        /// The subscription that stands for a group that no format named; otherwise nil.
        public let originalTransactionId: String?
        /// How an offer code classifies the customer: `new`, `existing` or `expired`.
        public let subscriber: String
        /// The introductory offer.
        public let introductory: Verdict
        /// Promotional offers.
        public let promotional: Verdict
        /// Offers to win back.
        public let winBack: Verdict
    }

    /// Whether one kind of offer may be made, and the rule that decides it.
    public struct Verdict: Codable, Hashable, Sendable {
        /// Whether the customer is eligible.
        public let eligible: Bool
        /// The first rule that applies.
        public let rule: String
        /// The purchase that prevents the offer.
        public let blocking: BlockingTransaction?
        /// The offers that Apple lists; nil if it lists none.
        public let listedByApple: WinBackList?
    }
}

extension Ledger {
    /// Which offers a customer is eligible for, and what prevents others.
    ///
    /// - Parameters:
    ///   - subject: The customer; production if it names no environment.
    ///   - instant: The instant asked about.
    ///   - group: Only this subscription group, by its identifier or by its name in the catalog;
    ///     nil for all that are known.
    ///   - products: Only the groups of these products, taken from the catalog in force at the
    ///     instant, or otherwise from what the customer bought; empty for all groups.
    ///   - knownAt: How much of the log is used.
    /// - Returns: The answer; a customer of whom nothing is known counts as having bought nothing.
    /// - Throws: As `access`, except `unknownId`; `unknownProduct` if the group of a product is not
    ///   known, `unknownGroup` if the catalog does not contain the group.
    public func eligibility(
        of subject: SubjectID,
        at instant: Instant,
        group: String? = nil,
        products: [String] = [],
        knownAt: KnownAt = .latest
    ) async throws -> EligibilityDocument {
        let known = try await known(of: subject, at: instant, knownAt: knownAt, orNew: true)
        let offers = OfferEligibility(
            known.everTimelines,
            environment: known.environment,
            catalogs: known.catalogs
        )
        let asked = try products.map { productId in
            guard let found = offers.group(ofProduct: productId, at: instant)?.identifier else {
                throw QuestionError(
                    .unknownProduct,
                    known.catalogs.versions.isEmpty
                        ? "no catalog was imported, so the subscription group of \(productId) is "
                            + "unknown; name the group instead"
                        : "the catalog of \(instant) does not contain the subscription "
                            + "\(productId); name the group instead"
                )
            }
            return EligibilityDocument.Product(
                productId: productId,
                subscriptionGroupIdentifier: found
            )
        }
        var named = Set(asked.map { SubscriptionGroup.identified($0.subscriptionGroupIdentifier) })
        if let group {
            let scope = try KnownProducts(known).known(.group(.identified(group)))
            if case .group(let found) = scope { named.insert(found) }
        }
        let groups =
            named.isEmpty
            ? offers.groups(at: instant)
            : named.sorted().map { offers.eligibility(in: $0, at: instant) }
        return EligibilityDocument(
            id: known.id,
            environment: known.environment,
            at: instant,
            isKnown: !known.everTimelines.isEmpty,
            products: asked,
            groups: groups.map { EligibilityDocument.Group($0, known.catalogs) },
            subscriptions: known.everGrounds.subscriptions,
            linksNotInForce: known.everGrounds.linksNotInForce,
            erasures: known.erasures
        )
    }
}

extension EligibilityDocument.Group {
    init(_ group: GroupEligibility, _ catalogs: CatalogHistory) {
        subscriptionGroupIdentifier = group.group.identifier
        groupName = catalogs.name(of: group.group)
        if case .ofStream(let stream) = group.group {
            originalTransactionId = stream.originalTransactionId
        } else {
            originalTransactionId = nil
        }
        subscriber = group.subscriber.rawValue
        introductory = EligibilityDocument.Verdict(group.introductory)
        promotional = EligibilityDocument.Verdict(group.promotional)
        winBack = EligibilityDocument.Verdict(group.winBack)
    }

    /// The name of the group, as text.
    package var name: String {
        GroupWords.text(
            groupName,
            subscriptionGroupIdentifier ?? "of \(originalTransactionId ?? "")"
        )
    }

    /// Whether there is a free trial, or another introductory offer, ready to paste into a ticket.
    fileprivate var sentence: String {
        guard !introductory.eligible else {
            return "No introductory offer, such as a free trial, was used in the group \(name), so "
                + "one may be made."
        }
        let cause = introductory.blocking.map { purchase in
            let day = purchase.purchaseDate.dayWords ?? purchase.purchaseDate.clock
            return switch introductory.rule {
            case "currentlySubscribed", "inGracePeriod":
                ": the customer is subscribed to \(purchase.productId), bought on \(day)"
            case "refunded": ": \(purchase.productId), bought on \(day), was refunded"
            default:
                ": one was used for \(purchase.productId) on \(day), and it counts for the whole "
                    + "group"
            }
        }
        return "No introductory offer, and so no free trial, in the group \(name)\(cause ?? "")."
    }

    /// The kinds of offers as text, each with its verdict.
    package var verdicts: [(offer: String, verdict: EligibilityDocument.Verdict)] {
        [("introductory", introductory), ("promotional", promotional), ("win-back", winBack)]
    }
}

extension EligibilityDocument.Verdict {
    fileprivate init(_ verdict: IntroductoryOfferEligibility) {
        (rule, blocking) =
            switch verdict {
            case .neverSubscribed: ("neverSubscribed", nil)
            case .usedIntroductoryOffer(let used): ("usedIntroductoryOffer", used)
            case .refunded(let refund): ("refunded", refund)
            case .currentlySubscribed(let current): ("currentlySubscribed", current)
            case .inGracePeriod(let grace): ("inGracePeriod", grace)
            case .lapsed: ("lapsed", nil)
            }
        eligible = verdict.isEligible
        listedByApple = nil
    }

    fileprivate init(_ verdict: PromotionalOfferEligibility) {
        eligible = verdict.isEligible
        rule = verdict == .subscriber ? "subscriber" : "neverSubscribed"
        blocking = nil
        listedByApple = nil
    }

    fileprivate init(_ verdict: WinBackOfferEligibility) {
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
        eligible = verdict.isEligible
        if case .listedByApple(let list) = verdict {
            listedByApple = list
        } else {
            listedByApple = nil
        }
    }
}

extension CatalogHistory {
    /// The name of a group in the newest version that has it; nil if there is none.
    func name(of group: SubscriptionGroup) -> String? {
        guard let identifier = group.identifier else { return nil }
        return versions.reversed().lazy.flatMap(\.subscriptions).first { product in
            product.subscriptionGroupIdentifier.utf8.elementsEqual(identifier.utf8)
                && product.groupName != nil
        }?.groupName
    }

    /// A product for sentences: its name in the newest version that has one, with its id if
    /// another product has the same name; the id alone if there is no name.
    package func words(ofProduct productId: String) -> String {
        for version in versions.reversed() {
            guard let name = version.product(productId)?.name else { continue }
            let named =
                version.subscriptions.map(ProductCatalog.Product.subscription)
                + version.otherProducts.map(ProductCatalog.Product.other)
            return named.count { $0.name == name } > 1 ? GroupWords.text(name, productId) : name
        }
        return productId
    }
}

extension ProductCatalog.Product {
    // The name that customers see; otherwise the developer's own.
    fileprivate var name: String? {
        let names =
            switch self {
            case .subscription(let product): [product.displayName, product.referenceName]
            case .other(let product): [product.displayName, product.referenceName]
            }
        return names.compactMap { $0 }.first { !$0.isEmpty }
    }
}

extension EligibilityDocument {
    /// The most groups about which a sentence is written.
    fileprivate static let sentencesMax = 3

    fileprivate var cells: [[String]] {
        groups.flatMap { group in
            group.verdicts.enumerated().map { index, verdict in
                let (offer, verdict) = verdict
                return [
                    index == 0 ? group.name : "", offer, verdict.eligible ? "yes" : "no",
                    verdict.rule, verdict.blocking?.text ?? verdict.listedByApple?.text ?? "",
                ]
            } + [["", "offer code", "as \(group.subscriber)", "", ""]]
        }
    }

    fileprivate var linkLines: [String] {
        linksNotInForce.map { link in
            link.isLater
                ? link.line : link.line + "; it still counts: an offer can be used only once"
        }
    }
}

extension WinBackList {
    fileprivate var text: String {
        let offers =
            eligibleWinBackOfferIds.isEmpty
            ? "no offer" : eligibleWinBackOfferIds.joined(separator: ", ")
        return "\(offers) as of \(asOf.clock) (\(originalTransactionId) \(positions.marks))"
    }
}

extension BlockingTransaction {
    fileprivate var text: String {
        "\(productId) \(purchaseDate.clock) → \(expiresDate.clock) (\(originalTransactionId) "
            + "\(positions.marks))"
    }
}
