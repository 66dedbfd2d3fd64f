public import AppStore
internal import AppStoreSimulator
public import Events
public import Foundation
internal import Synchronization

/// An App Store that a test controls: customers buy, renew and are refunded when the test says
/// so, and each call returns what Apple would send about it, signed.
///
/// Its clock stands still until the test moves it, or until a call needs time: `renew` moves it to
/// the end of the period, every other call by at most a minute or two, because Apple signs a
/// notification some seconds after the fact. Subscriptions renew by themselves when their time
/// comes.
///
/// Everything follows from the seed, the keys included: trust ``policy`` in tests alone. Safe to use
/// from many tasks.
public final class TestStore: Sendable {
    /// What a ledger has to trust to accept what this store signs, and nothing else: its root
    /// certificate, its app and its environment.
    public let policy: VerificationPolicy

    private let seed: UInt64
    private let store: SimulatedStore
    private let state: Mutex<State>

    fileprivate struct State {
        var now: Instant
        var subscriptions: [Subscription] = []
    }

    fileprivate struct Subscription {
        var life: DirectedLife
        /// The number of events that were reported.
        var reportedCount = 0
    }

    /// A store in which nothing was bought yet.
    ///
    /// - Parameters:
    ///   - now: Where its clock begins; in the past if the code under test uses the system clock,
    ///     because calls move it forward.
    ///   - environment: Sandbox or Production.
    ///   - bundleId: The app whose purchases it signs.
    ///   - seed: What ids and keys follow from.
    public init(
        now: Instant,
        environment: StoreEnvironment = .production,
        bundleId: String = "com.example.app",
        seed: UInt64 = 1
    ) {
        self.seed = seed
        store = SimulatedStore(
            pki: SimulatedPKI(seed: seed),
            environment: environment,
            bundleId: bundleId
        )
        state = Mutex(State(now: now.flooredToSecond))
        do throws(Rejection) {
            policy = VerificationPolicy(
                roots: [try RootCertificate(der: store.pki.rootDER)],
                bundleIds: [bundleId],
                environments: [environment]
            )
        } catch {
            preconditionFailure("the root certificate of seed \(seed) cannot be read: \(error)")
        }
    }

    /// The store's clock.
    public var now: Instant { state.withLock { $0.now } }

    /// Moves the clock forward.
    ///
    /// - Parameters:
    ///   - days: Days of 24 hours, from 0.
    ///   - seconds: Seconds in addition, from 0.
    /// - Returns: What Apple sends in the meantime, one update for each subscription with news.
    @discardableResult
    public func advance(days: Int64 = 0, seconds: Int64 = 0) -> [Update] {
        precondition(days >= 0 && seconds >= 0, "the store's clock only moves forward")
        return state.withLock { state in
            state.now = state.now.advanced(by: (days * 86_400 + seconds) * 1000)
            return state.subscriptions.indices.map { state.report($0) }
                .filter { !$0.notifications.isEmpty }
        }
    }
}

extension TestStore {
    /// A customer buys a subscription for the first time.
    ///
    /// - Parameters:
    ///   - product: The product.
    ///   - offer: The introductory offer; nil for the full price.
    ///   - seats: How many seats a group buys, from 1 and without an offer; nil for a purchase for
    ///     one customer.
    ///   - appAccountToken: The token that the app passes to StoreKit; nil for none.
    /// - Returns: What Apple sends; its `id` names the subscription in further calls.
    /// - Throws: ``TestStoreError``.
    public func buy(
        _ product: Product,
        offer: Offer? = nil,
        seats: Int64? = nil,
        appAccountToken: UUID? = nil
    ) throws -> Update {
        try add(product.simulated, .purchased, appAccountToken, offer?.simulated, seats: seats)
    }

    /// The customer of a subscription that ended buys again.
    public func buyAgain(_ id: String, _ product: Product, offer: Offer? = nil) throws -> Update {
        try decide(.subscribe(product.simulated, offer: offer?.simulated), id)
    }

    /// Another member of the family gets the product of a subscription from now on: the update is
    /// about the member's subscription, which has an `id` of its own and perhaps a token.
    public func share(_ id: String, appAccountToken: UUID? = nil) throws -> Update {
        let product = try state.withLock { state in
            let life = state.subscriptions[try state.index(of: id)].life.life
            return life.product(asOf: state.now)
        }
        guard let product else { throw TestStoreError(.notAllowed, "\(id) has no purchase yet") }
        return try add(product, .familyShared, appAccountToken)
    }

    /// The purchaser stops sharing with the member whose subscription this is; Apple does the same
    /// after a refund.
    public func stopSharing(_ id: String) throws -> Update { try decide(.stopSharing, id) }

    /// The next renewal is charged, when the period ends: moves the clock there.
    public func renew(_ id: String) throws -> Update {
        try wait(for: id, "renewal") { if case .renew = $0 { true } else { false } }
    }

    /// The next renewal cannot be charged: moves the clock to the end of the period.
    ///
    /// - Parameters:
    ///   - id: The subscription.
    ///   - graceDays: Days with access, from 1 to 28, while Apple tries again; nil for billing retry
    ///     without access.
    /// - Returns: What Apple sends.
    /// - Throws: ``TestStoreError``.
    public func failToRenew(_ id: String, graceDays: Int64? = nil) throws -> Update {
        try wait(for: id, "failed renewal", after: .failBilling(graceDays: graceDays)) {
            if case .failToRenew = $0 { true } else { false }
        }
    }

    /// The failed renewal succeeds, and those after it.
    public func recover(_ id: String) throws -> Update { try decide(.recoverBilling, id) }

    /// The customer changes to another product of the group: an upgrade begins at once, a downgrade
    /// with the next renewal.
    public func change(_ id: String, to product: Product) throws -> Update {
        try decide(.change(to: product.simulated), id)
    }

    /// The customer turns automatic renewal off: the subscription ends with its period.
    public func turnAutoRenewOff(_ id: String) throws -> Update {
        try decide(.turnAutoRenewOff, id)
    }

    /// The customer turns automatic renewal on again.
    public func turnAutoRenewOn(_ id: String) throws -> Update { try decide(.turnAutoRenewOn, id) }

    /// Apple refunds the newest purchase that is not refunded: in full, or that many percent of it,
    /// from 1 to 99.
    public func refund(_ id: String, percent: Int64? = nil) throws -> Update {
        try decide(.refund(percentage: percent.map { $0 * 1000 }), id)
    }

    /// Apple undoes the newest refund.
    public func reverseRefund(_ id: String) throws -> Update { try decide(.reverseRefund, id) }

    /// The group adds seats to the period that runs.
    public func addSeats(_ id: String, _ seats: Int64) throws -> Update {
        try decide(.addSeats(seats), id)
    }

    /// The group renews with that many seats.
    public func changeSeats(_ id: String, to seats: Int64) throws -> Update {
        try decide(.changeSeats(to: seats), id)
    }

    /// Apple refunds some seats of the newest purchase.
    public func refundSeats(_ id: String, _ seats: Int64) throws -> Update {
        try decide(.refundSeats(seats), id)
    }
}

extension TestStore {
    private func add(
        _ product: SimulatedProduct,
        _ ownership: LifeIdentity.Ownership,
        _ appAccountToken: UUID?,
        _ offer: SimulatedOffer? = nil,
        seats: Int64? = nil
    ) throws -> Update {
        try state.withLock { state in
            let identity = LifeIdentity(
                seed: seed,
                index: Int64(state.subscriptions.count),
                ownership: ownership,
                storefront: SimulatedStorefront.all[0],
                appAccountToken: appAccountToken?.uuidString.lowercased(),
                drawsToken: false
            )
            do throws(ScriptError) {
                let life = try DirectedLife(
                    identity: identity,
                    store: store,
                    buying: product,
                    offer: offer,
                    seats: seats.map { SimulatedSeats($0) },
                    at: state.now
                )
                state.subscriptions.append(Subscription(life: life))
            } catch {
                throw TestStoreError(error)
            }
            return state.report(state.subscriptions.count - 1)
        }
    }

    private func decide(_ decision: DirectedLife.Decision, _ id: String) throws -> Update {
        try state.withLock { state in
            let index = try state.index(of: id)
            try state.decide(decision, index)
            return state.report(index)
        }
    }

    // Moves the clock to the next step of a kind.
    private func wait(
        for id: String,
        _ expectation: String,
        after decision: DirectedLife.Decision? = nil,
        _ isExpected: (LifeStep) -> Bool
    ) throws -> Update {
        try state.withLock { state in
            let index = try state.index(of: id)
            if let decision { try state.decide(decision, index) }
            let life = state.subscriptions[index].life.life
            let coming = life.events.dropFirst(state.subscriptions[index].reportedCount)
            guard let next = coming.first(where: { isExpected($0.step) }) else {
                throw TestStoreError(.notAllowed, "there will be no \(expectation) of \(id)")
            }
            state.now = max(state.now, next.happenedAt)
            return state.report(index)
        }
    }
}

extension TestStore.State {
    fileprivate func index(of id: String) throws(TestStoreError) -> Int {
        let index = subscriptions.firstIndex { $0.life.life.originalTransactionId == id }
        guard let index else {
            throw TestStoreError(.noSuchSubscription, "no subscription has the id '\(id)'")
        }
        return index
    }

    fileprivate mutating func decide(
        _ decision: DirectedLife.Decision,
        _ index: Int
    ) throws(TestStoreError) {
        do throws(ScriptError) {
            let at = try subscriptions[index].life.decide(decision, at: now)
            now = max(now, at ?? now)
        } catch {
            throw TestStoreError(error)
        }
    }

    // What Apple sends about everything that has happened by now and was not reported yet.
    fileprivate mutating func report(_ index: Int) -> TestStore.Update {
        let life = subscriptions[index].life.life
        let count = life.events.prefix { $0.happenedAt <= now }.count
        let deliveries = life.notifications(about: subscriptions[index].reportedCount..<count)
        subscriptions[index].reportedCount = count
        if let signedAt = deliveries.last?.signedAt { now = max(now, signedAt) }
        return TestStore.Update(life: life, at: now, notifications: deliveries.map(\.payload))
    }
}
