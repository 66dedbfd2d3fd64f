import Events

/// The offer under which a purchase was made, as the formats before JWS state it.
struct ReceiptOffer {
    var isTrial = false
    var isIntroductory = false
    var promotionalOfferId: String?
    var offerCodeName: String?
}

extension ContentBuilder {
    /// Records the offer with the codes of a JWS: type 1 introductory, 2 promotional, 3 offer code
    /// (Apple's data: transactions).
    ///
    /// No offer means nothing: these formats do not cover all kinds of offers.
    mutating func take(_ offer: ReceiptOffer) {
        if let name = offer.promotionalOfferId {
            set(.offerType, .integer(2))
            set(.offerIdentifier, .text(name))
        } else if let name = offer.offerCodeName {
            set(.offerType, .integer(3))
            set(.offerIdentifier, .text(name))
        } else if offer.isTrial || offer.isIntroductory {
            set(.offerType, .integer(1))
        }
        if offer.isTrial { set(.offerDiscountType, .text("FREE_TRIAL")) }
    }
}
