internal import AppStoreSimulator
internal import Events
internal import Foundation

/// The body of a purchase.
struct PurchaseBody: Decodable {
    let productId: String
    let environment: String?
    let offer: String?
    let appAccountToken: String?
    /// How many seats to buy; nil for a purchase for one customer.
    let seats: Int64?
    /// Who manages the members: APPLE or DEVELOPER.
    let invitationManagement: String?
}

/// The body of an action; each reads the members that it needs.
struct ActionBody: Decodable {
    let productId: String?
    let offer: String?
    let graceDays: Int64?
    let percentage: Int64?
    let days: Int64?
    let appAccountToken: String?
    let seats: Int64?
    let seatClaimIds: [String]?
}

/// An action on a subscription, named by the last part of its path.
enum ControlAction: String, CaseIterable {
    case refund, extend, expire, change, subscribe
    case reverseRefund = "reverse-refund"
    case requestRefund = "request-refund"
    case declineRefund = "decline-refund"
    case autoRenewOff = "auto-renew-off"
    case autoRenewOn = "auto-renew-on"
    case failBilling = "fail-billing"
    case recoverBilling = "recover-billing"
    case setToken = "set-app-account-token"
    case addSeats = "add-seats"
    case changeSeats = "change-seats"
    case refundSeats = "refund-seats"
    case unclaimSeats = "unclaim-seats"

    /// The longest grace period, in days: what App Store Connect offers.
    private static let graceDaysMax: Int64 = 28

    /// The decision of an action.
    func decision(_ body: ActionBody) throws(ControlError) -> DirectedLife.Decision {
        switch self {
        case .refund:
            guard body.percentage.map({ (1...100_000).contains($0) }) ?? true else {
                throw .badBody("percentage must be from 1 to 100000, thousandths of a percent")
            }
            return .refund(percentage: body.percentage)
        case .extend:
            guard let days = body.days, (1...90).contains(days) else {
                throw .badBody("days must be from 1 to 90")
            }
            return .extend(days: days)
        case .expire: return .expire
        case .change: return .change(to: try ControlAction.product(body.productId))
        case .subscribe:
            let product = try ControlAction.product(body.productId)
            return .subscribe(product, offer: try ControlAction.offer(body.offer, of: product))
        case .reverseRefund: return .reverseRefund
        case .requestRefund: return .requestRefund
        case .declineRefund: return .declineRefund
        case .autoRenewOff: return .turnAutoRenewOff
        case .autoRenewOn: return .turnAutoRenewOn
        case .failBilling:
            guard body.graceDays.map({ (1...ControlAction.graceDaysMax).contains($0) }) ?? true
            else { throw .badBody("graceDays must be from 1 to \(ControlAction.graceDaysMax)") }
            return .failBilling(graceDays: body.graceDays)
        case .recoverBilling: return .recoverBilling
        case .setToken:
            guard let token = try ControlAction.token(body.appAccountToken) else {
                throw .badBody("appAccountToken is missing; expected a UUID")
            }
            return .setAppAccountToken(token)
        case .addSeats: return .addSeats(try ControlAction.quantity(body.seats))
        case .changeSeats: return .changeSeats(to: try ControlAction.quantity(body.seats))
        case .refundSeats: return .refundSeats(try ControlAction.quantity(body.seats))
        case .unclaimSeats:
            guard let claims = body.seatClaimIds, !claims.isEmpty else {
                throw .badBody("seatClaimIds is missing; expected the ids of claims")
            }
            return .unclaimSeats(claims)
        }
    }

    private static func quantity(_ seats: Int64?) throws(ControlError) -> Int64 {
        guard let seats, (1...SimulatedSeats.quantityMax).contains(seats) else {
            throw .badBody("seats must be from 1 to \(SimulatedSeats.quantityMax)")
        }
        return seats
    }

    /// The seats to buy; nil for a purchase for one customer.
    static func seats(_ body: PurchaseBody) throws(ControlError) -> SimulatedSeats? {
        guard let seats = body.seats else { return nil }
        let word = body.invitationManagement ?? SimulatedSeats.Invitations.apple.rawValue
        guard let invitations = SimulatedSeats.Invitations(rawValue: word) else {
            throw .badBody("invitationManagement must be APPLE or DEVELOPER")
        }
        return SimulatedSeats(try quantity(seats), invitations: invitations)
    }

    /// A product that the app sells.
    static func product(_ id: String?) throws(ControlError) -> SimulatedProduct {
        let products = SimulatedCatalog.groups.flatMap(\.self)
        guard let product = products.first(where: { $0.id == id }) else {
            throw .badBody(
                "no subscription product '\((id ?? "").prefix(128))'; /control/products lists all"
            )
        }
        return product
    }

    /// An introductory offer by Apple's word for how it is paid; nil for none.
    static func offer(
        _ word: String?,
        of product: SimulatedProduct
    ) throws(ControlError) -> SimulatedOffer? {
        switch word {
        case nil: return nil
        case "FREE_TRIAL": return .free(.weeks(1))
        case "PAY_UP_FRONT": return .payUpFront(.months(3))
        case "PAY_AS_YOU_GO": return .payAsYouGo(product.duration, periods: 3)
        default: throw .badBody("offer must be FREE_TRIAL, PAY_UP_FRONT or PAY_AS_YOU_GO")
        }
    }

    /// A token, as Apple writes it; nil for none.
    static func token(_ text: String?) throws(ControlError) -> String? {
        guard let text else { return nil }
        guard let token = UUID(uuidString: text) else {
            throw .badBody("appAccountToken must be a UUID")
        }
        return token.uuidString.lowercased()
    }
}

/// Why a command was refused.
struct ControlError: Error, Encodable {
    let error: String
    let message: String
    let status: Int

    private enum CodingKeys: String, CodingKey { case error, message }

    static func badBody(_ message: String) -> ControlError {
        ControlError(error: "bad-request", message: message, status: 400)
    }

    static func notFound(_ message: String) -> ControlError {
        ControlError(error: "not-found", message: message, status: 404)
    }

    /// The error for an action that the App Store would not allow.
    static func impossible(_ message: String) -> ControlError {
        ControlError(error: "not-possible", message: message, status: 409)
    }
}
