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

extension String {
    /// A written number with a comma after every three digits of its whole part: `12,345.60 EUR`.
    package var grouped: String {
        let start = firstIndex(where: \.isWholeNumber) ?? endIndex
        let digits = self[start...].prefix(while: \.isWholeNumber)
        let groups = digits.enumerated().map { index, digit in
            (index > 0 && (digits.count - index).isMultiple(of: 3) ? "," : "") + String(digit)
        }
        return self[..<start] + groups.joined() + self[digits.endIndex...]
    }
}
