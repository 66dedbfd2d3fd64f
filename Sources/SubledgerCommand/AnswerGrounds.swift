import Events
import Projections

/// Why each subscription behind an answer counts as the customer's.
struct AnswerGrounds {
    private let streams: [(stream: CustomerStream, ground: CustomerGround)]

    /// Most subscriptions that are listed for people; `customers show` lists them all.
    private static let linesMax = 10

    /// For an answer about a subscription that was chosen and not asked for by a name.
    static let none = AnswerGrounds(streams: [])

    private init(streams: [(stream: CustomerStream, ground: CustomerGround)]) {
        self.streams = streams
    }

    init(_ customer: Customer, _ streams: [CustomerStream]) {
        self.streams = streams.map { ($0, customer.ground(of: $0.stream) ?? .named) }
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

extension CustomerGround {
    /// For people; nil where there is nothing to explain.
    fileprivate var words: String? {
        switch self {
        case .named: nil
        case .link(let customer): "a link gives it to customer \(customer)"
        case .bond(.appReceipt(let digest), let other):
            "one app receipt (SHA-256 \(digest.hex.prefix(12))…) holds it and "
                + other.originalTransactionId
        case .bond(.previousOriginalTransactionId, let other):
            "Apple migrated it from or to \(other.originalTransactionId) "
                + "(previousOriginalTransactionId)"
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
