internal import Events

/// What is drawn only for an app that sells seats, bundles and retention offers.
extension RandomStory {
    /// Draws a change of seats, bundle or retention offer; false if it drew none.
    mutating func drawExtraChange(at: Instant) -> Bool {
        if machine.state.seats != nil, generator.chance(percent: 60) {
            return drawSeatChange(at: at)
        }
        if identity.bundle != nil, machine.state.isAutoRenewOn, generator.chance(percent: 20) {
            add(.leaveBundle(at: at))
            return true
        }
        guard !extras.isEmpty else { return false }
        if extras.contains(.bundles), identity.bundle == nil, generator.chance(percent: 4),
            machine.state.additions(to: machine.state.purchases.count - 1).isEmpty
        {
            add(.moveToBundle(at: at))
            return true
        }
        guard extras.contains(.retentionOffers), machine.state.isAutoRenewOn,
            machine.state.seats == nil, generator.chance(percent: 6)
        else { return false }
        add(.redeem(.payUpFront(.months(1), .retention, identifier: "PLEASESTAY"), at: at))
        return true
    }

    /// Draws a purchase after a lapse, of seats if the life is about seats.
    mutating func subscribeAgain(withOffer: Bool, at: Instant) {
        let product = returningProduct()
        guard let seats else {
            return add(.subscribe(product, offer: withOffer ? returningOffer() : nil, at: at))
        }
        let quantity = identity.isMember ? seats.quantity : generator.integer(in: 1...15)
        let again = SimulatedSeats(quantity, invitations: seats.invitations)
        add(.buySeats(product, again, at: at))
    }

    private mutating func drawSeatChange(at: Instant) -> Bool {
        guard let coming = machine.state.seats?.quantity else { return false }
        switch generator.integer(in: 0...9) {
        case 0..<4:
            guard coming < SimulatedSeats.quantityMax / 2 else { return false }
            add(.addSeats(generator.integer(in: 1...8), at: at))
        case 4..<6:
            let quantity = generator.integer(in: 1...20)
            guard quantity != coming else { return false }
            add(.changeSeatsAtRenewal(to: quantity, at: at))
        case 6..<8:
            let choices = refundable(at: at).filter { $0.left > 1 }
            guard let choice = generator.element(of: choices) else { return false }
            let quantity = generator.integer(in: 1...(choice.left - 1))
            add(.refundSeats(choice.transaction, quantity: quantity, at: at))
        case 8..<9:
            let additions = refundable(at: at).filter {
                if case .addition = $0.transaction { true } else { false }
            }
            guard let choice = generator.element(of: additions) else { return false }
            add(.refundSeats(choice.transaction, quantity: nil, at: at))
        default:
            guard machine.state.newest?.seats?.invitations == .developer else { return false }
            let count = generator.integer(in: 1...3)
            add(.unclaimSeats((0..<count).map { _ in generator.uuid() }, at: at))
        }
        return true
    }

    // The transactions with seats that are not refunded, and how many those are.
    private func refundable(at: Instant) -> [(transaction: SeatTransaction, left: Int64)] {
        let state = machine.state
        let purchases = state.purchases.indices.map {
            (SeatTransaction.purchase($0), state.purchases[$0])
        }
        let additions = state.additions.indices.map {
            (SeatTransaction.addition($0), state.purchase(of: state.additions[$0]))
        }
        return (purchases + additions).compactMap { transaction, purchase in
            guard let seats = purchase.seats, purchase.revocation == nil,
                purchase.purchaseDate <= at
            else { return nil }
            return (transaction, seats.tiers.quantity - seats.revoked)
        }
    }
}

/// What a life is about, in an app that sells seats and bundles.
struct ExtraRole {
    /// The seats that are bought first, or of which one is assigned.
    private(set) var seats: SimulatedSeats?
    /// On what ground there is access; nil if that is drawn as in any app.
    private(set) var ownership: LifeIdentity.Ownership?
    /// The bundle that the subscription is a part of.
    private(set) var bundle: SimulatedBundle?
    /// The subscription that this one replaced.
    private(set) var previousOriginalTransactionId: String?

    /// The role of a life; it follows from the seed.
    init(seed: UInt64, index: Int, _ extras: AppStoreSimulator.Extras) {
        guard !extras.isEmpty else { return }
        var generator = SeededGenerator(seed: seed ^ Self.branch, branch: UInt64(index))
        let draw = generator.integer(in: 0...99)
        let quantity = generator.integer(in: 1...15)
        let isHosted = generator.chance(percent: 60)
        let other = String(100_000_000_000_000 + generator.integer(in: 0...999_999_999) * 1000)
        switch draw {
        case 0..<30 where extras.contains(.seats):
            seats = SimulatedSeats(quantity, invitations: isHosted ? .apple : .developer)
            ownership = .purchased
        case 30..<42 where extras.contains(.seats):
            seats = SimulatedSeats(quantity, invitations: .apple)
            ownership = .assigned
        case 42..<54 where extras.contains(.bundles):
            bundle = isHosted ? .office(other) : .suite(other)
            ownership = .purchased
        case 54..<60 where extras.contains(.bundles):
            previousOriginalTransactionId = other
            ownership = .purchased
        default: break
        }
    }

    private static let branch: UInt64 = 0x4558_5452_4153_0000
}

extension SimulatedBundle {
    /// A bundle, whose parts are also sold alone.
    static func office(_ originalTransactionId: String) -> SimulatedBundle {
        SimulatedBundle(
            productId: "example.subledger.office",
            group: "21400010",
            originalTransactionId: originalTransactionId
        )
    }

    /// A suite, whose parts are sold only together.
    static func suite(_ originalTransactionId: String) -> SimulatedBundle {
        SimulatedBundle(
            productId: "example.subledger.studio",
            group: "21400011",
            originalTransactionId: originalTransactionId
        )
    }
}
