public import Events

/// Why a subscription counts among those of a customer: the basis of an answer about it.
public enum CustomerGround: Hashable, Sendable {
    /// It has the id that was asked for: as its own id, as that of one of its transactions, as its
    /// token or as its `appTransactionId`.
    ///
    /// A subscription that continues it has another id, so it is listed with a bond.
    case named
    /// A link gives it, or once gave it, to the customer with that id.
    case link(String)
    /// It shares this with another subscription.
    case bond(CustomerBond, with: StreamID)
}

/// Finds the shortest path from the requested id to each subscription.
///
/// From those that have the id, over bonds; then from those that a link gives, or once gave, to the
/// customer: a subscription that was once theirs may be the one that connects two of theirs. Steps
/// are taken in the order of `StreamID` and of bonds, so a set of subscriptions has one answer.
struct GroundFinder {
    private(set) var grounds: [StreamID: CustomerGround] = [:]

    private let all: [CustomerStream]
    private let bonds: [[CustomerBond]]
    private var sharers: [CustomerBond: [Int]] = [:]

    /// Finds them among subscriptions in the order of `StreamID`.
    init(
        _ all: [CustomerStream],
        name: String,
        in environment: StoreEnvironment,
        customerId: String?
    ) {
        self.all = all
        bonds = all.map { $0.bonds.sorted() }
        for index in all.indices {
            for bond in bonds[index] { sharers[bond, default: []].append(index) }
        }
        let named = all.indices.filter { all[$0].hasName(name) }
        for index in named { grounds[all[index].stream] = .named }
        // An old id names the subscription that continues it, even if the log does not contain the
        // old one.
        let continuing = all.indices.filter { index in
            grounds[all[index].stream] == nil
                && all[index].previousOriginalTransactionIds.contains { byBytes($0, name) == nil }
        }
        let old = StreamID(environment: environment, originalTransactionId: name)
        for index in continuing {
            grounds[all[index].stream] = .bond(.previousOriginalTransactionId(name), with: old)
        }
        follow(named + continuing)
        let customer = customerId ?? name
        let linked = all.indices.filter { index in
            grounds[all[index].stream] == nil
                && all[index].claims.links.contains { byBytes($0.customer, customer) == nil }
        }
        for index in linked { grounds[all[index].stream] = .link(customer) }
        follow(linked)
    }

    private mutating func follow(_ start: [Int]) {
        var next = start
        while !next.isEmpty {
            var found: [Int] = []
            for index in next {
                for bond in bonds[index] {
                    for other in sharers[bond] ?? [] where grounds[all[other].stream] == nil {
                        grounds[all[other].stream] = .bond(bond, with: all[index].stream)
                        found.append(other)
                    }
                }
            }
            next = found
        }
    }
}

extension CustomerStream {
    fileprivate func hasName(_ name: String) -> Bool {
        func isName(_ text: String) -> Bool { byBytes(text, name) == nil }
        return isName(stream.originalTransactionId) || transactionIds.contains(where: isName)
            || tokens.contains { TokenValue.areEqual($0, name) }
            || appTransactions.contains { isName($0.id) }
            || webOrderLineItemIds.contains(where: isName)
    }
}
