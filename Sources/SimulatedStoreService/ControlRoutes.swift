internal import AppStoreSimulator
internal import Events
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Synchronization

/// Routes that no App Store has, below `/control`: customers controlled by commands, and the truth.
extension StoreRoutes {
    // Lives controlled by commands are numbered from here on, those of the sandbox from the second
    // number.
    private static let firstLife: [StoreEnvironment: Int64] = [
        .production: 400_000_000, .sandbox: 450_000_000,
    ]

    /// The start of the calendar of a subscription whose months take minutes: it then has 75 years.
    private static let calendarStart = Instant(milliseconds: 1_704_067_200_000)

    func addControl(to router: Router<BasicRequestContext>) {
        addReading(to: router)
        router.post("/control/subscriptions") { request, _ in
            let body = try await request.body.collect(upTo: Self.bodyByteCountMax)
            return try controlled { () throws(ControlError) in
                (.created, try purchase(try Self.body(PurchaseBody.self, body)))
            }
        }
        router.post("/control/subscriptions/:id/:action") { request, context in
            let buffer = try await request.body.collect(upTo: Self.bodyByteCountMax)
            let id = context.parameters.get("id") ?? ""
            let word = context.parameters.get("action") ?? ""
            return try controlled { () throws(ControlError) in
                guard let action = ControlAction(rawValue: word) else {
                    let words = ControlAction.allCases.map(\.rawValue).joined(separator: ", ")
                    throw .notFound("no action '\(word.prefix(64))'; expected one of \(words)")
                }
                // An action without members needs no body.
                let json = buffer.readableBytes == 0 ? ByteBuffer(string: "{}") : buffer
                let body = try Self.body(ActionBody.self, json)
                return (.ok, try act(on: id, try action.decision(body)))
            }
        }
    }

    private func addReading(to router: Router<BasicRequestContext>) {
        func get(_ word: String, _ answer: @escaping @Sendable () throws -> [UInt8]) {
            router.get(RouterPath("/control/" + word)) { _, _ in
                Self.response(.ok, try answer())
            }
        }

        router.get("/control/truth") { _, _ in
            let now = options.clock()
            let lines = try stores.flatMap(\.lives).compactMap { life in
                try LifeTruth(life, asOf: life.store.pace.calendar(now)).map {
                    try json($0) + [UInt8(ascii: "\n")]
                }
            }
            return Self.response(.ok, lines.flatMap { $0 }, type: "application/x-ndjson")
        }
        router.get("/control/subscriptions/:id") { _, context in
            try controlled { () throws(ControlError) in
                (.ok, try truth(of: context.parameters.get("id") ?? "", at: options.clock()))
            }
        }

        get("products") {
            try json(SimulatedCatalog.groups.flatMap(\.self).map(ProductDocument.init))
        }
        get("requests") { try json(limit.counts) }
        get("consumption") {
            try json(stores.flatMap { store in store.consumption.withLock { $0 } })
        }
        get("notifications") { try json(SentDocument(stores, at: options.clock())) }

        router.get("/control/receipts/:id") { _, context in
            let now = options.clock()
            let id = context.parameters.get("id") ?? ""
            do throws(ControlError) {
                let (store, life) = try found(id, at: now)
                return Self.response(.ok, store.receipt(life, at: now), type: "text/plain")
            } catch {
                return Self.response(to: .transactionNotFound)
            }
        }
    }

    private func purchase(_ body: PurchaseBody) throws(ControlError) -> LifeTruth {
        let word = body.environment ?? StoreEnvironment.production.word
        guard let store = stores.first(where: { $0.environment.word == word }),
            let first = Self.firstLife[store.environment]
        else { throw .badBody("environment must be Production or Sandbox") }
        let product = try ControlAction.product(body.productId)
        let offer = try ControlAction.offer(body.offer, of: product)
        let token = try ControlAction.token(body.appAccountToken)
        let seats = try ControlAction.seats(body)

        let now = options.clock()
        let pace =
            options.monthMilliseconds.map {
                SimulatedPace(
                    origin: Self.calendarStart,
                    start: now.flooredToSecond,
                    monthMilliseconds: $0
                )
            } ?? .calendar

        let number: Int?
        do throws(ScriptError) {
            number = try store.add { index throws(ScriptError) in
                try DirectedLife(
                    identity: LifeIdentity(
                        seed: options.seed,
                        index: first + Int64(index),
                        appAccountToken: token
                    ),
                    store: store.store.at(pace),
                    buying: product,
                    offer: offer,
                    seats: seats,
                    at: pace.calendar(now)
                )
            }
        } catch {
            throw .impossible(error.expectation)
        }
        guard let number else {
            throw .impossible("commands make at most \(ServedStore.directedMax) subscriptions")
        }
        return try truth(of: store.life(number).originalTransactionId, at: now)
    }

    private func act(
        on id: String,
        _ decision: DirectedLife.Decision
    ) throws(ControlError) -> LifeTruth {
        let now = options.clock()
        let (store, number) = try found(id, at: now)
        if case .unclaimSeats(let claims) = decision, !store.release(claims, ofLife: number) {
            throw .impossible("one of the claims does not exist, so none was released")
        }
        let isDirected: Bool
        // The result of a decision may happen a moment later.
        var happenedAt: Instant?
        do throws(ScriptError) {
            isDirected = try store.direct(number, at: now) { life, at throws(ScriptError) in
                happenedAt = try life.decide(decision, at: at)
            }
        } catch {
            throw .impossible(error.expectation)
        }
        guard isDirected else {
            throw .impossible(
                "what happens to \(id) follows from the seed; only subscriptions that were "
                    + "bought by POST /control/subscriptions obey commands"
            )
        }
        return try truth(of: id, at: now, notBefore: happenedAt)
    }

    private func found(
        _ id: String,
        at now: Instant
    ) throws(ControlError) -> (store: ServedStore, life: Int) {
        for store in stores {
            if let life = store.life(of: id, at: now) { return (store, life) }
        }
        throw .notFound("no subscription has the id '\(id.prefix(64))'")
    }

    // `notBefore` is an instant of the life's calendar.
    private func truth(
        of id: String,
        at now: Instant,
        notBefore happenedAt: Instant? = nil
    ) throws(ControlError) -> LifeTruth {
        let (store, number) = try found(id, at: now)
        let (life, calendarNow) = store.life(number, at: now)
        guard let truth = LifeTruth(life, asOf: max(calendarNow, happenedAt ?? .epoch)) else {
            throw .notFound("no subscription has the id '\(id.prefix(64))'")
        }
        return truth
    }

    private func controlled(
        _ answer: () throws(ControlError) -> (HTTPResponse.Status, LifeTruth)
    ) throws -> Response {
        let (status, truth): (HTTPResponse.Status, LifeTruth)
        do throws(ControlError) {
            (status, truth) = try answer()
        } catch {
            return Self.response(HTTPResponse.Status(code: error.status), try json(error))
        }
        return Self.response(status, try json(truth))
    }

    private static func body<Body: Decodable>(
        _ type: Body.Type,
        _ buffer: ByteBuffer
    ) throws(ControlError) -> Body {
        do throws(StoreError) {
            return try read(type, buffer)
        } catch {
            throw .badBody("the body is not a JSON object with the documented members")
        }
    }
}

/// A subscription product of the simulated app.
struct ProductDocument: Encodable {
    let productId: String
    let subscriptionGroupIdentifier: String
    /// The rank in its group, 1 for the most service.
    let level: Int
    /// The length of a period, in ISO 8601.
    let period: String

    init(_ product: SimulatedProduct) {
        productId = product.id
        subscriptionGroupIdentifier = product.group
        level = product.level
        period = product.duration.iso8601
    }
}
