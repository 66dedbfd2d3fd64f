internal import Events

/// Cuts the subscriptions of one environment into parties: each subscription belongs to one.
///
/// 1. A subscription that a link gives to a customer belongs to that customer, whatever its tokens.
/// 2. The others are grouped: those that share a `CustomerBond` are of one group.
/// 3. A group that leads by one of these to the subscriptions of exactly one customer is theirs.
///    One that leads to several is nobody's: it stays with its tokens, and is ambiguous. A customer
///    who once had a subscription counts, so that a transfer does not move the rest of an account.
///
/// A function of the set of subscriptions: groups are numbered by their first one in the order of
/// `StreamID`.
struct CustomerParties {
    /// The party of each stream, by index.
    private(set) var parties: [Party]

    /// Whose a subscription is, over all of time.
    enum Party: Equatable {
        /// The customer's, as a byte-compared text.
        case customer(FieldValue)
        /// Of a group without a customer, named by the index of its first stream.
        case group(Int)
        /// The same, with the customers to whom it leads.
        case ambiguous(Int, [String])
    }

    private var parent: [Int]

    init(_ streams: [CustomerStream]) {
        parent = Array(streams.indices)
        parties = []
        let linked = streams.map(\.claims.linkedCustomer)
        var sharers: [CustomerBond: [Int]] = [:]
        for (index, stream) in streams.enumerated() {
            for bond in stream.bonds { sharers[bond, default: []].append(index) }
        }
        // What a bond holds together does not depend on the order in which bonds are looked at.
        for indexes in sharers.values {
            let unlinked = indexes.filter { linked[$0] == nil }
            for index in unlinked.dropFirst() { join(unlinked[0], index) }
        }
        var leads: [Int: [String]] = [:]
        for indexes in sharers.values {
            guard let first = indexes.first(where: { linked[$0] == nil }) else { continue }
            for index in indexes where linked[index] != nil {
                leads[root(of: first), default: []] += streams[index].claims.linkedCustomers
            }
        }
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

    // The smaller index is the root, so that a group is named by its first stream.
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
