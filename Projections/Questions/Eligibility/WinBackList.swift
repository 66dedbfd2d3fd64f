public import Events

/// The win-back offers that Apple says a customer is eligible to redeem.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/eligiblewinbackofferids
public struct WinBackList: Hashable, Sendable {
    /// The subscription whose renewal info has the list.
    public let stream: StreamID
    /// Apple's identifiers of the offers, the best one first; empty where Apple lists none.
    public let offerIds: [String]
    /// When Apple said so.
    public let asOf: Instant
    /// The event that holds the list.
    public let position: Position
}

extension KnownRenewal {
    /// Apple's list as the newest signed renewal info has it; nil where that has none, or where a
    /// purchase that began after it has made it out of date.
    func winBackList(lane: Int, lastPurchase: Purchase?) -> WinBackList? {
        let signed = assertions.sorted.filter { $0.content.format == .signedRenewalInfo }
        guard let asOf = signed.last?.asOf,
            lastPurchase.map({ $0.purchaseDate <= asOf }) ?? true
        else { return nil }
        let newest = Assertions(inOrder: signed.drop { $0.asOf < asOf })
        guard let decision = newest.decision(on: .eligibleWinBackOfferIds),
            case .value(.text(let text)) = decision.state
        else { return nil }
        return WinBackList(
            stream: stream,
            offerIds: ExtraObject.elements(of: text.utf8[...]).compactMap(ExtraObject.text),
            asOf: asOf,
            position: Position(lane: lane, offset: decision.offset)
        )
    }
}
