/// Writes the ledger's canonical bytes: big-endian integers and length-prefixed strings.
package struct ByteWriter: Sendable {
    /// What has been written so far.
    package private(set) var bytes: [UInt8] = []

    /// An empty writer.
    package init() {}

    /// Reserves room for that many more bytes, so appending them does not move the others.
    package mutating func reserve(_ byteCount: Int) {
        bytes.reserveCapacity(bytes.count + byteCount)
    }

    /// Appends bytes as they are.
    package mutating func raw(_ more: some Sequence<UInt8>) {
        bytes.append(contentsOf: more)
    }

    /// Appends an integer, most significant byte first.
    package mutating func integer<Integer: FixedWidthInteger>(_ value: Integer) {
        append(value)
    }

    // Overloads for the types that are written by the million: a generic call across modules costs
    // more than the work it does.

    /// Appends a byte.
    package mutating func integer(_ value: UInt8) { bytes.append(value) }

    /// Appends an integer, most significant byte first.
    package mutating func integer(_ value: UInt32) { append(value) }

    /// Appends an integer, most significant byte first.
    package mutating func integer(_ value: Int64) { append(value) }

    @inline(__always)
    private mutating func append<Integer: FixedWidthInteger>(_ value: Integer) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends a 32-bit byte count, then the bytes.
    package mutating func prefixed(_ more: [UInt8]) {
        integer(UInt32(more.count))
        bytes.append(contentsOf: more)
    }

    /// Appends a 32-bit byte count, then the text as UTF-8.
    package mutating func prefixed(_ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            integer(UInt32(utf8.count))
            bytes.append(contentsOf: utf8)
        }
    }

    /// Appends an instant as signed 64-bit milliseconds.
    package mutating func instant(_ value: Instant) {
        integer(value.milliseconds)
    }
}

/// Reads what a `ByteWriter` wrote; a read returns nil if too few bytes are left.
package struct ByteReader: Sendable {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    /// A reader at the first of these bytes.
    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// Whether everything was read.
    package var isAtEnd: Bool { position == bytes.endIndex }

    /// What was not read yet.
    package var rest: ArraySlice<UInt8> { bytes[position...] }

    /// The next bytes, or nil if fewer are left.
    package mutating func raw(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, bytes.endIndex - position >= count else { return nil }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// The next big-endian integer.
    package mutating func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
        guard let slice = raw(MemoryLayout<Integer>.size) else { return nil }
        var value: Integer = 0
        for byte in slice { value = value << 8 | Integer(truncatingIfNeeded: byte) }
        return value
    }

    /// The next length-prefixed bytes.
    package mutating func prefixed() -> ArraySlice<UInt8>? {
        guard let count = integer(UInt32.self) else { return nil }
        return raw(Int(count))
    }
}
