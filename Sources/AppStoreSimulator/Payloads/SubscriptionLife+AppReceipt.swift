package import Events
internal import FoundationEssentials

/// The signed receipt in the app's bundle (Apple's data: app receipts).
extension SubscriptionLife {
    /// The app receipt made at an instant: PKCS#7, in DER unless the form says otherwise.
    ///
    /// It contains every in-app purchase that existed at that instant, including a renewal charged
    /// early; finished consumables are gone. It proves only that moment: nothing later, and no
    /// renewal info. The creation date is the instant floored to its second.
    package func appReceipt(asOf instant: Instant, form: AppReceiptForm = []) -> [UInt8] {
        appReceipt(asOf: instant, form: form, including: [])
    }

    private func appReceipt(
        asOf instant: Instant,
        form: AppReceiptForm,
        including others: [SubscriptionLife]
    ) -> [UInt8] {
        let rows = ([self] + others).flatMap {
            ReceiptContent(life: $0, style: form.rowStyle).rows(asOf: instant)
        }
        let payload = payload(asOf: instant, rows, form: form)
        return store.pki.receipts.sign(payload: payload, form: form)
    }

    /// The app receipt as apps send it to servers: base64, in lines of 76 if requested.
    package func appReceiptBase64(
        asOf instant: Instant,
        form: AppReceiptForm = [],
        inLines: Bool = false
    ) -> [UInt8] {
        let receipt = Data(appReceipt(asOf: instant, form: form))
        return Array(
            receipt.base64EncodedData(
                options: inLines ? [.lineLength76Characters, .endLineWithLineFeed] : []
            )
        )
    }

    /// The receipts that a device had: a new one after every purchase, renewal and restore.
    ///
    /// After a restore, receipts contain the transaction ids of that device.
    ///
    /// - Parameters:
    ///   - form: Their form.
    ///   - others: Other subscriptions of the Apple Account, whose purchases they contain as well.
    /// - Returns: The receipts.
    package func appReceipts(
        form: AppReceiptForm = [],
        including others: [SubscriptionLife] = []
    ) -> [Delivery] {
        let form = form.union(.restoredIds)
        return ([self] + others).flatMap(\.receiptInstants).sorted().map { instant in
            Delivery(
                channel: .appReceipt,
                payload: appReceipt(asOf: instant, form: form, including: others),
                signedAt: instant.flooredToSecond
            )
        }
    }

    // After every purchase, renewal and restore.
    private var receiptInstants: [Instant] {
        var known = 0
        return chapters.compactMap { chapter in
            let state = chapter.state
            let count = state.purchases.count + state.oneTimePurchases.count + state.restores.count
            guard count > known else { return nil }
            known = count
            return chapter.signedAt
        }
    }

    private func payload(
        asOf instant: Instant,
        _ rows: [ReceiptRow],
        form: AppReceiptForm
    ) -> [UInt8] {
        let isComplete = !form.contains(.onlyKnownAttributes)
        let facts = ReceiptFacts(self)
        let bundleId = BER.utf8(store.bundleId)
        let kind = store.environment == .sandbox ? "ProductionSandbox" : "Production"
        var attributes = ReceiptAttributes()
        attributes.add(0, BER.utf8(kind))
        attributes.add(1, BER.integer(facts.appItemId))
        attributes.add(2, bundleId)
        attributes.add(3, BER.utf8(facts.version))
        attributes.add(4, version: 2, facts.opaqueValue)
        attributes.add(5, facts.hash(encodedBundleId: bundleId))
        attributes.add(12, BER.ia5(AppleDateText.rfc3339(store.pace.real(instant))))
        attributes.add(15, BER.integer(facts.downloadId))
        attributes.add(16, BER.integer(facts.versionExternalId))
        attributes.add(18, BER.ia5(AppleDateText.rfc3339(store.pace.real(facts.downloadDate))))
        attributes.add(19, BER.utf8(facts.originalVersion))
        if let preorder = facts.preorderDate {
            attributes.add(32, BER.ia5(AppleDateText.rfc3339(store.pace.real(preorder))))
        }
        if isComplete { attributes.addOpaque(of: facts, asOf: instant) }
        for row in rows {
            attributes.add(17, ReceiptAttributes(row, isComplete: isComplete, pace: store.pace).set)
        }
        return attributes.set
    }
}

/// Attributes of a receipt or of one purchase in it: a SET OF SEQUENCE { type, version, value }.
private struct ReceiptAttributes {
    private var elements: [[UInt8]] = []

    init() {}

    /// The attributes of one purchase; unset dates are empty texts, as in Apple's receipts.
    init(_ row: ReceiptRow, isComplete: Bool, pace: SimulatedPace) {
        let text = { (instant: Instant) in AppleDateText.rfc3339(pace.real(instant)) }
        add(1701, BER.integer(row.quantity))
        add(1702, BER.utf8(row.productId))
        add(1703, BER.utf8(row.transactionId))
        add(1704, BER.ia5(text(row.purchaseDate)))
        add(1705, BER.utf8(row.originalTransactionId))
        add(1706, BER.ia5(text(row.originalPurchaseDate)))
        let subscription = row.subscription
        add(1708, BER.ia5(subscription.map { text($0.expiresDate) } ?? ""))
        add(1711, BER.integer(subscription.flatMap { Int64($0.lineItemId) } ?? 0))
        add(1712, BER.ia5(row.cancellation.map { text($0.date) } ?? ""))
        add(1713, BER.integer(subscription?.isTrial == true ? 1 : 0))
        if let subscription { add(1719, BER.integer(subscription.isIntroductory ? 1 : 0)) }
        if let cancellation = row.cancellation { add(1720, BER.integer(cancellation.reason)) }
        guard isComplete else { return }
        // Present in every receipt from Apple but undocumented; 3 occurs for subscriptions.
        add(1707, BER.integer(subscription == nil ? 1 : 3))
        add(1710, BER.integer(0))
        add(1722, BER.integer(0))
        for type: Int64 in [1709, 1714, 1715, 1716, 1717, 1718] { add(type, BER.utf8("")) }
    }

    var set: [UInt8] { BER.setOf(elements) }

    mutating func add(_ type: Int64, version: Int64 = 1, _ value: [UInt8]) {
        elements.append(
            BER.element(
                BER.sequence,
                BER.integer(type) + BER.integer(version) + BER.element(BER.octetString, value)
            )
        )
    }

    /// What Apple's receipts contain besides everything that is known.
    mutating func addOpaque(of facts: ReceiptFacts, asOf instant: Instant) {
        add(6, facts.sealed[0])
        add(7, facts.sealed[1])
        add(8, BER.ia5(""))
        add(9, BER.utf8("P305"))
        add(10, BER.ia5("4+"))
        add(11, BER.integer(0))
        add(13, BER.integer(180_602))
        add(14, BER.integer(229))
        add(20, BER.utf8(""))
        add(25, BER.integer(3))
    }
}
