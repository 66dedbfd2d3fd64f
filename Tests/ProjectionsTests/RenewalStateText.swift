import Projections

/// The rows of a stream as scenarios write them: `STATUS CHARGE FROM..[TO] [on|off] [next=]
/// [consent] [because=REASON] [price=] [offer=TYPE/ID] [plan=] [commitment=]`; unknown values
/// are left out, and so is the end of an open row.
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
        if let reason = row.expirationReason { words.append("because=\(reason.rawValue)") }
        if let price = row.terms?.priceMilliunits {
            words.append("price=\(price)" + (row.terms?.currency ?? ""))
        }
        if let seats = row.terms?.seatQuantity {
            words.append("seats=\(seats)/\(row.terms?.totalMilliunits ?? 0)")
        }
        if let bundle = row.terms?.bundleProductId {
            words.append((row.terms?.willUnbundle == true ? "leaves=" : "bundle=") + bundle)
        }
        if let offer = row.terms?.offer {
            let parts = [
                offer.type.map { "\($0)" }, offer.identifier, offer.discountType, offer.period,
            ]
            words.append("offer=" + parts.compactMap { $0 }.joined(separator: "/"))
        }
        if let plan = row.terms?.billingPlanType { words.append("plan=\(plan)") }
        if let commitment = row.terms?.commitment {
            let isOn = commitment.isAutoRenewOn.map { $0 ? "on" : "off" } ?? "?"
            words.append("commitment=\(commitment.renewalDate.map(text) ?? "?")/\(isOn)")
        }
        return words.joined(separator: " ")
    }
}
