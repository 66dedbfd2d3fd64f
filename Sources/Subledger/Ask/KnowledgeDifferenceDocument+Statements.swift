internal import EventLog
internal import Events
internal import Projections

// Every statement about a customer under one state of knowledge, apart from access and periods.
extension KnowledgeDifferenceDocument.Statement {
    /// Every statement about these subscriptions, including eligibility at an instant.
    static func all(
        of known: Known,
        at instant: Instant,
        _ catalogs: CatalogHistory
    ) -> [Self] {
        let timelines = known.histories.map { Timeline($0.latest) }
        var statements: [Self] = []
        for timeline in timelines {
            statements += TransactionRows(timeline, catalogs).rows.compactMap(
                Self.money
            )
            statements += Refunds(timeline).rows.map(Self.refund)
            statements += OneTimePurchase.all(of: timeline, catalogs).map(Self.owned)
            statements += PlanChanges(timeline, catalogs).rows.map(Self.plan)
            statements += RenewalStates(timeline).rows.map(Self.renewal)
        }
        let offers = OfferEligibility(
            timelines,
            environment: known.environment,
            catalogs: catalogs
        )
        statements += offers.groups(at: instant).map {
            Self.eligibility($0)
        }
        return statements.sorted { left, right in
            left.aspect == right.aspect ? false : left.aspect.rank < right.aspect.rank
        }
    }

    /// The statements that the other list lacks, each as often as it is missing.
    static func missing(
        of some: [Self],
        in others: [Self]
    ) -> [Self] {
        var counts: [[String?]: Int] = [:]
        for other in others { counts[other.key, default: 0] += 1 }
        return some.filter { statement in
            guard let count = counts[statement.key], count > 0 else { return true }
            counts[statement.key] = count - 1
            return false
        }
    }

    // What it states, whatever it is based on.
    private var key: [String?] { [aspect.rawValue, originalTransactionId, text] }
}

extension KnowledgeDifferenceDocument.Aspect {
    fileprivate var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension KnowledgeDifferenceDocument.Statement {
    // A purchase without a known amount does not contribute a statement about money.
    private static func money(_ row: TransactionRow) -> Self? {
        guard row.money.grossMilliunits != nil else { return nil }
        let currency = row.money.currency
        return Self(
            aspect: .money,
            originalTransactionId: row.stream.originalTransactionId,
            text: "\(row.product.productId) \(row.time.start.clock) paid "
                + "\(Amount.text(row.money.grossMilliunits, currency)), kept "
                + Amount.kept(row.money.netMilliunits, of: row.money.grossMilliunits, currency),
            positions: row.positions
        )
    }

    private static func refund(_ row: RefundCase) -> Self {
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
        return Self(
            aspect: .refund,
            originalTransactionId: row.stream.originalTransactionId,
            text: words.joined(separator: " "),
            positions: row.positions
        )
    }

    private static func owned(_ purchase: OneTimePurchase) -> Self {
        let verdict =
            purchase.revocationDate.map { "revoked \($0.clock)" }
            ?? (purchase.isJudged ? "owned" : "not judged")
        return Self(
            aspect: .owned,
            originalTransactionId: purchase.stream.originalTransactionId,
            text: "\(purchase.productId) (\(purchase.kind.words)) bought "
                + "\(purchase.purchaseDate.clock) \(verdict)",
            positions: purchase.positions
        )
    }

    private static func plan(_ row: PlanChange) -> Self {
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
        return Self(
            aspect: .plan,
            originalTransactionId: row.stream.originalTransactionId,
            text: words.joined(separator: " "),
            positions: row.positions
        )
    }

    private static func renewal(_ row: RenewalState) -> Self {
        var words = [
            "status \(row.status), charge \(row.charge.rawValue), \(row.validFrom.clock) → "
                + (row.validTo?.clock ?? "until further notice")
        ]
        if let isOn = row.isAutoRenewOn { words.append("auto-renew \(isOn ? "on" : "off")") }
        if let product = row.autoRenewProductId { words.append("next \(product)") }
        if let consent = row.priceConsent { words.append("price \(consent.rawValue)") }
        return Self(
            aspect: .renewal,
            originalTransactionId: row.stream.originalTransactionId,
            text: words.joined(separator: " "),
            positions: row.positions
        )
    }

    private static func eligibility(_ group: GroupEligibility) -> Self {
        let document = EligibilityDocument.Group(group, .none)
        let words = document.verdicts.map {
            "\($0.offer) \($0.verdict.eligible ? "yes" : "no") (\($0.verdict.rule))"
        }
        let blocking = document.verdicts.flatMap { $0.verdict.blocking?.positions ?? [] }
        return Self(
            aspect: .eligibility,
            originalTransactionId: nil,
            text: "group \(document.name): " + words.joined(separator: ", ")
                + ", offer code as \(document.subscriber)",
            positions: Set(blocking).sorted()
        )
    }
}
