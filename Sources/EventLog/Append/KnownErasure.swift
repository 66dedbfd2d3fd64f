internal import Events

/// What was erased of a subscription, as far as it affects later facts.
struct KnownErasure: Sendable {
    /// An erasure after which facts are accepted only without what identifies a person, and payloads
    /// are not kept; nil if there is none.
    private(set) var lasting: Position?
    // The newest erasure of everything, and the newest of any links.
    private var whole: (asOf: Instant, position: Position)?
    private var links: (asOf: Instant, position: Position)?

    init(_ scope: Erasure.Scope, asOf: Instant, at position: Position) {
        if scope.isLasting { lasting = position }
        if scope == .subscription { whole = (asOf, position) }
        if scope != .payload { links = (asOf, position) }
    }

    mutating func merge(_ other: KnownErasure) {
        lasting = lasting ?? other.lasting
        whole = [whole, other.whole].compactMap { $0 }.max { $0.asOf < $1.asOf }
        links = [links, other.links].compactMap { $0 }.max { $0.asOf < $1.asOf }
    }

    /// The position of an erasure that a fact predates, so the fact would restore erased data; nil
    /// if there is none.
    func refusal(of fact: Fact) -> Position? {
        guard fact.kind != .erasure, let bound = fact.kind == .link ? links : whole,
            fact.asOf <= bound.asOf
        else { return nil }
        return bound.position
    }
}
