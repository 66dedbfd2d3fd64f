public import EventLog
public import Events
public import Projections

/// Whether a customer has access, and to what.
package enum AccessQuestion: Question {
    package static let name = "access"
    package static let abstract =
        "Whether a customer has access, and to what; exit 0 yes, 1 no, 4 unknown."
    package static let discussion = """
        Considers all subscriptions of the customer, in all apps: when one ends, access from \
        the others remains. If the answer relies on a link, or on what Apple states about the \
        account, it says so. Within a group, the product of the highest level in the catalog \
        counts, otherwise the period that began last. Family sharing gives access. A sandbox \
        purchase gives no access in production, except with --sandbox-customer and \
        --sandbox-from. If only one other environment knows ID, the answer is no, and the text \
        lists what ID has there. A non-consumable that was bought and not revoked is owned: access \
        without end. Consumables and non-renewing subscriptions are listed but not judged: \
        only the app knows what is left of them. A refunded or revoked purchase of any type \
        gives no access. The type is Apple's or, if a receipt does not name it, the catalog's.

        --content lists which issues of a magazine are unlocked: the newest one when an \
        unbroken run of periods began, and each one published during the run. The file \
        contains a JSON array of {"name","publishedAt"}, where publishedAt is a date or \
        milliseconds, or lines of the form DATE NAME. Exit 0 if any issue is unlocked. A \
        refunded purchase unlocks nothing, as if it had never been bought. With --with and \
        {"refundIsRetroactive":false}, issues that it unlocked before the refund stay \
        unlocked.
        """
    package static let meaningOfAt = "The instant to answer for. Default: now."
    package static let parameters: [QuestionParameter: String] = [
        .product: "Access to this product only.",
        .group: "Access to this subscription group only.",
    ]

    package static func fault(_ values: [QuestionParameter: [String]]) -> String? {
        values[.product] == nil || values[.group] == nil
            ? nil : "product and group cannot be combined: a product belongs to one group"
    }

    package static func answer(
        _ asked: QuestionInput,
        from ledger: Ledger
    ) async throws -> AccessDocument {
        let answer = try await ledger.access(
            of: asked.subject,
            at: asked.at ?? asked.now,
            to: scope(asked.values),
            knownAt: asked.knownAt,
            sandbox: asked.sandbox
        )
        try await ledger.checkKnown(answer, of: asked.subject, knownAt: asked.knownAt)
        return answer
    }

    /// The access that is asked about.
    package static func scope(_ values: [QuestionParameter: [String]]) -> AccessScope {
        if let product = values[.product]?.first { return .product(product) }
        return values[.group]?.first.map { .group(.identified($0)) } ?? .anything
    }

    package static func notes(_ answer: AccessDocument) -> [String] {
        answer.erasures.compactMap(\.line)
    }

    package static func text(_ answer: AccessDocument, _ asked: QuestionInput) -> [Block] {
        answer.text
    }
}

/// Whether a customer has access at an instant, and to what.
public struct AccessDocument: Codable, Hashable, Sendable {
    /// The id that was asked for.
    public let id: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// The instant asked about.
    public let at: Instant
    /// Whether anything is known of the customer in the environment; false for one who never bought
    /// there, who bought only later, or of whom everything was erased.
    public let isKnown: Bool
    /// The answer.
    public let access: Bool
    /// The end of the access, as far as it is known; nil if there is no access, or no end.
    public let until: Instant?
    /// The products that give it, each once, in the order of their bytes.
    public let products: [String]
    /// The subscription groups with access.
    public let groups: [Group]
    /// The times with access through subscriptions, merged.
    public let intervals: [Range<Instant>]
    /// All subscriptions that were considered, each with the reason it counts as the customer's.
    public let subscriptions: [SubscriptionGround]
    /// Subscriptions that are joined to several customers, and so give access to none of them.
    public let ambiguous: [AmbiguousSubscription]
    /// Links to the customer that were not in force at the instant; the subscriptions they name do
    /// not count.
    public let linksNotInForce: [LinkNotInForce]
    /// The non-consumables that are owned.
    public let owned: [OneTimePurchaseDocument]
    /// The one-time purchases for which only the app can decide whether they give access.
    public let notJudged: [OneTimePurchaseDocument]
    /// The one-time purchases that Apple had revoked.
    public let revoked: [OneTimePurchaseDocument]
    /// Erasures that removed something about the subscriptions.
    public let erasures: [ErasureMark]
    /// The rule by which a sandbox purchase gives access in production; nil if none does, and
    /// always nil without a `SandboxPolicy`.
    public internal(set) var sandboxRule: SandboxRule?
    /// The only environment that knows the customer, if production does not; otherwise nil.
    ///
    /// What was bought there does not count in production.
    public internal(set) var elsewhere: Elsewhere?

    /// A subscription that is joined to several customers, and so counts for none of them.
    public struct AmbiguousSubscription: Codable, Hashable, Sendable {
        /// Its id.
        public let originalTransactionId: String
        /// The customers.
        public let customers: [String]
    }

    /// The answer of another environment.
    public struct Elsewhere: Codable, Hashable, Sendable {
        /// The environment.
        public let environment: StoreEnvironment
        /// Whether there is access in it.
        public let access: Bool
        /// The end of that access, as far as it is known; nil if there is no access, or no end.
        public let until: Instant?
        /// The products that give it.
        public let products: [String]
    }

    /// A group with access: the period that counts, then all active periods.
    public struct Group: Codable, Hashable, Sendable {
        /// Apple's identifier; nil if no format named it.
        public let subscriptionGroupIdentifier: String?
        /// Its name in the newest catalog; nil if there is none.
        public let groupName: String?
        /// The period that counts.
        public let counting: Period
        /// All active periods, starting with the one that counts.
        public let active: [Period]
    }

    /// A period that gives access.
    public struct Period: Codable, Hashable, Sendable {
        /// The subscription.
        public let originalTransactionId: String
        /// The app it belongs to.
        public let bundleId: String?
        /// What was bought.
        public let productId: String
        /// Apple's `purchaseDate`.
        public let purchaseDate: Instant
        /// Apple's `expiresDate`.
        public let expiresDate: Instant
        /// The first instant with access.
        public let validFrom: Instant
        /// The end of the access, exclusive.
        public let validTo: Instant
        /// `trial`, `intro`, `offer`, `paid` or `grace`.
        public let kind: String
        /// Whether it was bought by a family member.
        public let familyShared: Bool
        /// The events it is based on.
        public let positions: [Position]
    }
}

/// What access is judged by, for any customer or subscription.
struct AccessInput: Sendable {
    /// The instant asked about.
    let instant: Instant
    /// The access that is asked about.
    let scope: AccessScope
    /// How much of the log is used.
    let knownAt: KnownAt
    /// What counts as access.
    let policy: PolicyDocument
}

extension Ledger {
    /// Whether a customer has access at an instant, over all their subscriptions and one-time
    /// purchases in all apps.
    ///
    /// - Parameters:
    ///   - subject: The customer; production if it names no environment.
    ///   - instant: The instant asked about.
    ///   - scope: The access that is asked about; a group by its identifier or by its name in the
    ///     catalog.
    ///   - knownAt: How much of the log is used.
    ///   - policy: What counts as access, and which versions of the catalog count.
    ///   - sandbox: The customers for whom sandbox purchases count if production gives no access.
    /// - Returns: The answer; no access, and `isKnown` false, if nothing is known of the customer.
    /// - Throws: `QuestionError` if the id is ambiguous, no catalog contains the product or the
    ///   group, or `knownAt` names a position that does not exist; `PolicyError`; `EventLogError`;
    ///   `CatalogError`.
    public func access(
        of subject: SubjectID,
        at instant: Instant,
        to scope: AccessScope = .anything,
        knownAt: KnownAt = .latest,
        under policy: PolicyDocument = PolicyDocument(),
        sandbox: SandboxPolicy = .never
    ) async throws -> AccessDocument {
        let question = AccessInput(
            instant: instant,
            scope: scope,
            knownAt: knownAt,
            policy: policy
        )
        return try await log.onOneConnection {
            try await answer(question, of: subject, counting: sandbox)
        }
    }

    /// The answer for one environment; for production, also if only another one knows the customer.
    func answer(_ question: AccessInput, of subject: SubjectID) async throws -> AccessDocument {
        var answer = try await answer(question, ofOne: subject)
        guard !answer.isKnown, let other = try await elsewhere(subject) else { return answer }
        let found = try await self.answer(question, ofOne: other)
        guard found.isKnown else { return answer }
        answer.elsewhere = AccessDocument.Elsewhere(
            environment: found.environment,
            access: found.access,
            until: found.until,
            products: found.products
        )
        return answer
    }

    private func answer(
        _ question: AccessInput,
        ofOne subject: SubjectID
    ) async throws -> AccessDocument {
        let known = try await known(
            of: subject,
            at: question.instant,
            knownAt: question.knownAt,
            orUnknown: true
        )
        let judged = try known.under(question.policy)
        return AccessDocument(
            judged,
            at: question.instant,
            to: try KnownProducts(judged).known(question.scope)
        )
    }
}

extension AccessDocument {
    fileprivate init(_ known: Known, at instant: Instant, to scope: AccessScope) {
        let entitlement = known.entitlement
        let active = entitlement.active(at: instant, to: scope)
        let spans = entitlement.intervals(of: scope)
        let possessions = entitlement.owned(at: instant, to: scope)
        id = known.id
        environment = known.environment
        at = instant
        isKnown = known.isKnown
        access = !active.isEmpty || !possessions.isEmpty
        until = possessions.isEmpty ? spans.first { $0.contains(instant) }?.upperBound : nil
        products = (active.map(\.period.productId) + possessions.map(\.productId)).uniqueByBytes
        let asked = Set(active)
        let found = entitlement.groups(at: instant).filter {
            $0.active.contains(where: asked.contains)
        }
        groups = found.map { Group($0, known.grounds, known.catalogs) }
        intervals = spans
        subscriptions = known.grounds.subscriptions
        ambiguous = known.grounds.ambiguous
        linksNotInForce = known.grounds.linksNotInForce
        owned = possessions.map { OneTimePurchaseDocument($0) }
        notJudged = entitlement.notJudged(at: instant, to: scope).map {
            OneTimePurchaseDocument($0)
        }
        revoked = entitlement.revoked(at: instant, to: scope).map {
            OneTimePurchaseDocument($0)
        }
        erasures = known.erasures
    }
}

extension AccessDocument.Group {
    fileprivate init(
        _ group: GroupAccess,
        _ grounds: AnswerGrounds,
        _ catalogs: CatalogHistory
    ) {
        subscriptionGroupIdentifier = group.group.identifier
        groupName = catalogs.name(of: group.group)
        counting = AccessDocument.Period(group.counting, grounds)
        active = group.active.map { AccessDocument.Period($0, grounds) }
    }
}

extension AccessDocument.Period {
    fileprivate init(_ access: AccessPeriod, _ grounds: AnswerGrounds) {
        let row = access.period
        originalTransactionId = row.stream.originalTransactionId
        bundleId = grounds.bundleId(of: row.stream)
        productId = row.productId
        purchaseDate = row.purchaseDate
        expiresDate = row.expiresDate
        validFrom = row.validFrom
        validTo = row.validTo
        kind = row.kind.rawValue
        familyShared = access.isFamilyShared
        positions = row.positions
    }
}

extension AccessDocument.Elsewhere {
    fileprivate var line: String {
        let place = environment.placeWords
        guard access else { return "in \(place)  no access either" }
        let end = until.map { ", until \($0.clock)" } ?? ""
        return "in \(place)  access\(end), by \(products.joined(separator: ", ")); purchases there "
            + "do not count in production"
    }
}

extension AccessDocument {
    /// The answer as text.
    fileprivate var text: [Block] {
        let end = until.map { ", until \($0.clock)" } ?? ""
        var lines = [
            "\(id) · \(environment) · \(at.zonedClock)",
            "access  " + (access ? "yes\(end)" : "no" + whyNot),
        ]
        if let sandboxRule { lines.append("sandbox " + sandboxRule.text) }
        lines += elsewhere.map { [$0.line] } ?? []
        let head = lines.map { Block.line($0) } + periods + oneTimePurchases
        lines = []
        let times = intervals.map(\.text)
        if !times.isEmpty { lines.append("periods " + times.joined(separator: ", ")) }
        let notInForce = linksNotInForce.map(\.line)
        guard access else {
            let why =
                "why: `subledger explain \(id.shellWord) --environment \(environment) --at \(at)`"
            lines += subscriptions.lines + ambiguous.map(\.line) + notInForce + [why]
            return head + lines.map { .line($0) }
        }
        let deciding = Set(
            groups.flatMap(\.active).map(\.originalTransactionId)
                + owned.map(\.originalTransactionId)
        )
        lines +=
            subscriptions.filter { deciding.contains($0.originalTransactionId) }.lines + notInForce
        return head + lines.map { .line($0) }
    }

    // If no subscription explains the answer, the one-time purchases do.
    private var whyNot: String {
        if elsewhere != nil { return ": nothing was bought in \(environment.placeWords)" }
        guard intervals.isEmpty else { return "" }
        if !notJudged.isEmpty { return ": one-time purchase, not judged" }
        return revoked.last.map { ": " + $0.revocation } ?? ""
    }

    private var periods: [Block] {
        guard !groups.isEmpty else { return [] }
        var rows: [[String]] = []
        for group in groups {
            for (index, period) in group.active.enumerated() {
                let name = GroupWords.text(
                    group.groupName,
                    group.subscriptionGroupIdentifier ?? "of \(period.originalTransactionId)"
                )
                rows.append([
                    index == 0 ? name : "", index == 0 ? "*" : "", period.productId,
                    period.bundleId ?? "", period.kind,
                    period.validFrom.clock, period.validTo.clock, period.positions.marks,
                ])
            }
        }
        return [
            .table(["group", "", "product", "app", "kind", "from", "to", "because of"], rows)
        ]
    }

    private var oneTimePurchases: [Block] {
        let rows =
            owned.map { ($0, "owned") } + notJudged.map { ($0, "not judged") }
            + revoked.map { ($0, $0.revocation) }
        guard !rows.isEmpty else { return [] }
        let cells = rows.map { purchase, verdict in
            [
                purchase.productId, purchase.kindWords + (purchase.familyShared ? ", family" : ""),
                purchase.purchaseDate.clock, verdict, purchase.positions.marks,
            ]
        }
        return [.table(["one-time purchase", "kind", "bought", "", "because of"], cells)]
    }
}
