package import EventLog

/// How a report converts and estimates money; the default is neither.
package struct ReportMoney: Codable, Hashable, Sendable {
    /// The currency that amounts are converted into, ISO 4217; nil for none.
    package var currency: String?
    /// The number of days after its own day for which a rate may be used.
    package var rateDaysMax = ReportMoney.rateDaysDefault
    /// Apple's commission, for an estimate of the proceeds; nil for no estimate.
    package var commission: Commission?
    /// The share of the price that is tax, in percent, by the storefront's country (ISO 3166-1
    /// alpha-3); for other countries, no tax is deducted.
    package var taxPercents: [String: ExactDecimal] = [:]

    /// The default number of days for which a rate may be used: banks publish none on weekends and
    /// holidays.
    package static let rateDaysDefault = 7

    /// The most days that a question may request.
    package static let rateDaysMax = 366

    /// Apple's commission.
    package enum Commission: String, CaseIterable, Codable, Sendable {
        /// 30 %, and 15 % for a subscription after a year of paid service.
        case standard
        /// 15 %, the App Store Small Business Program.
        case smallBusiness = "small-business"
        /// The imported rates of commission and tax, by storefront and first day of the purchase.
        case rates
    }

    /// Amounts as Apple signed them.
    package init() {}

    /// Whether any conversion or estimate is requested.
    var isAsked: Bool { currency != nil || commission != nil }

    /// Whether it uses rates that the operator imported.
    var usesRates: Bool { currency != nil || commission == .rates }

    /// Refuses combinations that make no sense.
    func check(_ report: Report) throws(QuestionError) {
        try QuestionError.refuse(
            unless: !isAsked || report.hasMoney,
            "report \(report.name) has no money; --currency and --commission are for reports that "
                + "have"
        )
        if let currency {
            try QuestionError.refuse(
                unless: CurrencyRate.isCode(currency),
                "invalid currency '\(currency)': expected three capital letters (ISO 4217), as in EUR"
            )
        }
        try QuestionError.refuse(
            unless: (0...ReportMoney.rateDaysMax).contains(rateDaysMax),
            "a rate cannot be used for \(rateDaysMax) days; expected 0 to \(ReportMoney.rateDaysMax)"
        )
        try QuestionError.refuse(
            unless: commission == nil || report.hasProceeds,
            "report \(report.name) has no estimate of proceeds; `subledger report revenue` has"
        )
        try QuestionError.refuse(
            unless: commission != nil || taxPercents.isEmpty,
            "taxes are for an estimate of proceeds, which needs --commission"
        )
        try QuestionError.refuse(
            unless: commission != .rates || taxPercents.isEmpty,
            "the imported rates of --commission rates contain taxes: leave out --tax"
        )
        for (country, percent) in taxPercents.sorted(by: { $0.key < $1.key }) {
            try QuestionError.refuse(
                unless: country.utf8.count == 3
                    && country.utf8.allSatisfy { (65...90).contains($0) },
                "invalid country '\(country)': expected that of a storefront, three capital letters "
                    + "(ISO 3166-1), as in DEU"
            )
            try QuestionError.refuse(
                unless: percent.text.prefix { $0 != "." }.count <= 2,
                "invalid tax of \(country), \(percent.text) %: expected the share of the price that "
                    + "is tax, below 100 %"
            )
        }
    }

    /// What of it a report accepts; nil if nothing.
    func accepted(by report: Report) -> ReportMoney? {
        guard report.hasMoney else { return nil }
        var accepted = self
        if !report.hasProceeds { (accepted.commission, accepted.taxPercents) = (nil, [:]) }
        // Taxes without a commission are kept, so that they are refused as everywhere.
        return accepted.isAsked || !accepted.taxPercents.isEmpty ? accepted : nil
    }

    /// The end of the name of a file with such a report: `-EUR`, or `-proceeds` in the currencies
    /// of the customers.
    var fileSuffix: String { "-" + (currency ?? "proceeds") }

    /// The command-line arguments that request the same again.
    var arguments: String {
        var words = ""
        if let currency {
            words += " --currency \(currency)"
            if rateDaysMax != ReportMoney.rateDaysDefault { words += " --rate-days \(rateDaysMax)" }
        }
        if let commission { words += " --commission \(commission.rawValue)" }
        if !taxPercents.isEmpty { words += " --tax \(taxWords)" }
        return words
    }

    /// The taxes, by country: `DEU=15.97,FRA=16.67`.
    package var taxWords: String {
        taxPercents.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.text)" }
            .joined(separator: ",")
    }
}

extension Report {
    // Whether its proceeds can be estimated.
    fileprivate var hasProceeds: Bool { name == "revenue" }
}
