internal import Events

/// Writes rows, value by value, in the format of `ProjectionRow`.
///
/// One writer serves all rows of a timeline, one after the other, reusing its memory for each row.
struct RowWriter: ~Copyable {
    // Raw memory, because a row has dozens of values of a few bytes, and an array would spend more
    // on checks than on writing them. `begin` keeps writes within it.
    private var memory: UnsafeMutableRawBufferPointer
    private var byteCount = RowWriter.countByteCount
    private var valueCount: UInt32 = 0
    private var unfitValue: Int?

    /// Bytes of a count of values, elements or bytes.
    static let countByteCount = MemoryLayout<UInt32>.size

    // More than nearly every row needs.
    private static let firstCapacity = 1024

    init() {
        memory = .allocate(byteCount: RowWriter.firstCapacity, alignment: 8)
    }

    deinit { memory.deallocate() }

    /// The row of the values written since the last one.
    mutating func row(citing positions: [Position]) -> ProjectionRow {
        memory.storeBytes(of: valueCount.bigEndian, as: UInt32.self)
        let written = UnsafeRawBufferPointer(rebasing: memory[..<byteCount])
        let row = ProjectionRow(
            canonicalBytes: [UInt8](written),
            positions: positions,
            unfitValue: unfitValue
        )
        byteCount = RowWriter.countByteCount
        valueCount = 0
        unfitValue = nil
        return row
    }

    /// Writes a value of any type.
    mutating func value(_ value: ColumnValue) {
        switch value {
        case .null: null()
        case .integer(let number): integer(number)
        case .int32(let number): int32(Int(number))
        case .boolean(let flag): boolean(flag)
        case .text(let text): self.text(text)
        case .timestamp(let instant): timestamp(instant)
        case .integers(let numbers): integers(numbers)
        case .texts(let texts): self.texts(texts)
        }
    }
}

extension RowWriter {
    /// Writes NULL.
    mutating func null() { begin(.null, byteCount: 0) }

    /// Writes a `bigint`.
    mutating func integer(_ value: Int64) {
        begin(.integer, byteCount: 8)
        number(value)
    }

    /// Writes an `integer`, clamped to its range.
    mutating func int32(_ value: Int) {
        begin(.int32, byteCount: 8)
        number(Int64(Int32(clamping: value)))
    }

    /// Writes a `boolean`.
    mutating func boolean(_ value: Bool) {
        begin(.boolean, byteCount: 1)
        number(UInt8(value ? 1 : 0))
    }

    /// Writes a `timestamptz`.
    mutating func timestamp(_ instant: Instant) {
        if !ColumnValue.timestampMilliseconds.contains(instant.milliseconds), unfitValue == nil {
            unfitValue = Int(valueCount)
        }
        begin(.timestamp, byteCount: 8)
        number(instant.milliseconds)
    }

    /// Writes a `text`.
    mutating func text(_ value: String) {
        begin(.text, byteCount: RowWriter.byteCount(of: value))
        counted(value)
    }

    /// Writes a `bigint[]`.
    mutating func integers(_ values: [Int64]) {
        begin(.integers, byteCount: RowWriter.countByteCount + 8 * values.count)
        number(UInt32(values.count))
        for value in values { number(value) }
    }

    /// Writes a `text[]`.
    mutating func texts(_ values: [String]) {
        let byteCount = values.reduce(0) { $0 + RowWriter.byteCount(of: $1) }
        begin(.texts, byteCount: RowWriter.countByteCount + byteCount)
        number(UInt32(values.count))
        for value in values { counted(value) }
    }

    private static func byteCount(of text: String) -> Int { countByteCount + text.utf8.count }

    // Makes room for a value, and writes its type.
    @inline(__always)
    private mutating func begin(_ type: RowReader.ValueType, byteCount valueByteCount: Int) {
        let end = byteCount + 1 + valueByteCount
        if end > memory.count { grow(to: end) }
        valueCount += 1
        number(type.rawValue)
    }

    @inline(never)
    private mutating func grow(to byteCountMin: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(byteCountMin, memory.count * 2),
            alignment: 8
        )
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<byteCount]))
        memory.deallocate()
        memory = larger
    }

    private mutating func counted(_ text: String) {
        text.withBytes { bytes in
            number(UInt32(bytes.count))
            UnsafeMutableRawBufferPointer(rebasing: memory[byteCount...]).copyMemory(from: bytes)
            byteCount += bytes.count
        }
    }

    @inline(__always)
    private mutating func number<Integer: FixedWidthInteger>(_ number: Integer) {
        memory.storeBytes(of: number.bigEndian, toByteOffset: byteCount, as: Integer.self)
        byteCount += MemoryLayout<Integer>.size
    }
}
