package import Events
package import Projections

/// Why each subscription behind an answer counts as the customer's.
package struct AnswerGrounds: Sendable {
    /// The grounds, as documents show them.
    package private(set) var subscriptions: [SubscriptionGround] = []
    /// Subscriptions that are joined to several customers, and so count for none of them.
    package private(set) var ambiguous: [AccessDocument.AmbiguousSubscription] = []
    /// Links to the customer that were not in force at the instant asked about.
    package private(set) var linksNotInForce: [LinkNotInForce] = []

    /// For a subscription that was selected directly rather than looked up by an id.
    package static let none = AnswerGrounds()

    private init() {}

    /// The grounds for the subscriptions of a customer.
    ///
    /// - Parameters:
    ///   - customer: The customer.
    ///   - streams: The subscriptions that count.
    ///   - linksNotInForce: Links that were not in force at the instant asked about.
    ///   - instant: The instant asked about; nil for all of time.
    package init(
        _ customer: Customer,
        _ streams: [CustomerStream],
        linksNotInForce: [LinkNotInForce] = [],
        at instant: Instant? = nil
    ) {
        subscriptions = streams.map { SubscriptionGround($0, of: customer, at: instant) }
        ambiguous = customer.ambiguous.map {
            AccessDocument.AmbiguousSubscription(
                originalTransactionId: $0.stream.originalTransactionId,
                customers: $0.customerIds
            )
        }
        self.linksNotInForce = linksNotInForce
    }

    /// The app that a subscription belongs to; nil if nothing names it.
    package func bundleId(of stream: StreamID) -> String? {
        subscriptions.first {
            $0.originalTransactionId.utf8.elementsEqual(stream.originalTransactionId.utf8)
        }?.bundleId
    }

    /// One line for each subscription that does not have the id that was asked for.
    package var lines: [String] { subscriptions.lines }
}

extension Customer {
    /// Why subscriptions count, with the times for which that holds: a link overrides a bond, and
    /// has a start.
    package func timedGrounds(of streams: [CustomerStream]) -> [String] {
        streams.compactMap { stream in
            let ground = SubscriptionGround(stream, of: self)
            let tenures = self.tenures(of: stream.stream)
            guard let words = ground.words, !tenures.isEmpty else { return nil }
            guard let times = tenures.words else { return ground.line }
            return "\(ground.originalTransactionId) counts \(times) because \(words)"
        }
    }
}

extension CustomerStream {
    /// Whether any link to it is in force at an instant.
    func isLinked(at instant: Instant) -> Bool {
        claims.links.contains { link in
            !link.isContested && link.from <= instant && (link.to.map { instant < $0 } ?? true)
        }
    }
}

extension AccessDocument.AmbiguousSubscription {
    /// The ambiguity as a line of text.
    package var line: String {
        let joined =
            customers.dropLast().map { "to \($0)" }.joined(separator: ", ")
            + (customers.last.map { " and to \($0)" } ?? "")
        return "\(originalTransactionId) is joined \(joined), so it counts for "
            + (customers.count == 2 ? "neither" : "none of them") + "; link it to one of them"
    }
}

extension [SubscriptionGround] {
    /// The most subscriptions that the text lists; `customers show` lists them all.
    private static var linesMax: Int { 10 }

    /// One line for each subscription that does not have the id that was asked for.
    package var lines: [String] {
        let lines = compactMap(\.line)
        let rest = lines.count - Self.linesMax
        guard rest > 0 else { return lines }
        return lines.prefix(Self.linesMax)
            + ["\(rest) more subscriptions count; `subledger customers show` explains them"]
    }
}

extension SubscriptionGround {
    /// The ground as a line of text; nil if there is nothing to explain.
    fileprivate var line: String? { words.map { "\(originalTransactionId) counts because \($0)" } }
}

extension [Range<Instant>] {
    /// The times as text; nil if they are all of time.
    fileprivate var words: String? {
        let parts = map { range -> String in
            let from =
                range.lowerBound <= .epoch
                ? nil : "from \(range.lowerBound.clock)"
            let to =
                range.upperBound == Instant(milliseconds: .max)
                ? nil : "until \(range.upperBound.clock)"
            return [from, to].compactMap { $0 }.joined(separator: " ")
        }
        return parts == [""] ? nil : parts.joined(separator: " and ")
    }
}
