public import Events

/// Who claimed a subscription, when, and whose it was at any time.
///
/// Claims are the operator's links and the app account tokens of Apple's transactions and renewal
/// info. A link beats a token. A function of the set of assertions; only offsets and who stated a
/// link depend on what came first. Family-shared subscriptions are claimed like all others, for
/// each member has its own (Apple's data: trap 33).
public struct StreamClaims: Sendable {
    /// The subscription.
    public let stream: StreamID
    /// The lane of the log that holds its events.
    public let lane: Int
    /// What links claim, by start.
    public let links: [LinkClaim]
    /// Its app account tokens, by start, neighbours different: the same UUID in letters of another
    /// case is the same token.
    ///
    /// Of two tokens from one instant the greater by UTF-8 counts.
    public let tokens: [TokenClaim]

    /// The claims that a subscription's timeline holds.
    public init(_ timeline: Timeline) {
        stream = timeline.stream
        lane = timeline.lane
        links = LinkClaims(timeline.links).claims
        tokens = TokenClaims(timeline).claims
    }

    /// Links to a customer while another one had it; they moved no ownership.
    public var contested: [LinkClaim] { links.filter(\.isContested) }

    /// Whether Apple named more than one token for it, as after a crossgrade from another login.
    public var hasMutatedToken: Bool { tokens.count > 1 }

    /// The owner at that time: the linked customer, else the token, else none.
    ///
    /// Before the first token that is known, that one counts.
    public func owner(at instant: Instant) -> Owner? {
        decision(at: instant)?.owner
    }

    /// Whose it is after all that is known.
    public var currentOwner: Owner? { owners.last?.owner }

    /// The customer who has it by a link after all that is known; nil where no link holds.
    public var linkedCustomer: String? {
        if case .customer(let name)? = currentOwner { name } else { nil }
    }

    /// The customer who had it by a link at an instant; nil where none held.
    func linkedCustomer(at instant: Instant) -> String? {
        if case .customer(let name)? = owner(at: instant) { name } else { nil }
    }

    /// The customers who had it by a link that was not contested and began by an instant, by UTF-8,
    /// each once; nil for all.
    func linkedCustomers(by instant: Instant?) -> [String] {
        let begun = links.filter { link in instant.map { link.from <= $0 } ?? true }
        return ByteSet(begun.filter { !$0.isContested }.map(\.customer)).sorted
    }

    /// The app account token of an instant, whatever links said; before the first one, that one.
    func token(at instant: Instant) -> String? {
        (tokens.last { $0.from <= instant } ?? tokens.first)?.token
    }

    /// Whose it was, from the beginning of time to its end without a hole; never empty.
    public var owners: [Ownership] {
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

/// Texts compared by their UTF-8, each once.
struct ByteSet {
    /// By UTF-8.
    let sorted: [String]

    init(_ texts: [String]) {
        sorted = texts.sorted { byBytes($0, $1) ?? false }.reduce(into: []) { unique, text in
            if unique.last.map({ byBytes($0, text) != nil }) ?? true { unique.append(text) }
        }
    }
}
