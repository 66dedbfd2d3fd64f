/// Decodes the binary format of one-dimensional arrays.
enum ArrayFormat {
    private static let headerBytes = 12
    private static let dimensionBytes = 8

    /// Decodes an array; nil if the bytes are not an array of this element type with at most one
    /// dimension, or an element cannot be decoded.
    static func decode<V>(
        _ bytes: UnsafeRawBufferPointer,
        of element: PostgresType,
        _ decodeElement: (UnsafeRawBufferPointer) -> V?
    ) -> [V?]? {
        guard bytes.count >= headerBytes,
            bytes.bigEndian(at: 8, as: UInt32.self) == element.rawValue
        else { return nil }
        let dimensions = bytes.bigEndian(at: 0, as: Int32.self)
        if dimensions == 0 { return bytes.count == headerBytes ? [] : nil }
        guard dimensions == 1, bytes.count >= headerBytes + dimensionBytes else { return nil }
        let count = Int(bytes.bigEndian(at: headerBytes, as: Int32.self))
        var offset = headerBytes + dimensionBytes
        // Every element takes at least four bytes, so a forged count cannot reserve much memory.
        guard count >= 0, count <= (bytes.count - offset) / 4 else { return nil }
        var values: [V?] = []
        values.reserveCapacity(count)
        for _ in 0..<count {
            guard let field = nextField(bytes, &offset) else { return nil }
            switch field {
            case .null: values.append(nil)
            case .bytes(let range):
                guard let value = decodeElement(UnsafeRawBufferPointer(rebasing: bytes[range]))
                else { return nil }
                values.append(value)
            }
        }
        return offset == bytes.count ? values : nil
    }

    private enum Field {
        case null
        case bytes(Range<Int>)
    }

    private static func nextField(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) -> Field? {
        guard bytes.count - offset >= 4 else { return nil }
        let length = Int(bytes.bigEndian(at: offset, as: Int32.self))
        offset += 4
        if length == -1 { return .null }
        guard length >= 0, length <= bytes.count - offset else { return nil }
        defer { offset += length }
        return .bytes(offset..<offset + length)
    }
}
