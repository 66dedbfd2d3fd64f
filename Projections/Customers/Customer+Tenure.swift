public import Events

extension Customer {
    /// When the subscriptions that are theirs at an instant stop being theirs, as far as that is known:
    /// the first transfer after it; those without one are left out.
    public func tenureEnds(after instant: Instant) -> [StreamID: Instant] {
        var ends: [StreamID: Instant] = [:]
        for owned in streams(ownedAt: instant) {
            let changes = owned.claims.owners.compactMap(\.from).filter { $0 > instant }
            ends[owned.stream] = changes.first { change in
                !streams(ownedAt: change).contains { $0.stream == owned.stream }
            }
        }
        return ends
    }
}
