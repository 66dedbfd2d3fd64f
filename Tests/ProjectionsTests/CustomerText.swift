import Events
import Projections
import TestSupport
import Testing

/// The subscriptions of one customer as text: `stream ID [ENVIRONMENT]`, then facts as in
/// `TimelineText`, until the next stream.
struct CustomerText {
    private(set) var facts: [Fact] = []

    init(_ text: String) throws {
        var blocks: [(stream: StreamID, lines: [Substring])] = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            if words.first == "stream" {
                try #require(words.count == 2 || words.count == 3, "not a stream: \(words)")
                let environment = words.count == 3 ? StoreEnvironment(words[2]) : .production
                blocks.append(
                    (StreamID(environment: environment, originalTransactionId: words[1]), [])
                )
            } else {
                try #require(!blocks.isEmpty, "no stream before: \(line)")
                blocks[blocks.count - 1].lines.append(line)
            }
        }
        for block in blocks {
            let text = block.lines.joined(separator: "\n")
            facts += try TimelineText(text, stream: block.stream).facts
        }
    }

    /// The timelines, by `StreamID`.
    var timelines: [Timeline] { CustomerText.timelines(of: facts) }

    /// The timelines of facts that arrive in this order, by `StreamID`.
    static func timelines(of facts: [Fact]) -> [Timeline] {
        let ledger = MemoryLedger([facts])
        return ledger.streams.map { ledger.timeline(of: $0) }
    }
}

extension ProductCatalog {
    /// A version that is effective from a time on; lines `PRODUCT GROUP LEVEL`.
    init(version: Int = 1, from: String = "01-01", _ text: String) throws {
        let month = try #require(SubscriptionPeriod("P1M"))
        let products = try text.split(separator: "\n").map { line in
            let words = line.split(separator: " ").map(String.init)
            try #require(words.count == 3, "not a product: \(line)")
            return Subscription(
                productId: words[0],
                subscriptionGroupIdentifier: words[1],
                level: try #require(Int(words[2])),
                duration: month
            )
        }
        self.init(
            version: version,
            effectiveFrom: try TimelineText.instant(from),
            subscriptions: products
        )
    }
}

extension Entitlement {
    /// The active periods: one line per group, the one that counts first: `GROUP: PRODUCT of
    /// STREAM, …`.
    func active(at text: String) throws -> [String] {
        groups(at: try TimelineText.instant(text)).map { group in
            "\(group.group): "
                + group.active.map { access in
                    "\(access.period.productId) of \(access.period.stream.originalTransactionId)"
                        + (access.isFamilyShared ? " by family" : "")
                }.joined(separator: ", ")
        }
    }

    /// The times with access, as `FROM..TO`.
    func texts(_ scope: AccessScope = .anything) -> [String] {
        intervals(of: scope).map {
            "\(TimelineText.text($0.lowerBound))..\(TimelineText.text($0.upperBound))"
        }
    }
}
