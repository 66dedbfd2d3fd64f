/// Finds repetitions of transactions that tell a fold nothing.
///
/// Whoever polls an unchanged subscription has all its transactions repeated for years. Of a run of
/// repetitions of the same fields of one event, while nothing else was said about the purchase, the
/// first and the last suffice: at every instant the same statement counts. So a fold needs memory
/// for what changed, and not for how often it was asked. Renewal info and notifications are kept:
/// folds read when each was said.
package struct RepetitionRuns {
    /// Of one purchase, the repetitions that were taken last.
    private struct Run {
        let offset: Int64
        let fields: FieldSet
        let side: Bool
        /// As-of of the repetition before the last; nil where the run has one only.
        var before: Instant?
        /// As-of of the last.
        var last: Instant
        /// Whether something else was said as of the same instant as the last, or later.
        var isTied = false
        /// Where the last one stands.
        var index: Int
    }

    /// An event that may be repeated.
    private struct Repeatable {
        let unit: Int
        let asOf: Instant
    }

    private var events: [Int64: Repeatable] = [:]
    // By unit, what events say of it, by as-of.
    private var said: [[(asOf: Instant, offset: Int64)]] = []
    private var runs: [Int: Run] = [:]

    /// The runs of a subscription with these events.
    package init(_ events: [Event]) {
        // What may be joined to one purchase, by its date or its order, is one unit.
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
        said = Array(repeating: [], count: parents.count)
        for (offset, event) in self.events {
            let unit = root(event.unit)
            self.events[offset] = Repeatable(unit: unit, asOf: event.asOf)
            said[unit].append((event.asOf, offset))
        }
        for unit in said.indices { said[unit].sort { $0.asOf < $1.asOf } }
    }

    /// Takes the next repetition and names an earlier one that need not be kept any more.
    ///
    /// - Parameters:
    ///   - next: The repetition.
    ///   - index: The place that it would be given.
    ///   - floor: No repetition that comes later is as of an earlier instant.
    ///   - side: Of those that differ in it none stands in for another.
    /// - Returns: The place of the earlier one, which it may take; nil where it needs its own.
    package mutating func placeToReuse(
        for next: Confirmation,
        at index: Int,
        floor: Instant,
        side: Bool = false
    ) -> Int? {
        guard let event = events[next.position.offset] else { return nil }
        var run = Run(
            offset: next.position.offset,
            fields: next.fields,
            side: side,
            before: nil,
            last: next.asOf,
            index: index
        )
        defer { runs[event.unit] = run }
        guard let known = runs[event.unit] else { return nil }
        guard known.offset == run.offset, known.fields == run.fields, known.side == side,
            next.transactionId.isEmpty, known.last < next.asOf
        else {
            run.isTied = known.last >= next.asOf
            run.last = max(known.last, run.last)
            return nil
        }
        run.before = known.isTied ? nil : known.last
        guard let before = known.before, known.last < floor,
            isSaidOnly(by: run.offset, of: event.unit, from: before, to: next.asOf)
        else { return nil }
        run.before = before
        run.index = known.index
        return known.index
    }

    // Whether no other event says anything of a unit in that time.
    private func isSaidOnly(
        by offset: Int64,
        of unit: Int,
        from start: Instant,
        to end: Instant
    ) -> Bool {
        let events = said[unit]
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
            // A restore may give what never expires another date.
            let isOneTime = fact.expiresDate == Instant(milliseconds: 0)
            return [.purchased(fact.purchaseDate)] + (order.isEmpty ? [] : [.order(order)])
                + (isOneTime ? [.oneTime(product: fact.content.text(.productId) ?? "")] : [])
        }
    }
}
