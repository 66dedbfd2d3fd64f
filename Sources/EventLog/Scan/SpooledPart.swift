internal import Events

/// The records of one part of a spool, stream by stream.
///
/// Streams are found by a hash of their key, and only streams are sorted: there are several records
/// for each comparison of two keys.
struct SpooledPart {
    private let bytes: UnsafeRawBufferPointer
    // For each record, where it begins, and the next one of its stream.
    private var starts: [Int] = []
    private var nexts: [Int32] = []
    private var streams: [Stream] = []
    // Open addressing: the number of a stream, or -1.
    private var table: [Int32]

    fileprivate struct Stream {
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

    /// The histories of its streams, without confirmations, in the order of `StreamID`.
    func histories(lane: Lane, isComplete: Bool) -> SpooledHistories {
        let ordered = streams.sorted {
            ByteScan.precedes(record($0.first).key, record($1.first).key)
        }
        return SpooledHistories(part: self, streams: ordered, lane: lane, isComplete: isComplete)
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

    fileprivate func history(
        _ stream: Stream,
        _ lane: Lane,
        _ isComplete: Bool,
        _ bundleId: inout RepeatedText
    ) throws -> StreamHistory {
        let first = record(stream.first)
        let id = StreamID(
            environment: StoreEnvironment(String(decoding: first.environment, as: UTF8.self)),
            originalTransactionId: String(decoding: first.originalTransactionId, as: UTF8.self)
        )
        var history = StreamHistory(stream: id, events: [], confirmations: [])
        history.events.reserveCapacity(Int(stream.recordCount))
        var index = stream.first
        while index >= 0 {
            do throws(ScannedRow.Unreadable) {
                history.events.append(
                    try record(index).event(
                        of: id,
                        lane: lane,
                        isComplete: isComplete,
                        bundleId: &bundleId
                    )
                )
            } catch {
                history.unreadable.append(error.event)
            }
            index = nexts[Int(index)]
        }
        history.sortByPosition()
        return history
    }
}

/// The histories of a part, created one by one; valid only while the part's bytes are.
struct SpooledHistories {
    fileprivate let part: SpooledPart
    fileprivate let streams: [SpooledPart.Stream]
    fileprivate let lane: Lane
    fileprivate let isComplete: Bool
    fileprivate var index = 0
    fileprivate var bundleId = RepeatedText()

    /// The next history; nil after the last.
    mutating func next() throws -> StreamHistory? {
        guard index < streams.count else { return nil }
        defer { index += 1 }
        return try part.history(streams[index], lane, isComplete, &bundleId)
    }
}

extension StreamHistory {
    /// Sorts events into the order that folds and readers expect, whatever order they were read in.
    mutating func sortByPosition() {
        let isInOrder = events.indices.dropFirst().allSatisfy {
            events[$0 - 1].position < events[$0].position
        }
        if !isInOrder {
            events.sort { $0.position < $1.position }
            setAsideRepeatedOffsets()
        }
        if unreadable.count > 1 { unreadable.sort { $0.position < $1.position } }
    }

    // Without its key, the table accepts any number of events at an offset, and none of them is
    // better than the others.
    private mutating func setAsideRepeatedOffsets() {
        var repeated: Set<Position> = []
        for (event, next) in zip(events, events.dropFirst()) where event.position == next.position {
            repeated.insert(event.position)
        }
        guard !repeated.isEmpty else { return }
        events.removeAll { repeated.contains($0.position) }
        unreadable += repeated.map {
            UnreadableEvent(position: $0, reason: "More than one event has its offset.")
        }
    }
}
