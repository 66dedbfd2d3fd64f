internal import AppStoreSimulator
internal import Events
internal import Foundation

/// Get Transaction History and Get Refund History.
struct HistoryDocument: Encodable {
    let revision: String?
    let hasMore: Bool
    let bundleId: String
    let appAppleId: Int64?
    let environment: StoreEnvironment
    let signedTransactions: [String]
}

/// Look Up Order ID.
struct OrderDocument: Encodable {
    /// 0 for an existing order, 1 for an unknown one.
    let status: Int
    let signedTransactions: [String]
}

extension ServedStore {
    /// Get Transaction History: by last modification, starting after a revision.
    func history(
        of id: String,
        revision: String?,
        at now: Instant
    ) throws(StoreError) -> HistoryDocument {
        let (life, instant) = try known(id, at: now)
        let listed = life.listed(asOf: instant)
        return try page(of: listed, life, revision, signedAt: instant) { $0.modifiedAt }
    }

    /// Get Refund History: by revocation date.
    func refunds(
        of id: String,
        revision: String?,
        at now: Instant
    ) throws(StoreError) -> HistoryDocument {
        let (life, instant) = try known(id, at: now)
        let listed = life.listed(asOf: instant).filter { $0.revocationDate != nil }
            .sorted {
                ($0.revocationDate ?? .epoch, $0.number) < ($1.revocationDate ?? .epoch, $1.number)
            }
        return try page(of: listed, life, revision, signedAt: instant) {
            $0.revocationDate ?? .epoch
        }
    }

    /// Get All Subscription Statuses.
    func statuses(of id: String, at now: Instant) throws(StoreError) -> [UInt8] {
        let (life, instant) = try known(id, at: now)
        return life.statuses(asOf: instant).payload
    }

    /// Get Transaction Info: the JWS of the transaction.
    func transaction(_ id: String, at now: Instant) throws(StoreError) -> String {
        let (life, instant) = try known(id, allowsAppTransaction: false, at: now)
        guard let found = life.listed(asOf: instant).first(where: { $0.transactionId == id })
        else { throw .transactionNotFound }
        return String(decoding: life.signed(found, at: instant), as: UTF8.self)
    }

    /// Get App Transaction Info: the JWS of the app transaction.
    func appTransaction(of id: String, at now: Instant) throws(StoreError) -> String {
        let (life, instant) = try known(id, at: now)
        return String(decoding: life.signedAppTransaction(asOf: instant), as: UTF8.self)
    }

    /// Look Up Order ID: an order here is `M` followed by the id of the subscription.
    func order(_ id: String, at now: Instant) -> OrderDocument {
        guard id.first == "M", let number = life(of: String(id.dropFirst()), at: now) else {
            return OrderDocument(status: 1, signedTransactions: [])
        }
        let (life, instant) = life(number, at: now)
        return OrderDocument(
            status: 0,
            signedTransactions: life.listed(asOf: instant).map {
                String(decoding: life.signed($0, at: instant), as: UTF8.self)
            }
        )
    }

    private func known(
        _ id: String,
        allowsAppTransaction: Bool = true,
        at now: Instant
    ) throws(StoreError) -> (life: SubscriptionLife, instant: Instant) {
        guard id.utf8.count <= 32, !id.isEmpty, id.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else {
            throw .invalidTransactionId
        }
        guard let number = life(of: id, allowsAppTransaction: allowsAppTransaction, at: now) else {
            throw .transactionNotFound
        }
        return life(number, at: now)
    }

    // A revision contains the modification date of the last transaction returned, so later
    // modifications are returned again.
    private func page(
        of listed: [ListedTransaction],
        _ life: SubscriptionLife,
        _ revision: String?,
        signedAt: Instant,
        by order: (ListedTransaction) -> Instant
    ) throws(StoreError) -> HistoryDocument {
        var rest = listed[...]
        if let revision {
            let parts = revision.split(separator: "_").compactMap { Int64($0) }
            guard parts.count == 3, parts[2] == life.identity.index else { throw .invalidRevision }
            let mark = Instant(milliseconds: parts[0])
            rest = rest.drop { (order($0), $0.number) <= (mark, parts[1]) }
        }
        let page = rest.prefix(SubscriptionLife.historyPageMax)
        let next = page.last.map {
            "\(order($0).milliseconds)_\($0.number)_\(life.identity.index)"
        }
        return HistoryDocument(
            revision: next ?? revision,
            hasMore: page.count < rest.count,
            bundleId: life.store.bundleId,
            appAppleId: environment == .production ? life.store.appAppleId : nil,
            environment: environment,
            signedTransactions: page.map {
                String(decoding: life.signed($0, at: signedAt), as: UTF8.self)
            }
        )
    }
}
