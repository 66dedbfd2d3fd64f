internal import Events

/// What Apple pushed before JWS: App Store Server Notifications V1
/// (Apple's data: version 1 notifications).
extension SubscriptionLife {
    /// The shared secret in simulated V1 bodies, unless another one is given.
    package static let sharedSecret = "5eed5eed5eed5eed5eed5eed5eed5eed"

    /// A V1 body lists at most this many transactions, the newest (Apple's data: version 1 body).
    package static let statusUpdateRowsMax = 100

    // Up to three of them are sent before the next step, which is a minute away.
    private static let statusUpdateSpacing = 10 * SimulatedCalendar.second

    /// The V1 notifications about the life, by the instant they are sent, which their bodies do not
    /// contain.
    ///
    /// Family members and sandboxes receive fewer types (Apple's data: version 1 types). Apple's
    /// secrets are 32 hexadecimal digits. The notifications are not signed: the secret and the
    /// embedded app receipt are their only proof.
    package func statusUpdateNotifications(
        password: String = SubscriptionLife.sharedSecret,
        style: ReceiptStyle = []
    ) -> [Delivery] {
        var toggledAt: Instant?
        var before = LifeState()
        var result: [Delivery] = []
        for chapter in chapters {
            let updates = StatusUpdate.updates(
                about: chapter.step,
                before: before,
                after: chapter.state,
                style: style
            )
            if updates.contains(where: { $0.type == "DID_CHANGE_RENEWAL_STATUS" }) {
                toggledAt = chapter.step.at
            }
            before = chapter.state

            let isSandbox = store.environment == .sandbox
            let sent = updates.filter {
                $0.isSent(toMember: identity.isFamilyShared, inSandbox: isSandbox)
            }
            for (number, update) in sent.enumerated() {
                let sentAt = chapter.signedAt.advanced(by: Int64(number) * Self.statusUpdateSpacing)
                let body = StatusUpdateBody(
                    life: self,
                    style: style,
                    update: update,
                    chapter: chapter,
                    sentAt: sentAt,
                    toggledAt: toggledAt
                )
                let payload = body.json(password: password)
                result.append(Delivery(channel: .statusUpdate, payload: payload, signedAt: sentAt))
            }
        }
        return result
    }
}

/// The body of one V1 notification (Apple's data: version 1 body).
private struct StatusUpdateBody {
    let life: SubscriptionLife
    let style: ReceiptStyle
    let update: StatusUpdate
    let chapter: SubscriptionLife.Chapter
    let sentAt: Instant
    let toggledAt: Instant?

    private var state: LifeState { chapter.state }
    private var content: ReceiptContent { ReceiptContent(life: life, style: style) }
    private var isLegacy: Bool { style.contains(.legacyNotification) }

    func json(password: String) -> [UInt8] {
        var json = content.writer()
        json.text("notification_type", update.type)
        json.text("environment", life.store.environment == .sandbox ? "Sandbox" : "PROD")
        json.text("password", password)
        json.text("bid", life.store.bundleId)
        json.text("bvrs", "42")
        addRenewal(to: &json)
        if !isLegacy {
            json.digits("original_transaction_id", subjectId)
            json.text("deprecation", Self.deprecation)
        }
        if !style.contains(.withoutUnifiedReceipt) {
            json.value("unified_receipt", json: unifiedReceipt)
        }
        if isLegacy { addRemovedFields(to: &json) }
        return json.object
    }

    // The subscription, or the refunded one-time purchase.
    private var subjectId: String {
        guard case .refundOneTime(let number, _) = chapter.step else {
            return life.identity.originalTransactionId
        }
        return life.identity.transactionId(state.oneTimePurchases[number].transactionNumber)
    }

    private func addRenewal(to json: inout ReceiptWriter) {
        guard let newest = state.newest else { return }
        let next = (state.renewalProduct ?? newest.product).id
        json.text("auto_renew_product_id", next)
        json.text("auto_renew_adam_id", String(SubscriptionLife.adamId(of: next)))
        json.flag("auto_renew_status", state.isAutoRenewOn)
        if update.type == "DID_CHANGE_RENEWAL_STATUS" {
            json.dates("auto_renew_status_change_date", toggledAt)
        }
        let intent = PendingBilling(state).expirationIntent
        if isLegacy {
            json.text("expiration_intent", intent.map { String($0) })
        } else {
            json.number("expiration_intent", intent)
        }
    }

    private var unifiedReceipt: [UInt8] {
        let rows =
            update.isEmpty
            ? []
            : content.rows(of: state, asOf: sentAt).prefix(SubscriptionLife.statusUpdateRowsMax)
        var json = content.writer()
        json.number("status", 0)
        json.text("environment", life.store.environment.word)
        json.plain("latest_receipt", receipt)
        json.objects("latest_receipt_info", rows.map { content.object(of: $0, in: .latest) })
        json.objects("pending_renewal_info", content.pendingRenewals(of: state))
        return json.object
    }

    private var receipt: [UInt8] {
        life.appReceiptBase64(asOf: sentAt, form: style.receiptForm)
    }

    // Removed on 2021-03-10. A period that is not over is in latest_receipt_info; one that ended,
    // was cancelled or revoked is in latest_expired_receipt_info, next to an empty object.
    private func addRemovedFields(to json: inout ReceiptWriter) {
        guard let number = update.purchase, state.purchases.indices.contains(number) else { return }
        let purchase = state.purchases[number]
        let isCancel = update.type == "CANCEL"
        let isOver = isCancel || purchase.revocation != nil || purchase.expiresDate <= sentAt
        let object = content.singleObject(of: number, in: state)
        if isOver {
            json.value("latest_receipt_info", json: Array("{}".utf8))
            json.value("latest_expired_receipt_info", json: object)
            json.text("latest_expired_receipt", "")
        } else {
            json.plain("latest_receipt", content.singleReceiptBase64(ofPurchase: number, in: state))
            json.value("latest_receipt_info", json: object)
        }
        if isCancel {
            // An upgrade ends the period that it replaces, even if its row does not say so.
            json.dates("cancellation_date", purchase.revocation?.date ?? chapter.step.at)
            let lineItem = life.identity.webOrderLineItemId(purchase.lineItemNumber)
            json.text("web_order_line_item_id", lineItem)
        }
    }

    private static let deprecation = "Mon, 05 Jun 2023 00:00:00 GMT"
}
