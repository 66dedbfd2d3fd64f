internal import Events

/// Divides the subscriptions of one environment into parties: each subscription belongs to one.
///
/// 1. A subscription that a link gives to a customer belongs to that customer, whatever its tokens.
/// 2. The others are grouped: those that share a `CustomerBond` are in one group.
/// 3. A group that leads by one of these to the subscriptions of exactly one customer is theirs.
///    One that leads to several belongs to none: it stays with its tokens, and is ambiguous. A
///    customer who once had a subscription counts, so a transfer does not move the rest of an
///    account. A group with an app account token that equals the id of a customer leads to that
///    customer: the token is the app's own id for the buyer. A token alone does not lead from one
///    Apple Account to another: a link of one says nothing about what the other bought.
///
/// At an instant, only links that began by then count: a link overrides a bond from its first
/// instant on, and says nothing about the time before. So a link does not change any earlier
/// answer. If none of them leads a group to a customer, and the question names an id of Apple's,
/// the first link after the instant names its customer, who had the group before their id was
/// known.
///
/// A function of the set of subscriptions: groups are numbered by their first one in the order of
/// `StreamID`.
struct CustomerParties {
    /// The party of each stream, by index.
    private(set) var parties: [Party]
    /// The group of each stream that no link gave to a customer then, by the index of its first
    /// stream.
    private(set) var groups: [Int?]

    /// The owner of a subscription.
    enum Party: Equatable {
        /// A customer, as a byte-compared text.
        case customer(FieldValue)
        /// A group without a customer, named by the index of its first stream.
        case group(Int)
        /// The same, with the several customers to whom it leads.
        case ambiguous(Int, [String])
    }

    private var parent: [Int]

    /// The parties at an instant; nil for everything known.
    ///
    /// With `namingBeforeFirstLink`, a group that no link leads to a customer by then belongs to
    /// the customer whom the first link after the instant names.
    init(
        _ streams: [CustomerStream],
        _ sharers: BondSharers,
        at instant: Instant? = nil,
        namingBeforeFirstLink: Bool = false
    ) {
        parent = Array(streams.indices)
        (parties, groups) = ([], [])
        let linked = streams.map { stream in
            instant.map { stream.claims.linkedCustomer(at: $0) } ?? stream.claims.linkedCustomer
        }

        // The groups that bonds form do not depend on the order in which bonds are processed.
        for (indexes, _) in sharers.bonds {
            let unlinked = indexes.filter { linked[$0] == nil }
            for index in unlinked.dropFirst() { join(unlinked[0], index) }
        }

        var leads: [Int: [String]] = [:]
        for (indexes, isToken) in sharers.bonds {
            let unlinked = indexes.filter { linked[$0] == nil }
            for index in indexes where linked[index] != nil {
                let led = unlinked.first { other in
                    !isToken || !streams[other].isOfOtherAccount(than: streams[index])
                }
                guard let led else { continue }
                leads[root(of: led), default: []] += streams[index].claims.linkedCustomers(
                    by: instant
                )
            }
        }
        let named = streams.flatMap { $0.claims.linkedCustomers(by: instant) }
        let customersByToken = Dictionary(grouping: named, by: TokenValue.init)
        for index in streams.indices where linked[index] == nil {
            let customers = streams[index].tokens.flatMap {
                customersByToken[TokenValue($0)] ?? []
            }
            if !customers.isEmpty { leads[root(of: index), default: []] += customers }
        }
        if let instant, namingBeforeFirstLink {
            addFirstLinks(after: instant, of: streams, linked, to: &leads)
        }

        for index in streams.indices { groups.append(linked[index] == nil ? root(of: index) : nil) }
        parties = streams.indices.map { index in
            if let customer = linked[index] { return .customer(.text(customer)) }
            let group = root(of: index)
            let customers = ByteSet(leads[group] ?? []).sorted
            return switch customers.count {
            case 0: .group(group)
            case 1: .customer(.text(customers[0]))
            default: .ambiguous(group, customers)
            }
        }
    }

    // A single subscription waits for its own link: no bond assigns it to a customer before.
    private mutating func addFirstLinks(
        after instant: Instant,
        of streams: [CustomerStream],
        _ linked: [String?],
        to leads: inout [Int: [String]]
    ) {
        let known = Set(leads.keys)
        var sizes: [Int: Int] = [:]
        var next: [Int: [LinkClaim]] = [:]
        for index in streams.indices where linked[index] == nil {
            let group = root(of: index)
            sizes[group, default: 0] += 1
            let link = streams[index].claims.links.first { !$0.isContested && $0.from > instant }
            if let link { next[group, default: []].append(link) }
        }
        for (group, links) in next where !known.contains(group) && (sizes[group] ?? 0) > 1 {
            let first = links.map(\.from).min()
            leads[group] = links.filter { $0.from == first }.map(\.customer)
        }
    }

    // The smaller index is the root, so a group is named by its first stream.
    private mutating func join(_ left: Int, _ right: Int) {
        let (first, second) = (root(of: left), root(of: right))
        parent[max(first, second)] = min(first, second)
    }

    private mutating func root(of index: Int) -> Int {
        var index = index
        while parent[index] != index {
            parent[index] = parent[parent[index]]
            index = parent[index]
        }
        return index
    }
}

/// Which subscriptions share a bond: computed once, for the parties of every instant.
struct BondSharers {
    /// The indexes of the subscriptions, ascending, and whether the bond is an app account token; a
    /// bond of a single subscription is left out.
    let bonds: [(indexes: [Int], isToken: Bool)]

    init(_ streams: [CustomerStream]) {
        var sharers: [CustomerBond: [Int]] = [:]
        for (index, stream) in streams.enumerated() {
            for bond in stream.bonds where sharers[bond]?.last != index {
                sharers[bond, default: []].append(index)
            }
        }
        let shared = sharers.filter { $0.value.count > 1 }
        let tokens = Set(shared.filter { $0.key.isToken }.values)
        let others = Set(shared.filter { !$0.key.isToken }.values)
        bonds = tokens.map { ($0, isToken: true) } + others.map { ($0, isToken: false) }
    }
}

extension CustomerBond {
    fileprivate var isToken: Bool {
        if case .appAccountToken = self { true } else { false }
    }
}

extension CustomerStream {
    /// Whether Apple states that another Apple Account bought it: both have an `appTransactionId` in
    /// one app, and none in common.
    fileprivate func isOfOtherAccount(than other: CustomerStream) -> Bool {
        let own = appTransactions.filter { mine in
            other.appTransactions.contains { byBytes($0.bundleId, mine.bundleId) == nil }
        }
        return !own.isEmpty
            && !own.contains { mine in
                other.appTransactions.contains { byBytes($0.id, mine.id) == nil }
            }
    }
}
