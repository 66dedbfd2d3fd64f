public import EventLog

/// A line of a list of exchange rates.
public struct RateLine: Hashable, Sendable {
    /// The number of the line, from 1.
    public let number: Int
    /// Its rate.
    public let rate: CurrencyRate

    /// Creates a line.
    public init(number: Int, rate: CurrencyRate) {
        self.number = number
        self.rate = rate
    }
}

/// The result of importing a list of exchange rates.
public struct RateImportDocument: Codable, Hashable, Sendable {
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
        /// ISO 4217 code of the currency that is converted.
        public let currency: String
        /// ISO 4217 code of the currency that amounts are converted into.
        public let baseCurrency: String
        /// The day, UTC.
        public let day: String
        /// The earlier rate.
        public let before: ExactDecimal
        /// The new rate.
        public let after: ExactDecimal
    }

    init(isDryRun: Bool) {
        self.isDryRun = isDryRun
    }
}

extension RateImportDocument {
    mutating func refuse(_ refusal: RefusedLine) {
        rejected += 1
        if rejections.count < IngestReport.rejectionsMax { rejections.append(refusal) }
    }

    mutating func count(_ outcome: CurrencyRateOutcome, of line: RateLine) {
        switch outcome {
        case .added: added += 1
        case .known: known += 1
        case .replaced(let before):
            replaced += 1
            guard replacements.count < IngestReport.rejectionsMax else { return }
            let key = line.rate.key
            replacements.append(
                Replacement(
                    line: line.number,
                    currency: key.pair.currency,
                    baseCurrency: key.pair.baseCurrency,
                    day: key.day,
                    before: before,
                    after: line.rate.rate
                )
            )
        }
    }
}
