import Projections

/// The rows of a stream as scenarios write them: `STATUS CHARGE FROM..[TO] [on|off] [next=]
/// [consent]`; what is unknown is left out, and so is the end of a row until further notice.
func describe(_ states: RenewalStates) -> [String] {
    let text = TimelineText.text
    return states.rows.map { row in
        var words = [
            row.status.description, row.charge.rawValue,
            "\(text(row.validFrom))..\(row.validTo.map(text) ?? "")",
        ]
        if let isOn = row.isAutoRenewOn { words.append(isOn ? "on" : "off") }
        if let product = row.autoRenewProductId { words.append("next=\(product)") }
        if let consent = row.priceConsent { words.append(consent.rawValue) }
        return words.joined(separator: " ")
    }
}
