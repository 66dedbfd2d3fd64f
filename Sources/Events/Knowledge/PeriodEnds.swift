/// The ends that were stated for purchases.
///
/// From these, the log detects a later statement that takes an extension back. The end is part of a
/// subject, so a purchase that was extended is two subjects, and what is known about one does not
/// show that the other was stated since. A statement of the old end repeats an old event word for
/// word, and yet changes the answer: it is new.
package struct PeriodEnds: Sendable {
    private var stated: [Purchase: [End]] = [:]

    /// One product bought in one second of one subscription: what a fold takes for one purchase.
    private struct Purchase: Hashable {
        let stream: StreamID
        let purchaseDate: Instant
        // As a field value, which compares by bytes.
        let productId: FieldValue

        // Nil for what is not a period.
        init?(_ subject: Subject) {
            guard subject.kind == .transaction, subject.expiresDate != Instant(milliseconds: 0)
            else { return nil }
            stream = subject.stream
            purchaseDate = subject.purchaseDate
            productId = .text(subject.name)
        }
    }

    private struct End: Hashable {
        let asOf: Instant
        let expiresDate: Instant

        // At the same as-of the later end counts, as it does for folds.
        func isBefore(_ other: End) -> Bool {
            asOf != other.asOf ? asOf < other.asOf : expiresDate < other.expiresDate
        }
    }

    /// Nothing stated.
    package init() {}

    /// Adds that a purchase was stated to have the end in this subject.
    package mutating func learn(_ subject: Subject, asOf: Instant) {
        guard let purchase = Purchase(subject) else { return }
        stated[purchase, default: []].append(End(asOf: asOf, expiresDate: subject.expiresDate))
    }

    /// The purchase dates, in milliseconds, of the purchases that have several ends among these
    /// subjects.
    ///
    /// Whoever judges their facts must have learned all ends that were stated for them: a purchase
    /// with one end in the log may get a second one from a fact and the first again from the next.
    package static func movedPurchases(in subjects: [Subject]) -> [Int64] {
        var ends: [Purchase: Instant] = [:]
        var moved: Set<Int64> = []
        for subject in subjects {
            guard let purchase = Purchase(subject) else { continue }
            let end = ends.updateValue(subject.expiresDate, forKey: purchase)
            guard let end, end != subject.expiresDate else { continue }
            moved.insert(subject.purchaseDate.milliseconds)
        }
        return Array(moved)
    }

    /// Whether a fact moves the end of its purchase, compared with the newest statement as of its
    /// own as-of.
    ///
    /// `together` are the facts of the same payload: if one of them gives the purchase a later end
    /// as of the same instant, that one counts.
    package func areMoved(
        by fact: Fact,
        of subject: Subject,
        together: @autoclosure () -> [Fact]
    ) -> Bool {
        guard let purchase = Purchase(subject), let stated = stated[purchase] else { return false }
        let own = End(asOf: fact.asOf, expiresDate: subject.expiresDate)
        let earlier = stated.filter { $0.asOf <= own.asOf }
        guard earlier.contains(where: { $0.expiresDate != own.expiresDate }),
            let newest = earlier.max(by: { $0.isBefore($1) }), newest.isBefore(own),
            newest.expiresDate != own.expiresDate
        else { return false }
        return !together().contains { other in
            other.asOf == own.asOf && other.expiresDate > own.expiresDate
                && Purchase(other.subject) == purchase
        }
    }
}
