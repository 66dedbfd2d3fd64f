package import Events
internal import Projections

extension Instant {
    /// The instant for tables, in the zone of the question: `2026-03-03 09:00:00`, with
    /// milliseconds only if they are not zero.
    package var clock: String { clock(in: .shown) }

    /// The instant for tables, with the name of the zone.
    package var zonedClock: String { "\(clock) \(QuestionZone.shown.name)" }

    /// The instant for tables, in a zone.
    package func clock(in zone: QuestionZone) -> String {
        zone.wallClock(of: self).description.replacing("T", with: " ").replacing("Z", with: "")
    }

    /// The day for sentences, in the zone of the question: `3 March 2026`; nil outside the years 0
    /// to 9999.
    package var dayWords: String? {
        let parts = clock.split(separator: " ")
        let numbers = parts[0].split(separator: "-").compactMap { Int($0) }
        guard parts.count == 2, numbers.count == 3, (1...12).contains(numbers[1]) else {
            return nil
        }
        return "\(numbers[2]) \(Instant.months[numbers[1] - 1]) \(numbers[0])"
    }

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ]

    /// The instant; nil for the epoch, which stands for "none" in a key.
    package var ifSet: Instant? { milliseconds == 0 ? nil : self }
}

extension Range<Instant> {
    /// The interval as text; documents write it as an array of its first instant and its end.
    package var text: String { "\(lowerBound.clock) – \(upperBound.clock)" }
}

extension Erasure.Scope {
    /// What was erased, as a short text.
    package var summary: String {
        switch self {
        case .subscription: "erased: the subscription"
        case .customer: "erased: what identifies the customer"
        case .link: "erased: links to a former customer"
        case .payload: "erased: payloads shared with another subscription"
        }
    }
}

extension Fact {
    /// The fact as a short text.
    package var summary: String {
        switch kind {
        case .transaction: transactionSummary
        case .renewal: renewalSummary
        case .notification:
            ([
                [content.text(.notificationType) ?? "", content.text(.subtype)]
                    .compactMap { $0 }.joined(separator: "/")
            ] + sectionWords).joined(separator: " · ")
        case .link: linkSummary
        case .catalog:
            "version \(content.integer(.catalogVersion) ?? 0) of the catalog from "
                + (content.instant(.effectiveFrom)?.clock ?? "?")
        case .erasure: erasureSummary
        case .erased: "erased"
        }
    }

    private var erasureSummary: String {
        guard let erasure = Erasure(content) else { return "erasure" }
        var words = [erasure.scope.summary]
        if !erasure.events.isEmpty { words.append("events \(erasure.events)") }
        if let by = content.text(.erasedBy) { words.append("by \(by)") }
        if let reason = content.text(.erasureReason) { words.append(reason) }
        return words.joined(separator: " · ")
    }

    private var linkSummary: String {
        var words = [content.text(.customerId).map { "customer \($0)" } ?? "no customer"]
        if let by = content.text(.linkedBy) { words.append("by \(by)") }
        if let reason = content.text(.linkReason) { words.append(reason) }
        return words.joined(separator: " · ")
    }

    private var transactionSummary: String {
        var words = [content.text(.productId) ?? "?"]
        if purchaseDate.milliseconds != 0 {
            let end = expiresDate.ifSet == nil ? "" : " → \(expiresDate.clock)"
            words.append(purchaseDate.clock + end)
        }
        if let price = priceWords { words.append(price) }
        if let offer = content.text(.offerDiscountType) { words.append(offer) }
        if content.boolean(.isUpgraded) == true { words.append("upgraded") }
        if let revoked = content.instant(.revocationDate) {
            words.append("revoked \(revoked.clock)")
        }
        if let sharing = content.text(.inAppOwnershipType).flatMap(Sharing.init(ownershipType:)) {
            words.append(sharing == .family ? "family" : "assigned seat")
        }
        return words.joined(separator: " · ")
    }

    // An element that a response omits, and a statement without a setting, say nothing about
    // auto-renewal.
    private var autoRenewSummary: String {
        switch content.integer(.autoRenewStatus) {
        case 0: "auto-renew off"
        case 1: "auto-renew on"
        default: "auto-renew unknown"
        }
    }

    private var renewalSummary: String {
        var words = [autoRenewSummary]
        if let next = content.text(.autoRenewProductId), next != content.text(.productId) {
            words.append("next \(next)")
        }
        if let seats = renewalSeatWords { words.append(seats) }
        if content.boolean(.isInBillingRetryPeriod) == true { words.append("billing retry") }
        if let grace = content.instant(.gracePeriodExpiresDate) {
            words.append("grace until \(grace.clock)")
        }
        if let intent = content.integer(.expirationIntent) {
            words.append("expiration intent \(intent)")
        }
        return words.joined(separator: " · ")
    }
}

extension ErasedParts {
    /// The word in documents; nil if nothing was erased.
    package var word: String? {
        switch self {
        case .nothing: nil
        case .payload: "payload"
        case .person: "person"
        case .everything: "everything"
        }
    }
}

extension Fact {
    /// The as-of; nil if the fact was erased, because its row then contains 0.
    package var statedAsOf: Instant? { kind == .erased ? nil : asOf }

    /// When the stated fact took effect: the date of a revocation, or the start of the purchase;
    /// for a version of the catalog its first instant; for anything else its as-of.
    package var effective: Instant {
        if kind == .catalog { return content.instant(.effectiveFrom) ?? asOf }
        guard kind == .transaction, purchaseDate.ifSet != nil else { return asOf }
        return content.instant(.revocationDate) ?? purchaseDate
    }
}

extension FieldValue {
    /// The value for tables.
    package var words: String {
        switch self {
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .boolean(let flag): "\(flag)"
        case .instant(let instant): instant.clock
        }
    }
}
