/// Information for Apple about a purchase whose customer asks for a refund.
///
/// It is personal data: it is only sent with the customer's consent, by an operator's command or
/// policy. Without the consent, Apple refuses it.
package struct ConsumptionInformation: Hashable, Sendable {
    /// Whether the purchase was delivered, and works.
    package let deliveryStatus: DeliveryStatus
    /// Whether a sample, a trial or a description was available before the purchase.
    package let isSampleProvided: Bool
    /// The share that was used, in thousandths of a percent, 0 to `percentageMax`; nil if unknown.
    package let consumptionPercentage: Int?
    /// The decision that the developer prefers; nil for no preference.
    package let refundPreference: RefundPreference?

    /// The whole purchase, in thousandths of a percent.
    package static let percentageMax = 100_000

    /// Whether a purchase was delivered; the raw values are Apple's.
    package enum DeliveryStatus: String, CaseIterable, Hashable, Sendable {
        /// Delivered, and works.
        case delivered = "DELIVERED"
        /// Delivered, but does not work as it should.
        case undeliveredQualityIssue = "UNDELIVERED_QUALITY_ISSUE"
        /// A different item was delivered.
        case undeliveredWrongItem = "UNDELIVERED_WRONG_ITEM"
        /// Not delivered, because a server was down.
        case undeliveredServerOutage = "UNDELIVERED_SERVER_OUTAGE"
        /// Not delivered, for another reason.
        case undeliveredOther = "UNDELIVERED_OTHER"
    }

    /// A preferred decision; the raw values are Apple's.
    package enum RefundPreference: String, CaseIterable, Hashable, Sendable {
        /// No refund.
        case decline = "DECLINE"
        /// A full refund.
        case grantFull = "GRANT_FULL"
        /// A refund of the unused part.
        case grantProrated = "GRANT_PRORATED"
    }

    /// Creates the information; nil if the percentage is out of range.
    package init?(
        deliveryStatus: DeliveryStatus,
        isSampleProvided: Bool,
        consumptionPercentage: Int?,
        refundPreference: RefundPreference?
    ) {
        let range = 0...ConsumptionInformation.percentageMax
        guard consumptionPercentage.map(range.contains) ?? true else { return nil }
        self.deliveryStatus = deliveryStatus
        self.isSampleProvided = isSampleProvided
        self.consumptionPercentage = consumptionPercentage
        self.refundPreference = refundPreference
    }

    /// The JSON body; it always states that the customer consented.
    package var body: String {
        var members = [
            #""customerConsented":true"#, #""sampleContentProvided":\#(isSampleProvided)"#,
            #""deliveryStatus":"\#(deliveryStatus.rawValue)""#,
        ]
        if let consumptionPercentage {
            members.append(#""consumptionPercentage":\#(consumptionPercentage)"#)
        }
        if let refundPreference {
            members.append(#""refundPreference":"\#(refundPreference.rawValue)""#)
        }
        return "{" + members.joined(separator: ",") + "}"
    }
}
