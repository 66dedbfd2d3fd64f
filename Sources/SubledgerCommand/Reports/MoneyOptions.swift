import ArgumentParser
import EventLog
import Subledger

/// How a report converts money and estimates proceeds.
struct MoneyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Convert money into this currency, as in EUR, by the rates that you imported.",
            discussion: """
                A purchase is converted by the rate of the day of its start, UTC, a refund on its own \
                date by that of its day: the last rate on or before it. What has no rate is listed in \
                its own currency. See `subledger rates import`.
                """
        )
    )
    var currency: String?

    @Option(help: "Days for which a rate may be used after its own.")
    var rateDays = ReportMoney.rateDaysDefault

    @Option(
        help: ArgumentHelp(
            "Estimate proceeds (report revenue) after Apple's commission: standard, small-business.",
            discussion: """
                standard is 30 %, and 15 % of a subscription after a year of paid service; \
                small-business is 15 %. Apple signs no proceeds: without this there is no estimate.
                """
        ),
        transform: MoneyOptions.commission
    )
    var commission: ReportMoney.Commission?

    @Option(
        help: ArgumentHelp(
            "For that estimate, the share of the price that is tax, in percent, by country.",
            discussion: "As in DEU=15.97,FRA=16.67; nothing is taken off in other countries.",
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
                "invalid --commission '\(word)'; expected standard or small-business"
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
