/// What a developer may tell Apple about a purchase whose customer wants a refund.
///
/// It is about a person: it is sent only by an operator's command, and only with the customer's
/// consent, without which Apple refuses it.
public struct ConsumptionInformation: Hashable, Sendable {
    /// Whether the purchase was delivered, and worked.
    public let deliveryStatus: DeliveryStatus
    /// Whether the customer could try it before.
    public let isSampleProvided: Bool
    /// How much of it was used, in thousandths of a percent, 0 to `percentageMax`; nil where that is
    /// not known.
    public let consumptionPercentage: Int?
    /// What the developer would like Apple to decide; nil for no wish.
    public let refundPreference: RefundPreference?

    /// All of it, in thousandths of a percent.
    public static let percentageMax = 100_000

    /// Whether a purchase was delivered; the raw values are Apple's.
    public enum DeliveryStatus: String, CaseIterable, Hashable, Sendable {
        /// It was, and works.
        case delivered = "DELIVERED"
        /// It does not work as it should.
        case undeliveredQualityIssue = "UNDELIVERED_QUALITY_ISSUE"
        /// Something else was delivered.
        case undeliveredWrongItem = "UNDELIVERED_WRONG_ITEM"
        /// A server was down.
        case undeliveredServerOutage = "UNDELIVERED_SERVER_OUTAGE"
        /// It was not, for another reason.
        case undeliveredOther = "UNDELIVERED_OTHER"
    }

    /// What Apple is wished to decide; the raw values are Apple's.
    public enum RefundPreference: String, CaseIterable, Hashable, Sendable {
        /// No refund.
        case decline = "DECLINE"
        /// All of it.
        case grantFull = "GRANT_FULL"
        /// For the part that was not used.
        case grantProrated = "GRANT_PRORATED"
    }

    /// Information; nil for a percentage out of range.
    public init?(
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

    /// The JSON body; that there is one says that the customer consented.
    var body: String {
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
