/// Parses the bytes of `COPY … (FORMAT BINARY)`, however they are split into chunks.
///
/// Allocates no memory per field or row: rows point into the chunk, or into a buffer for the one
/// row that spans chunks.
package struct CopyBinaryReader: Sendable {
    private enum Stage {
        case header
        case rows
        case finished
    }

    private var stage = Stage.header
    private var pending: [UInt8] = []
    /// The number of pending bytes that are needed before parsing can continue.
    private var needed = 0
    private var fields: [Range<Int>?] = []

    /// Begins before the header.
    package init() {}

    /// Takes the next bytes and calls `row` for each row that they complete.
    ///
    /// A row is valid only during the call. Throws `protocolViolation` if the bytes are not a
    /// binary COPY.
    package mutating func consume<E: PostgresErrorConvertible>(
        _ chunk: UnsafeRawBufferPointer,
        _ row: (borrowing CopyBinaryRow) throws(E) -> Void
    ) throws(E) {
        if pending.isEmpty {
            let used = try parse(chunk, row)
            pending.append(contentsOf: chunk[used...])
            needed -= used
            return
        }
        pending.append(contentsOf: chunk)
        guard pending.count >= needed else { return }
        // The parser changes the reader, so it must not read from the reader's own array.
        var bytes: [UInt8] = []
        swap(&bytes, &pending)
        let used = try parsing(bytes, row)
        bytes.removeFirst(used)
        needed -= used
        swap(&bytes, &pending)
    }

    /// Ends the input; throws `protocolViolation` if there was no trailer.
    package func finish() throws(PostgresError) {
        guard stage == .finished, pending.isEmpty else {
            throw Self.violation("it ended before its trailer")
        }
    }

    private mutating func parsing<E: PostgresErrorConvertible>(
        _ bytes: [UInt8],
        _ row: (borrowing CopyBinaryRow) throws(E) -> Void
    ) throws(E) -> Int {
        try bytes.withUnsafeBufferPointer { (raw) throws(E) in
            try parse(UnsafeRawBufferPointer(raw), row)
        }
    }

    /// Parses all that is complete and returns the number of bytes used.
    private mutating func parse<E: PostgresErrorConvertible>(
        _ bytes: UnsafeRawBufferPointer,
        _ row: (borrowing CopyBinaryRow) throws(E) -> Void
    ) throws(E) -> Int {
        var offset = 0
        while true {
            let end = try converting(to: E.self, try advance(over: bytes, from: offset))
            guard let end else { return offset }
            if stage == .rows, end.isRow {
                try fields.withUnsafeBufferPointer { (fields) throws(E) in
                    try row(CopyBinaryRow(bytes: bytes, fields: fields))
                }
            }
            offset = end.offset
        }
    }

    private typealias Advance = (offset: Int, isRow: Bool)

    /// Skips the header, a row or the trailer; nil if there are too few bytes.
    private mutating func advance(
        over bytes: UnsafeRawBufferPointer,
        from start: Int
    ) throws(PostgresError) -> Advance? {
        switch stage {
        case .header: try header(bytes, start).map { ($0, false) }
        case .rows: try tuple(bytes, start)
        case .finished:
            if start == bytes.count {
                nil
            } else {
                throw Self.violation("bytes follow its trailer")
            }
        }
    }

    private mutating func header(
        _ bytes: UnsafeRawBufferPointer,
        _ start: Int
    ) throws(PostgresError) -> Int? {
        let size = CopyBinaryWriter.headerBytes
        guard has(size, in: bytes, from: start) else { return nil }
        guard bytes[start..<start + 11].elementsEqual(CopyBinaryWriter.signature) else {
            throw Self.violation("it does not begin with the signature; ask for FORMAT BINARY")
        }
        let flags: UInt32 = bytes.bigEndian(at: start + 11)
        // The lower half holds flags that may be ignored, the upper half critical ones.
        guard flags >> 16 == 0 else { throw Self.violation("its flags are unknown") }
        let length = Int(bytes.bigEndian(at: start + 15, as: Int32.self))
        guard length >= 0 else { throw Self.violation("its header has a negative length") }
        guard has(size + length, in: bytes, from: start) else { return nil }
        stage = .rows
        return start + size + length
    }

    private mutating func tuple(
        _ bytes: UnsafeRawBufferPointer,
        _ start: Int
    ) throws(PostgresError) -> Advance? {
        guard has(2, in: bytes, from: start) else { return nil }
        let count = bytes.bigEndian(at: start, as: Int16.self)
        if count == -1 {
            stage = .finished
            return (start + 2, false)
        }
        guard count >= 0 else { throw Self.violation("a row has a negative number of fields") }
        fields.removeAll(keepingCapacity: true)
        var offset = start + 2
        for _ in 0..<count {
            guard has(offset + 4 - start, in: bytes, from: start) else { return nil }
            let length = Int(bytes.bigEndian(at: offset, as: Int32.self))
            offset += 4
            guard length >= -1 else { throw Self.violation("a field has a negative length") }
            guard length >= 0 else {
                fields.append(nil)
                continue
            }
            guard has(offset + length - start, in: bytes, from: start) else { return nil }
            fields.append(offset..<offset + length)
            offset += length
        }
        return (offset, true)
    }

    /// Whether there are that many bytes; if not, remembers how many are needed.
    private mutating func has(
        _ size: Int,
        in bytes: UnsafeRawBufferPointer,
        from start: Int
    ) -> Bool {
        needed = start + size
        return bytes.count >= start + size
    }

    private static func violation(_ what: String) -> PostgresError {
        PostgresError(
            .protocolViolation,
            "The stream is not a binary COPY: \(what). Expected the whole output of "
                + "COPY … TO STDOUT (FORMAT BINARY)."
        )
    }
}
