internal import Events

/// The events that caused a row, collected while it is computed.
struct Citations {
    // Nearly every row has one cause, or two: the first ones are stored inline, the others on the
    // heap.
    private var first: Int64 = 0
    private var second: Int64 = 0
    private var count = 0
    private var others: [Int64] = []

    /// Adds the event at that offset of the stream's lane.
    mutating func cite(_ offset: Int64) {
        switch count {
        case 0:
            first = offset
            count = 1
        case _ where offset == first:
            break
        case 1:
            second = offset
            count = 2
        case _ where offset == second:
            break
        default:
            if others.last != offset { others.append(offset) }
        }
    }

    /// Adds the event at that offset, if there is one.
    mutating func cite(_ offset: Int64?) {
        if let offset { cite(offset) }
    }

    /// Adds the events another row cites.
    mutating func cite(_ positions: [Position]) {
        for position in positions { cite(position.offset) }
    }

    /// The same with all events that others cite, if there are any.
    func citing(_ others: Citations?) -> Citations {
        guard let others else { return self }
        var citations = self
        citations.cite(others)
        return citations
    }

    /// Adds all events that others cite.
    mutating func cite(_ citations: Citations) {
        if citations.count > 0 { cite(citations.first) }
        if citations.count > 1 { cite(citations.second) }
        for offset in citations.others { cite(offset) }
    }

    /// The cited positions, ascending, without duplicates.
    func positions(lane: Lane) -> [Position] {
        func position(_ offset: Int64) -> Position { Position(lane: lane, offset: offset) }
        if others.isEmpty {
            switch count {
            case 0: return []
            case 1: return [position(first)]
            default: return [position(min(first, second)), position(max(first, second))]
            }
        }
        return ([first, second] + others).sorted().reduce(into: []) { unique, offset in
            if unique.last?.offset != offset { unique.append(position(offset)) }
        }
    }
}
