public import Events

/// A line of a list that assigns a subscription to a customer.
public struct LinkLine: Hashable, Sendable {
    /// The number of the line, from 1.
    public let number: Int
    /// The app's own id for the customer.
    public let customer: String
    /// Apple's `originalTransactionId`.
    public let originalTransactionId: String
    /// When it begins; nil for the first purchase, if no link named the subscription before,
    /// otherwise for now.
    public let from: Instant?

    /// Creates a line.
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
    /// The machine-readable reason.
    public let reason: String
    /// Why, and what to do.
    public let message: String

    /// Creates a refusal.
    public init(line: Int, reason: String, message: String) {
        self.line = line
        self.reason = reason
        self.message = message
    }
}

/// The result of importing a list of links.
public struct LinkImportDocument: Codable, Hashable, Sendable {
    /// Lines read, including refused ones.
    public internal(set) var lines = 0
    /// Links that were appended; in a dry run, those that would be.
    public internal(set) var appended = 0
    /// Links that the log already contained.
    public internal(set) var known = 0
    /// Lines that were refused.
    public internal(set) var rejected = 0
    /// Whether this was a dry run, which writes nothing.
    public let isDryRun: Bool
    /// By lane number, the offset up to which the log contains these links.
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
        let lane = "\(position.lane.number)"
        positions[lane] = max(positions[lane] ?? 0, position.offset)
    }
}
