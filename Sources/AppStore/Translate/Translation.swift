import Events

/// The environment, app and as-of of a statement, as established from everything around it.
struct Provenance {
    let environment: StoreEnvironment
    /// Empty if nothing names it.
    let bundleId: String
    let asOf: Instant

    /// A fact of this origin.
    ///
    /// `id` is that of its subscription; nil if it is about none.
    func fact(
        _ kind: Kind,
        about id: String?,
        from purchaseDate: Instant? = nil,
        to expiresDate: Instant? = nil,
        _ content: Content
    ) -> Fact {
        Fact(
            stream: StreamID(environment: environment, originalTransactionId: id ?? ""),
            bundleId: bundleId,
            kind: kind,
            purchaseDate: purchaseDate,
            expiresDate: expiresDate,
            asOf: asOf,
            content: content
        )
    }
}

/// Turns the claims of verified statements into facts: pure, claims in, facts out.
enum Translation {
    /// The fact of a transaction (Apple's data: transactions), signed or decoded.
    static func transaction(
        _ claims: JSON.Value,
        _ provenance: Provenance,
        isSigned: Bool = true
    ) throws(Rejection) -> Fact {
        var builder = ContentBuilder(format: .signedTransaction, isSigned: isSigned)
        try builder.take(claims, Property.transaction, leftOut: Property.transactionLeftOut)
        let transactionId = try Claims.id(claims, "transactionId")
        let id = try Claims.id(claims, "originalTransactionId") ?? transactionId
        let purchaseDate = try AppleClock.instant(claims, "purchaseDate")
        let expiresDate = try AppleClock.instant(claims, "expiresDate")
        guard purchaseDate != nil || expiresDate == nil else {
            throw Rejection(
                .dateMissing,
                "The transaction has an expiresDate but no purchaseDate: a period without a start."
            )
        }
        return provenance.fact(
            .transaction,
            about: id,
            from: purchaseDate,
            to: expiresDate,
            try builder.finished(byteCount: claims.bytes.count)
        )
    }

    /// The fact of renewal info (Apple's data: renewal info): about the subscription, not about a
    /// period.
    static func renewal(
        _ claims: JSON.Value,
        _ provenance: Provenance,
        isSigned: Bool = true
    ) throws(Rejection) -> Fact {
        var builder = ContentBuilder(format: .signedRenewalInfo, isSigned: isSigned)
        try builder.take(claims, Property.renewal, leftOut: Property.renewalLeftOut)
        return provenance.fact(
            .renewal,
            about: try Claims.id(claims, "originalTransactionId"),
            try builder.finished(byteCount: claims.bytes.count)
        )
    }

    /// The fact of a notification (Apple's data: version 2 payload), about what its nested
    /// statements are about.
    ///
    /// `nested` are the facts of the nested statements, the transaction first; without any, `id` is
    /// the subscription that a section names.
    static func notification(
        _ claims: JSON.Value,
        _ provenance: Provenance,
        nested: [Fact],
        id: String? = nil
    ) throws(Rejection) -> Fact {
        var builder = ContentBuilder(format: .signedNotification)
        var rest: [StaticString] = Property.notificationLeftOut
        // The format implies the version; any other than 2.0 is worth keeping.
        if claims["version"]?.equals("2.0") == true { rest.append("version") }
        for (name, value) in claims.members where value.kind == .object {
            for section in NotificationParts.sections where name.equals(section) {
                let properties = name.equals("data") ? Property.notificationData : []
                try builder.takeSection(name, value, properties)
                rest.append(section)
            }
        }
        try builder.take(claims, Property.notification, leftOut: rest)
        let subject = nested.first
        return provenance.fact(
            .notification,
            about: subject?.stream.originalTransactionId ?? id,
            from: subject?.purchaseDate,
            to: subject?.expiresDate,
            try builder.finished(byteCount: claims.bytes.count)
        )
    }
}
