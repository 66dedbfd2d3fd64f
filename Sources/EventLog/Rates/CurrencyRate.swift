public import Events

/// The value of a unit of a currency in another, from a day on, as the operator states it.
public struct CurrencyRate: ImportedRate {
    /// Two currencies.
    public struct Pair: Hashable, Sendable {
        /// ISO 4217 code of the currency that is converted.
        public let currency: String
        /// ISO 4217 code of the currency that amounts are converted into.
        public let baseCurrency: String

        /// A pair; nil if either is not three capital letters, or both are the same.
        public init?(_ currency: String, in baseCurrency: String) {
            guard CurrencyRate.isCode(currency), CurrencyRate.isCode(baseCurrency),
                currency != baseCurrency
            else { return nil }
            self.currency = currency
            self.baseCurrency = baseCurrency
        }
    }

    /// The subject of a rate: each has one rate at a time.
    public struct Key: ImportedRateKey {
        /// The currencies.
        public let pair: Pair
        /// The day, UTC, as `2026-03-03`.
        public let day: String

        /// Nil if the day does not exist in the calendar.
        public init?(_ pair: Pair, day: String) {
            guard CurrencyRate.isDay(day) else { return nil }
            self.pair = pair
            self.day = day
        }

        /// The two currencies.
        public var words: String { "\(pair.currency) to \(pair.baseCurrency)" }
    }

    /// Its subject.
    public let key: Key
    /// Units of the base currency for one unit of the other.
    public let value: ExactDecimal

    /// A rate.
    public init(_ key: Key, _ value: ExactDecimal) {
        self.key = key
        self.value = value
    }

    /// Whether a text has the form of an ISO 4217 code: three capital letters.
    public static func isCode(_ text: String) -> Bool {
        text.utf8.count == 3 && text.utf8.allSatisfy { (65...90).contains($0) }
    }

    /// Whether a text is a day of the calendar, as `2026-03-03`.
    static func isDay(_ text: String) -> Bool {
        text.utf8.count == 10 && Instant(text)?.description.hasPrefix(text) ?? false
    }
}

extension CurrencyRate {
    /// The rate in words.
    public static func words(_ value: ExactDecimal) -> String { value.text }

    /// Where rates are stored.
    public static let table = ImportedRateTable(
        name: "operation.currency_rate",
        keys: ["base_currency", "currency", "day"],
        values: ["rate"]
    )

    /// The fields of the columns of the table.
    public var fields: [String] {
        [key.pair.baseCurrency, key.pair.currency, key.day, value.text]
    }

    /// The rate with these fields; nil if they are not a rate.
    public static func value(_ fields: [String]) -> ExactDecimal? {
        fields.first.flatMap(ExactDecimal.init)
    }
}

extension CurrencyRate.Key {
    private enum CodingKeys: CodingKey {
        case currency, baseCurrency, day
    }

    /// Decodes the two currencies and the day.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let currency = try container.decode(String.self, forKey: .currency)
        let base = try container.decode(String.self, forKey: .baseCurrency)
        let day = try container.decode(String.self, forKey: .day)
        guard let pair = CurrencyRate.Pair(currency, in: base),
            let key = CurrencyRate.Key(pair, day: day)
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .day,
                in: container,
                debugDescription: "not two currencies and a day"
            )
        }
        self = key
    }

    /// Encodes the two currencies and the day.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(pair.currency, forKey: .currency)
        try container.encode(pair.baseCurrency, forKey: .baseCurrency)
        try container.encode(day, forKey: .day)
    }
}

/// All rates in the ledger for two currencies.
public struct CurrencyRateSummary: Codable, Hashable, Sendable {
    /// ISO 4217 code of the currency that is converted.
    public let currency: String
    /// ISO 4217 code of the currency that amounts are converted into.
    public let baseCurrency: String
    /// Days that have a rate.
    public let days: Int64
    /// Rates that were replaced by a later import.
    public let replaced: Int64
    /// The first day with a rate.
    public let firstDay: String
    /// The last day with a rate.
    public let lastDay: String
    /// The rate of that day.
    public let lastRate: ExactDecimal
    /// When the newest of them was imported, on our clock.
    public let recordedAt: Instant
}
