package import Events

/// Who claimed a subscription, and who owned it at any time.
///
/// Claims are the operator's links and the app account tokens of Apple's transactions. A link takes
/// precedence over a token. A function of the set of assertions; only offsets and who stated a link
/// depend on the order of arrival. Family-shared subscriptions are claimed like all others, because
/// each member has its own (Apple's data: trap 33).
package struct StreamClaims: Sendable {
    /// The subscription.
    package let stream: StreamID
    /// The lane of the log with its events.
    package let lane: Lane
    /// The claims by links, by start.
    package let links: [LinkClaim]
    /// Its app account tokens, by start; adjacent ones differ, and a UUID in letters of another
    /// case is the same token.
    ///
    /// Of two tokens at the same instant, the greater by UTF-8 counts.
    package let tokens: [TokenClaim]

    /// The claims in a subscription's timeline.
    package init(_ timeline: Timeline) {
        stream = timeline.stream
        lane = timeline.lane
        links = LinkClaims(timeline.links).claims
        tokens = TokenClaims(timeline).claims
    }

    /// Links to a customer while another one had it; they moved no ownership.
    package var contested: [LinkClaim] { links.filter(\.isContested) }

    /// Whether Apple stated more than one token for it, as after a crossgrade from another login.
    package var hasMutatedToken: Bool { tokens.count > 1 }

    /// The owner at that time: the linked customer, otherwise the token, otherwise none.
    ///
    /// The first known token also counts for the time before it.
    package func owner(at instant: Instant) -> Owner? {
        decision(at: instant)?.owner
    }

    /// The owner according to everything known.
    package var currentOwner: Owner? { owners.last?.owner }

    /// The customer who has it by a link according to everything known; nil if no link is in force.
    package var linkedCustomer: String? {
        if case .customer(let name)? = currentOwner { name } else { nil }
    }

    /// The customer who had it by a link at an instant; nil if no link was in force.
    func linkedCustomer(at instant: Instant) -> String? {
        if case .customer(let name)? = owner(at: instant) { name } else { nil }
    }

    /// The customers who had it by an uncontested link that began by an instant, in UTF-8 order,
    /// without duplicates; nil for all instants.
    func linkedCustomers(by instant: Instant?) -> [String] {
        let begun = links.filter { link in instant.map { link.from <= $0 } ?? true }
        return ByteSet(begun.filter { !$0.isContested }.map(\.customer)).sorted
    }

    /// The app account token at an instant, regardless of links; before the first one, that one.
    func token(at instant: Instant) -> String? {
        (tokens.last { $0.from <= instant } ?? tokens.first)?.token
    }

    /// The owners, from the beginning of time to its end without gaps; never empty.
    package var owners: [Ownership] {
        var changes = links.filter { !$0.isContested }.flatMap { [$0.from, $0.to] }
            .compactMap { $0 }
        changes += tokens.map(\.from)
        changes.sort()
        var owners = [ownership(from: nil)]
        for change in changes where change > .epoch {
            let next = ownership(from: change)
            guard let last = owners.last, last.owner != next.owner else { continue }
            owners[owners.count - 1] = Ownership(
                owner: last.owner,
                from: last.from,
                to: change,
                offset: last.offset
            )
            owners.append(next)
        }
        return owners
    }

    private func ownership(from: Instant?) -> Ownership {
        let decision = decision(at: from ?? .epoch)
        return Ownership(
            owner: decision?.owner,
            from: from,
            to: nil,
            offset: decision?.offset ?? from.flatMap(unlink)
        )
    }

    private func decision(at instant: Instant) -> (owner: Owner, offset: Int64)? {
        for link in links where !link.isContested && link.from <= instant {
            guard link.to.map({ instant < $0 }) ?? true else { continue }
            return (.customer(link.customer), link.offset)
        }
        let token = tokens.last { $0.from <= instant } ?? tokens.first
        return token.map { (.appAccountToken($0.token), $0.offset) }
    }

    private func unlink(at instant: Instant) -> Int64? {
        links.first { $0.to == instant }?.endOffset
    }
}

/// A set of texts compared by their UTF-8.
struct ByteSet {
    /// In UTF-8 order.
    let sorted: [String]

    init(_ texts: [String]) {
        sorted = texts.sorted { byBytes($0, $1) ?? false }.reduce(into: []) { unique, text in
            if unique.last.map({ byBytes($0, text) != nil }) ?? true { unique.append(text) }
        }
    }
}
