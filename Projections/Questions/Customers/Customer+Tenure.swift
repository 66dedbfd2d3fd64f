package import Events

extension Customer {
    /// For the subscriptions that are theirs at an instant, the interval around it in which they
    /// are.
    package func tenures(at instant: Instant) -> [StreamID: Range<Instant>] {
        var found: [StreamID: Range<Instant>] = [:]
        for owned in streams(ownedAt: instant) {
            found[owned.stream] = tenures(of: owned.stream).first { $0.contains(instant) }
        }
        return found
    }

    /// When the subscriptions that are theirs at an instant stop being theirs, as far as that is
    /// known: the first change after it; those without one are left out.
    package func tenureEnds(after instant: Instant) -> [StreamID: Instant] {
        tenures(at: instant).compactMapValues { tenure in
            tenure.upperBound == Instant(milliseconds: .max) ? nil : tenure.upperBound
        }
    }
}
