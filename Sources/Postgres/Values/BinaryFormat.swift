/// What PostgreSQL's binary formats have in common: big-endian numbers, an epoch of their own.
enum BinaryFormat {
    /// 2000-01-01 UTC, PostgreSQL's epoch, in microseconds of Unix time.
    static let epochMicroseconds: Int64 = 946_684_800_000_000

    /// Moves an instant to PostgreSQL's epoch; the extremes are the infinities.
    static func postgresMicroseconds(fromUnix microseconds: Int64) -> Int64 {
        if microseconds == .min || microseconds == .max { return microseconds }
        let (moved, overflow) = microseconds.subtractingReportingOverflow(epochMicroseconds)
        // The server must refuse an instant before 290 000 BC; it must not become -infinity.
        return overflow || moved == .min ? .min + 1 : moved
    }

    /// Moves an instant to the Unix epoch; nil if the result does not fit into 64 bits.
    static func unixMicroseconds(fromPostgres microseconds: Int64) -> Int64? {
        if microseconds == .min || microseconds == .max { return microseconds }
        let (moved, overflow) = microseconds.addingReportingOverflow(epochMicroseconds)
        return overflow ? nil : moved
    }
}

extension [UInt8] {
    mutating func appendBigEndian<I: FixedWidthInteger>(_ value: I) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    /// Appends a value, or returns false if it is nil.
    mutating func appendBinary<V>(_ value: V?, _ encode: (inout [UInt8], V) -> Void) -> Bool {
        guard let value else { return false }
        encode(&self, value)
        return true
    }

    /// Appends a length and what `encode` appends; the length is -1 if `encode` returns false.
    mutating func appendField(_ encode: (inout [UInt8]) -> Bool) {
        let lengthAt = count
        appendBigEndian(Int32(-1))
        guard encode(&self) else { return }
        overwriteLength(at: lengthAt, Int32(clamping: count - lengthAt - 4))
    }

    /// Appends a one-dimensional array: dimensions, null flag, element type, count, lower bound.
    mutating func appendArray<V>(
        _ values: [V?]?,
        of type: PostgresType,
        _ encode: (inout [UInt8], V) -> Void
    ) -> Bool {
        guard let values else { return false }
        // PostgreSQL writes an empty array without dimensions, and compares arrays in that form.
        appendBigEndian(Int32(values.isEmpty ? 0 : 1))
        appendBigEndian(Int32(values.contains { $0 == nil } ? 1 : 0))
        appendBigEndian(type.rawValue)
        if values.isEmpty { return true }
        appendBigEndian(Int32(clamping: values.count))
        appendBigEndian(Int32(1))
        for value in values { appendField { $0.appendBinary(value, encode) } }
        return true
    }

    private mutating func overwriteLength(at offset: Int, _ length: Int32) {
        Swift.withUnsafeBytes(of: length.bigEndian) { raw in
            for (index, byte) in raw.enumerated() { self[offset + index] = byte }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Reads a big-endian number; the caller has checked the bounds.
    func bigEndian<I: FixedWidthInteger>(at offset: Int, as type: I.Type = I.self) -> I {
        I(bigEndian: loadUnaligned(fromByteOffset: offset, as: I.self))
    }
}
