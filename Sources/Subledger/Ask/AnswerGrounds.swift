package import Events
package import Projections

/// Why each subscription behind an answer counts as the customer's.
package struct AnswerGrounds: Sendable {
    /// The grounds, as documents show them.
    package let subscriptions: [SubscriptionGround]
    private let streams: [StreamID]
    private let grounds: [CustomerGround]
    private let tenures: [StreamID: [Range<Instant>]]
    /// Subscriptions that are joined to several customers, and so count for none of them.
    package let ambiguous: [AmbiguousSubscription]
    /// Links to the customer that were not in force at the instant asked about.
    package let linksNotInForce: [LinkNotInForce]

    /// For a subscription that was selected directly rather than looked up by an id.
    package static let none = AnswerGrounds()

    private init() {
        (subscriptions, streams, grounds, tenures, ambiguous) = ([], [], [], [:], [])
        linksNotInForce = []
    }

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
        self.streams = streams.map(\.stream)
        let grounds = streams.map { customer.ground(of: $0.stream) ?? .named }
        self.grounds = grounds
        subscriptions = zip(streams, grounds).map { stream, ground in
            SubscriptionGround(
                stream.stream,
                bundleId: stream.bundleId,
                ground,
                isOfOtherTime: instant.map { !stream.isLinked(at: $0) } ?? false
            )
        }
        tenures = Dictionary(
            streams.map { ($0.stream, customer.tenures(of: $0.stream)) },
            uniquingKeysWith: { first, _ in first }
        )
        ambiguous = customer.ambiguous.map {
            AmbiguousSubscription(
                originalTransactionId: $0.stream.originalTransactionId,
                customers: $0.customerIds
            )
        }
        self.linksNotInForce = linksNotInForce
    }

    /// The app that a subscription belongs to; nil if nothing names it.
    package func bundleId(of stream: StreamID) -> String? {
        streams.firstIndex(of: stream).flatMap { subscriptions[$0].bundleId }
    }

    /// One line for each subscription that does not have the id that was asked for.
    package var lines: [String] { subscriptions.lines }

    /// All of them with the times for which they hold: a link overrides a bond, and has a start.
    package var timedLines: [String] {
        streams.indices.compactMap { index in
            let tenures = tenures[streams[index]] ?? []
            let (id, ground) = (streams[index].originalTransactionId, subscriptions[index])
            guard let words = ground.words, !tenures.isEmpty else { return nil }
            guard let times = tenures.words else { return ground.line }
            return "\(id) counts \(times) because \(words)"
        }
    }
}

extension CustomerStream {
    /// Whether any link to it is in force at an instant.
    fileprivate func isLinked(at instant: Instant) -> Bool {
        claims.links.contains { link in
            !link.isContested && link.from <= instant && (link.to.map { instant < $0 } ?? true)
        }
    }
}

extension AmbiguousSubscription {
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
