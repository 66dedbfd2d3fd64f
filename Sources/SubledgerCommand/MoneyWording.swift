import EventLog
import Projections
import Subledger

/// Amounts for people.
enum Amount {
    /// Milliunits of any currency, 9990 as 9.99, and a yen is 1000 too (app-store.md §D.1); a dash
    /// where nothing is known.
    static func text(_ milliunits: Int64?, _ currency: String?) -> String {
        guard let milliunits else { return "–" }
        let sign = milliunits < 0 ? "-" : ""
        let (whole, rest) = milliunits.magnitude.quotientAndRemainder(dividingBy: 1000)
        let digits = String(rest + 1000).dropFirst()
        let fraction = digits.hasSuffix("0") ? digits.dropLast() : digits
        return "\(sign)\(whole).\(fraction)" + (currency.map { " \($0)" } ?? "")
    }
}

extension [PositionValue] {
    /// The cited events for tables.
    var text: String { map { "#\($0)" }.joined(separator: " ") }
}
