import Events
import Testing

/// The words of `TimelineText` about seats and bundles, as Apple's JSON states them.
///
/// `seats=8x1000+4x800` (tiers: seats and the price of one), `taken=3` (seats taken back),
/// `added` (its period has several transactions), `by=DEVELOPER` (who manages members), `assigned`,
/// `next-seats=6x1000` in renewal info, and `bundle=PRODUCT`.
struct SeatText {
    private var info: [String: String] = [:]
    private var members: [String: String] = [:]

    /// Sets a word; false if it is about something else.
    mutating func set(
        _ word: String,
        _ value: String,
        in content: inout Content
    ) throws -> Bool {
        switch word {
        case "seats":
            let tiers = try SeatText.tiers(value)
            let seats = tiers.reduce(0) { $0 + $1.quantity }
            content[.quantity] = .integer(seats)
            content[.price] = .integer(tiers.reduce(0) { $0 + $1.quantity * $1.price } / seats)
            content[.currency] = .text("EUR")
            info["invitationManagement"] = info["invitationManagement"] ?? "\"APPLE\""
            info["priceTiers"] = SeatText.json(tiers)
        case "next-seats":
            let tiers = try SeatText.tiers(value)
            let seats = tiers.reduce(0) { $0 + $1.quantity }
            members["renewalQuantity"] = "\(seats)"
            content[.renewalPrice] = .integer(
                tiers.reduce(0) { $0 + $1.quantity * $1.price } / seats
            )
            content[.currency] = .text("EUR")
            info["renewalPriceTiers"] = SeatText.json(tiers)
        case "taken": info["revokedSeatQuantity"] = value
        case "by": info["invitationManagement"] = "\"\(value)\""
        case "added": members["additionalTransactionReason"] = "\"SEAT_ADDITION\""
        case "assigned": content[.inAppOwnershipType] = .text("ASSIGNED")
        case "bundle":
            members["bundleProductId"] = "\"\(value)\""
            members["bundleOriginalTransactionId"] = "\"8000\""
        case "unbundles": members["willUnbundle"] = "true"
        case "previous": content[.previousOriginalTransactionId] = .text(value)
        default: return false
        }
        if !info.isEmpty { members["multiSeatInfo"] = SeatText.object(info) }
        if !members.isEmpty { content[.extra] = .text(SeatText.object(members)) }
        return true
    }

    private typealias Tier = (quantity: Int64, price: Int64)

    private static func tiers(_ text: String) throws -> [Tier] {
        try text.split(separator: "+").map { tier in
            let parts = tier.split(separator: "x").map { Int64($0) }
            try #require(parts.count == 2, "no tier: \(tier)")
            return (try #require(parts[0]), try #require(parts[1]))
        }
    }

    private static func json(_ tiers: [Tier]) -> String {
        "["
            + tiers.map { "{\"price\":\($0.price),\"quantity\":\($0.quantity)}" }
            .joined(separator: ",") + "]"
    }

    // In canonical form: names in the order of their bytes.
    private static func object(_ members: [String: String]) -> String {
        let ordered = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        return "{" + ordered.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }
}
