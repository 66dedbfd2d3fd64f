internal import Events
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// A request to an endpoint whose token was accepted, and the instant of its answer.
struct StoreCall {
    let request: Request
    let context: BasicRequestContext
    let body: ByteBuffer
    let now: Instant

    /// The last part of the path, in most endpoints.
    var id: String { part("id") }

    func part(_ name: String) -> String { context.parameters.get(name) ?? "" }

    func query(_ name: Substring) -> String? { request.uri.queryParameters[name].map(String.init) }

    func read<Body: Decodable>(_ type: Body.Type) throws(StoreError) -> Body {
        try StoreRoutes.read(type, body)
    }
}

/// Apple's endpoints of one store: those of the sandbox are below `/sandbox`.
struct StoreEndpoints {
    let routes: StoreRoutes
    let store: ServedStore
    let router: Router<BasicRequestContext>

    private func on(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ endpoint: RateLimit.Endpoint,
        _ answer: @escaping @Sendable (StoreCall) async throws -> [UInt8]
    ) {
        let (routes, store) = (routes, store)
        router.on(below(path), method: method) { request, context in
            let body =
                method == .post || method == .put
                ? try await request.body.collect(upTo: StoreRoutes.bodyByteCountMax) : ByteBuffer()
            var response = try await routes.respond(to: request, endpoint, store) { now in
                try await answer(
                    StoreCall(request: request, context: context, body: body, now: now)
                )
            }
            // Apple accepts consumption information, and decides later.
            if endpoint == .consumption, response.status == .ok { response.status = .accepted }
            return response
        }
    }

    private func below(_ path: String) -> RouterPath {
        RouterPath((store.environment == .sandbox ? "/sandbox" : "") + path)
    }

    func add() {
        addTransactions()
        addNotifications()
        addExtensions()
        addGroups()
        addSeats()
    }

    private func addTransactions() {
        let (routes, store) = (routes, store)
        on(.get, "/inApps/v2/history/:id", .history) {
            try routes.json(store.history(of: $0.id, revision: $0.query("revision"), at: $0.now))
        }
        on(.get, "/inApps/v1/subscriptions/:id", .statuses) {
            try store.statuses(of: $0.id, at: $0.now)
        }
        on(.get, "/inApps/v2/refund/lookup/:id", .refunds) {
            try routes.json(store.refunds(of: $0.id, revision: $0.query("revision"), at: $0.now))
        }
        on(.get, "/inApps/v1/transactions/appTransactions/:id", .appTransaction) {
            try routes.json([
                "signedAppTransactionInfo": store.appTransaction(of: $0.id, at: $0.now)
            ])
        }
        on(.get, "/inApps/v1/transactions/:id", .transaction) {
            try routes.json(["signedTransactionInfo": store.transaction($0.id, at: $0.now)])
        }
        on(.get, "/inApps/v1/lookup/:id", .order) {
            guard store.environment == .production else { throw StoreError.badRequest }
            return try routes.json(store.order($0.id, at: $0.now))
        }
        on(.put, "/inApps/v2/transactions/consumption/:id", .consumption) {
            let body = try $0.read(ConsumptionBody.self)
            try store.takeConsumption(body, about: $0.id, at: $0.now)
            return []
        }
        router.post(below("/verifyReceipt")) { request, _ in
            let body = try await request.body.collect(upTo: StoreRoutes.bodyByteCountMax)
            return routes.verifyReceipt(body, store)
        }
    }

    private func addNotifications() {
        let (routes, store) = (routes, store)
        on(.get, "/inApps/v1/notifications/test/:id", .test) {
            try routes.json(store.testNotificationStatus($0.id))
        }
        on(.post, "/inApps/v1/notifications/test", .test) {
            let url = routes.options.notificationURL
            let token = try await store.requestTestNotification(to: url, at: $0.now)
            return try routes.json(["testNotificationToken": token])
        }
        on(.post, "/inApps/v1/notifications/history", .notifications) {
            let question = try $0.read(NotificationQuestion.self)
            let page = $0.query("paginationToken")
            return try routes.json(store.notificationHistory(question, page: page, at: $0.now))
        }
    }

    private func addExtensions() {
        let (routes, store) = (routes, store)
        on(.put, "/inApps/v1/subscriptions/extend/:id", .extension) {
            let question = try $0.read(ExtensionQuestion.self)
            return try routes.json(store.extendRenewalDate(of: $0.id, question, at: $0.now))
        }
        on(.post, "/inApps/v1/subscriptions/extend/mass", .massExtension) {
            let question = try $0.read(ExtensionQuestion.self)
            let request = try store.extendRenewalDates(question, at: $0.now)
            return try routes.json(["requestIdentifier": request])
        }
        on(.get, "/inApps/v1/subscriptions/extend/mass/:product/:id", .massExtension) {
            try routes.json(store.massExtensionStatus(ofProduct: $0.part("product"), $0.id))
        }
    }

    // Apple offers groups and seats in the sandbox only.
    private func onSandbox(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ answer: @escaping @Sendable (StoreCall) throws -> [UInt8]
    ) {
        let environment = store.environment
        on(method, "/groups/v1" + path, .groups) { call in
            guard environment == .sandbox else { throw StoreError.badRequest }
            return try answer(call)
        }
    }

    private func addGroups() {
        let (routes, store) = (routes, store)
        onSandbox(.get, "/currentGroups/:id") {
            try routes.json(store.groups(of: $0.id, at: $0.now))
        }
        onSandbox(.get, "/group/:id") {
            let (limit, page) = ($0.query("limit"), $0.query("paginationToken"))
            return try routes.json(store.members(of: $0.id, limit: limit, page: page, at: $0.now))
        }
    }

    private func addSeats() {
        let (routes, store) = (routes, store)
        let seats = "/transactions/:id/seats"
        onSandbox(.get, seats) { try routes.json(store.seatInfo(of: $0.id, at: $0.now)) }
        onSandbox(.post, seats) {
            let body = try $0.read(SeatClaimBody.self)
            return try routes.json(["seatClaimId": store.claimSeat(of: $0.id, body, at: $0.now)])
        }
        onSandbox(.delete, seats + "/:claim") {
            try store.unclaimSeat($0.part("claim"), of: $0.id, at: $0.now)
            return []
        }
        onSandbox(.post, seats + "/:claim/associate") {
            let body = try $0.read(SeatAssociationBody.self)
            try store.associateSeat($0.part("claim"), of: $0.id, body, at: $0.now)
            return []
        }
    }
}
