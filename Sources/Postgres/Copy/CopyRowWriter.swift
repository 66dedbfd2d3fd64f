/// Writes the fields of one row of a binary COPY into memory that is large enough.
///
/// Does the same as `CopyBinaryWriter.field` without intermediate values; COPY does not convert
/// types here either.
package struct CopyRowWriter {
    private let memory: UnsafeMutableRawBufferPointer
    private(set) var byteCount = 0
    private(set) var fieldsMissing: Int

    /// The bytes of a field's length.
    package static let lengthByteCount = 4

    /// The bytes of an array before its elements: dimensions, null flag, type, count, lower bound.
    package static let arrayByteCount = 20

    init(_ memory: UnsafeMutableRawBufferPointer, fieldsMissing: Int) {
        self.memory = memory
        self.fieldsMissing = fieldsMissing
    }

    /// Writes fields that are already encoded.
    package mutating func encoded(_ bytes: UnsafeRawBufferPointer, fields: Int) {
        fieldsMissing -= fields
        raw(bytes)
    }

    /// Writes a null.
    package mutating func null() { length(-1) }

    /// Writes a `boolean`.
    package mutating func bool(_ value: Bool) {
        length(1)
        number(UInt8(value ? 1 : 0))
    }

    /// Writes an `integer`.
    package mutating func int4(_ value: Int32) {
        length(4)
        number(value)
    }

    /// Writes a `bigint`.
    package mutating func int8(_ value: Int64) {
        length(8)
        number(value)
    }

    /// Writes a `timestamp with time zone`, in microseconds since 1970-01-01 UTC.
    package mutating func timestamptz(microseconds: Int64) {
        length(8)
        number(BinaryFormat.postgresMicroseconds(fromUnix: microseconds))
    }

    /// Writes a `text`.
    package mutating func text(_ value: String) {
        fieldsMissing -= 1
        element(value)
    }

    /// Writes a `bigint[]` without nulls; `element` returns the element at an index.
    package mutating func int8Array(count: Int, _ element: (Int) -> Int64) {
        fieldsMissing -= 1
        let start = beginArray(of: .int8, count: count)
        for index in 0..<count {
            number(Int32(8))
            number(element(index))
        }
        endArray(from: start)
    }

    /// Writes a `text[]` without nulls.
    package mutating func textArray(_ values: [String]) {
        fieldsMissing -= 1
        let start = beginArray(of: .text, count: values.count)
        for value in values { element(value) }
        endArray(from: start)
    }

    private mutating func element(_ text: String) {
        let start = byteCount
        number(Int32(0))
        var text = text
        text.withUTF8 { raw(UnsafeRawBufferPointer($0)) }
        overwriteLength(at: start)
    }

    // PostgreSQL writes an empty array without dimensions, and compares arrays in that form.
    private mutating func beginArray(of type: PostgresType, count: Int) -> Int {
        let start = byteCount
        number(Int32(0))
        number(Int32(count == 0 ? 0 : 1))
        number(Int32(0))
        number(type.rawValue)
        if count > 0 {
            number(Int32(clamping: count))
            number(Int32(1))
        }
        return start
    }

    private mutating func endArray(from start: Int) {
        overwriteLength(at: start)
    }

    private mutating func length(_ count: Int32) {
        fieldsMissing -= 1
        number(count)
    }

    private func overwriteLength(at start: Int) {
        let count = Int32(clamping: byteCount - start - CopyRowWriter.lengthByteCount)
        memory.storeBytes(of: count.bigEndian, toByteOffset: start, as: Int32.self)
    }

    private mutating func number<I: FixedWidthInteger>(_ value: I) {
        memory.storeBytes(of: value.bigEndian, toByteOffset: byteCount, as: I.self)
        byteCount += MemoryLayout<I>.size
    }

    private mutating func raw(_ bytes: UnsafeRawBufferPointer) {
        let place = UnsafeMutableRawBufferPointer(rebasing: memory[byteCount...])
        place.copyMemory(from: bytes)
        byteCount += bytes.count
    }
}
