import AppStore
import AppStoreSimulator
import CommandSupport
import Crypto
import EventLog
import Events
import Foundation

/// Notifications as Apple posts them, each for another customer.
struct ServeBenchMaterial {
    let rootDER: [UInt8]
    private let pki = SimulatedPKI(seed: 1)
    private let verifier: AppStoreVerifier
    private let key: P256.Signing.PublicKey
    private var count = 0
    // The number of the first one that is sent; 0 before there is one.
    private var firstSent = 0

    /// Notifications whose signatures the limit checks repeatedly.
    private static let limitCount = 400
    /// The duration of the limit's measurement, in seconds.
    private static let limitSeconds = 3.0
    private static let signaturesInNotification = 3.0
    // A prime, so customers are asked about in a scattered order.
    private static let stride = 7919
    private static let firstId = 2_000_000_900_000_000

    init() throws {
        rootDER = pki.rootDER
        key = try P256.Signing.PublicKey(x963Representation: pki.leafPublicKey)
        verifier = AppStoreVerifier(policy: try pki.policy())
    }

    /// This many new ones as bodies of requests.
    mutating func notifications(_ number: Int) throws -> [LoadRequest] {
        if firstSent == 0 { firstSent = count + 1 }
        return (0..<number).map { _ in
            .post("/v1/appstore/notifications", body: notification().body)
        }
    }

    /// Customers of notifications that were sent, by the ids of their subscriptions.
    func customers(_ number: Int) -> [String] {
        let sent = max(1, count + 1 - firstSent)
        return (0..<number).map { index in
            "\(ServeBenchMaterial.firstId + firstSent + index * ServeBenchMaterial.stride % sent)"
        }
    }

    /// The facts of new ones.
    mutating func verified(_ number: Int) throws -> [Verified<[Fact]>] {
        try (0..<number).flatMap { _ in
            try verifier.verify(
                payload: notification().body,
                source: "bench",
                receivedAt: .systemClock()
            ).groups.prefix(1)
        }
    }

    /// Notifications a second whose signatures all cores can check without any other work.
    mutating func signatureLimit() async throws -> Double {
        let messages = try (0..<ServeBenchMaterial.limitCount).flatMap { _ in
            try notification().statements.map { try VerifyBenchMaterial.SignedMessage($0[...]) }
        }
        let (key, start) = (key, ContinuousClock.now)
        let end = start + .seconds(ServeBenchMaterial.limitSeconds)
        let checks = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
                group.addTask {
                    var checks = 0
                    while ContinuousClock.now < end {
                        let message = messages[checks % messages.count]
                        guard key.isValidSignature(message.signature, for: message.digest) else {
                            throw Failure(Exit.internalError, "a signature of the bench is wrong")
                        }
                        checks += 1
                    }
                    return checks
                }
            }
            return try await group.reduce(0, +)
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        return Double(checks) / ServeBenchMaterial.signaturesInNotification / seconds
    }

    // The body, and the three JWS in it.
    private mutating func notification() -> (body: [UInt8], statements: [[UInt8]]) {
        count += 1
        let id = ServeBenchMaterial.firstId + count
        let now = Instant.systemClock().milliseconds
        let subject = """
            "originalTransactionId":"\(id)","productId":"com.example.pro.monthly",\
            "environment":"Production","signedDate":\(now)
            """
        let transaction = signed(
            """
            {"transactionId":"\(id)","webOrderLineItemId":"\(id)","bundleId":"com.example.bench",\
            "subscriptionGroupIdentifier":"21752814","purchaseDate":\(now - 1000),\
            "originalPurchaseDate":\(now - 1000),"expiresDate":\(now + 2_591_999_000),\
            "quantity":1,"type":"Auto-Renewable Subscription","inAppOwnershipType":"PURCHASED",\
            "transactionReason":"PURCHASE","storefront":"USA","storefrontId":"143441",\
            "price":9990,"currency":"USD","appTransactionId":"7048974699\(count)",\(subject)}
            """
        )
        let renewal = signed(
            """
            {"autoRenewProductId":"com.example.pro.monthly","autoRenewStatus":1,\
            "recentSubscriptionStartDate":\(now - 1000),"renewalDate":\(now + 2_591_999_000),\
            "renewalPrice":9990,"currency":"USD",\(subject)}
            """
        )

        let payload = signed(
            """
            {"notificationType":"SUBSCRIBED","subtype":"INITIAL_BUY","version":"2.0",\
            "notificationUUID":"\(UUID().uuidString.lowercased())","signedDate":\(now),\
            "data":{"appAppleId":1234567890,"bundleId":"com.example.bench",\
            "bundleVersion":"1","environment":"Production","status":1,\
            "signedTransactionInfo":"\(String(decoding: transaction, as: UTF8.self))",\
            "signedRenewalInfo":"\(String(decoding: renewal, as: UTF8.self))"}}
            """
        )
        let body = "{\"signedPayload\":\"\(String(decoding: payload, as: UTF8.self))\"}"
        return (Array(body.utf8), [payload, transaction, renewal])
    }

    private func signed(_ json: String) -> [UInt8] { pki.sign(payloadJSON: Array(json.utf8)) }
}
