import Events

/// What the top level of a version 1 notification states about itself (Apple's data: version 1
/// body).
enum StatusUpdate {
    /// The fact of the notification: which type, about which period of which subscription.
    ///
    /// It has no id and no date; a repetition is recognised by its equal content (Apple's data:
    /// version 1 repetitions).
    static func fact(
        _ body: JSON.Value,
        _ provenance: Provenance,
        among transactions: [Fact],
        _ renewals: [Fact]
    ) throws(Rejection) -> Fact {
        let id = try subject(of: body, among: transactions, renewals) ?? ""
        let period = period(of: body, in: transactions, about: id)

        var content = ContentBuilder(format: .statusUpdateNotification)
        for (name, value) in body.members {
            guard !value.isBlank, !leftOut.contains(where: { name.equals($0) }) else { continue }
            if name.equals("auto_renew_status"), let flag = value.looseFlag {
                content.set(.autoRenewStatus, .integer(flag ? 1 : 0))
            } else if name.equals("expiration_intent"), let number = value.looseInteger {
                content.set(.expirationIntent, .integer(number))
            } else if let (_, field) = texts.first(where: { name.equals($0.name) }) {
                content.set(field, .text(try Claims.looseId(value, named: name.text ?? "an id")))
            } else {
                content.keep(name, value)
            }
        }

        return provenance.fact(
            .notification,
            about: id,
            from: period?.purchaseDate,
            to: period?.expiresDate,
            try content.finished(byteCount: Content.byteCountMax)
        )
    }

    /// The subscription that the top level is about: the one it names, otherwise the only one,
    /// otherwise the one that renews into its product; nil if that is ambiguous.
    static func subject(
        of body: JSON.Value,
        among transactions: [Fact],
        _ renewals: [Fact]
    ) throws(Rejection) -> String? {
        if let value = body["original_transaction_id"], !value.isBlank {
            return try Claims.transactionId(value, named: "original_transaction_id")
        }
        let isPeriod = { (fact: Fact) in fact.expiresDate != Instant(milliseconds: 0) }
        guard let first = (transactions.first(where: isPeriod) ?? renewals.first)?.stream else {
            return nil
        }
        let isOther = { (fact: Fact) in fact.stream != first }
        if !renewals.contains(where: isOther),
            !transactions.contains(where: { isPeriod($0) && isOther($0) })
        {
            return first.originalTransactionId
        }
        guard let product = body["auto_renew_product_id"]?.looseText else { return nil }
        let renewing = renewals.filter {
            $0.content[.autoRenewProductId] == .text(product)
        }
        return renewing.count == 1 ? renewing.first?.stream.originalTransactionId : nil
    }

    /// Dates at the top level of things that had already happened.
    static func pastDates(_ body: JSON.Value) throws(Rejection) -> [Instant] {
        var dates: [Instant] = []
        for (milliseconds, text) in datePairs {
            for name in [milliseconds, text] {
                guard let value = body[name], !value.isBlank else { continue }
                dates.append(try AppleClock.looseInstant(value, named: name.description))
                break
            }
        }
        return dates
    }

    // A cancellation is about the cancelled period, everything else about the newest.
    private static func period(
        of body: JSON.Value,
        in transactions: [Fact],
        about id: String
    ) -> Fact? {
        let own = transactions.filter {
            $0.stream.originalTransactionId.utf8.elementsEqual(id.utf8)
        }
        if body["notification_type"]?.equals("CANCEL") == true {
            let cancelled = own.filter { $0.content.instant(.revocationDate) != nil }
            let line = body["web_order_line_item_id"]?.looseText.map(FieldValue.text)
            let named = cancelled.first { line != nil && $0.content[.webOrderLineItemId] == line }
            let latest = cancelled.max {
                ($0.content.instant(.revocationDate) ?? $0.asOf)
                    < ($1.content.instant(.revocationDate) ?? $1.asOf)
            }
            if let period = named ?? latest { return period }
        }
        return own.max { ($0.purchaseDate, $0.expiresDate) < ($1.purchaseDate, $1.expiresDate) }
    }

    private static let datePairs: [(StaticString, StaticString)] = [
        ("auto_renew_status_change_date_ms", "auto_renew_status_change_date"),
        ("cancellation_date_ms", "cancellation_date"),
    ]

    private static let texts: [(name: StaticString, field: Field)] = [
        ("notification_type", .notificationType),
        ("auto_renew_product_id", .autoRenewProductId),
        ("web_order_line_item_id", .webOrderLineItemId),
    ]

    // The secret, what becomes separate facts, identity, and the app's build.
    private static let leftOut: [StaticString] = [
        "password", "unified_receipt", "latest_receipt", "latest_receipt_info",
        "latest_expired_receipt", "latest_expired_receipt_info", "environment", "bid", "bvrs",
        "original_transaction_id", "deprecation", "auto_renew_status_change_date",
        "auto_renew_status_change_date_pst", "cancellation_date", "cancellation_date_pst",
    ]
}
