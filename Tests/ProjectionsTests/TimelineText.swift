import Events
import Projections
import TestSupport
import Testing

/// A history as text: one fact per line, then `--- TABLE` and its expected rows for each table.
///
/// Facts: `@AS-OF purchase PRODUCT FROM..TO [id=] [woli=] [upgraded] [revoked=] [type=] [offer=]
/// [discount=] [price=] [group=] [family] [reason=] [kind=] [extra=]`, where `kind` is Apple's
/// `type`, `@AS-OF once PRODUCT FROM` (never expires),
/// `@AS-OF renewal [of=] [grace=] [auto=] [retry] [intent=] [product=] [next=] [consent=]
/// [recent=] [renews=] [offer-id=] [next-plan=] [commitment=] [winback=]`,
/// words about seats and bundles as in `SeatText`,
/// `@AS-OF notice TYPE [SUBTYPE] uuid= [status=] [about=FROM[..TO]]`; `via=` names an
/// older format. Times
/// are in 2026 unless a year is given: `03-20`, `03-20T08:00:01`. An unknown word fails the test.
///
/// The rows of a table are written as by its entry in `rowTexts`; `---` alone is
/// `--- active_periods`, whose rows are `KIND PRODUCT FROM..TO REASON`, and `active FROM..TO …`.
/// Words after a table's name set the policy: `no-grace`, `no-family`, `from-reversal`.
struct TimelineText {
    var facts: [Fact] = []
    /// The expected rows of each table the text names, in its order.
    var tables: [(name: String, policy: AccessPolicy, rows: [String])] = []

    /// How each table's rows are written in a scenario; a new table adds a line.
    static let rowTexts: [String: @Sendable (Timeline) -> [String]] = [
        "active_periods": { describe(ActivePeriods($0)) },
        "renewal_states": { describe(RenewalStates($0)) },
        "refunds": { describe(Refunds($0)) },
        "plan_changes": { describe(PlanChanges($0, .magazines)) },
        "transactions": { describe(TransactionRows($0, .magazines)) },
        "anomalies": { describe(StreamAnomalies($0, .magazines)) },
        "anomalies_without_catalog": { describe(StreamAnomalies($0, .none)) },
        "movements": { describe(Movements($0, scenarioCatalogs)) },
    ]

    static let stream = StreamID(environment: .production, originalTransactionId: "1000")

    /// The words of `via=`, for formats that leave out more than a JWS does.
    static let formats: [String: Format] = [
        "receipt": .receiptTransaction, "response": .responseTransaction,
        "single": .singleTransaction,
        "pending": .pendingRenewalInfo, "top": .topLevelRenewalInfo,
        "v1": .statusUpdateNotification,
    ]

    init(_ text: String, stream: StreamID = TimelineText.stream) throws {
        for (number, line) in text.split(separator: "\n").enumerated() {
            let words = line.split(separator: " ").map(String.init)
            guard let first = words.first else { continue }
            if first == "---" {
                let name = words.count > 1 ? words[1] : "active_periods"
                tables.append((name, try AccessPolicy(words.dropFirst(2)), []))
            } else if !tables.isEmpty {
                tables[tables.count - 1].rows.append(words.joined(separator: " "))
            } else {
                facts.append(try TimelineText.fact(words, number: number, stream: stream))
            }
        }
    }

    static func instant(_ text: some StringProtocol) throws -> Instant {
        let dated = text.prefix(4).contains("-") ? "2026-" + text : String(text)
        return try #require(Instant(dated), "not a time: \(text)")
    }

    /// The shortest form that `instant` reads.
    static func text(_ instant: Instant) -> String {
        var text = instant.description
        if text.hasPrefix("2026-") { text.removeFirst(5) }
        for tail in ["T00:00:00Z", "Z"] where text.hasSuffix(tail) {
            text.removeLast(tail.count)
            break
        }
        return text
    }

    private static func fact(_ words: [String], number: Int, stream: StreamID) throws -> Fact {
        try #require(words.count >= 2 && words[0].hasPrefix("@"), "not a fact: \(words)")
        var fact = FactDraft(stream: stream, asOf: try instant(words[0].dropFirst()))
        var options: [String]
        switch words[1] {
        case "purchase":
            let dates = try range(words[3])
            fact.becomePurchase(of: words[2], from: dates.lowerBound, to: dates.upperBound)
            options = ["id=t\(number)"] + words.dropFirst(4)
        case "once":
            fact.becomePurchase(of: words[2], from: try instant(words[3]), to: nil)
            options = ["id=t\(number)"] + words.dropFirst(4)
        case "renewal":
            fact.content = Content(format: .signedRenewalInfo)
            fact.kind = .renewal
            options = Array(words.dropFirst(2))
        default:
            try #require(words[1] == "notice", "not a kind of fact: \(words[1])")
            fact.content = Content(format: .signedNotification)
            fact.content[.notificationType] = .text(words[2])
            fact.kind = .notification
            options = Array(words.dropFirst(3))
        }
        for option in options { try fact.set(option) }
        return fact.fact
    }

    static func range(_ text: String) throws -> (lowerBound: Instant, upperBound: Instant) {
        let parts = text.components(separatedBy: "..")
        try #require(parts.count == 2, "not a range: \(text)")
        return (try instant(parts[0]), try instant(parts[1]))
    }
}

/// A fact while its line is parsed.
private struct FactDraft {
    var stream: StreamID
    var asOf: Instant
    var kind = Kind.transaction
    var purchaseDate: Instant?
    var expiresDate: Instant?
    var content = Content(format: .signedTransaction)
    var seats = SeatText()

    init(stream: StreamID, asOf: Instant) {
        self.stream = stream
        self.asOf = asOf
    }

    mutating func becomePurchase(of product: String, from: Instant, to: Instant?) {
        content[.productId] = .text(product)
        (purchaseDate, expiresDate) = (from, to)
    }

    /// The same content in another format; an option after it adds to it.
    mutating func become(_ format: Format) throws {
        var other = Content(format: format)
        for entry in content.entries { other[entry.field] = entry.value }
        content = other
    }

    mutating func set(_ option: String) throws {
        let parts = option.split(separator: "=", maxSplits: 1).map(String.init)
        let value = parts.count == 2 ? parts[1] : ""
        if try seats.set(parts[0], value, in: &content) { return }
        switch parts[0] {
        case "id": content[.transactionId] = .text(value)
        case "woli": content[.webOrderLineItemId] = .text(value)
        case "token": content[.appAccountToken] = .text(value)
        case "upgraded": content[.isUpgraded] = .boolean(true)
        case "family": content[.inAppOwnershipType] = .text("FAMILY_SHARED")
        case "kind": content[.type] = .text(value.replacing("_", with: " "))
        case "extra": content[.extra] = .text(value)
        case "type": content[.revocationType] = .text(value)
        case "revoked": content[.revocationDate] = .instant(try TimelineText.instant(value))
        case "discount": content[.offerDiscountType] = .text(value)
        case "offer": content[.offerType] = .integer(try #require(Int64(value)))
        case "reason": content[.transactionReason] = .text(value)
        case "price": content[.price] = .integer(try #require(Int64(value)))
        case "quantity": content[.quantity] = .integer(try #require(Int64(value)))
        case "of": content[.renewalDate] = .instant(try TimelineText.instant(value))
        case "grace": content[.gracePeriodExpiresDate] = .instant(try TimelineText.instant(value))
        case "auto": content[.autoRenewStatus] = .integer(try #require(Int64(value)))
        case "retry": content[.isInBillingRetryPeriod] = .boolean(true)
        case "intent": content[.expirationIntent] = .integer(try #require(Int64(value)))
        case "product": content[.productId] = .text(value)
        case "next": content[.autoRenewProductId] = .text(value)
        case "recent":
            content[.recentSubscriptionStartDate] = .instant(try TimelineText.instant(value))
        case "consent": content[.priceIncreaseStatus] = .integer(try #require(Int64(value)))
        case "status": content[.status] = .integer(try #require(Int64(value)))
        case "about" where value.contains(".."):
            let dates = try TimelineText.range(value)
            (purchaseDate, expiresDate) = (dates.lowerBound, dates.upperBound)
        case "about": purchaseDate = try TimelineText.instant(value)
        case "uuid": content[.notificationUUID] = .text(value)
        case "percentage": content[.revocationPercentage] = .integer(try #require(Int64(value)))
        case "because": content[.revocationReason] = .integer(try #require(Int64(value)))
        case "renews": content[.renewalPrice] = .integer(try #require(Int64(value)))
        case "offer-id": content[.offerIdentifier] = .text(value)
        case "offer-period": content[.offerPeriod] = .text(value)
        case "asked": content[.consumptionRequestReason] = .text(value)
        case "plan": content[.billingPlanType] = .text(value)
        case "next-plan": content[.renewalBillingPlanType] = .text(value)
        case "commitment": content[.commitmentInfo] = .text(value)
        case "winback": content[.eligibleWinBackOfferIds] = .text(value)
        case "currency": content[.currency] = .text(value)
        case "group": content[.subscriptionGroupIdentifier] = .text(value)
        case "via": try become(try #require(TimelineText.formats[value], "no format: \(value)"))
        default:
            try #require(kind == .notification && parts.count == 1, "unknown word: \(option)")
            content[.subtype] = .text(option)
        }
    }

    var fact: Fact {
        Fact(
            stream: stream,
            bundleId: "app",
            kind: kind,
            purchaseDate: purchaseDate,
            expiresDate: expiresDate,
            asOf: asOf,
            content: content
        )
    }
}

extension AccessPolicy {
    /// The policy of these words; `current` if there are none.
    fileprivate init(_ words: some Sequence<String>) throws {
        var (grace, family, retroactive, refund) = (true, true, true, false)
        for word in words {
            switch word {
            case "no-grace": grace = false
            case "no-family": family = false
            case "from-reversal": retroactive = false
            case "never-bought": refund = true
            default: try #require(Bool(false), "no word of a policy: \(word)")
            }
        }
        self.init(
            graceCounts: grace,
            familyCounts: family,
            reversalIsRetroactive: retroactive,
            refundIsRetroactive: refund
        )
    }
}

extension String {
    fileprivate func components(separatedBy separator: String) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}

/// The rows of a stream in the words of `TimelineText`.
func describe(_ periods: ActivePeriods) -> [String] {
    let text = TimelineText.text
    var lines = periods.rows.map { row in
        "\(row.kind.rawValue) \(row.productId) \(text(row.validFrom))..\(text(row.validTo)) "
            + row.endReason.rawValue
            + (row.expirationReason.map { " because=\($0.rawValue)" } ?? "") + planWords(row)
    }
    let active = periods.active.map { "\(text($0.lowerBound))..\(text($0.upperBound))" }
    lines.append((["active"] + active).joined(separator: " "))
    return lines
}

private func planWords(_ row: ActivePeriod) -> String {
    let text = TimelineText.text
    var words = row.billingPlanType.map { " plan=\($0)" } ?? ""
    if let commitment = row.commitment {
        words += " \(commitment.periodNumber ?? 0)/\(commitment.periodCount ?? 0)"
        words += commitment.expiresDate.map { " until=\(text($0))" } ?? ""
        words += commitment.priceMilliunits.map { " price=\($0)" } ?? ""
    }
    words += row.seatQuantity.map { " seats=\($0)" } ?? ""
    words += row.bundleProductId.map { " bundle=\($0)" } ?? ""
    for item in row.advancedCommerceItems ?? [] {
        words += " item=\(item.sku)/\(item.displayName ?? "")/\(item.priceMilliunits ?? 0)"
    }
    return words
}

/// Checks the rows of every table that a history names, in its own order, backwards, and in seeded
/// shuffles with repetitions; returns the ledger of its own order.
@discardableResult
func expect(
    _ text: String,
    sourceLocation: SourceLocation = #_sourceLocation
) throws -> MemoryLedger {
    let history = try TimelineText(text)
    var random = SeededGenerator(seed: 1)
    var orders = [history.facts, history.facts.reversed()]
    for _ in 0..<8 { orders.append((history.facts + history.facts).shuffled(using: &random)) }
    for order in orders {
        let timeline = MemoryLedger([order]).timeline(of: TimelineText.stream)
        for table in history.tables {
            let describe = try #require(
                TimelineText.rowTexts[table.name],
                "no such table: \(table.name)",
                sourceLocation: sourceLocation
            )
            let rows = describe(timeline.under(table.policy))
            #expect(
                rows == table.rows,
                "\(table.name), seed 1",
                sourceLocation: sourceLocation
            )
        }
    }
    let ledger = MemoryLedger([history.facts])
    keptFolds.check(
        history.facts,
        [ledger.timeline(of: TimelineText.stream)],
        FoldContext(catalogs: scenarioCatalogs),
        sourceLocation: sourceLocation
    )
    return ledger
}

private let keptFolds = KeptFolds("kept-folds.txt")
