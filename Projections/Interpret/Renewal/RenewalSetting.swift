internal import Events

/// How a subscription is set to renew at some time, whatever its status.
struct RenewalSetting {
    /// The first instant of the setting.
    var from: Instant
    var isAutoRenewOn: Bool?
    /// Whether a purchase turned it on, without any statement about it.
    var isAutoRenewBought = false
    /// When Apple last stated the setting; nil if it did not since a purchase turned it on, or if
    /// it omitted the setting from a list that has it.
    var autoRenewStated: Instant?
    var autoRenewProductId: String?
    var priceConsent: PriceConsent?
    /// Apple's statement about the next charge, if nothing since has superseded it.
    var terms: RenewalTerms?
    var autoRenewOffset: Int64?
    var productOffset: Int64?
    var consentOffset: Int64?
    var termsOffset: Int64?

    /// The setting if it is stated and not only inferred from a purchase; nil if never stated.
    ///
    /// That it was on before the subscription expired does not apply to the time after.
    func statedAutoRenewOn(after expiry: Instant?) -> Bool? {
        guard let stated = autoRenewStated else { return nil }
        if isAutoRenewOn == true, let expiry, stated < expiry { return nil }
        return isAutoRenewOn
    }

    func cite(in citations: inout Citations) {
        citations.cite(autoRenewOffset)
        citations.cite(productOffset)
        citations.cite(consentOffset)
    }
}

extension Timeline {
    private static let settingsKey = FoldMemo.Key<[RenewalSetting]>()

    /// How the subscription is set to renew, by the first instant of each setting.
    ///
    /// Apple's statements decide; a purchase turns auto-renewal on, unless a statement at that very
    /// instant denies it. That never counts as stated: until Apple states the setting, it is not
    /// known whether the customer has switched it off since, as in receipts and responses without
    /// renewal info; and Apple's statement then applies from that time on.
    var renewalSettings: [RenewalSetting] {
        once(Timeline.settingsKey) { foldedRenewalSettings }
    }

    private var foldedRenewalSettings: [RenewalSetting] {
        let statements = renewalStatements
        let bought: [(at: Instant, offset: Int64)] = purchases.indices.compactMap { index in
            // An assigned seat is not charged.
            guard succession.course(of: index) == 0 else { return nil }
            let start = purchases[succession.overtaker(of: index) ?? index].purchaseDate
            return purchases[index].assertions.sorted.first.map {
                (at: min($0.asOf, start), offset: $0.offset)
            }
        }.ordered { ($0.at, $0.offset) < ($1.at, $1.offset) }
        var settings: [RenewalSetting] = []
        settings.reserveCapacity(bought.count + statements.count)
        var current = RenewalSetting(from: Instant(milliseconds: 0))
        var (buying, next) = (bought.startIndex, statements.startIndex)
        while buying < bought.endIndex || next < statements.endIndex {
            if next == statements.endIndex
                || buying < bought.endIndex && bought[buying].at <= statements[next].asOf
            {
                if current.isAutoRenewOn != true {
                    current.isAutoRenewOn = true
                    current.isAutoRenewBought = true
                    current.autoRenewStated = nil
                    current.autoRenewOffset = bought[buying].offset
                }
                current.from = bought[buying].at
                // An offer is for the charge that was made; Apple states again what comes after it.
                if current.terms?.offer != nil { current.terms = nil }
                buying += 1
            } else {
                current.take(statements[next])
                next += 1
            }
            if settings.last?.from == current.from { settings.removeLast() }
            settings.append(current)
        }
        return settings
    }
}

extension RenewalSetting {
    fileprivate mutating func take(_ statement: RenewalStatement) {
        from = statement.asOf
        if statement.leavesAutoRenewOut { autoRenewStated = nil }
        if statement.statesAutoRenew {
            autoRenewStated = statement.asOf
            if isAutoRenewOn != statement.isAutoRenewOn { isAutoRenewBought = false }
            isAutoRenewOn = statement.isAutoRenewOn
            autoRenewOffset = statement.autoRenewOffset
        }
        if statement.statesTerms {
            (terms, termsOffset) = (statement.terms, statement.termsOffset)
        } else if statement.isAutoRenewOn == false || !isNext(statement.autoRenewProductId) {
            terms = nil
        }
        autoRenewProductId = statement.autoRenewProductId
        productOffset = statement.productOffset
        priceConsent = statement.priceConsent
        consentOffset = statement.consentOffset
    }

    // Whether the product that renews next is still that one.
    private func isNext(_ product: String?) -> Bool {
        guard let product, let next = autoRenewProductId else { return true }
        return byBytes(product, next) == nil
    }
}
