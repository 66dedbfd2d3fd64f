internal import Projections

/// Amounts as text.
package enum Amount {
    /// Milliunits with the decimals of their currency; a dash if the amount is not known.
    package static func text(_ milliunits: Int64?, _ currency: String?) -> String {
        guard let milliunits else { return "–" }
        return CurrencyAmount(milliunits, currency).text
    }

    /// The amount kept of what was paid: the printed gross less the printed refund, so halves of
    /// the smallest unit are not counted on both sides.
    package static func kept(_ net: Int64?, of gross: Int64?, _ currency: String?) -> String {
        guard let net, let gross else { return text(net, currency) }
        let paid = CurrencyAmount(gross, currency).rounded
        return text(paid - CurrencyAmount(gross - net, currency).rounded, currency)
    }
}
