package import Events

/// Decodes a row in place, without creating a text from its bytes.
///
/// For bytes that a `RowWriter` wrote: anything else is a broken invariant.
package struct RowReader {
    /// How many values the row has.
    package let valueCount: Int

    private let bytes: UnsafeRawBufferPointer
    private var position = RowWriter.countByteCount

    /// A value; valid only while the bytes of the row are.
    package enum Value {
        case null
        case integer(Int64)
        case int32(Int32)
        case boolean(Bool)
        case timestamp(Instant)
        /// The text, preceded by its 32-bit byte count.
        case text(UnsafeRawBufferPointer)
        /// Eight bytes each.
        case integers(UnsafeRawBufferPointer)
        /// Each encoded like a text.
        case texts(UnsafeRawBufferPointer, count: Int)
    }

    /// The byte with which a value begins.
    enum ValueType: UInt8 {
        case null = 0
        case integer = 1
        case int32 = 2
        case boolean = 3
        case text = 4
        case timestamp = 5
        case integers = 6
        case texts = 7
    }

    /// A reader of a row's canonical bytes.
    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        valueCount = Int(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
    }

    /// The next value; nil after the last one.
    package mutating func next() -> Value? {
        guard position < bytes.count else { return nil }
        guard let type = ValueType(rawValue: number(UInt8.self)) else {
            preconditionFailure("A value of a row has no type that this program writes.")
        }
        switch type {
        case .null: return .null
        case .integer: return .integer(number(Int64.self))
        case .int32: return .int32(Int32(truncatingIfNeeded: number(Int64.self)))
        case .boolean: return .boolean(number(UInt8.self) == 1)
        case .timestamp: return .timestamp(Instant(milliseconds: number(Int64.self)))
        case .text: return .text(countedText())
        case .integers: return .integers(piece(Int(number(UInt32.self)) * 8))
        case .texts:
            let count = Int(number(UInt32.self))
            let start = position
            for _ in 0..<count { _ = countedText() }
            return .texts(UnsafeRawBufferPointer(rebasing: bytes[start..<position]), count: count)
        }
    }

    private mutating func countedText() -> UnsafeRawBufferPointer {
        let count = bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)
        return piece(RowWriter.countByteCount + Int(UInt32(bigEndian: count)))
    }

    private mutating func piece(_ byteCount: Int) -> UnsafeRawBufferPointer {
        defer { position += byteCount }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + byteCount])
    }

    private mutating func number<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer {
        defer { position += MemoryLayout<Integer>.size }
        return Integer(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: type))
    }
}

extension ColumnValue {
    /// The value that a reader found.
    package init(_ value: RowReader.Value) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .int32(let number): self = .int32(number)
        case .boolean(let flag): self = .boolean(flag)
        case .timestamp(let instant): self = .timestamp(instant)
        case .text(let counted): self = .text(ColumnValue.text(of: counted))
        case .integers(let bytes):
            self = .integers(
                stride(from: 0, to: bytes.count, by: 8).map {
                    Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: $0, as: Int64.self))
                }
            )
        case .texts(let bytes, let count):
            var rest = bytes
            self = .texts(
                (0..<count).map { _ in
                    let byteCount = UInt32(bigEndian: rest.loadUnaligned(as: UInt32.self))
                    let end = RowWriter.countByteCount + Int(byteCount)
                    defer { rest = UnsafeRawBufferPointer(rebasing: rest[end...]) }
                    return ColumnValue.text(of: UnsafeRawBufferPointer(rebasing: rest[..<end]))
                }
            )
        }
    }

    private static func text(of counted: UnsafeRawBufferPointer) -> String {
        String(decoding: counted[RowWriter.countByteCount...], as: UTF8.self)
    }
}
