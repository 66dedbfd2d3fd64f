package import Events

/// A line of a list that assigns a subscription to a customer.
package struct LinkLine: Hashable, Sendable {
    /// The number of the line, from 1.
    package let number: Int
    /// The app's own id for the customer.
    package let customer: String
    /// Apple's `originalTransactionId`.
    package let originalTransactionId: String
    /// When it begins; nil for the first purchase, if no link named the subscription before,
    /// otherwise for now.
    package let from: Instant?

    /// Creates a line.
    package init(number: Int, customer: String, originalTransactionId: String, from: Instant?) {
        self.number = number
        self.customer = customer
        self.originalTransactionId = originalTransactionId
        self.from = from
    }
}

/// A line that was refused.
package struct RefusedLine: Error, Codable, Hashable, Sendable {
    /// The number of the line, from 1.
    package let line: Int
    /// The machine-readable reason.
    package let reason: String
    /// Why, and what to do.
    package let message: String

    /// Creates a refusal.
    package init(line: Int, reason: String, message: String) {
        self.line = line
        self.reason = reason
        self.message = message
    }
}

/// The result of importing a list of links.
package struct LinkImportDocument: Codable, Hashable, Sendable {
    /// Lines read, including refused ones.
    package internal(set) var lines = 0
    /// Links that were appended; in a dry run, those that would be.
    package internal(set) var appended = 0
    /// Links that the log already contained.
    package internal(set) var known = 0
    /// Lines that were refused.
    package internal(set) var rejected = 0
    /// Whether this was a dry run, which writes nothing.
    package let isDryRun: Bool
    /// By lane number, the offset up to which the log contains these links.
    package internal(set) var positions: [String: Int64] = [:]
    /// The first refusals, up to `IngestReport.rejectionsMax`.
    package internal(set) var rejections: [RefusedLine] = []

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
