public import Events

/// A part of a lane: the streams between two of them, in the order of `StreamID`.
public struct StreamRange: Hashable, Sendable {
    /// The lane.
    public let lane: Int
    /// The first stream; nil from the beginning of the lane.
    public let from: StreamID?
    /// The first stream after it; nil to the end of the lane.
    public let to: StreamID?

    /// A whole lane, or what lies between two streams.
    public init(lane: Int, from: StreamID? = nil, to: StreamID? = nil) {
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

    /// The range in SQL, for a statement that takes no parameters; statements about no transaction
    /// are in no stream.
    var condition: String {
        var conditions = ["lane = \(lane)", "original_transaction_id <> ''"]
        let columns = "(environment, original_transaction_id)"
        if let from { conditions.append("\(columns) >= \(StreamRange.literal(from))") }
        if let to { conditions.append("\(columns) < \(StreamRange.literal(to))") }
        return conditions.joined(separator: " AND ")
    }

    // Quotes are doubled; backslashes mean nothing, as standard_conforming_strings is on.
    private static func literal(_ stream: StreamID) -> String {
        let parts = [stream.environment.word, stream.originalTransactionId].map { part in
            "'" + part.replacing("'", with: "''") + "'"
        }
        return "(" + parts.joined(separator: ", ") + ")"
    }
}
