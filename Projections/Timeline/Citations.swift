internal import Events

/// The events that caused a row, gathered while it is decided.
struct Citations {
    private var offsets: [Int64] = []

    /// Adds the event at that offset of the stream's lane.
    mutating func cite(_ offset: Int64) {
        if offsets.last != offset { offsets.append(offset) }
    }

    /// Adds the event at that offset where there is one.
    mutating func cite(_ offset: Int64?) {
        if let offset { cite(offset) }
    }

    /// Adds the events another row cites.
    mutating func cite(_ positions: [Position]) {
        for position in positions { cite(position.offset) }
    }

    /// The same with all that others cite, where there are any.
    func citing(_ others: Citations?) -> Citations {
        guard let others else { return self }
        var citations = self
        citations.cite(others)
        return citations
    }

    /// Adds all that others cite.
    mutating func cite(_ others: Citations) {
        offsets += others.offsets
    }

    /// The cited positions, ascending, each once.
    func positions(lane: Int) -> [Position] {
        var unique: [Position] = []
        for offset in offsets.count > 1 ? offsets.sorted() : offsets {
            if unique.last?.offset != offset { unique.append(Position(lane: lane, offset: offset)) }
        }
        return unique
    }
}
