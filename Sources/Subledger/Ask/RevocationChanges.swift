internal import Events

/// The revocation dates that Apple later signed with another value: the last signed value holds,
/// and each event names the one it corrects.
struct RevocationChanges {
    // By the event that changes the date.
    private var earlier: [Position: (date: Instant, corrected: Instant)] = [:]

    init(_ history: StreamHistory) {
        let transactions = history.events.filter { $0.fact.kind == .transaction }
        let purchases = Dictionary(grouping: transactions) { event in
            [
                FieldValue.instant(event.fact.purchaseDate),
                .text(event.fact.content.text(.productId) ?? ""),
            ]
        }
        for events in purchases.values {
            var last: Instant?
            for event in events.sorted(by: RevocationChanges.areInOrder) {
                let content = event.fact.content
                guard content.asserted.contains(.revocationDate) else { continue }
                let date = content.instant(.revocationDate)
                if let last, let date, last != date { earlier[event.position] = (last, date) }
                last = date
            }
        }
    }

    /// The date in force before that event changed it; nil if there was none.
    func earlierDate(at position: Position) -> Instant? { earlier[position]?.date }

    /// The date in force before one of those events corrected it to that date; nil if there was
    /// none.
    func earlierDate(than date: Instant?, at positions: [Position]) -> Instant? {
        positions.lazy.compactMap { earlier[$0] }.first { $0.corrected == date }?.date
    }

    private static func areInOrder(_ left: Event, _ right: Event) -> Bool {
        (left.fact.asOf, left.position) < (right.fact.asOf, right.position)
    }
}
