internal import Events

extension ProjectionRow {
    /// The row's bytes for digests: its values, not the positions.
    ///
    /// A 32-bit count, then each value: a type byte, then integers and instants (milliseconds) as
    /// 64 bits, texts with a 32-bit byte count, lists with a 32-bit count.
    public var canonicalBytes: [UInt8] {
        let byteCount = canonicalByteCount
        return [UInt8](unsafeUninitializedCapacity: byteCount) { memory, written in
            var writer = CanonicalWriter(UnsafeMutableRawBufferPointer(memory))
            writer.row(self)
            written = writer.byteCount
        }
    }

    /// How many bytes its canonical form takes.
    var canonicalByteCount: Int {
        values.reduce(MemoryLayout<UInt32>.size) { $0 + $1.canonicalByteCount }
    }
}

extension ColumnValue {
    /// The value's bytes in those of a row.
    var canonicalBytes: [UInt8] {
        let byteCount = canonicalByteCount
        return [UInt8](unsafeUninitializedCapacity: byteCount) { memory, written in
            var writer = CanonicalWriter(UnsafeMutableRawBufferPointer(memory))
            writer.value(self)
            written = writer.byteCount
        }
    }

    private static let typeByteCount = MemoryLayout<UInt8>.size
    private static let countByteCount = MemoryLayout<UInt32>.size
    private static let numberByteCount = MemoryLayout<Int64>.size

    fileprivate var canonicalByteCount: Int {
        let byteCount =
            switch self {
            case .null: 0
            case .boolean: MemoryLayout<UInt8>.size
            case .integer, .int32, .timestamp: ColumnValue.numberByteCount
            case .text(let text): ColumnValue.countByteCount + text.utf8.count
            case .integers(let numbers):
                ColumnValue.countByteCount + numbers.count * ColumnValue.numberByteCount
            case .texts(let texts):
                texts.reduce(ColumnValue.countByteCount) {
                    $0 + ColumnValue.countByteCount + $1.utf8.count
                }
            }
        return ColumnValue.typeByteCount + byteCount
    }
}

/// Writes canonical bytes into memory that is large enough: rows come by the million.
struct CanonicalWriter {
    private let memory: UnsafeMutableRawBufferPointer
    private(set) var byteCount = 0

    init(_ memory: UnsafeMutableRawBufferPointer) {
        self.memory = memory
    }

    /// Writes a row, without its positions.
    mutating func row(_ row: ProjectionRow) {
        number(UInt32(row.values.count))
        for value in row.values { self.value(value) }
    }

    /// Writes a text after its 32-bit byte count.
    mutating func prefixed(_ text: String) {
        text.withBytes { bytes in
            number(UInt32(bytes.count))
            UnsafeMutableRawBufferPointer(rebasing: memory[byteCount...]).copyMemory(from: bytes)
            byteCount += bytes.count
        }
    }

    /// Writes a value after its type.
    mutating func value(_ value: ColumnValue) {
        switch value {
        case .null:
            number(UInt8(0))
        case .integer(let integer):
            number(UInt8(1))
            number(integer)
        case .int32(let integer):
            number(UInt8(2))
            number(Int64(integer))
        case .boolean(let flag):
            number(UInt8(3))
            number(UInt8(flag ? 1 : 0))
        case .text(let text):
            number(UInt8(4))
            prefixed(text)
        case .timestamp(let instant):
            number(UInt8(5))
            number(instant.milliseconds)
        case .integers(let integers):
            number(UInt8(6))
            number(UInt32(integers.count))
            for integer in integers { number(integer) }
        case .texts(let texts):
            number(UInt8(7))
            number(UInt32(texts.count))
            for text in texts { prefixed(text) }
        }
    }

    private mutating func number<Integer: FixedWidthInteger>(_ number: Integer) {
        memory.storeBytes(of: number.bigEndian, toByteOffset: byteCount, as: Integer.self)
        byteCount += MemoryLayout<Integer>.size
    }
}
