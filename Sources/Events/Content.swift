/// The kind of statement an event's content was read from.
///
/// It decides what silence means: a signed transaction without `revocationDate` says *not
/// revoked*, a format that cannot carry the field says nothing. The raw value is part of canonical
/// bytes: never reused, never renumbered.
public enum Format: UInt8, CaseIterable, Sendable {
    /// A JWS transaction (app-store.md §D.1).
    case signedTransaction = 1
    /// JWS renewal info (app-store.md §D.2).
    case signedRenewalInfo = 2
    /// A version 2 notification (app-store.md §C.1).
    case signedNotification = 3
    /// An in-app purchase of a PKCS#7 app receipt (app-store.md §F.2).
    case receiptTransaction = 4
    /// An entry of `in_app` or `latest_receipt_info` of a verifyReceipt response or of a version 1
    /// notification (app-store.md §A.3).
    case responseTransaction = 5
    /// The one transaction of an iOS 6 response (app-store.md §A.4).
    case singleTransaction = 6
    /// An element of `pending_renewal_info`, or its absence where the others stand
    /// (app-store.md §A.3).
    case pendingRenewalInfo = 7
    /// What the top level of an iOS 6 response or of a version 1 notification says about the next
    /// renewal (app-store.md §A.4, §B.1).
    case topLevelRenewalInfo = 8
    /// A version 1 notification (app-store.md §B.1).
    case statusUpdateNotification = 9
    /// The operator's statement whose subscription it is; without a customer it says nobody's.
    case customerLink = 10

    /// The fields whose absence asserts that there is no such thing.
    ///
    /// The others came late to the format or are only informative, so their absence says nothing
    /// (a payload of 2021 has no price, which does not make the purchase free).
    public var denies: FieldSet {
        switch self {
        case .signedTransaction: Format.transactionDenials
        case .signedRenewalInfo: Format.renewalDenials
        case .signedNotification: Format.notificationDenials
        case .receiptTransaction: Format.receiptDenials
        case .responseTransaction, .singleTransaction: Format.responseDenials
        case .pendingRenewalInfo: Format.pendingRenewalDenials
        case .customerLink: Format.linkDenials
        case .topLevelRenewalInfo, .statusUpdateNotification: []
        }
    }

    private static let transactionDenials = FieldSet([
        .isUpgraded, .offerType, .offerIdentifier, .revocationDate, .revocationReason,
        .revocationType, .revocationPercentage,
    ])
    private static let renewalDenials = FieldSet([
        .expirationIntent, .isInBillingRetryPeriod, .gracePeriodExpiresDate, .priceIncreaseStatus,
        .offerType, .offerIdentifier,
    ])
    private static let linkDenials = FieldSet([.customerId])
    private static let notificationDenials = FieldSet([.subtype, .status])
    // A row without `is_upgraded` or an offer says nothing: both came late to these formats.
    private static let receiptDenials = FieldSet([.revocationDate])
    private static let responseDenials = FieldSet([.revocationDate, .revocationReason])
    private static let pendingRenewalDenials = FieldSet([
        .expirationIntent, .isInBillingRetryPeriod, .gracePeriodExpiresDate, .priceIncreaseStatus,
    ])
}

/// What one statement says: a format and the fields it carries, each at most once.
public struct Content: Hashable, Sendable {
    /// The kind of statement.
    public let format: Format
    /// Fields and values, by ascending tag.
    public private(set) var entries: [Entry]

    /// A field with its value.
    public struct Entry: Hashable, Sendable {
        /// Which property.
        public let field: Field
        /// Its value.
        public let value: FieldValue
    }

    /// Longest canonical form of a content, in bytes: far above any real one, far below trouble.
    public static let byteCountMax = 65_536

    /// A content that carries nothing yet.
    public init(format: Format) {
        self.format = format
        entries = []
    }

    /// A content that carries nothing yet, with room for a number of fields.
    package init(format: Format, expectedEntryCount: Int) {
        self.init(format: format)
        entries.reserveCapacity(expectedEntryCount)
    }

    /// The value of a field; nil where the statement does not carry it.
    ///
    /// Setting nil removes the field. The value must be of the field's type.
    public subscript(field: Field) -> FieldValue? {
        get {
            entries.first { $0.field == field }?.value
        }
        set {
            var index = entries.endIndex
            while index > 0, entries[index - 1].field.rawValue >= field.rawValue { index -= 1 }
            if index < entries.endIndex, entries[index].field == field {
                entries.remove(at: index)
            }
            guard let newValue else { return }
            precondition(newValue.type == field.valueType, "\(field) cannot hold \(newValue)")
            entries.insert(Entry(field: field, value: newValue), at: index)
        }
    }

    /// The text of a field; nil where there is none.
    public func text(_ field: Field) -> String? {
        if case .text(let text)? = self[field] { text } else { nil }
    }

    /// The integer of a field; nil where there is none.
    public func integer(_ field: Field) -> Int64? {
        if case .integer(let number)? = self[field] { number } else { nil }
    }

    /// The instant of a field; nil where there is none.
    public func instant(_ field: Field) -> Instant? {
        if case .instant(let instant)? = self[field] { instant } else { nil }
    }

    /// The flag of a field; nil where there is none.
    public func boolean(_ field: Field) -> Bool? {
        if case .boolean(let flag)? = self[field] { flag } else { nil }
    }

    /// The meaningful fields about which the content says something: a value, or that there is none.
    public var asserted: FieldSet {
        var set = format.denies
        // A field that came in a form nobody expected is kept in `extra`: there, not denied.
        if let extra = text(.extra) {
            for field in set.fields where extra.contains("\"\(field)\":") { set.remove(field) }
        }
        for entry in entries where entry.field.isMeaningful { set.insert(entry.field) }
        return set
    }
}

extension FieldValue {
    var type: Field.ValueType {
        switch self {
        case .text: .text
        case .integer: .integer
        case .boolean: .boolean
        case .instant: .instant
        }
    }
}

extension Content {
    /// Version of the canonical form, its first byte.
    public static let canonicalVersion: UInt8 = 1

    /// The canonical form: version, format, then tag, LEB128 length and value of each field.
    ///
    /// Written down in `schema/README.md`; stored as it is in `event.content`.
    public var canonicalBytes: [UInt8] { encoded { _ in true } }

    /// The first sixteen bytes of the SHA-256 of the meaningful fields' canonical form.
    public var digest: [UInt8] {
        Array(Digest.of(encoded { $0.isMeaningful }).bytes.prefix(16))
    }

    private func encoded(_ isIncluded: (Field) -> Bool) -> [UInt8] {
        var writer = ByteWriter()
        writer.integer(Content.canonicalVersion)
        writer.integer(format.rawValue)
        for entry in entries where isIncluded(entry.field) {
            let value = entry.value.canonicalBytes
            writer.integer(entry.field.rawValue)
            writer.leb128(UInt64(value.count))
            writer.raw(value)
        }
        return writer.bytes
    }

    /// Reads a canonical form back; nil unless it is exactly what `canonicalBytes` would write.
    public init?(canonicalBytes: [UInt8]) {
        var reader = ByteReader(canonicalBytes[...])
        guard reader.integer(UInt8.self) == Content.canonicalVersion,
            let format = reader.integer(UInt8.self).flatMap(Format.init(rawValue:))
        else { return nil }
        self.init(format: format)
        while !reader.isAtEnd {
            guard let field = reader.integer(UInt8.self).flatMap(Field.init(rawValue:)),
                field.rawValue > entries.last?.field.rawValue ?? 0,
                let count = reader.leb128(), let bytes = reader.raw(count),
                let value = FieldValue(canonicalBytes: bytes, type: field.valueType)
            else { return nil }
            entries.append(Entry(field: field, value: value))
        }
    }
}

extension ByteWriter {
    /// Appends a number in unsigned LEB128.
    public mutating func leb128(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            integer(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        integer(UInt8(rest))
    }
}

extension ByteReader {
    /// The next unsigned LEB128 number below 2^35, in its shortest form.
    public mutating func leb128() -> Int? {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 35, by: 7) {
            guard let byte = integer(UInt8.self) else { return nil }
            number |= UInt64(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return byte == 0 && shift > 0 ? nil : Int(number) }
        }
        return nil
    }
}
