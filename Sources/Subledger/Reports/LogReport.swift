/// A report that folds the whole log, one subscription at a time.
package protocol LogReport: Codable, Sendable {
    /// How many subscriptions have events that cannot be read.
    var unreadableStreams: Int { get }
    /// The first of these.
    var unreadable: [UnreadableStreams.Named] { get }
}

/// Something that a report found in a subscription.
protocol ReportFinding: Sendable {
    /// What it is.
    associatedtype Kind: CaseIterable & RawRepresentable<String>

    /// What it is.
    var kind: Kind { get }

    /// Whether the first is listed before the second.
    static func isWorse(_ left: Self, _ right: Self) -> Bool
}

extension ReportFinding {
    /// How many there are of each kind, in one line.
    static func summary(_ counts: [String: Int], of streams: Int) -> String {
        let parts = Kind.allCases.map { "\(counts[$0.rawValue] ?? 0) \($0.rawValue)" }
        return "\(counted(streams, "stream")): " + parts.joined(separator: ", ")
    }
}

/// The worst findings of a report so far, and how many there were.
struct FindingTally<Finding: ReportFinding>: Sendable {
    /// The number of subscriptions read.
    private(set) var streams = 0
    /// The number of findings of each kind, by its word.
    private(set) var counts: [String: Int]
    /// The worst of them.
    private(set) var worst: [Finding] = []
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
        counts = Dictionary(uniqueKeysWithValues: Finding.Kind.allCases.map { ($0.rawValue, 0) })
    }

    /// Takes what was found in one more subscription.
    mutating func take(of found: [Finding]) {
        streams += 1
        take(found)
    }

    /// Takes what was found elsewhere.
    mutating func take(_ found: [Finding]) {
        for finding in found { counts[finding.kind.rawValue, default: 0] += 1 }
        worst += found
        // Twice the limit before sorting, so sorting is rare and memory is bounded.
        if worst.count > 2 * limit { trim() }
    }

    /// Counts findings that are not listed.
    mutating func count(_ count: Int, of kind: Finding.Kind) {
        counts[kind.rawValue, default: 0] += count
    }

    /// Leaves as many as are listed, the worst first.
    mutating func trim() {
        worst.sort(by: Finding.isWorse)
        worst.removeLast(Swift.max(0, worst.count - limit))
    }
}
