import Events
import Projections

/// The rows of a stream as scenarios write them: `STATE [KIND] [TIMING] PRODUCT FROM [requested=]
/// [declined=] [revoked=] [told=] [announced=|inferred=] [part=] [MONEY/PRICE] [net]`; `told` is
/// left out where it is the refund's own date.
func describe(_ refunds: Refunds) -> [String] {
    let text = TimelineText.text
    return refunds.rows.map { row in
        var words = [row.state.rawValue]
        if let kind = row.kind { words.append(kind.rawValue) }
        if let timing = row.timing { words.append(timing.rawValue) }
        words += [row.productId, text(row.purchaseDate)]
        if let requested = row.requested { words.append("requested=\(text(requested))") }
        if let declined = row.declined { words.append("declined=\(text(declined))") }
        if let revoked = row.revoked { words.append("revoked=\(text(revoked))") }
        if let told = row.announced, told != row.revoked { words.append("told=\(text(told))") }
        if let reversed = row.reversed, let reversal = row.reversal {
            words.append("\(reversal.rawValue)=\(text(reversed))")
        }
        if let part = row.percentageMilli { words.append("part=\(part)") }
        if let price = row.priceMilliunits {
            words.append("\(row.refundedMilliunits.map { "\($0)" } ?? "?")/\(price)")
        }
        if row.isNet { words.append("net") }
        return words.joined(separator: " ")
    }
}

/// The rows of a stream as scenarios write them: `STATE TIMING CLASS FROM..TO [requested=]
/// [effective=] [withdrawn=] [same|other] [offer=]`, judged by `CatalogueHistory.magazines`.
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
        if let offerType = row.offerType { words.append("offer=\(offerType)") }
        return words.joined(separator: " ")
    }
}

extension CatalogueHistory {
    /// One group of three levels: premium over basic, video and annual over lite; and one apart.
    static let magazines: CatalogueHistory = {
        func product(
            _ id: String,
            _ level: Int,
            _ duration: String,
            group: String = "magazines"
        ) -> ProductCatalogue.Subscription? {
            SubscriptionPeriod(duration).map {
                ProductCatalogue.Subscription(
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
        return CatalogueHistory([
            ProductCatalogue(
                version: 1,
                effectiveFrom: Instant(milliseconds: 0),
                subscriptions: products.compactMap { $0 }
            )
        ])
    }()
}
