/// Where a field lies in the canonical form of a content.
struct FieldPlace {
    /// The field's tag.
    let tag: UInt8
    /// Tag, length and value.
    let whole: Range<Int>
    /// The value alone.
    let value: Range<Int>

    /// Bits of a length that one byte holds; more than five bytes are longer than any content.
    private static let shiftMax = 28

    /// The field that begins there; nil at the end, and where the length is not in its shortest
    /// form or leads beyond the end.
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

    /// The place of a field; nil where the content does not carry it.
    init?(of field: Field, in bytes: UnsafeBufferPointer<UInt8>) {
        guard let place = FieldPlace.first(notBefore: field, in: bytes).place,
            place.tag == field.rawValue
        else { return nil }
        self = place
    }

    /// Where a field would have to be written.
    static func insertion(of field: Field, in bytes: UnsafeBufferPointer<UInt8>) -> Int {
        first(notBefore: field, in: bytes).start
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
    /// Calls `body` with what it says about each field of a set, by ascending tag, in one walk.
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

    /// The fields that these bytes hold after version and format; nil unless they come by ascending
    /// tag, each with a value of its type.
    static func fields(in bytes: UnsafeBufferPointer<UInt8>) -> FieldSet? {
        let types = FieldTypes.known
        var fields: UInt64 = 0
        var at = 2
        while at < bytes.count {
            guard let place = FieldPlace(at: at, in: bytes), place.tag < 64 else { return nil }
            let bit: UInt64 = 1 << UInt64(place.tag)
            // Every field so far has a lower bit.
            guard fields < bit else { return nil }
            let value = UnsafeBufferPointer(rebasing: bytes[place.value])
            if types.texts & bit != 0 {
                guard isText(value) else { return nil }
            } else if types.numbers & bit != 0 {
                guard value.count == 8 else { return nil }
            } else {
                guard types.flags & bit != 0, value.count == 1, value[0] <= 1 else { return nil }
            }
            fields |= bit
            at = place.whole.upperBound
        }
        return FieldSet(rawValue: fields)
    }

    // ASCII, eight at a time, is nearly all there is.
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
