internal import Events
internal import Postgres

/// Distributes the rows that one connection reads to the parts of a spool.
final class SpoolWriter {
    /// Memory of one writer, in bytes, shared by all parts: more saves no time.
    private static let memoryByteCount = 4 << 20

    /// The smallest block, in bytes: a write costs about as much as copying a page.
    private static let blockByteCountMin = 8 << 10

    private let spool: StreamSpool
    private var file: SpoolFile
    private let cuts: SpoolCuts
    private let blockByteCount: Int
    private let blocks: UnsafeMutableRawBufferPointer
    private var used: [Int]
    private var key: [UInt8]

    /// Begins a file of the spool; throws `temporaryFile` if none can be created.
    init(_ spool: StreamSpool) throws(EventLogError) {
        self.spool = spool
        file = try spool.makeFile()
        cuts = SpoolCuts(spool.cuts)
        blockByteCount = max(
            SpoolWriter.blockByteCountMin,
            SpoolWriter.memoryByteCount / spool.partCount
        )
        blocks = .allocate(byteCount: blockByteCount * spool.partCount, alignment: 8)
        used = Array(repeating: 0, count: spool.partCount)
        key = []
    }

    deinit {
        blocks.deallocate()
    }

    /// Adds a row of a reading.
    func take(_ row: borrowing CopyBinaryRow) throws {
        let offset = try row.int8(2)
        guard let environment = try row.bytes(0), let id = try row.bytes(1),
            let word = try row.bytes(6), let content = try row.bytes(7)
        else { throw EventRows.malformed(Position(lane: spool.lane, offset: offset)) }
        var draft = SpoolRecord.Draft(
            environment: environment,
            originalTransactionId: id,
            offset: offset,
            asOf: try row.int8(3),
            kind: Kind(word: word),
            purchase: try row.int8(4),
            expires: try row.int8(5),
            content: content
        )
        if spool.isComplete {
            draft.recordedAt = Instant(microseconds: try row.timestamptz(8)).milliseconds
            if let bundle = try row.bytes(9) { draft.bundleId = bundle }
            draft.evidence = try row.int8(10)
            draft.isImported = try row.bool(11)
        }
        try append(draft)
    }

    /// Writes the remaining blocks.
    func finish() throws {
        for part in used.indices { try flush(part) }
    }

    private func append(_ draft: SpoolRecord.Draft) throws {
        let part = self.part(of: draft)
        let byteCount = draft.byteCount
        if used[part] + byteCount > blockByteCount { try flush(part) }
        guard byteCount <= blockByteCount else {
            let own = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 8)
            defer { own.deallocate() }
            draft.write(to: own)
            return try spool.append(UnsafeRawBufferPointer(own), toPart: part, in: &file)
        }
        let start = part * blockByteCount + used[part]
        draft.write(to: UnsafeMutableRawBufferPointer(rebasing: blocks[start..<start + byteCount]))
        used[part] += byteCount
    }

    private func part(of draft: SpoolRecord.Draft) -> Int {
        let byteCount = draft.keyByteCount
        if key.count < byteCount { key = Array(repeating: 0, count: byteCount) }
        return key.withUnsafeMutableBytes { key in
            draft.writeKey(to: UnsafeMutableRawBufferPointer(rebasing: key[..<byteCount]))
            return cuts.part(of: UnsafeRawBufferPointer(rebasing: key[..<byteCount]))
        }
    }

    private func flush(_ part: Int) throws {
        guard used[part] > 0 else { return }
        let start = part * blockByteCount
        let filled = UnsafeRawBufferPointer(rebasing: blocks[start..<start + used[part]])
        try spool.append(filled, toPart: part, in: &file)
        used[part] = 0
    }
}

/// The cuts between the parts of a spool, stored contiguously for millions of searches.
private struct SpoolCuts {
    private var bytes: [UInt8] = []
    private var starts: [Int] = [0]

    init(_ cuts: [[UInt8]]) {
        for cut in cuts {
            bytes += cut
            starts.append(bytes.count)
        }
    }

    /// The part that a key belongs to: the one after all cuts that are not greater than it.
    func part(of key: UnsafeRawBufferPointer) -> Int {
        bytes.withUnsafeBytes { bytes in
            var (low, high) = (0, starts.count - 1)
            while low < high {
                let middle = (low + high) / 2
                let cut = bytes[starts[middle]..<starts[middle + 1]]
                if ByteScan.precedes(key, UnsafeRawBufferPointer(rebasing: cut)) {
                    high = middle
                } else {
                    low = middle + 1
                }
            }
            return low
        }
    }
}
