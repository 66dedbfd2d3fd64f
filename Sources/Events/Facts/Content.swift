/// The kind of statement an event's content was read from.
///
/// It decides what silence means: a signed transaction without `revocationDate` says *not
/// revoked*, a format that cannot carry the field says nothing. The raw value is part of canonical
/// bytes: never reused, never renumbered.
package enum Format: UInt8, CaseIterable, Sendable {
    /// A JWS transaction (Apple's data: transactions).
    case signedTransaction = 1
    /// JWS renewal info (Apple's data: renewal info).
    case signedRenewalInfo = 2
    /// A version 2 notification (Apple's data: version 2 payload).
    case signedNotification = 3
    /// An in-app purchase of a PKCS#7 app receipt (Apple's data: app receipts).
    case receiptTransaction = 4
    /// An entry of `in_app` or `latest_receipt_info` of a verifyReceipt response or of a version 1
    /// notification (Apple's data: verifyReceipt response).
    case responseTransaction = 5
    /// The one transaction of an iOS 6 response (Apple's data: iOS 6 response).
    case singleTransaction = 6
    /// An element of `pending_renewal_info`, or the absence of a subscription's element where other
    /// subscriptions have one (Apple's data: verifyReceipt response).
    case pendingRenewalInfo = 7
    /// What the top level of an iOS 6 response or of a version 1 notification says about the next
    /// renewal (Apple's data: iOS 6 response, version 1 body).
    case topLevelRenewalInfo = 8
    /// A version 1 notification (Apple's data: version 1 body).
    case statusUpdateNotification = 9
    /// The operator's statement of who owns a subscription; without a customer, that it has no
    /// owner.
    case customerLink = 10
    /// The operator's import of a version of the product catalog.
    case catalogVersion = 11
    /// The operator's erasure of a part of the log.
    case erasure = 12

    /// The fields whose absence asserts that the property does not exist.
    ///
    /// The other fields were added to the format later or are only informative, so their absence
    /// says nothing (a payload of 2021 has no price, which does not make the purchase free).
    package var denies: FieldSet {
        switch self {
        case .signedTransaction: Format.transactionDenials
        case .signedRenewalInfo: Format.renewalDenials
        case .signedNotification: Format.notificationDenials
        case .receiptTransaction: Format.receiptDenials
        case .responseTransaction, .singleTransaction: Format.responseDenials
        case .pendingRenewalInfo: Format.pendingRenewalDenials
        case .customerLink: Format.linkDenials
        case .topLevelRenewalInfo, .statusUpdateNotification, .catalogVersion, .erasure: []
        }
    }

    /// Whether statements of this form never carry the date on which they were made: their as-of is
    /// then a lower bound, the latest date of anything that had happened by then.
    package var isUndated: Bool {
        switch self {
        case .singleTransaction, .topLevelRenewalInfo, .statusUpdateNotification: true
        default: false
        }
    }

    /// Whether it is found in app receipts, verifyReceipt responses and version 1 notifications, and
    /// nowhere else.
    package var isOfReceipt: Bool {
        switch self {
        case .receiptTransaction, .responseTransaction, .singleTransaction, .pendingRenewalInfo,
            .topLevelRenewalInfo, .statusUpdateNotification:
            true
        case .signedTransaction, .signedRenewalInfo, .signedNotification, .customerLink,
            .catalogVersion, .erasure:
            false
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
    // A row without `is_upgraded` or an offer says nothing: both were added late.
    private static let receiptDenials = FieldSet([.revocationDate])
    private static let responseDenials = FieldSet([.revocationDate, .revocationReason])
    private static let pendingRenewalDenials = FieldSet([
        .expirationIntent, .isInBillingRetryPeriod, .gracePeriodExpiresDate, .priceIncreaseStatus,
    ])
}

/// What one statement says: a format and the fields it carries, each at most once.
///
/// It is stored in its canonical form: the bytes that the log stores and digests are kept as they
/// are, and a field is found by scanning them. A fold that needs a few fields of many events
/// decodes no others.
package struct Content: Hashable, Sendable {
    /// The kind of statement.
    package let format: Format
    /// The canonical form: version, format, then tag, LEB128 length and value of each field, by
    /// ascending tag.
    ///
    /// Written down in `schema/README.md`; stored as it is in `event.content`.
    package private(set) var canonicalBytes: [UInt8]
    /// The fields that the statement carries, without those that it denies by their absence.
    package private(set) var carried: FieldSet

    /// Longest canonical form of a content, in bytes: far longer than any real one, but harmless.
    package static let byteCountMax = 65_536

    /// Version of the canonical form, its first byte.
    package static let canonicalVersion: UInt8 = 1

    private static let headerByteCount = 2

    // Most fields take less; without reserved room, a transaction's bytes would be moved four
    // times.
    private static let usualFieldByteCount = 16

    /// A content that carries nothing yet.
    package init(format: Format) {
        self.format = format
        canonicalBytes = [Content.canonicalVersion, format.rawValue]
        carried = []
    }

    /// A content that carries nothing yet, with room for a number of fields.
    package init(format: Format, expectedEntryCount: Int) {
        self.format = format
        carried = []
        canonicalBytes = []
        canonicalBytes.reserveCapacity(
            Content.headerByteCount + expectedEntryCount * Content.usualFieldByteCount
        )
        canonicalBytes.append(Content.canonicalVersion)
        canonicalBytes.append(format.rawValue)
    }

    /// Takes canonical bytes; nil unless they have the form that programs of this version write.
    ///
    /// Fields with tags of later versions are kept and stay part of the content.
    package init?(canonicalBytes: [UInt8]) {
        guard canonicalBytes.count >= Content.headerByteCount,
            canonicalBytes[0] == Content.canonicalVersion,
            let format = Format(rawValue: canonicalBytes[1]),
            let carried = canonicalBytes.withUnsafeBufferPointer({ Content.fields(in: $0) })
        else { return nil }
        self.format = format
        self.carried = carried
        self.canonicalBytes = canonicalBytes
    }

    /// The value of a field; nil if the statement does not carry it.
    ///
    /// Setting nil removes the field. The value must be of the field's type. Setting `extra` sets
    /// `keptAside` as well.
    package subscript(field: Field) -> FieldValue? {
        get {
            guard carried.contains(field) else { return nil }
            return canonicalBytes.withUnsafeBufferPointer { bytes in
                FieldPlace(of: field, in: bytes).map { place in
                    FieldValue(canonicalBytes: bytes[place.value], of: field)
                }
            }
        }
        set {
            if let newValue {
                precondition(newValue.type == field.valueType, "\(field) cannot hold \(newValue)")
                newValue.withCanonicalBytes { write($0, to: field) }
            } else if carried.contains(field) {
                resize(place(of: field), to: 0)
                carried.remove(field)
            }
            if field == .extra { noteKeptAside() }
        }
    }

    /// Sets a text field other than `extra` to UTF-8 that is known to be valid, without creating a
    /// `String`.
    package mutating func set(_ field: Field, utf8: ArraySlice<UInt8>) {
        precondition(field.valueType == .text && field != .extra, "\(field) is not set by bytes")
        utf8.withUnsafeBytes { write($0, to: field) }
    }

    /// The state of a field that it asserts: a value, or that there is none.
    package func state(of field: Field) -> Knowledge.State {
        self[field].map(Knowledge.State.value) ?? .none
    }

    /// The text of a field; nil if there is none.
    package func text(_ field: Field) -> String? {
        if case .text(let text)? = self[field] { text } else { nil }
    }

    /// Whether a field carries exactly this text; compares bytes without creating a `String`.
    package func carries(_ field: Field, _ text: String) -> Bool {
        guard carried.contains(field), field.valueType == .text else { return false }
        return canonicalBytes.withUnsafeBufferPointer { bytes in
            guard let place = FieldPlace(of: field, in: bytes) else { return false }
            let value = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[place.value]))
            return text.withBytes { ByteScan.areEqual(value, $0) }
        }
    }

    /// The integer of a field; nil if there is none.
    package func integer(_ field: Field) -> Int64? {
        if case .integer(let number)? = self[field] { number } else { nil }
    }

    /// The instant of a field; nil if there is none.
    package func instant(_ field: Field) -> Instant? {
        if case .instant(let instant)? = self[field] { instant } else { nil }
    }

    /// The flag of a field; nil if there is none.
    package func boolean(_ field: Field) -> Bool? {
        if case .boolean(let flag)? = self[field] { flag } else { nil }
    }

    /// The meaningful fields for which the content asserts something: a value, or that there is
    /// none.
    package var asserted: FieldSet {
        var denied = format.denies
        if let kept = integer(.keptAside) {
            denied.subtract(FieldSet(rawValue: UInt64(bitPattern: kept)))
        }
        return denied.union(carried).intersection(.meaningful)
    }
}

extension Content {
    /// A field with its value.
    package struct Entry: Hashable, Sendable {
        /// Which property.
        package let field: Field
        /// Its value.
        package let value: FieldValue
    }

    /// Fields and values, by ascending tag.
    package var entries: [Entry] {
        Field.allCases.compactMap { field in
            self[field].map { Entry(field: field, value: $0) }
        }.sorted { $0.field.rawValue < $1.field.rawValue }
    }
}

extension Content {
    // Writes tag, length and value at the place that keeps tags ascending.
    private mutating func write(_ value: UnsafeRawBufferPointer, to field: Field) {
        let place = place(of: field)
        var headByteCount = 2
        var rest = value.count >> 7
        while rest > 0 {
            headByteCount += 1
            rest >>= 7
        }
        resize(place, to: headByteCount + value.count)
        canonicalBytes.withUnsafeMutableBytes { bytes in
            var at = place.lowerBound
            bytes[at] = field.rawValue
            var length = value.count
            while length >= 0x80 {
                at += 1
                bytes[at] = UInt8(truncatingIfNeeded: length) | 0x80
                length >>= 7
            }
            bytes[at + 1] = UInt8(length)
            UnsafeMutableRawBufferPointer(rebasing: bytes[(at + 2)...]).copyMemory(from: value)
        }
        carried.insert(field)
    }

    // The range of the field; if it is absent, the empty range where it belongs.
    private func place(of field: Field) -> Range<Int> {
        canonicalBytes.withUnsafeBufferPointer { FieldPlace.range(of: field, in: $0) }
    }

    // Resizes a range of the bytes and moves what follows.
    private mutating func resize(_ range: Range<Int>, to byteCount: Int) {
        let (growth, tail) = (byteCount - range.count, canonicalBytes.count - range.upperBound)
        if growth > 0 { canonicalBytes.append(contentsOf: repeatElement(0, count: growth)) }
        if growth != 0, tail > 0 {
            canonicalBytes.withUnsafeMutableBytes { bytes in
                guard let start = bytes.baseAddress else { return }
                let end = start + range.upperBound
                (end + growth).copyMemory(from: end, byteCount: tail)
            }
        }
        if growth < 0 { canonicalBytes.removeLast(-growth) }
    }
}

extension Content {
    private mutating func noteKeptAside() {
        let mask = namedByExtra.rawValue
        if mask != 0 || carried.contains(.keptAside) {
            self[.keptAside] = mask == 0 ? nil : .integer(Int64(bitPattern: mask))
        }
    }

    // The deniable fields that are not carried but named in `extra`: a quote, the name, a quote and
    // a colon.
    private var namedByExtra: FieldSet {
        let denied = format.denies.subtracting(carried)
        guard !denied.isEmpty else { return [] }
        return canonicalBytes.withUnsafeBufferPointer { bytes in
            guard let extra = FieldPlace(of: .extra, in: bytes)?.value else { return [] }
            var found: FieldSet = []
            for at in extra where bytes[at] == UInt8(ascii: "\"") {
                let rest = UnsafeBufferPointer(rebasing: bytes[(at + 1)..<extra.upperBound])
                found.formUnion(Field.fields(named: rest, among: denied))
            }
            return found
        }
    }
}

extension Field {
    /// The fields of a set whose name, with a quote and a colon after it, begins these bytes.
    fileprivate static func fields(
        named bytes: UnsafeBufferPointer<UInt8>,
        among candidates: FieldSet
    ) -> FieldSet {
        var found: FieldSet = []
        var bits = candidates.rawValue
        while bits != 0 {
            let tag = bits.trailingZeroBitCount
            bits &= bits - 1
            let tail = Field.quotedTails[tag]
            guard let first = tail.first, bytes.first == first, bytes.starts(with: tail) else {
                continue
            }
            found = found.union(FieldSet(rawValue: 1 << UInt64(tag)))
        }
        return found
    }

    // What follows the opening quote of a field's name in a JSON object; empty for a tag without a
    // field.
    private static let quotedTails: [[UInt8]] = (0..<64).map { tag in
        Field(rawValue: tag).map { Array("\($0)\":".utf8) } ?? []
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

extension ByteWriter {
    /// Appends a number in unsigned LEB128.
    package mutating func leb128(_ number: UInt64) {
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
    package mutating func leb128() -> Int? {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 35, by: 7) {
            guard let byte = integer(UInt8.self) else { return nil }
            number |= UInt64(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return byte == 0 && shift > 0 ? nil : Int(number) }
        }
        return nil
    }
}
