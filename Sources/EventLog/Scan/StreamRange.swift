package import Events

/// A part of a lane: the streams between two of them, in the order of `StreamID`.
///
/// Ranges of one call of `streamRanges` may share a temporary file, which is removed with the last
/// of them.
package struct StreamRange: Sendable {
    /// The lane.
    package let lane: Int
    /// The first stream; nil from the beginning of the lane.
    package let from: StreamID?
    /// The first stream after it; nil to the end of the lane.
    package let to: StreamID?
    /// The spool and part for its events before they are folded; nil if they are read from the
    /// index.
    var spooled: (spool: StreamSpool, part: Int)?

    /// A whole lane, or the streams between two of them.
    package init(lane: Int, from: StreamID? = nil, to: StreamID? = nil) {
        self.lane = lane
        self.from = from
        self.to = to
    }

    /// The ranges between cuts in ascending order; repeated cuts count once.
    static func between(_ cuts: [StreamID], lane: Int) -> [StreamRange] {
        var ranges: [StreamRange] = []
        var from: StreamID?
        for cut in cuts where cut != from {
            ranges.append(StreamRange(lane: lane, from: from, to: cut))
            from = cut
        }
        return ranges + [StreamRange(lane: lane, from: from)]
    }

    /// The key that a spool compares: environment, a zero byte, id.
    static func key(_ stream: StreamID) -> [UInt8] {
        Array(stream.environment.word.utf8) + [0] + Array(stream.originalTransactionId.utf8)
    }

    /// The range in SQL, for a statement without parameters; excludes statements about no
    /// transaction and versions of the catalog.
    var condition: String {
        var conditions = [
            "lane = \(lane)", "environment <> ''", "original_transaction_id <> ''",
        ]
        let columns = "(environment, original_transaction_id)"
        if let from { conditions.append("\(columns) >= \(StreamRange.literal(from))") }
        if let to { conditions.append("\(columns) < \(StreamRange.literal(to))") }
        return conditions.joined(separator: " AND ")
    }

    // Quotes are doubled; backslashes have no meaning, because standard_conforming_strings is on.
    static func literal(_ stream: StreamID) -> String {
        let parts = [stream.environment.word, stream.originalTransactionId].map { part in
            "'" + part.replacing("'", with: "''") + "'"
        }
        return "(" + parts.joined(separator: ", ") + ")"
    }
}
