/// All that the log knows about one subscription, with when it learned each part: the input of every
/// question about our own clock.
///
/// One value answers "what was known then?" for every instant, without querying the log again.
package struct RecordedHistory: Hashable, Sendable {
    /// The subscription.
    package let stream: StreamID
    /// Its events, by offset.
    package let events: [Event]
    /// Their repetitions, in any order.
    package let repetitions: [Repetition]
    /// Events that this program cannot read, as in `StreamHistory`; every cut keeps them all.
    package var unreadable: [UnreadableEvent]

    /// A confirmation with when it became known.
    package struct Repetition: Hashable, Sendable {
        /// What was repeated.
        package let confirmation: Confirmation
        /// When its commit was made, on our clock.
        package let recordedAt: Instant
        /// First offset of its commit: known at offset k if this is at most k.
        package let knownFromOffset: Int64

        /// A confirmation of a commit at that instant with that first offset.
        package init(confirmation: Confirmation, recordedAt: Instant, knownFromOffset: Int64) {
            self.confirmation = confirmation
            self.recordedAt = recordedAt
            self.knownFromOffset = knownFromOffset
        }
    }

    /// A history of these events, by offset, and of their repetitions; all could be read.
    package init(stream: StreamID, events: [Event], repetitions: [Repetition]) {
        self.stream = stream
        self.events = events
        self.repetitions = repetitions
        unreadable = []
    }
}

extension RecordedHistory {
    /// All of it, in the form that folds take.
    package var latest: StreamHistory {
        var history = StreamHistory(
            stream: stream,
            events: events,
            confirmations: repetitions.map(\.confirmation)
        )
        history.unreadable = unreadable
        return history
    }

    /// What was known at an instant on our clock, that instant included.
    package func known(at instant: Instant) -> StreamHistory { cut(at: instant).latest }

    /// What was known at an offset of the stream's lane, that offset included.
    package func known(upTo offset: Int64) -> StreamHistory { cut(upTo: offset).latest }

    /// The history as it was at an instant on our clock, without later knowledge.
    package func cut(at instant: Instant) -> RecordedHistory {
        cut(
            events.filter { $0.recordedAt <= instant },
            repetitions.filter { $0.recordedAt <= instant }
        )
    }

    /// The history as it was at an offset of the stream's lane, without later knowledge.
    package func cut(upTo offset: Int64) -> RecordedHistory {
        cut(
            events.filter { $0.position.offset <= offset },
            repetitions.filter { $0.knownFromOffset <= offset }
        )
    }

    /// The history for a reader that could not use it before an instant: what was recorded earlier
    /// counts as recorded live at that instant.
    package func asFirstSeen(at instant: Instant) -> RecordedHistory {
        cut(
            events.map { event in
                guard event.recordedAt < instant else { return event }
                return Event(
                    position: event.position,
                    recordedAt: instant,
                    fact: event.fact,
                    evidence: event.evidence,
                    erased: event.erased
                )
            },
            repetitions.map { repetition in
                Repetition(
                    confirmation: repetition.confirmation,
                    recordedAt: max(repetition.recordedAt, instant),
                    knownFromOffset: repetition.knownFromOffset
                )
            }
        )
    }

    /// The history as if an event, and everything that repeated it, had never been recorded.
    package func without(_ position: Position) -> RecordedHistory {
        cut(
            events.filter { $0.position != position },
            repetitions.filter { $0.confirmation.position != position }
        )
    }

    private func cut(_ events: [Event], _ repetitions: [Repetition]) -> RecordedHistory {
        var history = RecordedHistory(stream: stream, events: events, repetitions: repetitions)
        history.unreadable = unreadable
        return history
    }

    /// The instants on our clock at which something about the subscription became known, ascending,
    /// each once.
    package var instants: [Instant] {
        var unique: [Instant] = []
        for instant in (events.map(\.recordedAt) + repetitions.map(\.recordedAt)).sorted()
        where unique.last != instant { unique.append(instant) }
        return unique
    }
}

extension StreamHistory {
    /// The history as if an event, and everything that repeated it, had never been recorded.
    package func without(_ position: Position) -> StreamHistory {
        var history = self
        history.events.removeAll { $0.position == position }
        history.confirmations.removeAll { $0.position == position }
        return history
    }
}
