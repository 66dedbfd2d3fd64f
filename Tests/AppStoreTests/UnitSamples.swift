import Events
import Testing

@testable import AppStore

/// Statements and payloads of one test authority, on which the tests of evidence are based.
struct UnitSamples {
    let pki: TestPKI

    init() throws {
        pki = try TestPKI()
    }

    /// A verifier that trusts this authority.
    func verifier(
        assuming environment: StoreEnvironment? = nil,
        alsoTrusting others: [RootCertificate] = []
    ) throws -> AppStoreVerifier {
        var policy = try pki.policy()
        policy.assumedEnvironment = environment
        policy.roots += others
        return AppStoreVerifier(policy: policy)
    }

    /// A signed transaction of a subscription; without an environment, as before 2022-02-24.
    func transaction(_ id: String, environment: String? = "Sandbox") throws -> String {
        let named = environment.map { "\"environment\":\"\($0)\"," } ?? ""
        return try pki.sign(
            "{\"transactionId\":\"\(id)1\",\"originalTransactionId\":\"\(id)\",\(named)"
                + "\"bundleId\":\"app.a\",\"purchaseDate\":1700000000000,"
                + "\"expiresDate\":1700086400000,\"signedDate\":1700000001234}"
        )
    }

    /// Signed renewal info of a subscription.
    func renewal(_ id: String, environment: String? = "Sandbox") throws -> String {
        let named = environment.map { "\"environment\":\"\($0)\"," } ?? ""
        return try pki.sign(
            "{\"originalTransactionId\":\"\(id)\",\(named)\"autoRenewStatus\":1,"
                + "\"autoRenewProductId\":\"product.a\",\"signedDate\":1700000001234}"
        )
    }

    /// A signed notification with a transaction and renewal info nested in it.
    func notification(_ id: String, environment: String? = "Sandbox") throws -> String {
        let named = environment.map { "\"environment\":\"\($0)\"," } ?? ""
        let transaction = try transaction(id, environment: environment)
        let renewal = try renewal(id, environment: environment)
        return try pki.sign(
            "{\"notificationType\":\"DID_RENEW\",\"notificationUUID\":\"\(id)\","
                + "\"signedDate\":1700000002000,\"data\":{\(named)\"bundleId\":\"app.a\","
                + "\"signedTransactionInfo\":\"\(transaction)\","
                + "\"signedRenewalInfo\":\"\(renewal)\"}}"
        )
    }

    /// An element of `lastTransactions` about a subscription.
    func status(_ id: String, environment: String? = "Sandbox") throws -> String {
        UnitSamples.status(
            id,
            try transaction(id, environment: environment),
            try renewal(id, environment: environment)
        )
    }

    /// An element of these two statements, with white space that must be kept.
    static func status(_ id: String, _ transaction: String, _ renewal: String) -> String {
        "{ \"originalTransactionId\": \"\(id)\", \"status\": 1,\n"
            + "\"signedTransactionInfo\":\"\(transaction)\",\"signedRenewalInfo\":\"\(renewal)\"}"
    }

    /// A statuses response with these elements, each in a separate group.
    static func statuses(_ elements: [String], environment: String = "Sandbox") -> String {
        let groups = elements.map { "{\"lastTransactions\":[\($0)]}" }
        return "{\"environment\":\"\(environment)\",\"data\":[\(groups.joined(separator: ","))]}"
    }

    /// A page of a transaction history.
    static func history(_ transactions: [String], environment: String = "Sandbox") -> String {
        "{\"environment\":\"\(environment)\",\"hasMore\":false,\"signedTransactions\":["
            + transactions.map { "\"\($0)\"" }.joined(separator: ",") + "]}"
    }

    /// A page of a notification history.
    static func notificationHistory(_ notifications: [String]) -> String {
        let elements = notifications.map { "{\"signedPayload\":\"\($0)\",\"sendAttempts\":[]}" }
        return "{\"notificationHistory\":[\(elements.joined(separator: ","))]}"
    }

    /// An app receipt of this authority.
    func receipt(type: String = "ProductionSandbox") throws -> [UInt8] {
        var forge = try ReceiptForge(pki)
        forge.content = ReceiptForge.payload(type: type)
        return try forge.message()
    }

    /// A verifyReceipt response that embeds a receipt and lists its purchase and one other.
    static func response(_ receipt: [UInt8], environment: String? = nil) -> String {
        func row(_ id: String) -> String {
            "{\"transaction_id\":\"\(id)\",\"original_transaction_id\":\"\(id)\","
                + "\"product_id\":\"product.a\",\"purchase_date_ms\":\"1700000000000\","
                + "\"expires_date_ms\":\"1702592000000\"}"
        }
        let named = environment.map { "\"environment\":\"\($0)\"," } ?? ""
        return "{\"status\":0,\(named)\"receipt\":{\"bundle_id\":\"app.a\","
            + "\"request_date_ms\":\"1700000001000\"},\"latest_receipt\":\"\(base64(receipt))\","
            + "\"latest_receipt_info\":[\(row("7")),\(row("8"))]}"
    }

    /// Base64 as Apple writes it, without line breaks.
    static func base64(_ bytes: [UInt8]) -> String {
        let text = base64URL(bytes).replacing("-", with: "+").replacing("_", with: "/")
        return text + String(repeating: "=", count: (4 - text.count % 4) % 4)
    }
}

extension AppStoreVerifier {
    /// The groups of a payload that a test gives as text.
    func groups(
        _ payload: String,
        voucher: Voucher = .unvouched,
        context: EvidenceContext? = nil
    ) throws -> [Verified<[Fact]>] {
        try verify(
            payload: Array(payload.utf8),
            source: "test",
            receivedAt: receivedAt,
            voucher: voucher,
            context: context
        ).groups
    }

    /// Expects each unit to give its facts again from only its own bytes and context.
    func expectProven(_ groups: [Verified<[Fact]>], voucher: Voucher = .unvouched) throws {
        var policy = policy
        policy.assumedEnvironment = nil
        let later = AppStoreVerifier(policy: policy)
        for group in groups {
            let again = try later.verify(
                payload: group.evidence.payload,
                source: group.evidence.source,
                arrival: group.evidence.arrival,
                receivedAt: group.evidence.receivedAt,
                voucher: voucher,
                context: group.evidence.context
            ).groups.first { $0.evidence.digest == group.evidence.digest }
            #expect(again?.value == group.value)
            #expect(again?.evidence == group.evidence)
        }
    }
}

extension Evidence {
    /// The payload as text.
    var text: String { String(decoding: payload, as: UTF8.self) }
}
