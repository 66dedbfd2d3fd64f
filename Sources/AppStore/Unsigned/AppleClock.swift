import Events

/// Reads the dates of claims: when Apple made a statement, and the dates in it.
enum AppleClock {
    /// When Apple asserted the claims: the signing date, otherwise a lower bound for it.
    ///
    /// Notifications of 2022 carry no date of their own, but those nested in them do. Failing that,
    /// the latest date of something that had already happened counts. Expiry and renewal dates do
    /// not: they lie in the future and would make the statement outrank everything stated until
    /// then.
    static func date(of claims: JSON.Value) throws(Rejection) -> Instant? {
        if let signed = try instant(claims, "signedDate") { return signed }
        if let created = try instant(claims, "receiptCreationDate") { return created }
        if let nested = try latestNested(in: claims) { return nested }
        var latest: Instant?
        for name in pastDates { latest = later(latest, try instant(claims, name)) }
        if let token = claims["externalPurchaseToken"] {
            latest = later(latest, try instant(token, "tokenCreationDate"))
        }
        return latest
    }

    /// A date of the claims, cut to whole milliseconds; nil if there is none.
    ///
    /// Throws `claim-malformed` if it is not a number, `date-implausible` unless it is from 2008 to
    /// 2199.
    static func instant(
        _ claims: JSON.Value,
        _ name: StaticString
    ) throws(Rejection) -> Instant? {
        guard let value = claims[name], value.kind != .null else { return nil }
        guard value.kind == .number else {
            throw Rejection(
                .claimMalformed,
                "\(name) must be a number of milliseconds; found \(value.kind)."
            )
        }
        return try instant(value, named: name.description)
    }

    /// The instant of a number of milliseconds; throws `date-implausible`.
    static func instant(
        _ number: JSON.Value,
        named name: @autoclosure () -> String
    ) throws(Rejection) -> Instant {
        guard let milliseconds = number.truncatedInteger,
            case let instant = Instant(milliseconds: milliseconds), instant.isPlausible
        else {
            throw Rejection(
                .dateImplausible,
                "\(name()) is outside the years 2008 to 2199, so it is not an App Store date, "
                    + "which counts milliseconds since 1970."
            )
        }
        return instant
    }

    private static let pastDates: [StaticString] = [
        "purchaseDate", "originalPurchaseDate", "revocationDate", "recentSubscriptionStartDate",
    ]

    // The nested payloads are not verified here; they are when the outer one is opened.
    private static func latestNested(in claims: JSON.Value) throws(Rejection) -> Instant? {
        var latest: Instant?
        for section in NotificationParts.sections {
            for name in NotificationParts.nestedNames {
                guard let compact = claims[section]?[name]?.utf8 else { continue }
                let nested = try JWS(compact).unverifiedClaims()
                latest = later(latest, try instant(nested, "signedDate"))
                latest = later(latest, try instant(nested, "receiptCreationDate"))
            }
        }
        return latest
    }

    private static func later(_ left: Instant?, _ right: Instant?) -> Instant? {
        guard let left, let right else { return left ?? right }
        return max(left, right)
    }
}
