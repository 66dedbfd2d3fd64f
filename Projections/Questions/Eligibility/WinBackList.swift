public import Events

/// The win-back offers that a customer may redeem according to Apple.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/eligiblewinbackofferids
public struct WinBackList: Codable, Hashable, Sendable {
    /// The subscription whose renewal info has the list.
    public let originalTransactionId: String
    /// Apple's identifiers of the offers, best first; empty if Apple lists none.
    public let eligibleWinBackOfferIds: [String]
    /// Apple's date for the list.
    public let asOf: Instant
    /// The event with the list.
    public let positions: [Position]
}

extension KnownRenewal {
    /// Apple's list in the newest signed renewal info; nil if that has none, or if a purchase that
    /// began after it has made it obsolete.
    func winBackList(lane: Lane, lastPurchase: Purchase?) -> WinBackList? {
        let signed = assertions.sorted.filter { $0.content.format == .signedRenewalInfo }
        guard let asOf = signed.last?.asOf,
            lastPurchase.map({ $0.purchaseDate <= asOf }) ?? true
        else { return nil }
        let newest = Assertions(inOrder: signed.drop { $0.asOf < asOf })
        guard let decision = newest.decision(on: .eligibleWinBackOfferIds),
            case .value(.text(let text)) = decision.state
        else { return nil }
        return WinBackList(
            originalTransactionId: stream.originalTransactionId,
            eligibleWinBackOfferIds: ExtraObject.elements(of: text.utf8[...])
                .compactMap(ExtraObject.text),
            asOf: asOf,
            positions: [Position(lane: lane, offset: decision.offset)]
        )
    }
}
