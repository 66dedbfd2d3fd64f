internal import AppStoreSimulator
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
        for store in stores { StoreEndpoints(routes: self, store: store, router: router).add() }
        addControl(to: router)
        return router
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

    func verifyReceipt(_ body: ByteBuffer, _ store: ServedStore) -> Response {
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
        return response(HTTPResponse.Status(code: error.httpStatus), Array(body.utf8))
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
