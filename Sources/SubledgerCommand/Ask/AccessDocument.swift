import CommandSupport
import Events
import Projections

/// What `access` says about one customer at one instant.
struct AccessVerdict {
    let id: String
    let instant: Instant
    let environment: Environment
    /// The groups of what was asked for, each with what is active in it.
    let groups: [GroupAccess]
    /// What was asked for of all that is active.
    let active: [AccessPeriod]
    /// The times with access to what was asked for, by subscriptions.
    let intervals: [Range<Instant>]
    /// Why the subscriptions count, and which apps they are of.
    let grounds: AnswerGrounds
    /// The non-consumables of what was asked for that are owned.
    let owned: [OneTimePurchase]
    /// The one-time purchases of what was asked for that only the app can judge.
    let notJudged: [OneTimePurchase]
    /// The one-time purchases of what was asked for that Apple had taken back.
    let revoked: [OneTimePurchase]

    var hasAccess: Bool { !active.isEmpty || !owned.isEmpty }

    /// The end of the access, as far as it is known now; nil where there is none, or no end.
    var until: Instant? {
        owned.isEmpty ? intervals.first { $0.contains(instant) }?.upperBound : nil
    }

    init(
        id: String,
        at instant: Instant,
        scope: AccessScope,
        of entitlement: Entitlement,
        _ grounds: AnswerGrounds
    ) {
        self.id = id
        self.grounds = grounds
        self.instant = instant
        environment = entitlement.environment
        active = entitlement.active(at: instant, to: scope)
        intervals = entitlement.intervals(of: scope)
        owned = entitlement.owned(at: instant, to: scope)
        notJudged = entitlement.notJudged(at: instant, to: scope)
        revoked = entitlement.revoked(at: instant, to: scope)
        let asked = Set(active)
        groups = entitlement.groups(at: instant).filter {
            $0.active.contains(where: asked.contains)
        }
    }

    /// The answer for people.
    func print(lanes: LaneCount) {
        Terminal.print("\(id) · \(environment) · \(instant.clock) UTC")
        let end = until.map { ", until \($0.clock)" } ?? ""
        Terminal.print("access  " + (hasAccess ? "yes\(end)" : "no" + whyNot))
        if !active.isEmpty {
            var table = TextTable([
                "group", "", "product", "app", "kind", "from", "to", "because of",
            ])
            for group in groups {
                for (index, access) in group.active.enumerated() {
                    let row = access.period
                    table.add([
                        index == 0 ? "\(group.group)" : "", index == 0 ? "*" : "",
                        row.productId, grounds.bundleId(of: row.stream) ?? "",
                        row.kind.rawValue + (access.isFamilyShared ? ", family" : ""),
                        row.validFrom.clock, row.validTo.clock,
                        row.positions.marks(lanes: lanes),
                    ])
                }
            }
            Terminal.print(table.text)
        }
        printOneTimePurchases(lanes: lanes)
        let texts = intervals.map { "\($0.lowerBound.clock) – \($0.upperBound.clock)" }
        if !texts.isEmpty { Terminal.print("periods " + texts.joined(separator: ", ")) }
        let deciding = Set(active.map(\.period.stream) + owned.map(\.stream))
        let lines = hasAccess ? grounds.lines(of: deciding) : grounds.lines + grounds.ambiguityLines
        for line in lines { Terminal.print(line) }
    }

    // Where no subscription explains the answer, the one-time purchases do.
    private var whyNot: String {
        guard intervals.isEmpty else { return "" }
        if !notJudged.isEmpty { return ": one-time purchase, not judged" }
        return revoked.last.map { ": " + $0.revocation } ?? ""
    }

    private func printOneTimePurchases(lanes: LaneCount) {
        let rows =
            owned.map { ($0, "owned") } + notJudged.map { ($0, "not judged") }
            + revoked.map { ($0, $0.revocation) }
        guard !rows.isEmpty else { return }
        var table = TextTable(["one-time purchase", "kind", "bought", "", "because of"])
        for (purchase, verdict) in rows {
            table.add([
                purchase.productId,
                purchase.kind.words + (purchase.isFamilyShared ? ", family" : ""),
                purchase.purchaseDate.clock, verdict,
                purchase.positions.marks(lanes: lanes),
            ])
        }
        Terminal.print(table.text)
    }
}

extension OneTimePurchase {
    /// How Apple took it back, for people.
    var revocationWord: String {
        (isFamilyShared ? NoAccessReason.revoked : .refunded).words
    }

    /// The same with the date.
    var revocation: String {
        revocationWord + (revocationDate.map { ", revoked \($0.clock)" } ?? "")
    }
}

extension OneTimePurchase.Kind {
    /// For people.
    var words: String {
        switch self {
        case .nonConsumable: "non-consumable"
        case .consumable: "consumable"
        case .nonRenewing: "non-renewing subscription"
        case .unknown: "type not stated"
        }
    }
}

/// The JSON of `access`.
struct AccessDocument: Encodable {
    let id: String
    let environment: String
    let at: Int64
    let access: Bool
    let until: Int64?
    let products: [String]
    let groups: [Group]
    let intervals: [[Int64]]
    /// All subscriptions that were looked at, each with what makes it the customer's.
    let subscriptions: JSONTree
    let owned: [OneTime]
    let notJudged: [OneTime]
    let revoked: [OneTime]

    /// A one-time purchase.
    struct OneTime: Encodable {
        let originalTransactionId: String
        let productId: String
        let purchaseDate: Int64
        let kind: String
        let familyShared: Bool
        let revocationDate: Int64?
        let positions: [PositionValue]

        init(_ purchase: OneTimePurchase, lanes: LaneCount) {
            originalTransactionId = purchase.stream.originalTransactionId
            productId = purchase.productId
            purchaseDate = purchase.purchaseDate.milliseconds
            kind = purchase.kind.rawValue
            familyShared = purchase.isFamilyShared
            revocationDate = purchase.revocationDate?.milliseconds
            positions = purchase.positions.map { PositionValue($0, lanes: lanes) }
        }
    }

    /// A group with access: the period that counts, then what is active besides.
    struct Group: Encodable {
        let subscriptionGroupIdentifier: GroupName
        let counting: Period
        let active: [Period]
    }

    /// A period that gives access.
    struct Period: Encodable {
        let originalTransactionId: String
        let bundleId: String?
        let productId: String
        let purchaseDate: Int64
        let expiresDate: Int64
        let validFrom: Int64
        let validTo: Int64
        let kind: String
        let familyShared: Bool
        let positions: [PositionValue]

        init(_ access: AccessPeriod, _ grounds: AnswerGrounds, lanes: LaneCount) {
            let row = access.period
            bundleId = grounds.bundleId(of: row.stream)
            originalTransactionId = row.stream.originalTransactionId
            productId = row.productId
            purchaseDate = row.purchaseDate.milliseconds
            expiresDate = row.expiresDate.milliseconds
            validFrom = row.validFrom.milliseconds
            validTo = row.validTo.milliseconds
            kind = row.kind.rawValue
            familyShared = access.isFamilyShared
            positions = row.positions.map { PositionValue($0, lanes: lanes) }
        }
    }

    init(_ answer: AccessVerdict, lanes: LaneCount) {
        id = answer.id
        environment = answer.environment.word
        at = answer.instant.milliseconds
        access = answer.hasAccess
        until = answer.until?.milliseconds
        let ids = (answer.active.map(\.period.productId) + answer.owned.map(\.productId)).sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
        products = ids.reduce(into: []) { unique, id in
            if unique.last.map({ !$0.utf8.elementsEqual(id.utf8) }) ?? true { unique.append(id) }
        }
        groups = answer.groups.map { group in
            Group(
                subscriptionGroupIdentifier: GroupName(group.group),
                counting: Period(group.counting, answer.grounds, lanes: lanes),
                active: group.active.map { Period($0, answer.grounds, lanes: lanes) }
            )
        }
        subscriptions = answer.grounds.document
        intervals = answer.intervals.map {
            [$0.lowerBound.milliseconds, $0.upperBound.milliseconds]
        }
        owned = answer.owned.map { OneTime($0, lanes: lanes) }
        notJudged = answer.notJudged.map { OneTime($0, lanes: lanes) }
        revoked = answer.revoked.map { OneTime($0, lanes: lanes) }
    }
}

/// A group as JSON: Apple's identifier, or null where no format named it.
struct GroupName: Encodable {
    private let group: SubscriptionGroup

    init(_ group: SubscriptionGroup) {
        self.group = group
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch group {
        case .identified(let identifier): try container.encode(identifier)
        case .ofStream: try container.encodeNil()
        }
    }
}
