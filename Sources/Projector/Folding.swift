internal import EventLog
internal import Events
internal import Postgres
internal import Projections
internal import Synchronization

/// What was folded, one digest a projection.
struct Folded: Sendable {
    var digests: [ProjectionDigest]
    var streams = 0
    var events = 0

    mutating func add(_ other: Folded) {
        for index in digests.indices { digests[index].add(other.digests[index]) }
        streams += other.streams
        events += other.events
    }
}

/// What all folds of a build have folded together.
final class FoldedTotal: Sendable {
    private let folded: Mutex<Folded>
    private let progress: @Sendable (Int) -> Void

    init(_ projectionCount: Int, _ progress: @escaping @Sendable (Int) -> Void) {
        folded = Mutex(Folded(digests: (0..<projectionCount).map { _ in ProjectionDigest() }))
        self.progress = progress
    }

    var value: Folded { folded.withLock { $0 } }

    func add(_ more: Folded) {
        let events = folded.withLock { folded in
            folded.add(more)
            return folded.events
        }
        progress(events)
    }
}

/// Hands out the ranges of a build, each once.
final class RangeQueue: Sendable {
    private let ranges: [(StreamRange, EventLog.Head)]
    private let taken = Atomic<Int>(0)

    init(_ ranges: [(StreamRange, EventLog.Head)]) {
        self.ranges = ranges
    }

    func next() -> (StreamRange, EventLog.Head)? {
        let index = taken.wrappingAdd(1, ordering: .relaxed).oldValue
        return index < ranges.count ? ranges[index] : nil
    }
}

/// Folds the streams of one range after another and encodes the rows.
struct Folding: Sendable {
    /// Bytes of rows after which they are handed to the writer.
    private static let chunkBytesMax = 1 << 16

    /// Streams after which what was folded is added to the total.
    private static let reportedStreams = 1000

    private let projections: [any Projection]
    private let context: FoldContext
    private let channels: [ChunkChannel]
    private let total: FoldedTotal
    private var writers: [CopyBinaryWriter]
    private var folded: Folded

    init(
        _ projections: [any Projection],
        in context: FoldContext,
        _ channels: [ChunkChannel],
        _ total: FoldedTotal
    ) {
        self.projections = projections
        self.context = context
        self.channels = channels
        self.total = total
        writers = projections.map { _ in CopyBinaryWriter.rowsOnly() }
        folded = Folding.nothing(projections.count)
    }

    mutating func take(_ history: StreamHistory) throws {
        let timeline = Timeline(history)
        for index in projections.indices {
            let rows = projections[index].rows(of: timeline, in: context)
            writers[index].rows(rows, of: timeline)
            folded.digests[index].add(rows, of: timeline.stream)
            if writers[index].readyByteCount >= Folding.chunkBytesMax { try flush(index) }
        }
        folded.streams += 1
        folded.events += history.events.count
        if folded.streams == Folding.reportedStreams {
            total.add(folded)
            folded = Folding.nothing(projections.count)
        }
    }

    /// Hands over what is left.
    func finish() throws {
        var last = self
        for index in projections.indices { try last.flush(index) }
        total.add(folded)
    }

    private static func nothing(_ projectionCount: Int) -> Folded {
        Folded(digests: (0..<projectionCount).map { _ in ProjectionDigest() })
    }

    private mutating func flush(_ index: Int) throws {
        let bytes = writers[index].takeBytes()
        guard bytes.isEmpty || channels[index].send(bytes) else { throw RebuildAbandoned() }
    }
}
