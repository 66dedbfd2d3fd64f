internal import AppStoreSimulator
internal import Events
internal import Foundation
internal import Synchronization

/// The body of Extend Subscription Renewal Dates for All Active Subscribers.
struct MassExtensionQuestion: Decodable {
    let extendByDays: Int64?
    let extendReasonCode: Int64?
    let requestIdentifier: String?
    let storefrontCountryCodes: [String]?
    let productId: String?
}

/// The answer to it: the identifier of the request.
struct MassExtensionDocument: Encodable {
    let requestIdentifier: String
}

/// The answer to Get Status of Subscription Renewal Date Extensions.
struct MassExtensionStatus: Encodable {
    let requestIdentifier: String
    let complete = true
    let completeDate: Instant
    let succeededCount: Int
    let failedCount: Int
}

/// Identifies an extension for all subscribers that was requested.
struct MassExtensionKey: Hashable {
    let productId: String
    let requestIdentifier: String
}

extension ServedStore {
    /// Moves the period ends of all active subscribers of a product, at once; Apple takes hours.
    ///
    /// Subscriptions that no command controls follow the seed, so they count as failed. A request
    /// that was carried out is not carried out again.
    func extendRenewalDates(
        _ question: MassExtensionQuestion,
        at now: Instant
    ) throws(StoreError) -> MassExtensionDocument {
        let one = ExtensionQuestion(
            extendByDays: question.extendByDays,
            extendReasonCode: question.extendReasonCode,
            requestIdentifier: question.requestIdentifier
        )
        _ = try one.days()
        let products = SimulatedCatalog.groups.flatMap(\.self).map(\.id)
        guard let product = question.productId, products.contains(product) else {
            throw .invalidProductId
        }
        let storefronts = question.storefrontCountryCodes
        guard storefronts?.isEmpty != true else { throw .emptyStorefronts }
        let countries = Set(SimulatedStorefront.all.map(\.country))
        guard countries.isSuperset(of: storefronts ?? []) else { throw .invalidStorefront }

        let request = question.requestIdentifier ?? ""
        let key = MassExtensionKey(productId: product, requestIdentifier: request)
        let document = MassExtensionDocument(requestIdentifier: request)
        guard massExtensions.withLock({ $0[key] == nil }) else { return document }

        var (succeeded, failed) = (0, 0)
        for life in lives where life.isSubscribed(to: product, storefronts, at: now) {
            do {
                _ = try extendRenewalDate(of: life.originalTransactionId, one, at: now)
                succeeded += 1
            } catch {
                failed += 1
            }
        }
        let status = MassExtensionStatus(
            requestIdentifier: request,
            completeDate: now,
            succeededCount: succeeded,
            failedCount: failed
        )
        massExtensions.withLock { $0[key] = status }
        return document
    }

    /// The status of a request.
    func massExtensionStatus(
        ofProduct product: String,
        _ request: String
    ) throws(StoreError) -> MassExtensionStatus {
        let key = MassExtensionKey(productId: product, requestIdentifier: request)
        guard let status = massExtensions.withLock({ $0[key] }) else { throw .extensionNotFound }
        return status
    }
}

extension SubscriptionLife {
    fileprivate func isSubscribed(
        to product: String,
        _ storefronts: [String]?,
        at now: Instant
    ) -> Bool {
        let instant = store.pace.calendar(now)
        guard let status = status(asOf: instant), status.productId == product,
            status.expiresDate > instant
        else { return false }
        return storefronts?.contains(identity.storefront.country) ?? true
    }
}
