package import Events

extension EventLog {
    /// Folds over all streams of a lane with when each part became known, whole streams at a time,
    /// in the order of `StreamID`.
    ///
    /// Like `foldStreams`. Events that cannot be read are in the history's `unreadable`.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - head: The newest commit to take into account.
    ///   - state: The initial state of the fold.
    ///   - fold: Called once per stream; an error it throws ends the scan.
    /// - Returns: The state after the last stream.
    /// - Throws: `databaseUnavailable`, or what `fold` threw.
    package func foldRecordedStreams<State: Sendable>(
        lane: Int,
        upTo head: Head,
        into state: State,
        _ fold: @escaping @Sendable (inout State, RecordedHistory) throws -> Void
    ) async throws(EventLogError) -> State {
        var state = state
        for range in try await streamRanges(lane: lane, upTo: head, isComplete: true) {
            state = try await foldRecordedStreams(in: range, upTo: head, into: state, fold)
        }
        return state
    }

    /// The same for a range of a lane, in streams that `streamRanges` made complete.
    ///
    /// Contains all repetitions of a stream, whereas `foldStreams` leaves out those that do not
    /// change any row.
    package func foldRecordedStreams<State: Sendable>(
        in range: StreamRange,
        upTo head: Head,
        into state: State,
        _ fold: @escaping @Sendable (inout State, RecordedHistory) throws -> Void,
        atEnd: @escaping @Sendable (inout State) throws -> Void = { _ in }
    ) async throws(EventLogError) -> State {
        try await scan(
            range,
            upTo: head,
            keeping: .all,
            into: state,
            { try fold(&$0, RecordedHistory($1)) },
            atEnd: atEnd
        )
    }
}

extension RecordedHistory {
    /// A stream from a scan.
    init(_ scanned: ScannedStream) {
        self.init(
            stream: scanned.history.stream,
            events: scanned.history.events,
            repetitions: scanned.confirmations.map(\.repetition)
        )
        unreadable = scanned.history.unreadable
    }
}
