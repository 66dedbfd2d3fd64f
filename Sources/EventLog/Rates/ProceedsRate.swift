package import Events

/// What Apple keeps of a price, and what of it is tax, as the operator states it for a storefront from
/// a day on.
package struct ProceedsRate: ImportedRate {
    /// A storefront and a day: each has one rate at a time.
    package struct Key: ImportedRateKey {
        /// Its country, ISO 3166-1 alpha-3; `everyStorefront` for those without a rate of their own.
        package let storefront: String
        /// The first day, UTC, for whose purchases it holds.
        package let day: String

        /// Nil if the storefront is neither three capital letters nor `everyStorefront`, or the day
        /// does not exist in the calendar.
        package init?(storefront: String, day: String) {
            guard storefront == Key.everyStorefront || CurrencyRate.isCode(storefront),
                CurrencyRate.isDay(day)
            else { return nil }
            self.storefront = storefront
            self.day = day
        }

        /// Stands for all storefronts without a rate of their own.
        package static let everyStorefront = "*"

        /// The storefront.
        package var words: String { storefront }
    }

    /// Percentages.
    package struct Value: Hashable, Codable, Sendable {
        /// What Apple keeps of the price without tax.
        package let commissionPercent: Percent
        /// The same for a subscription after a year of paid service.
        package let commissionAfterYearPercent: Percent
        /// The share of the price that is tax.
        package let taxPercent: Percent

        /// Without its own commission after a year, that is 15 %, or the commission if it is lower.
        package init(
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
    package let key: Key
    /// Its percentages.
    package let value: Value

    /// A rate.
    package init(_ key: Key, _ value: Value) {
        self.key = key
        self.value = value
    }
}

extension ProceedsRate {
    /// The rate in words.
    package static func words(_ value: Value) -> String {
        "commission \(value.commissionPercent.text) %, after a year "
            + "\(value.commissionAfterYearPercent.text) %, tax \(value.taxPercent.text) %"
    }

    /// Where rates are stored.
    package static let table = ImportedRateTable(
        name: "operation.proceeds_rate",
        keys: ["storefront", "day"],
        values: ["commission_percent", "commission_after_year_percent", "tax_percent"]
    )

    /// The fields of the columns of the table.
    package var fields: [String] {
        [
            key.storefront, key.day, value.commissionPercent.text,
            value.commissionAfterYearPercent.text, value.taxPercent.text,
        ]
    }

    /// The rate with these fields; nil if they are not a rate.
    package static func value(_ fields: [String]) -> Value? {
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
package struct ProceedsRateSummary: Codable, Hashable, Sendable {
    /// Its country, ISO 3166-1 alpha-3; `*` for all storefronts without a rate of their own.
    package let storefront: String
    /// Days from which a rate holds.
    package let days: Int64
    /// Rates that were replaced by a later import.
    package let replaced: Int64
    /// The first of these days.
    package let firstDay: String
    /// The last of these days.
    package let lastDay: String
    /// The rate from that day on.
    package let last: ProceedsRate.Value
    /// When the newest of them was imported, on our clock.
    package let recordedAt: Instant
}

/// A percentage, exact: from 0 to less than 100, at most twelve digits after the point.
package struct Percent: Hashable, Comparable, Codable, Sendable {
    /// The number without redundant zeros: `15.97`, `30`, `0`.
    package let text: String

    /// Apple's commission for a subscription after a year of paid service.
    static let afterYear = Percent(whole: 15)

    private init(whole: Int) {
        text = "\(whole)"
    }

    /// Parses digits with at most one point; nil for anything else, and from 100 on.
    package init?(_ text: String) {
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
    package static func < (left: Percent, right: Percent) -> Bool {
        let (left, right) = (left.text.split(separator: "."), right.text.split(separator: "."))
        let wholes = (Int(left[0]) ?? 0, Int(right[0]) ?? 0)
        // Digits after the point have their order as text.
        return wholes.0 == wholes.1
            ? (left.count > 1 ? left[1] : "") < (right.count > 1 ? right[1] : "")
            : wholes.0 < wholes.1
    }
}
