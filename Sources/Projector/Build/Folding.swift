internal import EventLog
internal import Events
internal import Postgres
internal import Projections
internal import Synchronization

/// The result of a fold: the content of each projection, lane by lane.
struct Folded: Sendable {
    var contents: [Int: [ProjectionDigest]] = [:]
    var streams = 0
    var events = 0

    mutating func add(_ other: Folded) {
        for (lane, contents) in other.contents {
            let none = contents.map { _ in ProjectionDigest() }
            for index in contents.indices {
                self.contents[lane, default: none][index].add(contents[index])
            }
        }
        streams += other.streams
        events += other.events
    }
}

/// The ends of a build's channels: one for the rows of each projection, one for refusals.
struct RowChannels: Sendable {
    let rows: [Channel<[UInt8]>]
    let refusals = Channel<[UInt8]>()
    private let failure = ReadingFailure()

    init(_ projectionCount: Int) {
        rows = (0..<projectionCount).map { _ in Channel() }
    }

    var all: [Channel<[UInt8]>] { rows + [refusals] }

    /// Why reading or folding failed, unless a writer failed first.
    var readingFailure: (any Error)? { failure.error.withLock { $0 } }

    /// Abandons all channels; with the reason if reading or folding failed.
    func abandon(because reason: (any Error)?) {
        failure.error.withLock { error in
            let hasWriterFailed = error == nil && all.contains { $0.wasAbandoned }
            if error == nil, !hasWriterFailed { error = reason }
        }
        for channel in all { channel.abandon() }
    }
}

/// The first error of reading or folding.
private final class ReadingFailure: Sendable {
    let error = Mutex<(any Error)?>(nil)
}

/// The combined result of all folds of a build.
final class FoldedTotal: Sendable {
    private let folded = Mutex(Folded())
    private let progress: @Sendable (Int) -> Void

    init(_ progress: @escaping @Sendable (Int) -> Void) {
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

/// A range of a build: the number of the part for its rows, and the commit up to which it is read.
struct FoldedRange: Sendable {
    let part: Int
    let range: StreamRange
    let head: EventLog.Head
}

/// Hands out the ranges of a build in order, each once.
final class RangeQueue: Sendable {
    private let ranges: Mutex<[FoldedRange]>

    init(_ ranges: [(StreamRange, EventLog.Head)]) {
        self.ranges = Mutex(
            ranges.enumerated().reversed().map {
                FoldedRange(part: $0.offset, range: $0.element.0, head: $0.element.1)
            }
        )
    }

    // Removed from the queue, so the resources of a range are released with it.
    func next() -> FoldedRange? { ranges.withLock { $0.popLast() } }
}

/// Folds the streams of one range and encodes the rows.
struct Folding: Sendable {
    /// Bytes of rows at which they are passed to the writer.
    private static let chunkBytesMax = 1 << 16

    /// Streams at which the results are added to the total.
    private static let reportedStreams = 1000

    private let projections: [any Projection]
    private let contexts: [FoldContext]
    private let schema: String
    private let lane: Int
    private let part: Int
    private let channels: RowChannels
    private let total: FoldedTotal
    private var writers: [CopyBinaryWriter]
    private var refusals = CopyBinaryWriter.rowsOnly()
    private var contents: [ProjectionDigest]
    private var folded = Folded()

    /// A fold of the streams of a range into tables of that schema.
    init(
        _ folds: [(projection: any Projection, context: FoldContext)],
        schema: String,
        _ range: FoldedRange,
        _ channels: RowChannels,
        _ total: FoldedTotal
    ) {
        projections = folds.map(\.projection)
        contexts = folds.map(\.context)
        self.schema = schema
        lane = range.range.lane
        part = range.part
        self.channels = channels
        self.total = total
        writers = projections.map { _ in CopyBinaryWriter.rowsOnly() }
        contents = projections.map { _ in ProjectionDigest() }
    }

    mutating func take(_ fold: StreamFold) throws {
        for index in projections.indices {
            switch fold.rows(of: projections[index], in: contexts[index]) {
            case .rows(let rows):
                writers[index].rows(rows, of: fold.stream, lane: lane)
                contents[index].add(rows, of: fold.stream)
            case .refused(let refusal):
                refusals.row(
                    RefusedStreams.row(
                        RefusedStream(stream: fold.stream, refusal: refusal),
                        lane: lane,
                        schema: schema,
                        name: projections[index].name
                    )
                )
            }
            try flush(index, above: Folding.chunkBytesMax)
        }
        try flushRefusals(above: Folding.chunkBytesMax)
        folded.streams += 1
        folded.events += fold.eventCount
        if folded.streams == Folding.reportedStreams { report() }
    }

    /// Passes on the remaining rows.
    mutating func finish() throws {
        for index in projections.indices {
            try flush(index, above: 0)
            channels.rows[index].finish(part: part)
        }
        try flushRefusals(above: 0)
        report()
    }

    private mutating func report() {
        folded.contents[lane] = contents
        total.add(folded)
        contents = projections.map { _ in ProjectionDigest() }
        folded = Folded()
    }

    private mutating func flush(_ index: Int, above byteCount: Int) throws {
        guard writers[index].readyByteCount > byteCount else { return }
        let isSent = channels.rows[index].send(writers[index].takeBytes(), ofPart: part)
        guard isSent else { throw ChannelAbandoned() }
    }

    private mutating func flushRefusals(above byteCount: Int) throws {
        guard refusals.readyByteCount > byteCount else { return }
        guard channels.refusals.send(refusals.takeBytes()) else { throw ChannelAbandoned() }
    }
}
