internal import Events

/// The records of one part of a spool, stream by stream.
///
/// Streams are found by a hash of their key, and only they are sorted: some records of one stream
/// come for each comparison of two keys.
struct SpooledPart {
    private let bytes: UnsafeRawBufferPointer
    // For each record where it begins, and the next one of its stream.
    private var starts: [Int] = []
    private var nexts: [Int32] = []
    private var streams: [Stream] = []
    // Open addressing; the number of a stream, or -1.
    private var table: [Int32]

    private struct Stream {
        let first: Int32
        var last: Int32
        var recordCount: Int32
    }

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        var start = 0
        while start < bytes.count {
            starts.append(start)
            start += Int(bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self))
        }
        nexts = Array(repeating: -1, count: starts.count)
        var capacity = 16
        while capacity < starts.count * 2 { capacity *= 2 }
        table = Array(repeating: -1, count: capacity)
        for index in starts.indices { place(index) }
    }

    /// Calls `fold` with the history of each stream that has events, in the order of `StreamID`.
    func fold(lane: Int, isComplete: Bool, _ fold: (StreamHistory) throws -> Void) throws {
        let ordered = streams.sorted {
            ByteScan.precedes(record($0.first).key, record($1.first).key)
        }
        var bundleId = RepeatedText()
        for stream in ordered {
            guard let history = try history(stream, lane, isComplete, &bundleId) else { continue }
            try fold(history)
        }
    }

    private mutating func place(_ index: Int) {
        let key = record(Int32(index)).key
        let mask = table.count - 1
        var slot = ByteScan.hash(key) & mask
        while table[slot] >= 0 {
            let number = Int(table[slot])
            if ByteScan.areEqual(record(streams[number].first).key, key) {
                nexts[Int(streams[number].last)] = Int32(index)
                streams[number].last = Int32(index)
                streams[number].recordCount += 1
                return
            }
            slot = (slot + 1) & mask
        }
        table[slot] = Int32(streams.count)
        streams.append(Stream(first: Int32(index), last: Int32(index), recordCount: 1))
    }

    private func record(_ index: Int32) -> SpoolRecord {
        SpoolRecord(in: bytes, at: starts[Int(index)])
    }

    // Nil for confirmations alone: what they repeat was not read, or is of another head.
    private func history(
        _ stream: Stream,
        _ lane: Int,
        _ isComplete: Bool,
        _ bundleId: inout RepeatedText
    ) throws -> StreamHistory? {
        let first = record(stream.first)
        let id = StreamID(
            environment: Environment(String(decoding: first.environment, as: UTF8.self)),
            originalTransactionId: String(decoding: first.originalTransactionId, as: UTF8.self)
        )
        var history = StreamHistory(stream: id, events: [], confirmations: [])
        history.events.reserveCapacity(Int(stream.recordCount))
        var index = stream.first
        while index >= 0 {
            let record = self.record(index)
            switch record.form {
            case .event:
                do throws(ScannedRow.Unreadable) {
                    history.events.append(
                        try record.event(
                            of: id,
                            lane: lane,
                            isComplete: isComplete,
                            bundleId: &bundleId
                        )
                    )
                } catch {
                    history.unreadable.append(error.event)
                }
            case .confirmation: history.confirmations.append(record.confirmation(lane: lane))
            case nil: preconditionFailure("a record of the spool has no form")
            }
            index = nexts[Int(index)]
        }
        guard !history.events.isEmpty || !history.unreadable.isEmpty else { return nil }
        history.sortByPosition()
        return history
    }
}

extension SpoolRecord {
    fileprivate func confirmation(lane: Int) -> Confirmation {
        Confirmation(
            position: Position(lane: lane, offset: offset),
            asOf: asOf,
            fields: fields,
            transactionId: String(decoding: transactionId, as: UTF8.self)
        )
    }
}

extension StreamHistory {
    /// Puts events into the order that folds and people want, whatever order they were read in.
    mutating func sortByPosition() {
        let isInOrder = events.indices.dropFirst().allSatisfy {
            events[$0 - 1].position < events[$0].position
        }
        if !isInOrder { events.sort { $0.position < $1.position } }
        if unreadable.count > 1 { unreadable.sort { $0.position < $1.position } }
    }
}
