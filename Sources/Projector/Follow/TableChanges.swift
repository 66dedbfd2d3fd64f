internal import Events
internal import Postgres
internal import Projections

/// The changes to one table's rows when streams are folded again: rows to delete, rows to insert.
///
/// An unchanged row stays in place, so a renewal costs its own rows and not those of the whole
/// history.
struct TableChanges: Sendable {
    /// The rows to delete: environment, stream and ordinal, column by column.
    private(set) var environments: [String?] = []
    private(set) var streams: [String?] = []
    private(set) var ordinals: [Int32?] = []
    /// The rows to insert, in the format of COPY.
    private var inserted = CopyBinaryWriter.rowsOnly()
    /// The change of the table's content.
    private(set) var content = ProjectionDigest()
    /// Streams whose rows are all deleted, whatever they are: they cannot be folded as before,
    /// because something of them was erased.
    private(set) var cleared: [StreamID] = []
    /// Streams that were refused before and no longer are.
    private(set) var readmitted: [StreamID] = []
    /// Streams that are refused now.
    private(set) var refused: [RefusedStream] = []

    /// The approximate number of bytes that wait to be written.
    var byteCount: Int {
        inserted.readyByteCount + ordinals.count * 64
            + (readmitted.count + refused.count + cleared.count) * 128
    }

    /// Deletes all rows that the table has of a stream, and inserts the current ones.
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

    /// Deletes the earlier rows of a stream, and inserts the current ones.
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

    /// The rows to insert, which are then cleared.
    mutating func takeInserted() -> [UInt8] { inserted.takeBytes() }

    private mutating func delete(_ ordinal: Int, of stream: StreamID) {
        environments.append(stream.environment.word)
        streams.append(stream.originalTransactionId)
        ordinals.append(Int32(ordinal))
    }
}
