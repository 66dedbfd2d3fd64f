/// The length of a period or of an offer, in the units App Store Connect offers.
package enum SubscriptionDuration: Hashable, Sendable {
    /// Days of 24 hours; only offers are this short.
    case days(Int64)
    /// Weeks of seven days.
    case weeks(Int64)
    /// Calendar months.
    case months(Int64)
    /// Calendar years.
    case years(Int64)

    /// The ISO 8601 duration, such as `P1M` (`offerPeriod`, Apple's data: transactions).
    package var iso8601: String {
        switch self {
        case .days(let count): "P\(count)D"
        case .weeks(let count): "P\(count)W"
        case .months(let count): "P\(count)M"
        case .years(let count): "P\(count)Y"
        }
    }
}
