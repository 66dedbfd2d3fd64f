internal import Events

/// What a subscription is set to at some time, whatever its status.
struct RenewalSetting {
    /// From when on.
    var from: Instant
    var isAutoRenewOn: Bool?
    /// Whether buying turned it on, and nothing said so.
    var isAutoRenewBought = false
    /// Whether Apple ever said how it was set after that, or left it out of a list that has it.
    var isAutoRenewSaid = false
    /// The setting as far as it is said and not only inferred from buying; nil where nobody said.
    var saidAutoRenewOn: Bool? { isAutoRenewSaid ? isAutoRenewOn : nil }
    var autoRenewProductId: String?
    var priceConsent: RenewalState.PriceConsent?
    /// What Apple said of the next charge and nothing since has overtaken.
    var terms: RenewalTerms?
    var autoRenewOffset: Int64?
    var productOffset: Int64?
    var consentOffset: Int64?
    var termsOffset: Int64?

    func cite(in citations: inout Citations) {
        citations.cite(autoRenewOffset)
        citations.cite(productOffset)
        citations.cite(consentOffset)
    }
}

extension Timeline {
    /// What `renewalSettings` keeps.
    ///
    /// Apple's statements decide; buying turns auto-renewal on, where nothing said at that very
    /// instant denies it. That counts as said once Apple says how it is set after it; as long as it
    /// never does, as in receipts and responses without renewal info, nobody knows whether the
    /// customer switched it off since.
    var foldedRenewalSettings: [RenewalSetting] {
        let statements = renewalStatements
        let bought = purchases.compactMap { purchase in
            purchase.assertions.sorted.first.map {
                (at: min($0.asOf, purchase.purchaseDate), offset: $0.offset)
            }
        }.ordered { ($0.at, $0.offset) < ($1.at, $1.offset) }
        var settings: [RenewalSetting] = []
        settings.reserveCapacity(bought.count + statements.count)
        var current = RenewalSetting(from: Instant(milliseconds: 0))
        var (buying, saying) = (bought.startIndex, statements.startIndex)
        // Where the setting is not said yet that buying began.
        var firstUnsaid: Int?
        while buying < bought.endIndex || saying < statements.endIndex {
            if saying == statements.endIndex
                || buying < bought.endIndex && bought[buying].at <= statements[saying].asOf
            {
                if current.isAutoRenewOn != true {
                    current.isAutoRenewOn = true
                    current.isAutoRenewBought = true
                    current.isAutoRenewSaid = false
                    current.autoRenewOffset = bought[buying].offset
                    firstUnsaid =
                        settings.count - (settings.last?.from == bought[buying].at ? 1 : 0)
                }
                current.from = bought[buying].at
                // An offer is for the charge that was made; Apple states again what comes after it.
                if current.terms?.offer != nil { current.terms = nil }
                buying += 1
            } else {
                if statements[saying].isAutoRenewSaid, let first = firstUnsaid {
                    for index in settings.indices.dropFirst(first) {
                        settings[index].isAutoRenewSaid = true
                    }
                    firstUnsaid = nil
                }
                if statements[saying].leavesAutoRenewOut { firstUnsaid = nil }
                current.take(statements[saying])
                saying += 1
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
        isAutoRenewSaid = isAutoRenewSaid && !statement.leavesAutoRenewOut
        if statement.isAutoRenewSaid {
            isAutoRenewSaid = true
            if isAutoRenewOn != statement.isAutoRenewOn { isAutoRenewBought = false }
            isAutoRenewOn = statement.isAutoRenewOn
            autoRenewOffset = statement.autoRenewOffset
        }
        if statement.areTermsSaid {
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
