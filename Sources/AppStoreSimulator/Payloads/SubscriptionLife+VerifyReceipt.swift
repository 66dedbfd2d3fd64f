package import Events
internal import FoundationEssentials

/// What `verifyReceipt` answers (Apple's data: verifyReceipt).
extension SubscriptionLife {
    /// The answer at an instant about a receipt that the app sent: status 0, in the unified form
    /// since iOS 7 (Apple's data: verifyReceipt response).
    ///
    /// `receipt` is as of the making of that receipt, which is the same instant unless an earlier
    /// one is given; everything else is as of the answer. Rows of `latest_receipt_info` are sorted
    /// newest first, those of `in_app` are in no order. Without any subscription there is no
    /// `latest_receipt_info`, `latest_receipt` or `pending_renewal_info`.
    package func verifyReceiptResponse(
        asOf instant: Instant,
        receiptMadeAt made: Instant? = nil,
        style: ReceiptStyle = []
    ) -> [UInt8] {
        let content = ReceiptContent(life: self, style: style)
        let made = min(made ?? instant, instant).flooredToSecond
        var json = content.writer()
        json.text("environment", store.environment.word)
        json.value("receipt", json: content.receiptObject(made: made, askedAt: instant))
        if let state = state(asOf: instant), state.newest != nil {
            content.addLatest(of: state, asOf: instant, to: &json)
        }
        json.number("status", 0)
        return json.object
    }

    /// The answer to a receipt that Apple does not accept: a status from 21000 to 21199 (Apple's
    /// data: verifyReceipt status).
    ///
    /// Internal errors, from 21100 on, state whether a retry may help.
    package static func verifyReceiptFailure(status: Int64, isRetryable: Bool = true) -> [UInt8] {
        precondition((21_000...21_199).contains(status), "not the status of a failure: \(status)")
        var json = JSONWriter()
        json.add("status", status)
        if status >= 21_100 {
            json.add("is-retryable", isRetryable)
            json.add("exception", "com.example.ReceiptServiceException")
        }
        return json.object
    }

    /// Answers requested whenever something had changed, at the instants at which the V2
    /// notifications were signed, each with a receipt made at that instant.
    ///
    /// Together they contain every period, refund and grace period; changes that only JWS carry,
    /// such as prices and the percentage of a refund, are missing.
    package func verifyReceiptPolls(style: ReceiptStyle = []) -> [Delivery] {
        chapters.flatMap { chapter in
            chapter.signingInstants.map { instant in
                Delivery(
                    channel: .verifyReceipt,
                    payload: verifyReceiptResponse(asOf: instant, style: style),
                    signedAt: instant
                )
            }
        }
    }
}

extension ReceiptContent {
    fileprivate func addLatest(
        of state: LifeState,
        asOf instant: Instant,
        to json: inout ReceiptWriter
    ) {
        var rows = rows(of: state, asOf: instant)
        if style.contains(.excludeOldTransactions) {
            // Newest first: everything after the first row of the subscription is old.
            let newest = rows.firstIndex { $0.subscription != nil } ?? 0
            rows = rows.enumerated().filter {
                $0.offset == newest || $0.element.subscription == nil
            }
            .map(\.element)
        }
        json.objects("latest_receipt_info", rows.map { object(of: $0, in: .latest) })
        json.plain("latest_receipt", life.appReceiptBase64(asOf: instant, form: style.receiptForm))
        json.objects("pending_renewal_info", pendingRenewals(of: state))
    }

    fileprivate func receiptObject(made: Instant, askedAt: Instant) -> [UInt8] {
        let facts = ReceiptFacts(life)
        let isVolume = style.contains(.volumePurchase)
        let volume = isVolume ? "VPP" : ""
        let sandbox = life.store.environment == .sandbox ? "Sandbox" : ""

        var json = writer()
        json.text("receipt_type", "Production" + volume + sandbox)
        json.number("adam_id", facts.appItemId)
        json.number("app_item_id", facts.appItemId)
        json.text("bundle_id", life.store.bundleId)
        json.text("application_version", facts.version)
        if style.contains(.nullDownloadId) {
            json.value("download_id", json: Array("null".utf8))
        } else {
            json.number("download_id", facts.downloadId)
        }
        json.number("version_external_identifier", facts.versionExternalId)
        json.dates("receipt_creation_date", made)
        json.requestDates(askedAt)
        json.dates("original_purchase_date", facts.downloadDate)
        json.text("original_application_version", facts.originalVersion)
        json.dates("preorder_date", facts.preorderDate)
        if isVolume { json.dates("expiration_date", made.advanced(days: Self.volumePurchaseDays)) }

        var generator = SeededGenerator(
            seed: life.identity.seed ^ UInt64(life.identity.index),
            branch: UInt64(made.milliseconds)
        )
        let rows = generator.shuffled(rows(asOf: made))
        json.objects("in_app", rows.map { object(of: $0, in: .inApp) })
        return json.object
    }

    // In this simulation, an app that an organisation distributes is licensed for a year.
    private static let volumePurchaseDays: Int64 = 365
}

extension ReceiptStyle {
    /// The form of the app receipt inside an answer: the same ids and marks as in its rows.
    var receiptForm: AppReceiptForm {
        var form: AppReceiptForm = []
        if contains(.restoredIds) { form.insert(.restoredIds) }
        if contains(.upgradesCancelled) { form.insert(.upgradesCancelled) }
        return form
    }
}
