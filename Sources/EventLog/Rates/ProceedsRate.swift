public import Events

/// What Apple keeps of a price, and what of it is tax, as the operator states it for a storefront from
/// a day on.
public struct ProceedsRate: ImportedRate {
    /// A storefront and a day: each has one rate at a time.
    public struct Key: ImportedRateKey {
        /// Its country, ISO 3166-1 alpha-3; `everyStorefront` for those without a rate of their own.
        public let storefront: String
        /// The first day, UTC, for whose purchases it holds.
        public let day: String

        /// Nil if the storefront is neither three capital letters nor `everyStorefront`, or the day
        /// does not exist in the calendar.
        public init?(storefront: String, day: String) {
            guard storefront == Key.everyStorefront || CurrencyRate.isCode(storefront),
                CurrencyRate.isDay(day)
            else { return nil }
            self.storefront = storefront
            self.day = day
        }

        /// Stands for all storefronts without a rate of their own.
        public static let everyStorefront = "*"

        /// The storefront.
        public var words: String { storefront }
    }

    /// Percentages.
    public struct Value: Hashable, Codable, Sendable {
        /// What Apple keeps of the price without tax.
        public let commissionPercent: Percent
        /// The same for a subscription after a year of paid service.
        public let commissionAfterYearPercent: Percent
        /// The share of the price that is tax.
        public let taxPercent: Percent

        /// Without its own commission after a year, that is 15 %, or the commission if it is lower.
        public init(
            commissionPercent: Percent,
            commissionAfterYearPercent: Percent? = nil,
            taxPercent: Percent
        ) {
            self.commissionPercent = commissionPercent
            self.commissionAfterYearPercent =
                commissionAfterYearPercent ?? min(commissionPercent, .afterYear)
            self.taxPercent = taxPercent
        }
    }

    /// Its storefront and first day.
    public let key: Key
    /// Its percentages.
    public let value: Value

    /// A rate.
    public init(_ key: Key, _ value: Value) {
        self.key = key
        self.value = value
    }
}

extension ProceedsRate {
    /// The rate in words.
    public static func words(_ value: Value) -> String {
        "commission \(value.commissionPercent.text) %, after a year "
            + "\(value.commissionAfterYearPercent.text) %, tax \(value.taxPercent.text) %"
    }

    /// Where rates are stored.
    public static let table = ImportedRateTable(
        name: "operation.proceeds_rate",
        keys: ["storefront", "day"],
        values: ["commission_percent", "commission_after_year_percent", "tax_percent"]
    )

    /// The fields of the columns of the table.
    public var fields: [String] {
        [
            key.storefront, key.day, value.commissionPercent.text,
            value.commissionAfterYearPercent.text, value.taxPercent.text,
        ]
    }

    /// The rate with these fields; nil if they are not a rate.
    public static func value(_ fields: [String]) -> Value? {
        let percents = fields.compactMap { Percent($0) }
        guard percents.count == 3 else { return nil }
        return Value(
            commissionPercent: percents[0],
            commissionAfterYearPercent: percents[1],
            taxPercent: percents[2]
        )
    }
}

/// All rates of commission and tax in the ledger for a storefront.
public struct ProceedsRateSummary: Codable, Hashable, Sendable {
    /// Its country, ISO 3166-1 alpha-3; `*` for all storefronts without a rate of their own.
    public let storefront: String
    /// Days from which a rate holds.
    public let days: Int64
    /// Rates that were replaced by a later import.
    public let replaced: Int64
    /// The first of these days.
    public let firstDay: String
    /// The last of these days.
    public let lastDay: String
    /// The rate from that day on.
    public let last: ProceedsRate.Value
    /// When the newest of them was imported, on our clock.
    public let recordedAt: Instant
}

/// A percentage, exact: from 0 to less than 100, at most twelve digits after the point.
public struct Percent: Hashable, Comparable, Codable, Sendable {
    /// The number without redundant zeros: `15.97`, `30`, `0`.
    public let text: String

    /// Apple's commission for a subscription after a year of paid service.
    static let afterYear = Percent(whole: 15)

    private init(whole: Int) {
        text = "\(whole)"
    }

    /// Parses digits with at most one point; nil for anything else, and from 100 on.
    public init?(_ text: String) {
        if let number = ExactDecimal(text) {
            guard number.text.prefix(while: { $0 != "." }).count <= 2 else { return nil }
            self.text = number.text
        } else {
            // Zero, in any form in which another number would be valid.
            guard text.allSatisfy({ $0 == "0" || $0 == "." }),
                ExactDecimal(text.replacing("0", with: "1")) != nil
            else { return nil }
            self.text = "0"
        }
    }

    /// Whether the first is less than the second.
    public static func < (left: Percent, right: Percent) -> Bool {
        let (left, right) = (left.text.split(separator: "."), right.text.split(separator: "."))
        let wholes = (Int(left[0]) ?? 0, Int(right[0]) ?? 0)
        // Digits after the point have their order as text.
        return wholes.0 == wholes.1
            ? (left.count > 1 ? left[1] : "") < (right.count > 1 ? right[1] : "")
            : wholes.0 < wholes.1
    }
}
