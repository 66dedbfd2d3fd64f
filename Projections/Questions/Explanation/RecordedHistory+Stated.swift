internal import Events

extension RecordedHistory {
    /// The instants of Apple's statements about the subscription, ascending, without duplicates.
    var statedInstants: [Instant] {
        var unique: [Instant] = []
        let all = events.map(\.fact.asOf) + repetitions.map(\.confirmation.asOf)
        for instant in all.sorted() where unique.last != instant { unique.append(instant) }
        return unique
    }

    /// Apple's statements up to an instant, inclusive, regardless of when the log recorded them.
    ///
    /// Which of two payloads with the same content is the event, and which its repetition, depends
    /// on the order of delivery: an event that Apple stated first in a repetition counts from then.
    func stated(by instant: Instant) -> StreamHistory {
        let repeated = repetitions.map(\.confirmation).filter { $0.asOf <= instant }
        let byPosition = Dictionary(grouping: repeated, by: \.position)
        let known = events.compactMap { event -> Event? in
            if event.fact.asOf <= instant { return event }
            return byPosition[event.position].flatMap(event.asStated)
        }
        var history = StreamHistory(stream: stream, events: known, confirmations: repeated)
        history.unreadable = unreadable
        return history
    }
}

extension Event {
    /// The event as far as its repetitions stated the same, at the first of their instants.
    fileprivate func asStated(in repetitions: [Confirmation]) -> Event? {
        guard let first = repetitions.map(\.asOf).min() else { return nil }
        let fields = repetitions.reduce(into: FieldSet()) { $0.formUnion($1.fields) }
        return limited(to: fields, asOf: first)
    }
}
