internal import EventLog
internal import Events

extension [StreamErasure] {
    /// The same with one erasure for each subscription, in the order in which they come first.
    ///
    /// Targets that share payloads each take rows of the others; together they take the union, and
    /// the widest scope says what the subscription loses. The position is that of the last event
    /// that says so; nil where none was written.
    var mergedByStream: [StreamErasure] {
        var order: [StreamID] = []
        var merged: [StreamID: StreamErasure] = [:]
        for next in self {
            guard let known = merged[next.stream] else {
                order.append(next.stream)
                merged[next.stream] = next
                continue
            }
            merged[next.stream] = StreamErasure(
                stream: next.stream,
                lane: next.lane,
                erasure: known.erasure.union(next.erasure),
                position: next.position ?? known.position
            )
        }
        return order.compactMap { merged[$0] }
    }
}

extension Erasure {
    fileprivate func union(_ other: Erasure) -> Erasure {
        Erasure(
            scope: Scope.allCases.first { $0 == scope || $0 == other.scope } ?? scope,
            events: events.union(other.events),
            confirmations: confirmations.union(other.confirmations),
            evidence: evidence.union(other.evidence)
        )
    }
}
