/// One property of a purchase, a renewal preference or a notification, under Apple's name.
///
/// The raw value is the field's tag in canonical bytes: never reused, never renumbered. Purchase
/// and expiry dates are not here: they are the key of the event. `signedDate` is its as-of.
package enum Field: UInt8, CaseIterable, Sendable {
    // What was bought (Apple's data: transactions).
    case transactionId = 1
    case webOrderLineItemId = 2
    case productId = 3
    case subscriptionGroupIdentifier = 4
    case type = 5
    case inAppOwnershipType = 6
    case transactionReason = 7
    case quantity = 8
    case storefront = 9
    case storefrontId = 10
    case currency = 11
    case price = 12
    case isUpgraded = 13
    case offerType = 14
    case offerIdentifier = 15
    case offerDiscountType = 16
    case offerPeriod = 17
    case revocationDate = 18
    case revocationReason = 19
    case revocationType = 20
    case revocationPercentage = 21
    case appAccountToken = 22
    case appTransactionId = 23
    case previousOriginalTransactionId = 24

    // Who owns it, as stated by the operator (Apple's data: trap 37): the app's own name for the
    // customer, the reason, and who stated it.
    case customerId = 25
    case linkReason = 26
    case linkedBy = 27

    // Why something was erased, and who erased it.
    case erasureReason = 28
    case erasedBy = 29

    // What happens next (Apple's data: renewal info).
    case autoRenewProductId = 32
    case autoRenewStatus = 33
    case expirationIntent = 34
    case isInBillingRetryPeriod = 35
    case gracePeriodExpiresDate = 36
    case priceIncreaseStatus = 37
    case renewalDate = 38
    case renewalPrice = 39
    case recentSubscriptionStartDate = 40

    // Win-back offers, and monthly payment of a yearly commitment
    // (https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload,
    // …/jwstransactiondecodedpayload); transactions also carry `billingPlanType` and
    // `commitmentInfo`.
    case eligibleWinBackOfferIds = 41
    case billingPlanType = 42
    case renewalBillingPlanType = 43
    case commitmentInfo = 44

    // What Apple reported about it (Apple's data: version 2 payload).
    case notificationType = 48
    case subtype = 49
    case notificationUUID = 50
    case status = 51
    case consumptionRequestReason = 52

    // A version of the product catalog: its number, the first instant at which it applies, the
    // SHA-256 of its body in hexadecimal, and the file it was read from.
    case catalogVersion = 53
    case effectiveFrom = 54
    case bodyDigest = 55
    case fileName = 56

    // Which fields are kept in `extra` because they came in an unexpected form: they are present,
    // not denied. Bit n for the field with tag n; part of the purchase, so it outlives `extra`.
    case keptAside = 57

    // What an erasure removed, and where: a raw value of `Erasure.Scope`, and ranges of offsets, of
    // commit numbers and of payload numbers in the lane.
    case erasureScope = 58
    case erasedEvents = 59
    case erasedConfirmations = 60
    case erasedEvidence = 61

    /// Every property that has no tag of its own: one JSON object, keys sorted, numbers as written.
    case extra = 63

    /// How a field's value is written in canonical bytes.
    package enum ValueType: Sendable {
        case text
        case integer
        case boolean
        case instant
    }

    /// The type of this field's value; amounts are milliunits of their currency.
    package var valueType: ValueType {
        switch self {
        case .quantity, .price, .offerType, .revocationReason, .revocationPercentage,
            .autoRenewStatus, .expirationIntent, .priceIncreaseStatus, .renewalPrice, .status,
            .catalogVersion,
            .keptAside:
            .integer
        case .isUpgraded, .isInBillingRetryPeriod:
            .boolean
        case .revocationDate, .gracePeriodExpiresDate, .renewalDate, .recentSubscriptionStartDate,
            .effectiveFrom:
            .instant
        default:
            .text
        }
    }

    /// Whether its text is JSON, an object or an array, in the canonical form of `extra`.
    package var holdsJSON: Bool { self == .eligibleWinBackOfferIds || self == .commitmentInfo }

    /// Whether a different value is news.
    ///
    /// A transaction id is an alias of its purchase: a restore makes new ones for the same period
    /// (Apple's data: trap 4). Who linked a customer, and why, is kept for the audit; the same link
    /// made by another operator is not news.
    package var isMeaningful: Bool {
        switch self {
        case .transactionId, .linkReason, .linkedBy, .keptAside: false
        default: true
        }
    }
}

extension Field {
    /// Whether a tag belongs to the part of a row that identifies a person and can be removed
    /// separately from the rest.
    ///
    /// Covers tags of later versions too, so every version splits a content at the same places.
    package static func isOfPerson(tag: UInt8) -> Bool {
        switch tag {
        case Field.appAccountToken.rawValue, 25...31, Field.extra.rawValue, 192...: true
        default: false
        }
    }
}

/// A set of fields, as the bits of their tags.
package struct FieldSet: OptionSet, Hashable, Sendable {
    /// Bit n stands for the field with tag n.
    package let rawValue: UInt64

    /// The set with exactly these bits.
    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The set of these fields.
    package init(_ fields: some Sequence<Field>) {
        self.init(rawValue: fields.reduce(0) { $0 | 1 << UInt64($1.rawValue) })
    }

    /// The fields for which a different value is news.
    static let meaningful = FieldSet(Field.allCases.filter(\.isMeaningful))

    /// Whether the set has the field.
    package func contains(_ field: Field) -> Bool {
        rawValue & (1 << UInt64(field.rawValue)) != 0
    }

    /// Adds a field.
    package mutating func insert(_ field: Field) {
        self = FieldSet(rawValue: rawValue | 1 << UInt64(field.rawValue))
    }

    /// Removes a field.
    package mutating func remove(_ field: Field) {
        self = FieldSet(rawValue: rawValue & ~(1 << UInt64(field.rawValue)))
    }

    /// The fields, by ascending tag; bits without a field are ignored.
    package var fields: [Field] {
        Field.allCases.filter { contains($0) }
    }
}

/// The value of one field.
package enum FieldValue: Hashable, Sendable {
    /// UTF-8 text, Apple's own spelling; ids are text, never numbers.
    case text(String)
    /// A count, a code, or milliunits of a currency.
    case integer(Int64)
    /// A flag.
    case boolean(Bool)
    /// A point in time on Apple's clock.
    case instant(Instant)

    /// The bytes that stand for the value in canonical bytes: UTF-8, or an integer, most
    /// significant byte first.
    package var canonicalBytes: [UInt8] { withCanonicalBytes { Array($0) } }

    /// Calls `body` with the same bytes.
    func withCanonicalBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        switch self {
        case .text(let text): text.withBytes(body)
        case .integer(let number): withUnsafeBytes(of: number.bigEndian, body)
        case .boolean(let flag): withUnsafeBytes(of: UInt8(flag ? 1 : 0), body)
        case .instant(let instant): withUnsafeBytes(of: instant.milliseconds.bigEndian, body)
        }
    }
}
