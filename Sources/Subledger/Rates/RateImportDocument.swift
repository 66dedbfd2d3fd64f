public import EventLog

/// A line of a list of rates.
public struct RateLine<Rate: ImportedRate>: Hashable, Sendable {
    /// The number of the line, from 1; several rates may come from one line.
    public let number: Int
    /// Its rate.
    public let rate: Rate

    /// Creates a line.
    public init(number: Int, rate: Rate) {
        self.number = number
        self.rate = rate
    }
}

/// The result of importing a list of rates.
public struct RateImportDocument<Rate: ImportedRate>: Codable, Hashable, Sendable {
    /// Lines read, including refused ones.
    public internal(set) var lines = 0
    /// Rates for days that had none; in a dry run, those that would be added.
    public internal(set) var added = 0
    /// Rates that replace another one for their day.
    public internal(set) var replaced = 0
    /// Rates that were already known.
    public internal(set) var known = 0
    /// Lines that were refused.
    public internal(set) var rejected = 0
    /// Whether this was a dry run, which writes nothing.
    public let isDryRun: Bool
    /// The first rates that replace another, up to `IngestReport.rejectionsMax`.
    public internal(set) var replacements: [Replacement] = []
    /// The first refusals, up to `IngestReport.rejectionsMax`.
    public internal(set) var rejections: [RefusedLine] = []

    /// A rate that replaces another one.
    public struct Replacement: Codable, Hashable, Sendable {
        /// The number of the line, from 1.
        public let line: Int
        /// Its subject and day, whose members are those of the replacement in JSON.
        public let key: Rate.Key
        /// The earlier rate.
        public let before: Rate.Value
        /// The new rate.
        public let after: Rate.Value
    }

    init(isDryRun: Bool) {
        self.isDryRun = isDryRun
    }
}

extension RateImportDocument.Replacement {
    private enum CodingKeys: CodingKey {
        case line, before, after
    }

    /// Decodes the members of the key next to its own.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        line = try container.decode(Int.self, forKey: .line)
        key = try Rate.Key(from: decoder)
        before = try container.decode(Rate.Value.self, forKey: .before)
        after = try container.decode(Rate.Value.self, forKey: .after)
    }

    /// Encodes the members of the key next to its own.
    public func encode(to encoder: any Encoder) throws {
        try key.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(line, forKey: .line)
        try container.encode(before, forKey: .before)
        try container.encode(after, forKey: .after)
    }
}

extension RateImportDocument {
    mutating func refuse(_ refusal: RefusedLine) {
        rejected += 1
        if rejections.count < IngestReport.rejectionsMax { rejections.append(refusal) }
    }

    mutating func count(_ outcome: ImportedRateOutcome<Rate.Value>, of line: RateLine<Rate>) {
        switch outcome {
        case .added: added += 1
        case .known: known += 1
        case .replaced(let before):
            replaced += 1
            guard replacements.count < IngestReport.rejectionsMax else { return }
            replacements.append(
                Replacement(
                    line: line.number,
                    key: line.rate.key,
                    before: before,
                    after: line.rate.value
                )
            )
        }
    }
}
