/// Where a field lies in the canonical form of a content.
struct FieldPlace {
    /// The field's tag.
    let tag: UInt8
    /// Tag, length and value.
    let whole: Range<Int>
    /// The value alone.
    let value: Range<Int>

    /// Largest shift of a length's seven-bit groups: five bytes, more than any content needs.
    private static let shiftMax = 28

    /// The field that begins there; nil at the end, and if the length is not in its shortest form
    /// or reaches past the end.
    init?(at start: Int, in bytes: UnsafeBufferPointer<UInt8>) {
        guard start + 1 < bytes.count else { return nil }
        var at = start + 1
        var length = 0
        var shift = 0
        while true {
            guard at < bytes.count, shift <= FieldPlace.shiftMax else { return nil }
            let byte = bytes[at]
            at += 1
            length |= Int(byte & 0x7f) << shift
            if byte & 0x80 == 0 {
                if byte == 0, shift > 0 { return nil }
                break
            }
            shift += 7
        }
        guard length <= bytes.count - at else { return nil }
        tag = bytes[start]
        whole = start..<at + length
        value = at..<at + length
    }

    /// The place of a field; nil if the content does not carry it.
    init?(of field: Field, in bytes: UnsafeBufferPointer<UInt8>) {
        guard let place = FieldPlace.first(notBefore: field, in: bytes).place,
            place.tag == field.rawValue
        else { return nil }
        self = place
    }

    /// The range of a field; if it is absent, the empty range where it would be written.
    static func range(of field: Field, in bytes: UnsafeBufferPointer<UInt8>) -> Range<Int> {
        let (place, start) = first(notBefore: field, in: bytes)
        guard let place, place.tag == field.rawValue else { return start..<start }
        return place.whole
    }

    private static func first(
        notBefore field: Field,
        in bytes: UnsafeBufferPointer<UInt8>
    ) -> (place: FieldPlace?, start: Int) {
        var at = 2
        while let place = FieldPlace(at: at, in: bytes) {
            if place.tag >= field.rawValue { return (place, at) }
            at = place.whole.upperBound
        }
        return (nil, at)
    }
}

extension Content {
    /// The two parts that commitments cover: version, format and what was bought; and what
    /// identifies a person.
    ///
    /// Together they contain all of its bytes.
    package var parts: (purchase: [UInt8], person: [UInt8]) {
        canonicalBytes.withUnsafeBufferPointer { bytes in
            var purchase: [UInt8] = []
            var person: [UInt8] = []
            purchase.reserveCapacity(bytes.count)
            purchase.append(contentsOf: bytes[..<min(2, bytes.count)])
            var at = 2
            while let place = FieldPlace(at: at, in: bytes) {
                if Field.isOfPerson(tag: place.tag) {
                    person.append(contentsOf: bytes[place.whole])
                } else {
                    purchase.append(contentsOf: bytes[place.whole])
                }
                at = place.whole.upperBound
            }
            return (purchase, person)
        }
    }

    /// The content without what identifies a person.
    package var withoutPerson: Content {
        Content(canonicalBytes: parts.purchase) ?? Content(format: format)
    }

    /// Whether anything in it identifies a person.
    package var identifiesPerson: Bool { !parts.person.isEmpty }

    /// The canonical bytes without the fields for which a different value is not news.
    package var meaningfulBytes: [UInt8] {
        let left = Content.meaningless & carried.rawValue
        guard left != 0 else { return canonicalBytes }
        return canonicalBytes.withUnsafeBufferPointer { bytes in
            var kept: [UInt8] = []
            kept.reserveCapacity(bytes.count)
            kept.append(contentsOf: bytes[..<2])
            var at = 2
            while let place = FieldPlace(at: at, in: bytes) {
                if place.tag >= 64 || left & (1 << UInt64(place.tag)) == 0 {
                    kept.append(contentsOf: bytes[place.whole])
                }
                at = place.whole.upperBound
            }
            return kept
        }
    }

    private static let meaningless = FieldSet(Field.allCases.filter { !$0.isMeaningful }).rawValue

    /// What it carries under tags of later versions, by ascending tag.
    package var unrecognised: [(tag: UInt8, value: [UInt8])] {
        canonicalBytes.withUnsafeBufferPointer { bytes in
            var found: [(UInt8, [UInt8])] = []
            var at = 2
            while let place = FieldPlace(at: at, in: bytes) {
                if Field(rawValue: place.tag) == nil {
                    found.append((place.tag, Array(bytes[place.value])))
                }
                at = place.whole.upperBound
            }
            return found
        }
    }

    /// Whether all instants that it carries are of the calendar.
    package var hasInstantsOfCalendar: Bool {
        let instants = Content.instants.intersection(carried)
        guard !instants.isEmpty else { return true }
        var areOfCalendar = true
        forEachState(of: instants) {
            guard case .value(.instant(let instant)) = $0 else { return }
            areOfCalendar = areOfCalendar && Instant.calendar.contains(instant)
        }
        return areOfCalendar
    }

    private static let instants = FieldSet(Field.allCases.filter { $0.valueType == .instant })

    /// Calls `body` with the state of each field of a set, by ascending tag, in one scan.
    func forEachState(of fields: FieldSet, _ body: (Knowledge.State) -> Void) {
        canonicalBytes.withUnsafeBufferPointer { bytes in
            var place = FieldPlace(at: 2, in: bytes)
            var bits = fields.rawValue
            while bits != 0 {
                let tag = UInt8(bits.trailingZeroBitCount)
                bits &= bits - 1
                while let lower = place, lower.tag < tag {
                    place = FieldPlace(at: lower.whole.upperBound, in: bytes)
                }
                if let place, place.tag == tag, let field = Field(rawValue: tag) {
                    body(.value(FieldValue(canonicalBytes: bytes[place.value], of: field)))
                } else {
                    body(.none)
                }
            }
        }
    }

    /// The known fields that these bytes hold after version and format; nil unless tags ascend, and
    /// each known one has a value of its type.
    ///
    /// Tags of later versions pass, whatever their values: they are kept as part of the content.
    static func fields(in bytes: UnsafeBufferPointer<UInt8>) -> FieldSet? {
        let types = FieldTypes.known
        var fields: UInt64 = 0
        var at = 2
        var lowest = 0
        while at < bytes.count {
            guard let place = FieldPlace(at: at, in: bytes), Int(place.tag) >= lowest else {
                return nil
            }
            lowest = Int(place.tag) + 1
            at = place.whole.upperBound
            guard place.tag < 64 else { continue }
            let bit: UInt64 = 1 << UInt64(place.tag)
            let value = UnsafeBufferPointer(rebasing: bytes[place.value])
            if types.texts & bit != 0 {
                guard isText(value) else { return nil }
            } else if types.numbers & bit != 0 {
                guard value.count == 8 else { return nil }
            } else if types.flags & bit != 0 {
                guard value.count == 1, value[0] <= 1 else { return nil }
            } else {
                continue
            }
            fields |= bit
        }
        return FieldSet(rawValue: fields)
    }

    // Checks eight ASCII bytes at a time, because nearly all text is ASCII.
    private static func isText(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
        let bytes = UnsafeRawBufferPointer(value)
        var at = 0
        while at + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            guard word & 0x8080_8080_8080_8080 == 0 else { break }
            at += 8
        }
        while at < bytes.count, bytes[at] < 0x80 { at += 1 }
        return at == bytes.count || String(validating: value, as: UTF8.self) != nil
    }
}

/// The fields by the types of their values, as bits of their tags.
private struct FieldTypes {
    let texts: UInt64
    let numbers: UInt64
    let flags: UInt64

    static let known = FieldTypes()

    private init() {
        func bits(_ isIncluded: (Field.ValueType) -> Bool) -> UInt64 {
            FieldSet(Field.allCases.filter { isIncluded($0.valueType) }).rawValue
        }
        texts = bits { $0 == .text }
        numbers = bits { $0 == .integer || $0 == .instant }
        flags = bits { $0 == .boolean }
    }
}

extension FieldValue {
    /// The value of a field in bytes that are known to be canonical.
    init(canonicalBytes bytes: Slice<UnsafeBufferPointer<UInt8>>, of field: Field) {
        switch field.valueType {
        case .text:
            let text = UnsafeBufferPointer(rebasing: bytes)
            self = .text(String(decoding: text, as: UTF8.self))
        case .integer: self = .integer(FieldValue.integer(bytes))
        case .boolean: self = .boolean(bytes.first == 1)
        case .instant: self = .instant(Instant(milliseconds: FieldValue.integer(bytes)))
        }
    }

    private static func integer(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Int64 {
        // Canonical numbers have eight bytes.
        let raw = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes))
        return Int64(bigEndian: raw.loadUnaligned(as: Int64.self))
    }
}
