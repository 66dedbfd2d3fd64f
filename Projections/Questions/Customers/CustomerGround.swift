public import Events

/// Why a subscription counts among those of a customer: what an answer about it rests on.
public enum CustomerGround: Hashable, Sendable {
    /// It has the name that was asked for: as its own id, as one of its transactions', as its token
    /// or as its `appTransactionId`.
    ///
    /// What continues the subscription of that name has another one: there a bond is named.
    case named
    /// A link gives it to the customer of that name, or once gave it.
    case link(String)
    /// It shares this with another subscription.
    case bond(CustomerBond, with: StreamID)
}

/// Finds the shortest way from what was asked for to each subscription.
///
/// From those that have the name, over bonds; then from those that a link gives to the customer, or
/// once gave: a subscription that was theirs once may be what holds two of theirs together. Steps
/// are taken in the order of `StreamID` and of bonds, so that a set of subscriptions has one
/// answer.
struct GroundFinder {
    private(set) var grounds: [StreamID: CustomerGround] = [:]

    private let all: [CustomerStream]
    private let bonds: [[CustomerBond]]
    private var sharers: [CustomerBond: [Int]] = [:]

    /// Finds them among subscriptions that are in the order of `StreamID`.
    init(
        _ all: [CustomerStream],
        name: String,
        in environment: Environment,
        customerId: String?
    ) {
        self.all = all
        bonds = all.map { $0.bonds.sorted() }
        for index in all.indices {
            for bond in bonds[index] { sharers[bond, default: []].append(index) }
        }
        let named = all.indices.filter { all[$0].hasName(name) }
        for index in named { grounds[all[index].stream] = .named }
        // An old id names what continues it, also where the log does not know the old one itself.
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
