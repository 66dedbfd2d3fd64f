import Events
import Projections

/// The rows of a stream as scenarios write them: `STATE [KIND] [TIMING] PRODUCT FROM [requested=]
/// [asked=] [declined=] [revoked=] [told=] [announced=|inferred=] [part=] [MONEY/PRICE] [net]`;
/// `told` is left out if it is the refund's own date.
func describe(_ refunds: Refunds) -> [String] {
    let text = TimelineText.text
    return refunds.rows.map { row in
        var words = [row.state.rawValue]
        if let kind = row.kind { words.append(kind.rawValue) }
        if let timing = row.timing { words.append(timing.rawValue) }
        words += [row.productId, text(row.purchaseDate)]
        if let requested = row.requested { words.append("requested=\(text(requested))") }
        if let reason = row.requestReason { words.append("asked=\(reason)") }
        if let declined = row.declined { words.append("declined=\(text(declined))") }
        if let revoked = row.revoked { words.append("revoked=\(text(revoked))") }
        if let told = row.announced, told != row.revoked { words.append("told=\(text(told))") }
        if let reversed = row.reversed, let reversal = row.reversal {
            words.append("\(reversal.rawValue)=\(text(reversed))")
        }
        if let seats = row.seatQuantity { words.append("seats=\(seats)") }
        if let part = row.percentageMilli { words.append("part=\(part)") }
        if let price = row.priceMilliunits {
            words.append("\(row.refundedMilliunits.map { "\($0)" } ?? "?")/\(price)")
        }
        if row.isNet { words.append("net") }
        return words.joined(separator: " ")
    }
}

/// The rows of a stream as scenarios write them: `STATE TIMING CLASS FROM..TO [requested=]
/// [effective=] [withdrawn=] [same|other] [offer=]`, judged by `CatalogHistory.magazines`.
func describe(_ changes: PlanChanges) -> [String] {
    let text = TimelineText.text
    return changes.rows.map { row in
        var words = [
            row.state.rawValue, row.timing.rawValue, row.changeClass.rawValue,
            "\(row.fromProductId)..\(row.toProductId)",
        ]
        if let requested = row.requested { words.append("requested=\(text(requested))") }
        if let effective = row.effective { words.append("effective=\(text(effective))") }
        if let withdrawn = row.withdrawn { words.append("withdrawn=\(text(withdrawn))") }
        if let isSame = row.hasSameDuration { words.append(isSame ? "same" : "other") }
        if let before = row.fromBillingPlanType, let after = row.toBillingPlanType {
            words.append("\(before)..\(after)")
        }
        if let estimate = row.estimatedRefundMilliunits {
            words.append("estimate=\(estimate)\(row.estimatedRefundCurrency ?? "")")
        }
        if let before = row.fromSeatQuantity, let after = row.toSeatQuantity {
            words.append("seats=\(before)..\(after)")
        }
        if let offerType = row.offerType { words.append("offer=\(offerType)") }
        if row.isUndated { words.append("undated") }
        return words.joined(separator: " ")
    }
}

/// The rows of a stream as scenarios write them: `PRODUCT START..[END] [until=EFFECTIVE] [grace=]
/// [trial|intro] n=RENEWAL paid=PERIODS [conversion] [again[=GAP]] [CHANGE from=] [refunded=]
/// [NET/GROSS] [upgraded] [unsubscribed=] [failed=]`; `until` is left out if it is the end.
func describe(_ transactions: TransactionRows) -> [String] {
    let text = TimelineText.text
    return transactions.rows.map { row in
        var words = [
            row.product.productId, "\(text(row.time.start))..\(row.time.end.map(text) ?? "")",
        ]
        if let until = row.time.effectiveEnd, until != row.time.end {
            words.append("until=\(text(until))")
        }
        if let grace = row.time.gracePeriodEnd { words.append("grace=\(text(grace))") }
        if row.terms.isTrialPeriod { words.append("trial") }
        if row.terms.isInIntroOfferPeriod { words.append("intro") }
        if let number = row.place.renewalNumber {
            words.append("n=\(number) paid=\(row.place.consecutivePaidPeriods)")
        }
        if row.place.isTrialConversion { words.append("conversion") }
        if row.place.isResubscribe { words.append("again=\(row.place.gapSeconds ?? -1)") }
        if let change = row.place.planChange {
            words.append("\(change.rawValue) from=\(row.place.previousProductId ?? "")")
        }
        if let refunded = row.fate.refunded { words.append("refunded=\(text(refunded))") }
        if let gross = row.money.grossMilliunits {
            words.append("\(row.money.netMilliunits.map { "\($0)" } ?? "?")/\(gross)")
        }
        if let seats = row.seats {
            let left = (row.terms.quantity ?? 0) - seats.revokedQuantity
            words.append("seats=\(left)/\(row.terms.quantity ?? 0)")
            if let start = seats.addedTo { words.append("added-to=\(text(start))") }
        }
        if let bundle = row.bundle?.productId { words.append("bundle=\(bundle)") }
        if row.fate.isUpgraded { words.append("upgraded") }
        if let told = row.fate.unsubscribeDetected { words.append("unsubscribed=\(text(told))") }
        if let told = row.fate.billingIssuesDetected { words.append("failed=\(text(told))") }
        return words.joined(separator: " ")
    }
}

/// The anomalies of a stream as scenarios write them: `KIND COUNT FROM..TO [MONEY]`.
func describe(_ anomalies: StreamAnomalies) -> [String] {
    let text = TimelineText.text
    return anomalies.found.map { row in
        let words = [row.kind.rawValue, "\(row.count)", "\(text(row.from))..\(text(row.to))"]
        return (words + [row.givenMilliunits.map { "\($0)" }].compactMap { $0 })
            .joined(separator: " ")
    }
}

extension CatalogHistory {
    /// One group of three levels: premium over basic, video and annual over lite; and one product
    /// outside it.
    static let magazines: CatalogHistory = {
        func product(
            _ id: String,
            _ level: Int,
            _ duration: String,
            group: String = "magazines"
        ) -> ProductCatalog.Subscription? {
            SubscriptionPeriod(duration).map {
                ProductCatalog.Subscription(
                    productId: id,
                    subscriptionGroupIdentifier: group,
                    level: level,
                    duration: $0
                )
            }
        }
        let products = [
            product("premium", 1, "P1M"), product("basic", 2, "P1M"), product("video", 2, "P1M"),
            product("annual", 2, "P1Y"), product("lite", 3, "P1M"),
            product("archive", 1, "P1M", group: "archive"),
        ]
        return CatalogHistory([
            ProductCatalog(
                version: 1,
                effectiveFrom: Instant(milliseconds: 0),
                subscriptions: products.compactMap { $0 }
            )
        ])
    }()
}
