package import Events

/// The value of a unit of a currency in another, from a day on, as the operator states it.
package struct CurrencyRate: Hashable, Sendable {
    /// Two currencies.
    package struct Pair: Hashable, Sendable {
        /// ISO 4217 code of the currency that is converted.
        package let currency: String
        /// ISO 4217 code of the currency that amounts are converted into.
        package let baseCurrency: String

        /// A pair; nil if either is not three capital letters, or both are the same.
        package init?(_ currency: String, in baseCurrency: String) {
            guard CurrencyRate.isCode(currency), CurrencyRate.isCode(baseCurrency),
                currency != baseCurrency
            else { return nil }
            self.currency = currency
            self.baseCurrency = baseCurrency
        }
    }

    /// The subject of a rate: each has one rate at a time.
    package struct Key: Hashable, Sendable {
        /// The currencies.
        package let pair: Pair
        /// The day, UTC, as `2026-03-03`.
        package let day: String

        /// Nil if the day does not exist in the calendar.
        package init?(_ pair: Pair, day: String) {
            guard day.utf8.count == 10, let instant = Instant(day),
                instant.description.hasPrefix(day)
            else { return nil }
            self.pair = pair
            self.day = day
        }
    }

    /// Its subject.
    package let key: Key
    /// Units of the base currency for one unit of the other.
    package let rate: ExactDecimal

    /// A rate.
    package init(_ key: Key, _ rate: ExactDecimal) {
        self.key = key
        self.rate = rate
    }

    /// Whether a text has the form of an ISO 4217 code: three capital letters.
    package static func isCode(_ text: String) -> Bool {
        text.utf8.count == 3 && text.utf8.allSatisfy { (65...90).contains($0) }
    }
}

/// All rates in the ledger for two currencies.
package struct CurrencyRateSummary: Codable, Hashable, Sendable {
    /// ISO 4217 code of the currency that is converted.
    package let currency: String
    /// ISO 4217 code of the currency that amounts are converted into.
    package let baseCurrency: String
    /// Days that have a rate.
    package let days: Int64
    /// Rates that were replaced by a later import.
    package let replaced: Int64
    /// The first day with a rate.
    package let firstDay: String
    /// The last day with a rate.
    package let lastDay: String
    /// The rate of that day.
    package let lastRate: ExactDecimal
    /// When the newest of them was imported, on our clock.
    package let recordedAt: Instant
}
