internal import Events

/// Apple's refunds for single items of an Advanced Commerce purchase.
///
/// A transaction lists them as `advancedCommerceInfo.items[].refunds[]`, each with its amount in
/// milliunits and its date; the purchase itself continues while other items remain
/// (developer.apple.com/documentation/appstoreserverapi/advancedcommercerefund).
struct ItemRefunds: Hashable {
    /// The sum of the amounts; nil if one is not stated, or if the sum does not fit in 64 bits.
    let milliunits: Int64?
    /// The latest date of a refund; nil if none is stated.
    let date: Instant?

    /// The refunds that the properties in `extra` list; nil if they list none.
    init?(extra: String) {
        guard let info = ExtraObject(extra)["advancedCommerceInfo"],
            let items = ExtraObject(info)["items"]
        else { return nil }
        let refunds = ExtraObject.elements(of: items)
            .compactMap { ExtraObject($0)["refunds"] }
            .flatMap { ExtraObject.elements(of: $0) }
            .map { ExtraObject($0) }
        guard !refunds.isEmpty else { return nil }
        milliunits = refunds.reduce(0 as Int64?) { sum, refund in
            guard let sum, let amount = refund.integer("refundAmount") else {
                return nil
            }
            let (total, overflow) = sum.addingReportingOverflow(amount)
            return overflow ? nil : total
        }
        date = refunds.compactMap { $0.instant("refundDate") }.max()
    }
}

extension Purchase {
    /// The statements about refunds of its items, one event for each as-of from the first refund
    /// on.
    var itemRefundEvents: [RefundMachine.Event] {
        guard mayHaveItemRefunds else { return [] }
        var events: [RefundMachine.Event] = []
        var sweep = Sweep(assertions)
        while sweep.advance() {
            // Only the signed transaction lists items, so an omission is meaningful only there.
            guard let asOf = sweep.asOf, let offset = sweep.decider(of: .extra),
                assertions.sorted.contains(where: {
                    $0.offset == offset && $0.content.format == .signedTransaction
                })
            else { continue }
            switch sweep.fresh(.extra) {
            case .unknown: continue
            case .value(.text(let extra)):
                if let refunds = ItemRefunds(extra: extra) {
                    events.append(.init(asOf: asOf, word: .itemRefund(refunds), offset: offset))
                    continue
                }
            default: break
            }
            if !events.isEmpty {
                events.append(.init(asOf: asOf, word: .itemDenial, offset: offset))
            }
        }
        return events
    }

    /// Whether any statement, even if later ones differ, lists a refund of an item.
    var wasAnItemRefunded: Bool { !itemRefundEvents.isEmpty }

    // Very few purchases are of Advanced Commerce, and few have properties without a tag.
    private var mayHaveItemRefunds: Bool {
        assertions.sorted.contains { assertion in
            assertion.fields.contains(.extra) && assertion.content.carried.contains(.extra)
        }
    }
}
