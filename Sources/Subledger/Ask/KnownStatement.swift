internal import EventLog
internal import Events
internal import Projections

/// A statement about a customer under one state of knowledge, apart from access and periods: what
/// `diff` compares.
struct KnownStatement {
    let aspect: Aspect
    let stream: StreamID?
    /// The statement as text; two statements of one aspect and subscription are equal if their
    /// texts are.
    let words: String
    let positions: [Position]

    /// The aspect; its raw value is the word used in text and JSON.
    enum Aspect: String, CaseIterable {
        case money
        case refund
        case owned
        case plan
        case renewal
        case eligibility
    }

    /// Every statement about these subscriptions, including eligibility at an instant.
    static func all(
        of asked: SubjectHistories,
        at instant: Instant,
        _ catalogs: CatalogHistory
    ) -> [KnownStatement] {
        let timelines = asked.histories.map { Timeline($0.latest) }
        var statements: [KnownStatement] = []
        for timeline in timelines {
            statements += TransactionRows(timeline, catalogs).rows.compactMap(
                KnownStatement.money
            )
            statements += Refunds(timeline).rows.map(KnownStatement.refund)
            statements += OneTimePurchase.all(of: timeline, catalogs).map(KnownStatement.owned)
            statements += PlanChanges(timeline, catalogs).rows.map(KnownStatement.plan)
            statements += RenewalStates(timeline).rows.map(KnownStatement.renewal)
        }
        let offers = OfferEligibility(
            timelines,
            environment: asked.environment,
            catalogs: catalogs
        )
        statements += offers.groups(at: instant).map {
            KnownStatement.eligibility($0)
        }
        return statements.sorted { left, right in
            left.aspect == right.aspect ? false : left.aspect.rank < right.aspect.rank
        }
    }

    /// The statements that the other list lacks, each as often as it is missing.
    static func missing(
        of some: [KnownStatement],
        in others: [KnownStatement]
    ) -> [KnownStatement] {
        var counts: [Key: Int] = [:]
        for other in others { counts[other.key, default: 0] += 1 }
        return some.filter { statement in
            guard let count = counts[statement.key], count > 0 else { return true }
            counts[statement.key] = count - 1
            return false
        }
    }

    private struct Key: Hashable {
        let aspect: Aspect
        let stream: StreamID?
        let words: String
    }

    private var key: Key { Key(aspect: aspect, stream: stream, words: words) }
}

extension KnownStatement.Aspect {
    fileprivate var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension KnownStatement {
    // A purchase without a known amount does not contribute a statement about money.
    private static func money(_ row: TransactionRow) -> KnownStatement? {
        guard row.money.grossMilliunits != nil else { return nil }
        let currency = row.money.currency
        return KnownStatement(
            aspect: .money,
            stream: row.stream,
            words: "\(row.product.productId) \(row.time.start.clock) paid "
                + "\(Amount.text(row.money.grossMilliunits, currency)), kept "
                + Amount.kept(row.money.netMilliunits, of: row.money.grossMilliunits, currency),
            positions: row.positions
        )
    }

    private static func refund(_ row: RefundCase) -> KnownStatement {
        var words = [RefundWords.text(row.state.rawValue, row.kind?.rawValue)]
        words += [row.productId, row.purchaseDate.clock]
        for (word, instant) in [
            ("requested", row.requested), ("declined", row.declined), ("refunded", row.revoked),
            ("reversed", row.reversed),
        ] {
            if let instant { words.append("\(word) \(instant.clock)") }
        }
        if let amount = row.refundedMilliunits {
            words.append("amount \(Amount.text(amount, row.currency))")
        }
        return KnownStatement(
            aspect: .refund,
            stream: row.stream,
            words: words.joined(separator: " "),
            positions: row.positions
        )
    }

    private static func owned(_ purchase: OneTimePurchase) -> KnownStatement {
        let verdict =
            purchase.revocationDate.map { "revoked \($0.clock)" }
            ?? (purchase.isJudged ? "owned" : "not judged")
        return KnownStatement(
            aspect: .owned,
            stream: purchase.stream,
            words: "\(purchase.productId) (\(purchase.kind.words)) bought "
                + "\(purchase.purchaseDate.clock) \(verdict)",
            positions: purchase.positions
        )
    }

    private static func plan(_ row: PlanChange) -> KnownStatement {
        var words = [
            row.state.rawValue, row.changeClass.rawValue,
            "\(row.fromProductId) → \(row.toProductId)",
        ]
        for (word, instant) in [
            ("requested", row.requested), ("effective", row.effective),
            ("withdrawn", row.withdrawn),
        ] {
            if let instant { words.append("\(word) \(instant.clock)") }
        }
        return KnownStatement(
            aspect: .plan,
            stream: row.stream,
            words: words.joined(separator: " "),
            positions: row.positions
        )
    }

    private static func renewal(_ row: RenewalState) -> KnownStatement {
        var words = [
            "status \(row.status), charge \(row.charge.rawValue), \(row.validFrom.clock) → "
                + (row.validTo?.clock ?? "until further notice")
        ]
        if let isOn = row.isAutoRenewOn { words.append("auto-renew \(isOn ? "on" : "off")") }
        if let product = row.autoRenewProductId { words.append("next \(product)") }
        if let consent = row.priceConsent { words.append("price \(consent.rawValue)") }
        return KnownStatement(
            aspect: .renewal,
            stream: row.stream,
            words: words.joined(separator: " "),
            positions: row.positions
        )
    }

    private static func eligibility(_ group: GroupEligibility) -> KnownStatement {
        let document = EligibilityDocument.Group(group)
        let words = document.verdicts.map {
            "\($0.offer) \($0.verdict.eligible ? "yes" : "no") (\($0.verdict.rule))"
        }
        let blocking = document.verdicts.flatMap { $0.verdict.blocking?.positions ?? [] }
        return KnownStatement(
            aspect: .eligibility,
            stream: nil,
            words: "group \(document.name): " + words.joined(separator: ", ")
                + ", offer code as \(document.subscriber)",
            positions: Set(blocking).sorted()
        )
    }
}
