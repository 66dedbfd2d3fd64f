internal import Events
internal import Postgres
internal import Projections

/// What becomes of one table's rows when streams are folded anew: rows to take out, rows to put in.
///
/// A row that is as it was stays where it is, so a renewal costs its own rows and not those of the
/// whole history.
struct TableChanges: Sendable {
    /// The rows to take out: environment, stream and ordinal, column by column.
    private(set) var environments: [String?] = []
    private(set) var streams: [String?] = []
    private(set) var ordinals: [Int32?] = []
    /// The rows to put in, as COPY takes them.
    private var inserted = CopyBinaryWriter.rowsOnly()
    /// What is added to the table's content.
    private(set) var content = ProjectionDigest()
    /// Streams of which all rows are to be taken out, whatever they are: they cannot be folded
    /// again as they were, for something of them was erased.
    private(set) var cleared: [StreamID] = []
    /// Streams that were refused before and are to be forgotten as such.
    private(set) var readmitted: [StreamID] = []
    /// Streams that are refused now.
    private(set) var refused: [RefusedStream] = []

    /// Bytes that wait to be written, about.
    var byteCount: Int {
        inserted.readyByteCount + ordinals.count * 64
            + (readmitted.count + refused.count + cleared.count) * 128
    }

    /// Takes out whatever the table has of a stream, and puts in what is known now.
    mutating func replaceAll(by after: FoldOutcome, of stream: StreamID, lane: Int) {
        cleared.append(stream)
        for (index, row) in after.rows.enumerated() {
            inserted.row(row, ordinal: index + 1, of: stream, lane: lane)
        }
        content.add(after.rows, of: stream)
        readmitted.append(stream)
        if let refusal = after.refusal {
            refused.append(RefusedStream(stream: stream, refusal: refusal))
        }
    }

    /// Takes what was known of a stream out, and what is known now in.
    mutating func replace(
        _ before: FoldOutcome,
        by after: FoldOutcome,
        of stream: StreamID,
        lane: Int
    ) {
        let (old, new) = (before.rows, after.rows)
        for index in 0..<max(old.count, new.count) {
            let oldRow = index < old.count ? old[index] : nil
            let newRow = index < new.count ? new[index] : nil
            guard oldRow != newRow else { continue }
            if oldRow != nil { delete(index + 1, of: stream) }
            if let newRow { inserted.row(newRow, ordinal: index + 1, of: stream, lane: lane) }
        }
        let isSameContent = old.elementsEqual(new) { $0.canonicalBytes == $1.canonicalBytes }
        if !isSameContent {
            content.remove(old, of: stream)
            content.add(new, of: stream)
        }
        guard before.refusal != after.refusal else { return }
        if before.refusal != nil { readmitted.append(stream) }
        if let refusal = after.refusal {
            refused.append(RefusedStream(stream: stream, refusal: refusal))
        }
    }

    /// The rows to put in; empties them.
    mutating func takeInserted() -> [UInt8] { inserted.takeBytes() }

    private mutating func delete(_ ordinal: Int, of stream: StreamID) {
        environments.append(stream.environment.word)
        streams.append(stream.originalTransactionId)
        ordinals.append(Int32(ordinal))
    }
}
