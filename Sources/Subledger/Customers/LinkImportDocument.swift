public import Events

/// A line of a list that says whose a subscription is.
public struct LinkLine: Hashable, Sendable {
    /// The number of the line, from 1.
    public let number: Int
    /// The app's own name for the customer.
    public let customer: String
    /// Apple's `originalTransactionId`.
    public let originalTransactionId: String
    /// Since when it holds; nil for from the first purchase on, where no link named the
    /// subscription before, else from now on.
    public let from: Instant?

    /// A line.
    public init(number: Int, customer: String, originalTransactionId: String, from: Instant?) {
        self.number = number
        self.customer = customer
        self.originalTransactionId = originalTransactionId
        self.from = from
    }
}

/// A line that was refused.
public struct RefusedLine: Error, Codable, Hashable, Sendable {
    /// The number of the line, from 1.
    public let line: Int
    /// Why, as a word of the machine.
    public let reason: String
    /// Why, and what to do.
    public let message: String

    /// A refusal.
    public init(line: Int, reason: String, message: String) {
        self.line = line
        self.reason = reason
        self.message = message
    }
}

/// What came of a list of links.
public struct LinkImportDocument: Codable, Hashable, Sendable {
    /// Lines seen, the refused ones included.
    public internal(set) var lines = 0
    /// Links that are events now; of a dry run those that would be.
    public internal(set) var appended = 0
    /// Links that the log knew already.
    public internal(set) var known = 0
    /// Lines that were refused.
    public internal(set) var rejected = 0
    /// Whether nothing was written.
    public let isDryRun: Bool
    /// Up to where the log says what the lines say, by the lane's number.
    public internal(set) var positions: [String: Int64] = [:]
    /// The first refusals, up to `IngestReport.rejectionsMax`.
    public internal(set) var rejections: [RefusedLine] = []

    init(isDryRun: Bool) {
        self.isDryRun = isDryRun
    }
}

extension LinkImportDocument {
    mutating func refuse(_ refusal: RefusedLine) {
        rejected += 1
        if rejections.count < IngestReport.rejectionsMax { rejections.append(refusal) }
    }

    mutating func note(_ position: Position) {
        let lane = "\(position.lane)"
        positions[lane] = max(positions[lane] ?? 0, position.offset)
    }
}
