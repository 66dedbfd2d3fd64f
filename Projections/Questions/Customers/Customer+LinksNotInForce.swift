package import Events

extension Customer {
    /// Links that give the customer a subscription at another time than an instant, by `StreamID`.
    ///
    /// For a subscription that is not theirs at the instant, one link: the last that had ended by
    /// then, otherwise the first that begins later. Empty for a party that no link names.
    package func linksNotInForce(at instant: Instant) -> [(stream: StreamID, link: LinkClaim)] {
        guard let customerId else { return [] }
        let owned = Set(streams(ownedAt: instant).map(\.stream))
        return (streams + related).filter { !owned.contains($0.stream) }.compactMap { stream in
            let links = stream.claims.links.filter { link in
                !link.isContested && byBytes(link.customer, customerId) == nil
            }
            let ended = links.last { $0.from <= instant }
            return (ended ?? links.first).map { (stream.stream, $0) }
        }.sorted { $0.stream < $1.stream }
    }
}
