internal import Events
internal import Projections

extension Fact {
    /// What a transaction cost, with its seats; nil if Apple did not state it, or if the
    /// customer did not pay: the transaction of a seat's member repeats what its purchaser paid.
    var priceWords: String? {
        guard let price = content.integer(.price) else { return nil }
        let currency = content.text(.currency)
        guard let seats = content.seats, let quantity = seats.quantity else {
            return Amount.text(price, currency)
        }
        let sharing = content.text(.inAppOwnershipType).flatMap(Sharing.init(ownershipType:))
        guard sharing == nil else { return nil }
        return Self.seats(quantity) + " for "
            + Amount.text(seats.total(averagePrice: price), currency)
            + (seats.revokedQuantity > 0 ? ", \(seats.revokedQuantity) taken back" : "")
    }

    /// How many seats renew; nil if renewal info does not state it.
    var renewalSeatWords: String? {
        content.renewalQuantity.map { "renews with " + Self.seats($0) }
    }

    private static func seats(_ quantity: Int64) -> String {
        quantity == 1 ? "1 seat" : "\(quantity) seats"
    }

    /// What a notification states in a section of its own; empty for most.
    var sectionWords: [String] {
        guard let extra = content.text(.extra).map({ ExtraObject($0) }) else { return [] }
        var words: [String] = []
        if let ids = extra["unclaimInfo"].flatMap({ ExtraObject($0)["unclaimSeatIds"] }) {
            let count = ExtraObject.elements(of: ids).count
            words.append(count == 1 ? "1 claim released" : "\(count) claims released")
        }
        if let token = extra["externalPurchaseToken"].map({ ExtraObject($0) }) {
            if let type = token.text("tokenType") {
                words.append("token for " + ExternalPurchaseTokenType(type).words)
            }
            if let end = token.instant("tokenExpirationDate") {
                words.append("expires \(end.clock)")
            }
        }
        return words
    }
}

/// What a token of a custom external purchase link is for (Apple's data: version 2 payload).
enum ExternalPurchaseTokenType: Hashable, Sendable {
    /// The European Union: the fee for a new customer.
    case acquisition
    /// The European Union: the fee for the store's services.
    case services
    /// Other regions: a purchase in the app.
    case inApp
    /// Other regions: a purchase on a page that a link opens.
    case linkOut
    /// A type that this program does not know, in Apple's word.
    case unrecognised(String)

    /// The type with Apple's word.
    init(_ word: String) {
        self =
            switch word {
            case "ACQUISITION": .acquisition
            case "SERVICES": .services
            case "IN_APP": .inApp
            case "LINK_OUT": .linkOut
            default: .unrecognised(word)
            }
    }

    /// The type as text.
    var words: String {
        switch self {
        case .acquisition: "acquisition"
        case .services: "store services"
        case .inApp: "a purchase in the app"
        case .linkOut: "a purchase by link"
        case .unrecognised(let word): word
        }
    }
}
