public import EventLog
public import Events

/// A line of a list of exchange rates.
public struct RateLine: Hashable, Sendable {
    /// The number of the line, from 1.
    public let number: Int
    /// What it says.
    public let rate: CurrencyRate

    /// A line.
    public init(number: Int, rate: CurrencyRate) {
        self.number = number
        self.rate = rate
    }
}

/// What came of a list of exchange rates.
public struct RateImportDocument: Codable, Hashable, Sendable {
    /// Lines seen, the refused ones included.
    public internal(set) var lines = 0
    /// Rates of days that had none; of a dry run those that would be added.
    public internal(set) var added = 0
    /// Rates that take the place of another one of their day.
    public internal(set) var replaced = 0
    /// Rates that were known.
    public internal(set) var known = 0
    /// Lines that were refused.
    public internal(set) var rejected = 0
    /// Whether nothing was written.
    public let isDryRun: Bool
    /// The first rates that take the place of another, up to `IngestReport.rejectionsMax`.
    public internal(set) var replacements: [Replacement] = []
    /// The first refusals, up to `IngestReport.rejectionsMax`.
    public internal(set) var rejections: [RefusedLine] = []

    /// A rate that takes the place of another one.
    public struct Replacement: Codable, Hashable, Sendable {
        /// The number of the line, from 1.
        public let line: Int
        /// ISO 4217 code of the currency that is converted.
        public let currency: String
        /// ISO 4217 code of the currency that amounts are converted into.
        public let baseCurrency: String
        /// The day, UTC.
        public let day: String
        /// The rate that held.
        public let before: ExactDecimal
        /// The rate that holds.
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

/// All rates that the ledger keeps of two currencies.
public struct RateSummaryDocument: Codable, Hashable, Sendable {
    /// ISO 4217 code of the currency that is converted.
    public let currency: String
    /// ISO 4217 code of the currency that amounts are converted into.
    public let baseCurrency: String
    /// Days that have a rate.
    public let days: Int64
    /// Rates that were replaced by a later import; they are kept.
    public let replaced: Int64
    /// The first day with a rate, UTC.
    public let firstDay: String
    /// The last day with a rate.
    public let lastDay: String
    /// The rate of that day.
    public let lastRate: ExactDecimal
    /// When the newest of them was imported, on our clock.
    public let recordedAt: Instant

    init(_ summary: CurrencyRateSummary) {
        currency = summary.pair.currency
        baseCurrency = summary.pair.baseCurrency
        days = summary.days
        replaced = summary.replaced
        firstDay = summary.firstDay
        lastDay = summary.lastDay
        lastRate = summary.lastRate
        recordedAt = summary.recordedAt
    }
}
