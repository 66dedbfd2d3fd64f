import EventLog
import Projections
import Subledger

/// Amounts for people.
enum Amount {
    /// Milliunits with the decimals of their currency; a dash where nothing is known.
    static func text(_ milliunits: Int64?, _ currency: String?) -> String {
        guard let milliunits else { return "–" }
        return CurrencyAmount(milliunits, currency).text
    }
}

extension [PositionValue] {
    /// The cited events for tables.
    var text: String { map { "#\($0)" }.joined(separator: " ") }
}
