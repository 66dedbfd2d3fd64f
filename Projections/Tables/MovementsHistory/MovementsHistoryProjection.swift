internal import Events

/// The table `movements_history`: the movements in the order in which they became known; rows are
/// never changed, and a movement that turned out to be wrong is withdrawn by a correction.
///
/// A movement depends on all facts of its subscription. They are folded once for each instant at
/// which one of them was recorded; `KnownTimelines` limits this work.
struct MovementsHistoryProjection: Projection {
    let name = "movements_history"
    let isOnRequest = true
    let readsRecordedTimes = true
    // A row is one of that fold, or withdraws one.
    let version = 1 + MovementsProjection().version
    let columns = MovementsProjection().columns + ["corrects_ordinal", "known_from"]

    var tableSQL: String {
        MovementsProjection.tableSQL(
            name,
            and: """
                    corrects_ordinal            integer          NULL,
                    known_from                  timestamptz      NOT NULL,
                    CONSTRAINT movements_history_correction_names_one CHECK (
                        (movement = 'correction') = (corrects_ordinal IS NOT NULL)),
                    CONSTRAINT movements_history_corrects_an_earlier_one
                        CHECK (corrects_ordinal < ordinal),

                """,
            words: ", 'correction'",
            comment: """
                What began, continued, was paid, was refunded and ended, as it became known: one \
                row each, and a correction for each that later facts withdrew or changed. In the \
                order of known_from; no row ever changes. A fold of the log, on request; rebuild \
                it, never edit it. It depends on the order in which facts arrived.
                """
        )
    }

    var indexSQL: String {
        String(decoding: PackageResources.movements_history_indexes_sql, as: UTF8.self)
    }

    // A row is what became known at an instant.
    var comparison: RowComparison {
        RowComparison(
            "movement-entry",
            identities: [
                [
                    .column("known_from"), .column("movement"), .column("purchase_date_ms"),
                    .column("occurred_at"),
                ]
            ],
            instant: "occurred_at"
        )
    }

    func rows(
        of timeline: Timeline,
        in context: FoldContext
    ) throws(FoldRefusal) -> [ProjectionRow] {
        var journal = MovementJournal()
        let timelines = try KnownTimelines(of: timeline, in: context, for: name)
        timelines.forEach { known, instant in
            journal.follow(
                Movements(known, context.catalogs).rows,
                from: instant,
                because: timelines.recorded.positions(at: instant)
            )
        }
        return journal.rows
    }
}

/// The movements of one subscription, in the order in which they became known.
private struct MovementJournal {
    private struct Entry {
        let movement: Movement
        let knownFrom: Instant
        /// The index of the entry that this one withdraws, and the events that cause it.
        var correction: (place: Int, positions: [Position])?
    }

    private var entries: [Entry] = []
    // The indexes of entries that are not withdrawn, by the bytes of their rows.
    private var standing: [[UInt8]: [Int]] = [:]

    /// Takes what was known from an instant on, later than all before, and the events that caused
    /// it.
    mutating func follow(
        _ movements: [Movement],
        from instant: Instant,
        because positions: [Position]
    ) {
        var writer = RowWriter()
        var left = standing
        var added: [(bytes: [UInt8], movement: Movement)] = []
        for movement in movements {
            let bytes = movement.row(&writer).canonicalBytes
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
                Entry(
                    movement: entries[place].movement,
                    knownFrom: instant,
                    correction: (place, positions)
                )
            )
        }
        for (bytes, movement) in added {
            standing[bytes, default: []].append(entries.count)
            entries.append(Entry(movement: movement, knownFrom: instant))
        }
    }

    var rows: [ProjectionRow] {
        var writer = RowWriter()
        return entries.map { entry in
            if entry.correction == nil {
                entry.movement.write(&writer)
            } else {
                entry.movement.writeCorrection(&writer)
            }
            writer.int32(entry.correction.map { $0.place + 1 })
            writer.timestamp(entry.knownFrom)
            return writer.row(citing: entry.correction?.positions ?? entry.movement.positions)
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
