internal import Events

/// When each subscription was one customer's: from one change of the claims to the next.
///
/// Theirs is what a link gave to them then. A subscription without a link is theirs by a bond,
/// according to the parties of that instant (`CustomerParties`), or if it had one of their tokens.
/// For an id that belongs to no customer, it is what the bonds at that time join to the id.
///
/// By the customer's own id, nothing is theirs before the first link that names it: a later link
/// does not count. By an id of Apple's, what bonds join to that id is theirs even before a link
/// named their customer.
struct CustomerTimes {
    /// The first instants of the intervals except the first, which has none; ascending.
    let changes: [Instant]
    /// The indexes of the subscriptions that were theirs, by interval: one more than there are
    /// changes.
    let owned: [Set<Int>]

    /// The times of a customer.
    ///
    /// - Parameters:
    ///   - all: The subscriptions, in the order of `StreamID`.
    ///   - sharers: What joins them.
    ///   - customerId: The app's own id; nil for a party without one.
    ///   - isNamedByLink: Whether that id was asked for: then nothing is theirs before a link.
    ///   - members: The indexes of the party's subscriptions according to everything known.
    ///   - tokens: The tokens that belong to no other customer.
    ///   - name: The id asked for. If it is a token, a subscription that has it is theirs only while
    ///     it has it: ownership moves to the next token of the subscription.
    init(
        _ all: [CustomerStream],
        _ sharers: BondSharers,
        customerId: String?,
        isNamedByLink: Bool,
        members: Set<Int>,
        tokens: [String],
        name: String
    ) {
        let links = all.flatMap(\.claims.links).filter { !$0.isContested }
        let linkChanges = Set(links.map(\.from) + links.compactMap(\.to))
        let tokenChanges = all.flatMap { $0.claims.tokens.map(\.from) }
        changes = linkChanges.union(tokenChanges).filter { $0 > .epoch }.sorted()

        let values = Set(tokens.map(TokenValue.init))
        let asked = TokenValue(name)
        let having = all.indices.map { all[$0].claims.tokens.map { TokenValue($0.token) } }
        func parties(at instant: Instant) -> CustomerParties {
            CustomerParties(all, sharers, at: instant, namingBeforeFirstLink: !isNamedByLink)
        }

        // A change of token does not change any party.
        var held = parties(at: .epoch)
        owned = ([.epoch] + changes).map { instant in
            if linkChanges.contains(instant) { held = parties(at: instant) }
            let groups = Set(members.compactMap { held.groups[$0] })
            return Set(
                all.indices.filter { index in
                    let token = all[index].claims.token(at: instant).map(TokenValue.init)
                    let isMoved = token != asked && having[index].contains(asked)
                    let hasToken = !isMoved && token.map(values.contains) ?? false
                    let customer: FieldValue?
                    if case .customer(let text) = held.parties[index] {
                        customer = text
                    } else {
                        customer = nil
                    }
                    let isUnlinked = held.groups[index] != nil
                    guard let customerId else {
                        let isJoined =
                            !isMoved && held.groups[index].map(groups.contains) ?? false
                        return isUnlinked && (hasToken || isJoined)
                    }
                    return customer.map { $0 == .text(customerId) } ?? (isUnlinked && hasToken)
                }
            )
        }
    }

    /// What was theirs at an instant.
    func owned(at instant: Instant) -> Set<Int> {
        owned[changes.firstIndex { $0 > instant } ?? changes.count]
    }

    /// The intervals in which one was theirs: half-open, ascending, adjacent ones merged.
    func stretches(of index: Int) -> [Range<Instant>] {
        let edges = [Instant(milliseconds: .min)] + changes + [Instant(milliseconds: .max)]
        return zip(edges, edges.dropFirst()).enumerated()
            .filter { owned[$0.offset].contains(index) }
            .map { $0.element.0..<$0.element.1 }.merged
    }
}
