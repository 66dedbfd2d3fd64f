package import EventLog

/// A line of a list of exchange rates.
package struct RateLine: Hashable, Sendable {
    /// The number of the line, from 1.
    package let number: Int
    /// Its rate.
    package let rate: CurrencyRate

    /// Creates a line.
    package init(number: Int, rate: CurrencyRate) {
        self.number = number
        self.rate = rate
    }
}

/// The result of importing a list of exchange rates.
package struct RateImportDocument: Codable, Hashable, Sendable {
    /// Lines read, including refused ones.
    package internal(set) var lines = 0
    /// Rates for days that had none; in a dry run, those that would be added.
    package internal(set) var added = 0
    /// Rates that replace another one for their day.
    package internal(set) var replaced = 0
    /// Rates that were already known.
    package internal(set) var known = 0
    /// Lines that were refused.
    package internal(set) var rejected = 0
    /// Whether this was a dry run, which writes nothing.
    package let isDryRun: Bool
    /// The first rates that replace another, up to `IngestReport.rejectionsMax`.
    package internal(set) var replacements: [Replacement] = []
    /// The first refusals, up to `IngestReport.rejectionsMax`.
    package internal(set) var rejections: [RefusedLine] = []

    /// A rate that replaces another one.
    package struct Replacement: Codable, Hashable, Sendable {
        /// The number of the line, from 1.
        package let line: Int
        /// ISO 4217 code of the currency that is converted.
        package let currency: String
        /// ISO 4217 code of the currency that amounts are converted into.
        package let baseCurrency: String
        /// The day, UTC.
        package let day: String
        /// The earlier rate.
        package let before: ExactDecimal
        /// The new rate.
        package let after: ExactDecimal
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
