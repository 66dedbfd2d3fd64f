internal import Events

/// The table `transactions_history`: every state of the rows of `transactions`, with the time
/// during which the ledger knew it.
///
/// The facts of a subscription are folded once for each instant at which one of them was recorded;
/// `KnownTimelines` limits this work.
struct TransactionsHistoryProjection: Projection {
    let name = "transactions_history"
    let isOnRequest = true
    let readsRecordedTimes = true
    // A state is a row of that fold.
    let version = 1 + TransactionsProjection().version
    let columns =
        TransactionsProjection().columns
        + ["first_lane_offset", "known_from", "known_to", "is_latest"]

    var tableSQL: String {
        TransactionsProjection.tableSQL(
            name,
            and: """
                    first_lane_offset             bigint           NOT NULL,
                    known_from                    timestamptz      NOT NULL,
                    known_to                      timestamptz      NULL,
                    is_latest                     boolean          NOT NULL,
                    CONSTRAINT transactions_history_latest_is_open
                        CHECK (is_latest = (known_to IS NULL)),
                    CONSTRAINT transactions_history_lasts CHECK (known_from < known_to),

                """,
            comment: """
                What was known of purchases, and when: one row each time that a row of \
                transactions or the events that it cites changed. In the order of known_from. A \
                fold of the log, on request; rebuild it, never edit it. Only the rows with \
                is_latest are independent of the order in which facts arrived.
                """
        )
    }

    var indexSQL: String {
        String(decoding: PackageResources.transactions_history_indexes_sql, as: UTF8.self)
    }

    // A row is what became known about a purchase at an instant.
    var comparison: RowComparison {
        RowComparison(
            "transaction-state",
            identities: [[.column("first_lane_offset"), .column("known_from")]],
            instant: "start_time"
        )
    }

    func rows(
        of timeline: Timeline,
        in context: FoldContext
    ) throws(FoldRefusal) -> [ProjectionRow] {
        var states = TransactionStates()
        try KnownTimelines(of: timeline, in: context, for: name).forEach { known, instant in
            states.follow(TransactionRows(known, context.catalogs).rows, from: instant)
        }
        return states.rows
    }
}

/// The states of the purchases of one subscription, in the order in which they became known.
private struct TransactionStates {
    private struct State {
        let transaction: TransactionRow
        let row: ProjectionRow
        let knownFrom: Instant
        var knownTo: Instant?
    }

    private var states: [State] = []
    // The index of each purchase's newest state, by its first event.
    private var newest: [Position: Int] = [:]

    /// Takes what was known from an instant on, later than all before.
    mutating func follow(_ transactions: [TransactionRow], from instant: Instant) {
        var writer = RowWriter()
        for transaction in transactions.sorted(by: { $0.firstPosition < $1.firstPosition }) {
            let row = transaction.row(&writer)
            if let place = newest[transaction.firstPosition] {
                if states[place].row == row { continue }
                states[place].knownTo = instant
            }
            newest[transaction.firstPosition] = states.count
            states.append(State(transaction: transaction, row: row, knownFrom: instant))
        }
        guard newest.count > transactions.count else { return }
        // If two purchases turned out to be one, the later one no longer exists.
        let left = Set(transactions.map(\.firstPosition))
        for place in newest.values where !left.contains(states[place].transaction.firstPosition) {
            states[place].knownTo = instant
        }
        newest = newest.filter { left.contains($0.key) }
    }

    var rows: [ProjectionRow] {
        var writer = RowWriter()
        return states.map { state in
            state.transaction.write(&writer)
            writer.integer(state.transaction.firstPosition.offset)
            writer.timestamp(state.knownFrom)
            writer.timestamp(state.knownTo)
            writer.boolean(state.knownTo == nil)
            return writer.row(citing: state.transaction.positions)
        }
    }
}
