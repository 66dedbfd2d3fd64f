import Events
import Projections

/// Why each subscription behind an answer counts as the customer's.
struct AnswerGrounds {
    private let streams: [(stream: CustomerStream, ground: CustomerGround)]
    private let tenures: [StreamID: [Range<Instant>]]
    private let ambiguous: [Customer.Ambiguity]

    /// Most subscriptions that are listed for people; `customers show` lists them all.
    private static let linesMax = 10

    /// For an answer about a subscription that was chosen and not asked for by a name.
    static let none = AnswerGrounds()

    private init() {
        (streams, tenures, ambiguous) = ([], [:], [])
    }

    init(_ customer: Customer, _ streams: [CustomerStream]) {
        self.streams = streams.map { ($0, customer.ground(of: $0.stream) ?? .named) }
        tenures = Dictionary(
            streams.map { ($0.stream, customer.tenures(of: $0.stream)) },
            uniquingKeysWith: { first, _ in first }
        )
        ambiguous = customer.ambiguous
    }

    /// The app that a subscription is of; nil where nothing names it.
    func bundleId(of stream: StreamID) -> String? {
        streams.first { $0.stream.stream == stream }?.stream.bundleId
    }

    /// One line for each of these subscriptions that does not have the name that was asked for.
    func lines(of wanted: Set<StreamID>) -> [String] {
        let lines = allLines(of: wanted)
        let rest = lines.count - AnswerGrounds.linesMax
        guard rest > 0 else { return lines }
        return lines.prefix(AnswerGrounds.linesMax)
            + ["\(rest) more subscriptions count; `subledger customers show` lists them and why"]
    }

    /// The same for all of them.
    var lines: [String] { lines(of: all) }

    /// The same, however many there are.
    var allLines: [String] { allLines(of: all) }

    /// All of them with the times for which a bond holds: a link overrules it.
    var timedLines: [String] {
        streams.compactMap { stream, ground in
            let tenures = tenures[stream.stream] ?? []
            let id = stream.stream.originalTransactionId
            guard let words = ground.words, !tenures.isEmpty else { return nil }
            guard case .bond = ground, let times = tenures.words else {
                return "\(id) counts because \(words)"
            }
            return "\(id) counts \(times) because \(words)"
        }
    }

    /// One line for each subscription that is joined to several customers, and so counts for none.
    var ambiguityLines: [String] {
        ambiguous.map { ambiguity in
            let ids = ambiguity.customerIds
            let joined =
                ids.dropLast().map { "to \($0)" }.joined(separator: ", ")
                + (ids.last.map { " and to \($0)" } ?? "")
            return
                "\(ambiguity.stream.originalTransactionId) is joined \(joined), so it counts for "
                + (ids.count == 2 ? "neither" : "none of them") + "; link it to one of them"
        }
    }

    private var all: Set<StreamID> { Set(streams.map(\.stream.stream)) }

    private func allLines(of wanted: Set<StreamID>) -> [String] {
        streams.filter { wanted.contains($0.stream.stream) }.compactMap { stream, ground in
            ground.words.map { "\(stream.stream.originalTransactionId) counts because \($0)" }
        }
    }

    /// All of them in JSON.
    var document: JSONTree {
        .array(
            streams.map { stream, ground in
                var members = ground.members
                members["originalTransactionId"] = .text(stream.stream.originalTransactionId)
                members["bundleId"] = JSONTree(stream.bundleId)
                return .object(members)
            }
        )
    }
}

extension [Range<Instant>] {
    /// The times for people; nil where they are all of time.
    fileprivate var words: String? {
        let parts = map { range -> String in
            let from =
                range.lowerBound == Instant(milliseconds: .min)
                ? nil : "from \(range.lowerBound.clock)"
            let to =
                range.upperBound == Instant(milliseconds: .max)
                ? nil : "until \(range.upperBound.clock)"
            return [from, to].compactMap { $0 }.joined(separator: " ")
        }
        return parts == [""] ? nil : parts.joined(separator: " and ")
    }
}

extension CustomerGround {
    /// For people; nil where there is nothing to explain.
    fileprivate var words: String? {
        switch self {
        case .named: nil
        case .link(let customer): "a link gives it to customer \(customer)"
        case .bond(.appReceipt(let digest), let other):
            "one app receipt (SHA-256 \(digest.hex.prefix(12))…) holds it and "
                + other.originalTransactionId
        case .bond(.previousOriginalTransactionId(let old), let other):
            "Apple migrated it \(old == other.originalTransactionId ? "from" : "to") "
                + "\(other.originalTransactionId) (previousOriginalTransactionId)"
        case .bond(let bond, let other):
            "it has \(bond.kind) \(bond.value), as \(other.originalTransactionId) has"
        }
    }

    /// In JSON: what it is because of, which value, and with which subscription.
    var members: [String: JSONTree] {
        switch self {
        case .named: ["because": .text("named"), "value": .null, "with": .null]
        case .link(let customer):
            ["because": .text("link"), "value": .text(customer), "with": .null]
        case .bond(let bond, let other):
            [
                "because": .text(bond.kind), "value": .text(bond.value),
                "with": .text(other.originalTransactionId),
            ]
        }
    }
}
