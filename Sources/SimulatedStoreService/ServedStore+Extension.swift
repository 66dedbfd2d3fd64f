internal import AppStoreSimulator
internal import Events
internal import Foundation

/// The body of Extend a Subscription Renewal Date, or of the same for all active subscribers.
struct ExtensionQuestion: Decodable {
    let extendByDays: Int64?
    let extendReasonCode: Int64?
    let requestIdentifier: String?
    /// For all subscribers only.
    let storefrontCountryCodes: [String]?
    /// For all subscribers only.
    let productId: String?

    /// The number of days, if all members are valid.
    func days() throws(StoreError) -> Int64 {
        guard let days = extendByDays, (1...90).contains(days) else { throw .invalidExtendByDays }
        guard let reason = extendReasonCode, (0...3).contains(reason) else {
            throw .invalidExtendReasonCode
        }
        guard let request = requestIdentifier, (1...128).contains(request.utf8.count) else {
            throw .invalidRequestIdentifier
        }
        return days
    }
}

/// Extend a Subscription Renewal Date.
struct ExtensionDocument: Encodable {
    let success = true
    let originalTransactionId: String
    let webOrderLineItemId: String
    let effectiveDate: Instant
}

extension ServedStore {
    /// Moves the end of the period of a subscription controlled by commands.
    ///
    /// The story of the others is drawn from the seed, so they are refused like a subscription
    /// whose state does not allow it.
    func extendRenewalDate(
        of id: String,
        _ question: ExtensionQuestion,
        at now: Instant
    ) throws(StoreError) -> ExtensionDocument {
        guard id.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else {
            throw .invalidOriginalTransactionId
        }
        guard let number = life(of: id, allowsAppTransaction: false, at: now),
            life(number).originalTransactionId == id
        else { throw .originalTransactionNotFound }
        let days = try question.days()
        var newEnd: (date: Instant, lineItem: String)?
        do {
            _ = try direct(number, at: now) { life, instant throws(ScriptError) in
                let at = try life.decide(.extend(days: days), at: instant) ?? instant
                newEnd = life.life.status(asOf: at).map {
                    (life.life.store.pace.date($0.expiresDate), $0.webOrderLineItemId)
                }
            }
        } catch {
            throw .extensionIneligible
        }
        guard let newEnd else { throw .extensionIneligible }
        return ExtensionDocument(
            originalTransactionId: id,
            webOrderLineItemId: newEnd.lineItem,
            effectiveDate: newEnd.date
        )
    }
}
