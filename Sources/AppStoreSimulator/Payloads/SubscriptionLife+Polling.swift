package import Events
internal import Projections

/// The answers of the App Store Server API to requests at an instant.
extension SubscriptionLife {
    /// A page of history holds at most this many transactions (Apple's data: server API).
    package static let historyPageMax = 20

    /// The pages of Get Transaction History at an instant, by last modification.
    ///
    /// Transactions are as of that instant and signed then. At least one page, possibly empty.
    package func history(asOf instant: Instant) -> [Delivery] {
        pages(of: listed(asOf: instant).map { signable($0, signedAt: instant) }, signedAt: instant)
    }

    /// The transactions at an instant, by last modification: the order of the history.
    package func listed(asOf instant: Instant) -> [ListedTransaction] {
        guard let state = state(asOf: instant) else { return [] }
        let additions = state.additions.map { state.purchase(of: $0) }
        let periods = (state.purchases + additions).map { purchase in
            ListedTransaction(
                modifiedAt: purchase.modifiedAt,
                number: purchase.transactionNumber,
                transactionId: identity.transactionId(purchase.transactionNumber),
                revocationDate: purchase.revocation?.date,
                content: .period(purchase, state)
            )
        }
        let oneTimePurchases = state.oneTimePurchases.map { purchase in
            ListedTransaction(
                modifiedAt: purchase.revocation?.date ?? purchase.purchaseDate,
                number: purchase.transactionNumber,
                transactionId: identity.transactionId(purchase.transactionNumber),
                revocationDate: purchase.revocation?.date,
                content: .oneTime(purchase)
            )
        }
        return (periods + oneTimePurchases).sorted {
            ($0.modifiedAt, $0.number) < ($1.modifiedAt, $1.number)
        }
    }

    /// The JWS of a listed transaction.
    package func signed(_ transaction: ListedTransaction, at instant: Instant) -> [UInt8] {
        store.pki.sign(payloadJSON: signable(transaction, signedAt: instant))
    }

    private func signable(_ transaction: ListedTransaction, signedAt: Instant) -> [UInt8] {
        let content = content(signedAt: signedAt)
        return switch transaction.content {
        case .period(let purchase, let state): content.transaction(purchase, of: state)
        case .oneTime(let purchase): content.transaction(purchase)
        }
    }

    /// The answer of Get All Subscription Statuses at an instant.
    package func statuses(asOf instant: Instant) -> Delivery {
        let content = content(signedAt: instant)
        var groups: [[UInt8]] = []
        if let state = state(asOf: instant), let newest = state.newest,
            let renewal = content.renewalInfo(of: state)
        {
            let transaction = content.transaction(newest, of: state)
            var last = JSONWriter()
            last.add("originalTransactionId", identity.originalTransactionId)
            last.add("status", state.status(at: instant)?.appleNumber)
            last.add("signedTransactionInfo", plain: store.pki.sign(payloadJSON: transaction))
            last.add("signedRenewalInfo", plain: store.pki.sign(payloadJSON: renewal))
            var group = JSONWriter()
            group.add("subscriptionGroupIdentifier", newest.product.group)
            group.add("lastTransactions", objects: [last.object])
            groups.append(group.object)
        }
        var json = JSONWriter()
        json.add("environment", store.environment.word)
        json.add("bundleId", store.bundleId)
        json.add("appAppleId", store.appAppleId)
        json.add("data", objects: groups)
        return Delivery(channel: .statuses, payload: json.object, signedAt: instant)
    }

    /// History and statuses requested whenever something had changed, at the instants at which the
    /// notifications were signed.
    ///
    /// Together they contain the whole truth, as the notifications do. History alone contains no
    /// grace.
    package func polls() -> [Delivery] {
        chapters.flatMap { poll(after: $0) }
    }

    /// History and statuses requested after changes that Apple does not announce.
    ///
    /// A ledger that polls from time to time learns of them this way, or from the next
    /// notification.
    package func silentPolls() -> [Delivery] {
        chapters.filter(\.isSilent).flatMap { poll(after: $0) }
    }

    private func poll(after chapter: Chapter) -> [Delivery] {
        chapter.signingInstants.flatMap { instant in
            history(asOf: instant) + [statuses(asOf: instant)]
        }
    }

    /// What other devices sent after a restore: the same purchases under other transaction ids.
    package func restores() -> [Delivery] {
        chapters.flatMap { chapter -> [Delivery] in
            guard case .restore = chapter.step, let restore = chapter.state.restores.last else {
                return []
            }
            let content = content(signedAt: chapter.signedAt)
            let transactions = chapter.state.purchases.enumerated().map { number, purchase in
                let number = restore.firstTransactionNumber + Int64(number)
                return content.transaction(purchase, of: chapter.state, number: number)
            }
            return pages(of: transactions, signedAt: chapter.signedAt)
        }
    }

    /// Notifications and restores, by signing date: everything that arrives unasked, and polls
    /// after the few unannounced changes.
    package func deliveries() -> [Delivery] {
        (notifications() + restores() + silentPolls()).sorted { $0.signedAt < $1.signedAt }
    }

    private func pages(of transactions: [[UInt8]], signedAt: Instant) -> [Delivery] {
        let size = Self.historyPageMax
        return stride(from: 0, to: max(1, transactions.count), by: size).map { first in
            let end = min(first + size, transactions.count)
            var json = JSONWriter()
            json.add("revision", "\(signedAt.milliseconds)_\(identity.index)_\(end)")
            json.add("hasMore", end < transactions.count)
            json.add("bundleId", store.bundleId)
            json.add("appAppleId", store.appAppleId)
            json.add("environment", store.environment.word)
            json.add(
                "signedTransactions",
                plainTexts: transactions[first..<end].map { store.pki.sign(payloadJSON: $0) }
            )
            return Delivery(channel: .history, payload: json.object, signedAt: signedAt)
        }
    }
}
