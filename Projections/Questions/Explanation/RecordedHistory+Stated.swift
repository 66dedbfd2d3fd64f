internal import Events

extension RecordedHistory {
    /// The instants at which Apple said something about the subscription, ascending, each once.
    var statedInstants: [Instant] {
        var unique: [Instant] = []
        let all = events.map(\.fact.asOf) + repetitions.map(\.confirmation.asOf)
        for instant in all.sorted() where unique.last != instant { unique.append(instant) }
        return unique
    }

    /// What Apple had said by an instant, that instant included, whenever the log learnt it.
    ///
    /// Which of two payloads that say the same is the event, and which its repetition, depends on
    /// the order of delivery: an event that Apple said first in a repetition counts from then.
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
    /// The event as far as its repetitions said the same, at the first of their instants.
    fileprivate func asStated(in repetitions: [Confirmation]) -> Event? {
        guard let first = repetitions.map(\.asOf).min() else { return nil }
        let fields = repetitions.reduce(into: FieldSet()) { $0.formUnion($1.fields) }
        return limited(to: fields, asOf: first)
    }
}
