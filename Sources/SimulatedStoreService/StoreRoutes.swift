internal import AppStoreSimulator
internal import AsyncHTTPClient
internal import Events
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// Apple's endpoints; our own are below `/control`.
struct StoreRoutes: Sendable {
    let stores: [ServedStore]
    let options: SimulatedStoreOptions
    let check: TokenCheck
    let limit: RateLimit
    private let failures: FailingRequests

    /// The largest body that is read, in bytes: a receipt of some years in base64.
    static let bodyByteCountMax = 4 << 20

    init(stores: [ServedStore], options: SimulatedStoreOptions, check: TokenCheck) {
        self.stores = stores
        self.options = options
        self.check = check
        limit = RateLimit(share: options.rateShare)
        failures = FailingRequests(share: options.failing, seed: options.seed)
    }

    func router() -> Router<BasicRequestContext> {
        let router = Router()
        for store in stores {
            let prefix = store.environment == .sandbox ? "/sandbox" : ""
            add(store, below: prefix, to: router)
        }
        addControl(to: router)
        return router
    }

    private func add(
        _ store: ServedStore,
        below prefix: String,
        to router: Router<BasicRequestContext>
    ) {
        func get(
            _ path: String,
            _ endpoint: RateLimit.Endpoint,
            _ answer: @escaping @Sendable (String, Request, Instant) throws -> [UInt8]
        ) {
            router.get(RouterPath(prefix + path)) { request, context in
                try respond(to: request, endpoint, store) { now in
                    try answer(context.parameters.get("id") ?? "", request, now)
                }
            }
        }

        get("/inApps/v2/history/:id", .history) { id, request, now in
            try json(store.history(of: id, revision: revision(request), at: now))
        }
        get("/inApps/v1/subscriptions/:id", .statuses) { id, _, now in
            try store.statuses(of: id, at: now)
        }
        get("/inApps/v2/refund/lookup/:id", .refunds) { id, request, now in
            try json(store.refunds(of: id, revision: revision(request), at: now))
        }
        get("/inApps/v1/transactions/appTransactions/:id", .appTransaction) { id, _, now in
            try json(store.appTransaction(of: id, at: now))
        }
        get("/inApps/v1/transactions/:id", .transaction) { id, _, now in
            try json(store.transaction(id, at: now))
        }
        get("/inApps/v1/lookup/:id", .order) { id, _, now in
            guard store.environment == .production else { throw StoreError.badRequest }
            return try json(store.order(id, at: now))
        }
        router.get(
            RouterPath(prefix + "/inApps/v1/subscriptions/extend/mass/:product/:id")
        ) { request, context in
            try respond(to: request, .massExtension, store) { _ in
                let product = context.parameters.get("product") ?? ""
                let id = context.parameters.get("id") ?? ""
                return try json(store.massExtensionStatus(ofProduct: product, id))
            }
        }
        get("/inApps/v1/notifications/test/:id", .test) { id, _, _ in
            try json(store.testNotificationStatus(id))
        }

        addBodies(store, below: prefix, to: router)
        addSeats(store, below: prefix, to: router)
    }

    // The endpoints that take a body.
    private func addBodies(
        _ store: ServedStore,
        below prefix: String,
        to router: Router<BasicRequestContext>
    ) {
        router.post(RouterPath(prefix + "/inApps/v1/notifications/test")) { request, _ in
            try await respond(to: request, .test, store) { now in
                try json(await store.requestTestNotification(to: options.notificationURL, at: now))
            }
        }
        router.post(RouterPath(prefix + "/inApps/v1/notifications/history")) { request, _ in
            let body = try await request.body.collect(upTo: Self.bodyByteCountMax)
            return try respond(to: request, .notifications, store) { now in
                let question = try Self.read(NotificationQuestion.self, body)
                let page = request.uri.queryParameters["paginationToken"].map(String.init)
                return try json(store.notificationHistory(question, page: page, at: now))
            }
        }

        router.put(RouterPath(prefix + "/inApps/v1/subscriptions/extend/:id")) { request, context in
            let body = try await request.body.collect(upTo: Self.bodyByteCountMax)
            return try respond(to: request, .extension, store) { now in
                let id = context.parameters.get("id") ?? ""
                let question = try Self.read(ExtensionQuestion.self, body)
                return try json(store.extendRenewalDate(of: id, question, at: now))
            }
        }
        router.post(RouterPath(prefix + "/inApps/v1/subscriptions/extend/mass")) { request, _ in
            let body = try await request.body.collect(upTo: Self.bodyByteCountMax)
            return try respond(to: request, .massExtension, store) { now in
                let question = try Self.read(MassExtensionQuestion.self, body)
                return try json(store.extendRenewalDates(question, at: now))
            }
        }
        router.put(
            RouterPath(prefix + "/inApps/v2/transactions/consumption/:id")
        ) { request, context in
            let body = try await request.body.collect(upTo: Self.bodyByteCountMax)
            var response = try respond(to: request, .consumption, store) { now in
                let id = context.parameters.get("id") ?? ""
                try store.takeConsumption(Self.read(ConsumptionBody.self, body), about: id, at: now)
                return []
            }
            if response.status == .ok { response.status = .accepted }
            return response
        }

        router.post(RouterPath(prefix + "/verifyReceipt")) { request, _ in
            let body = try await request.body.collect(upTo: Self.bodyByteCountMax)
            return verifyReceipt(body, store)
        }
    }

    private func revision(_ request: Request) -> String? {
        request.uri.queryParameters["revision"].map(String.init)
    }

    static func read<Body: Decodable>(
        _ type: Body.Type,
        _ buffer: ByteBuffer
    ) throws(StoreError) -> Body {
        do {
            return try JSONDecoder().decode(type, from: Data(buffer.readableBytesView))
        } catch {
            throw .badRequest
        }
    }
}

extension StoreRoutes {
    /// A response of the API, or an error: checks first the token, then the rate, then the
    /// question.
    func respond(
        to request: Request,
        _ endpoint: RateLimit.Endpoint,
        _ store: ServedStore,
        _ answer: (Instant) throws -> [UInt8]
    ) throws -> Response {
        let now = options.clock()
        if let refusal = refusal(request, endpoint, store, at: now) { return refusal }
        do {
            return Self.response(.ok, try answer(now))
        } catch let error as StoreError {
            return Self.response(to: error)
        }
    }

    private func respond(
        to request: Request,
        _ endpoint: RateLimit.Endpoint,
        _ store: ServedStore,
        _ answer: (Instant) async throws -> [UInt8]
    ) async throws -> Response {
        let now = options.clock()
        if let refusal = refusal(request, endpoint, store, at: now) { return refusal }
        do {
            return Self.response(.ok, try await answer(now))
        } catch let error as StoreError {
            return Self.response(to: error)
        }
    }

    private func refusal(
        _ request: Request,
        _ endpoint: RateLimit.Endpoint,
        _ store: ServedStore,
        at now: Instant
    ) -> Response? {
        // Apple's 401 has no body.
        guard check.accepts(request.headers[.authorization], at: now) else {
            return Response(status: .unauthorized)
        }
        if let next = limit.refusal(endpoint, store.environment, at: now) {
            var response = Self.response(to: .rateLimited)
            response.headers[.retryAfter] = "\(next.milliseconds)"
            return response
        }
        guard !failures.isNext() else { return Self.response(to: .internalRetryable) }
        return nil
    }

    private func verifyReceipt(_ body: ByteBuffer, _ store: ServedStore) -> Response {
        let now = options.clock()
        func failure(_ status: Int64) -> Response {
            Self.response(.ok, SubscriptionLife.verifyReceiptFailure(status: status))
        }
        if limit.refusal(.verifyReceipt, store.environment, at: now) != nil {
            return failure(21_005)
        }
        guard !failures.isNext() else { return failure(21_100) }

        let question: ReceiptBody
        do throws(StoreError) {
            question = try Self.read(ReceiptBody.self, body)
        } catch {
            return failure(21_002)
        }
        guard let text = question.receiptData, let receipt = Data(base64Encoded: text) else {
            return failure(21_002)
        }
        if let secret = options.sharedSecret, question.password != secret {
            return failure(21_004)
        }

        if let life = store.life(ofReceipt: receipt, at: now) {
            return Self.response(.ok, store.verifyReceiptResponse(life, at: now))
        }
        let isOfOther = stores.contains { $0.life(ofReceipt: receipt, at: now) != nil }
        guard isOfOther else { return failure(21_003) }
        return failure(store.environment == .production ? 21_007 : 21_008)
    }
}

extension StoreRoutes {
    func json(_ document: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(document))
    }

    static func response(to error: StoreError) -> Response {
        let body = #"{"errorCode":\#(error.errorCode),"errorMessage":"\#(error.errorMessage)"}"#
        return response(
            HTTPResponse.Status(code: error.httpStatus),
            Array(body.utf8)
        )
    }

    static func response(
        _ status: HTTPResponse.Status,
        _ body: [UInt8],
        type: String = "application/json"
    ) -> Response {
        Response(
            status: status,
            headers: [.contentType: type],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body))
        )
    }
}
