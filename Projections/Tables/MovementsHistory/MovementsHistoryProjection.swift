internal import Events

/// The table `movements_history`: the movements in the order in which they became known; rows are
/// never changed, and a movement that turned out to be wrong is withdrawn by a correction.
///
/// A movement depends on all facts of its subscription. They are folded once for each instant at
/// which one of them was recorded; `KnownTimelines` limits this work.
struct MovementsHistoryProjection: DeclaredProjection {
    let name = "movements_history"
    let isOnRequest = true
    let readsRecordedTimes = true
    // A row is one of that fold, or withdraws one.
    let version = 1 + MovementsProjection().version
    let definition = embeddedFile("movements.sql")
    let indexes = embeddedFile("movements-history-indexes.sql")

    func declare<Visitor: ColumnVisitor & ~Copyable>(
        _ column: inout Visitor,
        of row: UnsafePointer<MovementEntry>
    ) {
        MovementsProjection.declare(
            &column,
            of: row.stored(\.movement),
            isWithdrawn: row.pointee.correction != nil
        )
        column("corrects_ordinal", row.pointee.correction.map { $0.place + 1 })
        column("known_from", row.pointee.knownFrom)
    }

    var tableSQL: String {
        tableSQL(
            words: ", 'correction'",
            constraints: """
                    CONSTRAINT movements_history_correction_names_one CHECK (
                        (movement = 'correction') = (corrects_ordinal IS NOT NULL)),
                    CONSTRAINT movements_history_corrects_an_earlier_one
                        CHECK (corrects_ordinal < ordinal),

                """,
            comment: """
                What began, continued, was paid, was refunded and ended, as it became known: one \
                row each, and a correction for each that later facts withdrew or changed. In the \
                order of known_from; no row ever changes. A fold of the log, on request; rebuild \
                it, never edit it. It depends on the order in which facts arrived.
                """
        )
    }

    // A row is what became known at an instant.
    var comparison: RowComparison {
        RowComparison(
            "movement-entry",
            identities: [
                .columns("known_from", "movement", "purchase_date_ms", "occurred_at")
            ],
            instant: "occurred_at"
        )
    }

    func folded(
        _ timeline: Timeline,
        _ context: FoldContext
    ) throws(FoldRefusal) -> [MovementEntry] {
        var journal = MovementJournal()
        let timelines = try KnownTimelines(of: timeline, in: context, for: name)
        timelines.forEach { known, instant in
            journal.follow(
                Movements(known, context.catalogs).rows,
                from: instant,
                because: timelines.recorded.positions(at: instant)
            )
        }
        return journal.entries
    }
}

/// A movement that became known at an instant, or that was withdrawn then.
struct MovementEntry: CausedRow {
    let movement: Movement
    let knownFrom: Instant
    /// The index of the entry that this one withdraws, and the events that cause it.
    var correction: (place: Int, positions: [Position])?

    var positions: [Position] { correction?.positions ?? movement.positions }
}

/// The movements of one subscription, in the order in which they became known.
private struct MovementJournal {
    private(set) var entries: [MovementEntry] = []
    // The indexes of entries that are not withdrawn, by the bytes of their rows.
    private var standing: [[UInt8]: [Int]] = [:]

    /// Takes what was known from an instant on, later than all before, and the events that caused
    /// it.
    mutating func follow(
        _ movements: [Movement],
        from instant: Instant,
        because positions: [Position]
    ) {
        let table = MovementsProjection()
        var writer = RowWriter()
        var left = standing
        var added: [(bytes: [UInt8], movement: Movement)] = []
        for movement in movements {
            let bytes = table.row(of: movement, &writer).canonicalBytes
            if left[bytes]?.isEmpty ?? true {
                added.append((bytes, movement))
            } else {
                left[bytes]?.removeFirst()
            }
        }

        for (bytes, places) in left where !places.isEmpty {
            standing[bytes]?.removeAll { places.contains($0) }
        }
        for place in left.values.joined().sorted() {
            entries.append(
                MovementEntry(
                    movement: entries[place].movement,
                    knownFrom: instant,
                    correction: (place, positions)
                )
            )
        }
        for (bytes, movement) in added {
            standing[bytes, default: []].append(entries.count)
            entries.append(MovementEntry(movement: movement, knownFrom: instant))
        }
    }
}

extension RecordedHistory {
    /// The events that were recorded, or repeated, at an instant, ascending, without duplicates.
    fileprivate func positions(at instant: Instant) -> [Position] {
        let recorded = events.filter { $0.recordedAt == instant }.map(\.position)
        let repeated = repetitions.filter { $0.recordedAt == instant }
            .map(\.confirmation.position)
        return Set(recorded + repeated).sorted()
    }
}
