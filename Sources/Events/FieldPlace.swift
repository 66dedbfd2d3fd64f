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
    /// Whether these bytes, after version and format, are fields by ascending tag, each with a
    /// value of its type.
    static func isCanonical(_ canonicalBytes: [UInt8]) -> Bool {
        canonicalBytes.withUnsafeBufferPointer { bytes in
            var at = 2
            var last: UInt8 = 0
            while at < bytes.count {
                guard let place = FieldPlace(at: at, in: bytes), place.tag > last,
                    let field = Field(rawValue: place.tag),
                    isCanonical(bytes[place.value], as: field.valueType)
                else { return false }
                last = place.tag
                at = place.whole.upperBound
            }
            return true
        }
    }

    private static func isCanonical(
        _ value: Slice<UnsafeBufferPointer<UInt8>>,
        as type: Field.ValueType
    ) -> Bool {
        switch type {
        case .integer, .instant: value.count == 8
        case .boolean: value.count == 1 && value[value.startIndex] <= 1
        case .text:
            value.allSatisfy { $0 < 0x80 } || String(validating: value, as: UTF8.self) != nil
        }
    }
}

extension FieldValue {
    /// The value of a field in bytes that are known to be canonical.
    init(canonicalBytes bytes: Slice<UnsafeBufferPointer<UInt8>>, of field: Field) {
        switch field.valueType {
        case .text: self = .text(String(decoding: bytes, as: UTF8.self))
        case .integer: self = .integer(FieldValue.integer(bytes))
        case .boolean: self = .boolean(bytes.first == 1)
        case .instant: self = .instant(Instant(milliseconds: FieldValue.integer(bytes)))
        }
    }

    private static func integer(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Int64 {
        var bits: UInt64 = 0
        for byte in bytes { bits = bits << 8 | UInt64(byte) }
        return Int64(bitPattern: bits)
    }
}
