/// Finds repetitions of transactions that do not change the result of a fold.
///
/// Polling an unchanged subscription repeats all its transactions for years. In a run of
/// repetitions of the same fields of one event, with no other statement about the purchase in
/// between, the first and the last suffice: at every instant the same statement counts. So the
/// memory of a fold depends on what changed, not on how often Apple was polled. Renewal info and
/// notifications are kept, because folds read when each was said.
package struct RepetitionRuns {
    /// The latest repetitions of one purchase.
    private struct Run {
        let offset: Int64
        let fields: FieldSet
        let isAfterSplit: Bool
        /// As-of of the repetition before the last; nil if the run has only one.
        var before: Instant?
        /// As-of of the last.
        var last: Instant
        /// Whether something else was said as of the same instant as the last, or later.
        var isTied = false
        /// The place of the last.
        var index: Int
    }

    /// An event that may be repeated.
    private struct Repeatable {
        let unit: Int
        let asOf: Instant
    }

    private var events: [Int64: Repeatable] = [:]
    // For each unit, the as-of and offset of its events, by as-of.
    private var statements: [[(asOf: Instant, offset: Int64)]] = []
    private var runs: [Int: Run] = [:]

    /// The runs of a subscription with these events.
    package init(_ events: [Event]) {
        // Transactions that may belong to one purchase, by date or by order, form one unit.
        var units: [Name: Int] = [:]
        var parents: [Int] = []
        func root(_ unit: Int) -> Int {
            var unit = unit
            while parents[unit] != unit { unit = parents[unit] }
            return unit
        }
        for event in events where event.fact.kind == .transaction {
            let names = Name.all(of: event.fact)
            let known = names.compactMap { units[$0].map(root) }
            let unit = known.min() ?? parents.count
            if unit == parents.count { parents.append(unit) }
            for other in known { parents[other] = unit }
            for name in names { units[name] = unit }
            self.events[event.position.offset] = Repeatable(unit: unit, asOf: event.fact.asOf)
        }
        statements = Array(repeating: [], count: parents.count)
        for (offset, event) in self.events {
            let unit = root(event.unit)
            self.events[offset] = Repeatable(unit: unit, asOf: event.asOf)
            statements[unit].append((event.asOf, offset))
        }
        for unit in statements.indices { statements[unit].sort { $0.asOf < $1.asOf } }
    }

    /// Takes the next repetition and returns the place of an earlier one that is no longer needed.
    ///
    /// - Parameters:
    ///   - next: The repetition.
    ///   - index: The place that it would be given.
    ///   - floor: No later repetition has an as-of before this instant.
    ///   - isAfterSplit: Whether it comes after the split of the scan; one on either side never
    ///     replaces one on the other.
    /// - Returns: The place of the earlier one, which `next` may take; nil if it needs its own.
    package mutating func placeToReuse(
        for next: Confirmation,
        at index: Int,
        floor: Instant,
        isAfterSplit: Bool = false
    ) -> Int? {
        guard let event = events[next.position.offset] else { return nil }
        var run = Run(
            offset: next.position.offset,
            fields: next.fields,
            isAfterSplit: isAfterSplit,
            before: nil,
            last: next.asOf,
            index: index
        )
        defer { runs[event.unit] = run }
        guard let known = runs[event.unit] else { return nil }
        guard known.offset == run.offset, known.fields == run.fields,
            known.isAfterSplit == isAfterSplit, next.transactionId.isEmpty, known.last < next.asOf
        else {
            run.isTied = known.last >= next.asOf
            run.last = max(known.last, run.last)
            return nil
        }
        run.before = known.isTied ? nil : known.last
        guard let before = known.before, known.last < floor,
            isStatedOnly(by: run.offset, of: event.unit, from: before, to: next.asOf)
        else { return nil }
        run.before = before
        run.index = known.index
        return known.index
    }

    // Whether no other event says anything about a unit in that time.
    private func isStatedOnly(
        by offset: Int64,
        of unit: Int,
        from start: Instant,
        to end: Instant
    ) -> Bool {
        let events = statements[unit]
        var (low, high) = (0, events.count)
        while low < high {
            let middle = (low + high) / 2
            if events[middle].asOf < start { low = middle + 1 } else { high = middle }
        }
        return !events[low...].prefix { $0.asOf <= end }.contains { $0.offset != offset }
    }
}

extension RepetitionRuns {
    /// What transactions of one purchase have in common.
    private enum Name: Hashable {
        case purchased(Instant)
        case order(String)
        case oneTime(product: String)

        static func all(of fact: Fact) -> [Name] {
            let order = fact.content.text(.webOrderLineItemId) ?? ""
            // A restore may give a purchase that never expires another date.
            let isOneTime = fact.expiresDate == Instant(milliseconds: 0)
            return [.purchased(fact.purchaseDate)] + (order.isEmpty ? [] : [.order(order)])
                + (isOneTime ? [.oneTime(product: fact.content.text(.productId) ?? "")] : [])
        }
    }
}
