package import EventLog
package import Events
package import Projections
package import Projector

/// The difference between two builds with everything that is printed about it: the customers of the
/// samples, and why each side has its content.
package struct DifferenceReport {
    package let difference: ProjectionDifference
    package let samples: [ExplainedSample]
    /// The subject of the comparison; nil if only tables were compared.
    package private(set) var subject: ComparedBuilds?
    /// The number of rows of each new table, by its projection; empty if only tables were compared.
    package private(set) var rows: [String: Int] = [:]
    /// The same for new tables that have no live table to be compared with.
    package private(set) var newTables: [String: Int] = [:]
    package private(set) var refusals = RefusalDifference()
    package private(set) var alterations: [LiveAlteration] = []
    /// Projections whose live table has no row that could be compared.
    package private(set) var uncomparable: [String] = []
    /// What was promoted after the comparison; nil if nothing was.
    package var promotion: PromotionDocument?

    /// The report of a comparison; reads the history of each sample.
    ///
    /// - Parameters:
    ///   - comparison: The comparison; the new tables were built by the folds of this program.
    ///   - subject: Its subject.
    ///   - policy: What counts as access on the new side.
    ///   - ledger: The ledger with the events.
    /// - Throws: `EventLogError`; `CatalogError` if the catalog cannot be read back.
    package init(
        _ comparison: Projector.Comparison,
        _ subject: ComparedBuilds,
        under policy: AccessPolicy,
        in ledger: Ledger
    ) async throws {
        let positions = comparison.tables.map(\.positions).max { $0.count < $1.count } ?? [:]
        try await self.init(
            comparison.difference,
            knownAt: positions.isEmpty ? .latest : .offsets(positions),
            under: policy,
            in: ledger
        )
        self.subject = subject
        for table in comparison.tables { rows[table.name] = table.rows }
        for table in comparison.unmatched { newTables[table.name] = table.rows }
        refusals = comparison.refusals
        alterations = comparison.alterations
        uncomparable = comparison.uncomparable
    }

    /// Whether both sides have rows of a table, so its columns and rows can be compared.
    package func isCompared(_ table: ComparedTable) -> Bool {
        newTables[table.name] == nil && !uncomparable.contains(table.name)
    }

    /// Whether differing columns come from another version of the fold, not a manual change.
    package func showsColumns(_ table: ComparedTable) -> Bool {
        isCompared(table)
            && !alterations.contains {
                $0.projection == table.name && $0.kind == .table
            }
    }

    /// The report of a difference; reads the history of each sample.
    ///
    /// - Parameters:
    ///   - difference: The difference, whose new side was built by the folds of this program.
    ///   - knownAt: How much of the log the new side includes.
    ///   - policy: What counts as access on the new side.
    ///   - ledger: The ledger with the events.
    /// - Throws: `EventLogError`; `CatalogError` if the catalog cannot be read back.
    package init(
        _ difference: ProjectionDifference,
        knownAt: KnownAt = .latest,
        under policy: AccessPolicy = .current,
        in ledger: Ledger
    ) async throws {
        var samples: [ExplainedSample] = []
        for sample in difference.samples {
            samples.append(
                try await ExplainedSample(
                    sample,
                    comparesAccess: difference.comparesAccess,
                    knownAt: knownAt,
                    under: policy,
                    of: ledger
                )
            )
        }
        self.difference = difference
        self.samples = samples
    }
}

/// One subscription that differs, explained.
package struct ExplainedSample {
    package let difference: StreamDifference
    /// The customer: the linked one, or otherwise the app account token; nil if neither is known.
    package let customer: String?
    /// The instant that is explained: the first at which access differs, or otherwise that of the
    /// row.
    package let instant: Instant
    /// What the sample compares on both sides.
    package let subject: Subject
    /// The row of the old side that is explained: the one that counted at the instant, or that of
    /// the matter; nil if the old side has no changed row.
    package let oldRow: StreamDifference.Change?
    /// The events that caused that row.
    package let oldCauses: [Event]
    /// The events that caused the new row of the matter; empty for access, which `new` explains.
    package let newCauses: [Event]
    package let evidence: [Position: EvidenceSummary]
    /// The answer of this program's fold; nil if it has none.
    package let new: ExplanationAnswer?
    /// Why there is no answer; nil if there is one.
    package let silence: String?
    /// The access of both sides, for a picture; nil if no compared table contains access.
    package let oldSpans: [AccessSpan]?
    package let newSpans: [AccessSpan]?

    /// The most events of a history that is explained: each costs a fold.
    package static let eventsMax = EventEffects.eventsMax

    init(
        _ sample: StreamDifference,
        comparesAccess: Bool,
        knownAt: KnownAt,
        under policy: AccessPolicy,
        of ledger: Ledger
    ) async throws {
        let log = ledger.log
        let readable = try await ExplainedSample.history(of: sample.stream, in: log)
        let history =
            (readable ?? RecordedHistory(stream: sample.stream, events: [], repetitions: []))
            .cut(to: knownAt)
        let timeline = Timeline(history.latest).under(policy)

        difference = sample
        customer = StreamClaims(timeline).currentOwner?.name
        let subject = Subject(sample)
        self.subject = subject
        instant =
            subject.instant ?? sample.firstInstant ?? history.events.last?.fact.asOf
            ?? Instant(milliseconds: 0)
        oldRow = subject.row ?? (subject.isAccess ? sample.oldRow(at: instant) : nil)
        oldCauses = history.events(oldRow?.old?.positions)
        newCauses = history.events(subject.row?.new?.positions)
        evidence = try await log.eventSummaries(of: history.latest)
        silence = ExplainedSample.silence(on: readable == nil ? nil : history)
        new =
            silence == nil
            ? try await ledger.explanation(
                of: Known(history),
                at: instant,
                knownAt: knownAt,
                under: policy
            ) : nil

        // If the tables with access do not differ, both sides have the access of the fold.
        let spans =
            readable != nil && comparesAccess
            ? ActivePeriods(timeline).rows.compactMap(AccessSpan.init) : nil
        oldSpans = sample.oldSpans ?? spans
        newSpans = readable == nil ? nil : sample.newSpans ?? spans
    }

    private static func silence(on history: RecordedHistory?) -> String? {
        guard let history else {
            return "one of its events cannot be read, so there is no reliable answer about it"
        }
        guard history.events.count > eventsMax else { return nil }
        return "too many events to explain; see `subledger history`"
    }

    // Nil if an event cannot be read: the new side's refusal of it is then the difference.
    private static func history(
        of stream: StreamID,
        in log: EventLog
    ) async throws(EventLogError) -> RecordedHistory? {
        do throws(EventLogError) {
            return try await log.recordedHistory(of: stream)
        } catch {
            guard error.code == .malformedLog else { throw error }
            return nil
        }
    }

    /// Whether the old side has access at the instant; nil if nothing decides it.
    package var oldAccess: Bool? { oldSpans.map { $0.contains { $0.time.contains(instant) } } }
}

extension RecordedHistory {
    /// The events at some positions, in the order of the log.
    fileprivate func events(_ positions: [Position]?) -> [Event] {
        let positions = Set(positions ?? [])
        return events.filter { positions.contains($0.position) }
    }
}

extension StreamDifference {
    /// The changed row of the old side for an instant: one that gave access then, otherwise one
    /// that gives access on the new side, otherwise one with exactly that instant.
    fileprivate func oldRow(at instant: Instant) -> Change? {
        let old = changes.filter { $0.old != nil }
        func first(_ holds: (Change) -> ProjectionRow?) -> Change? {
            old.first { change in
                holds(change).flatMap(change.table.accessSpan)?.time.contains(instant) ?? false
            }
        }
        return first(\.old) ?? first(\.new)
            ?? old.first { $0.old.flatMap($0.table.instant(of:)) == instant }
    }
}

extension AccessSpan {
    /// The access of a period; nil for an empty one.
    package init?(_ row: ActivePeriod) {
        let end = min(row.validTo, AccessSpan.endMax)
        guard row.validFrom < end else { return nil }
        self.init(time: row.validFrom..<end, isGrace: row.kind == .grace)
    }
}
