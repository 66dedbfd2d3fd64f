internal import Projections

/// Amounts for people.
package enum Amount {
    /// Milliunits with the decimals of their currency; a dash where nothing is known.
    package static func text(_ milliunits: Int64?, _ currency: String?) -> String {
        guard let milliunits else { return "–" }
        return CurrencyAmount(milliunits, currency).text
    }

    /// What was kept of what was paid: as printed, paid less what was given back, so that halves
    /// of the smallest unit are not counted on both sides.
    package static func kept(_ net: Int64?, of gross: Int64?, _ currency: String?) -> String {
        guard let net, let gross else { return text(net, currency) }
        let paid = CurrencyAmount(gross, currency).rounded
        return text(paid - CurrencyAmount(gross - net, currency).rounded, currency)
    }
}
