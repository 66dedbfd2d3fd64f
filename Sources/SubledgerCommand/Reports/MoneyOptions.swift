import ArgumentParser
import EventLog
import Subledger

/// How a report converts money and estimates proceeds.
struct MoneyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Convert money into this currency, for example EUR, with the rates you imported.",
            discussion: """
                A purchase is converted with the rate of its first day, UTC, a refund with the \
                rate of the day of the refund. If a day has no rate, the last rate before it is \
                used. Amounts without a rate are listed in their own currency. See `subledger \
                rates import`.
                """
        )
    )
    var currency: String?

    @Option(help: "Maximum age of a rate, in days.")
    var rateDays = ReportMoney.rateDaysDefault

    @Option(
        help: ArgumentHelp(
            "Estimate proceeds (report revenue) after commission: standard, small-business, rates.",
            discussion: """
                standard is 30 %, and 15 % for a subscription after a year of paid service; \
                small-business is 15 %; rates are those of commission and tax that you imported, \
                by the storefront and the day of each purchase. Apple signs no proceeds; without \
                this option none are printed.
                """
        ),
        transform: MoneyOptions.commission
    )
    var commission: ReportMoney.Commission?

    @Option(
        help: ArgumentHelp(
            "For --commission: the percentage of the price that is tax, by country.",
            discussion: "For example DEU=15.97,FRA=16.67; in other countries, no tax is deducted.",
            valueName: "taxes"
        ),
        transform: MoneyOptions.taxes
    )
    var tax: [String: ExactDecimal]?

    var money: ReportMoney {
        var money = ReportMoney()
        money.currency = currency
        money.rateDaysMax = rateDays
        money.commission = commission
        money.taxPercents = tax ?? [:]
        return money
    }

    private static func commission(_ word: String) throws -> ReportMoney.Commission {
        guard let commission = ReportMoney.Commission(rawValue: word) else {
            throw ValidationError(
                "invalid --commission '\(word)'; expected standard, small-business or rates"
            )
        }
        return commission
    }

    private static func taxes(_ text: String) throws -> [String: ExactDecimal] {
        var taxes: [String: ExactDecimal] = [:]
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let sides = part.split(separator: "=", omittingEmptySubsequences: false)
            guard sides.count == 2, let percent = ExactDecimal(String(sides[1])),
                taxes.updateValue(percent, forKey: String(sides[0])) == nil
            else {
                throw ValidationError(
                    "invalid tax '\(part)'; expected a country, once, and its percentage, as in "
                        + "DEU=15.97"
                )
            }
        }
        return taxes
    }
}
