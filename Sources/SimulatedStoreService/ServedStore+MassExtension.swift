internal import AppStoreSimulator
internal import Events
internal import Foundation
internal import Synchronization

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
    /// that was carried out is not carried out again. Returns the identifier of the request.
    func extendRenewalDates(
        _ question: ExtensionQuestion,
        at now: Instant
    ) throws(StoreError) -> String {
        _ = try question.days()
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
        guard massExtensions.withLock({ $0[key] == nil }) else { return request }

        var (succeeded, failed) = (0, 0)
        for life in lives where life.isSubscribed(to: product, storefronts, at: now) {
            do {
                _ = try extendRenewalDate(of: life.originalTransactionId, question, at: now)
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
        return request
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
