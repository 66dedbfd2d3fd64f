internal import Events

/// The table `transactions_history`: every state of the rows of `transactions`, with the time
/// during which the ledger knew it.
///
/// The facts of a subscription are folded once for each instant at which one of them was recorded;
/// `KnownTimelines` limits this work.
struct TransactionsHistoryProjection: DeclaredProjection {
    let name = "transactions_history"
    let isOnRequest = true
    let readsRecordedTimes = true
    // A state is a row of that fold.
    let version = 1 + TransactionsProjection().version
    let definition = embeddedFile("transactions.sql")
    let indexes = embeddedFile("transactions-history-indexes.sql")
    private let transactions = TransactionsProjection()

    func declare<Visitor: ColumnVisitor & ~Copyable>(
        _ column: inout Visitor,
        of row: UnsafePointer<TransactionState>
    ) {
        transactions.declare(&column, of: row.stored(\.transaction))
        column("first_lane_offset", row.pointee.transaction.firstPosition.offset)
        column("known_from", row.pointee.knownFrom)
        column("known_to", row.pointee.knownTo)
        column("is_latest", row.pointee.knownTo == nil)
    }

    var tableSQL: String {
        tableSQL(
            constraints: """
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

    // A row is what became known about a purchase at an instant.
    var comparison: RowComparison {
        RowComparison(
            "transaction-state",
            identities: [[.column("first_lane_offset"), .column("known_from")]],
            instant: "start_time"
        )
    }

    func folded(
        _ timeline: Timeline,
        _ context: FoldContext
    ) throws(FoldRefusal) -> [TransactionState] {
        var states = TransactionStates()
        try KnownTimelines(of: timeline, in: context, for: name).forEach { known, instant in
            states.follow(TransactionRows(known, context.catalogs).rows, from: instant)
        }
        return states.states
    }
}

/// A row of `transactions`, and the time during which the ledger knew it.
struct TransactionState: CausedRow {
    let transaction: TransactionRow
    /// The row as it is stored there.
    let row: ProjectionRow
    let knownFrom: Instant
    var knownTo: Instant?

    var positions: [Position] { transaction.positions }
}

/// The states of the purchases of one subscription, in the order in which they became known.
private struct TransactionStates {
    private(set) var states: [TransactionState] = []
    // The index of each purchase's newest state, by its first event.
    private var newest: [Position: Int] = [:]

    /// Takes what was known from an instant on, later than all before.
    mutating func follow(_ transactions: [TransactionRow], from instant: Instant) {
        let table = TransactionsProjection()
        var writer = RowWriter()
        for transaction in transactions.sorted(by: { $0.firstPosition < $1.firstPosition }) {
            let row = table.row(of: transaction, &writer)
            if let place = newest[transaction.firstPosition] {
                if states[place].row == row { continue }
                states[place].knownTo = instant
            }
            newest[transaction.firstPosition] = states.count
            states.append(
                TransactionState(transaction: transaction, row: row, knownFrom: instant)
            )
        }
        guard newest.count > transactions.count else { return }
        // If two purchases turned out to be one, the later one no longer exists.
        let left = Set(transactions.map(\.firstPosition))
        for place in newest.values where !left.contains(states[place].transaction.firstPosition) {
            states[place].knownTo = instant
        }
        newest = newest.filter { left.contains($0.key) }
    }
}
