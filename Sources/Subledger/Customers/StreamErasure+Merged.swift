internal import EventLog
internal import Events

extension [StreamErasure] {
    /// The erasures merged into one for each subscription, in order of first appearance.
    ///
    /// Targets that share payloads each remove rows of the others; the merged erasure has the
    /// union, and the widest scope. Its position is that of the last event that records it; nil if
    /// none was written.
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
