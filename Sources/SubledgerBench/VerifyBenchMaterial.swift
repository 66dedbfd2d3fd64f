import AppStore
import AppStoreSimulator
import CommandSupport
import Crypto
import Events
import Foundation

/// Payloads to verify and to decode: created once, distinct, and larger than the processor's
/// caches.
struct VerifyBenchMaterial {
    private let verifier: AppStoreVerifier
    private let key: P256.Signing.PublicKey
    private let notifications: [[UInt8]]
    private let transactions: [[UInt8]]
    private let messages: [SignedMessage]
    private let receipts: [[UInt8]]
    private let responses: [VerifyReceiptResponse]

    /// Notifications, and as many transactions: 7 MB together.
    private static let notificationCount = 400
    /// Responses of five hundred rows: 6 MB.
    private static let responseCount = 8
    /// App receipts, of lives of all lengths.
    private static let receiptCount = 200

    private let receivedAt = Instant(milliseconds: 1_800_000_000_000)

    /// One signature, ready to be checked, and what it signs.
    struct SignedMessage {
        let bytes: ArraySlice<UInt8>
        let digest: SHA256.Digest
        let signature: P256.Signing.ECDSASignature
    }

    init() throws {
        let simulator = AppStoreSimulator(seed: 1)
        let pki = simulator.store.pki
        verifier = AppStoreVerifier(policy: try pki.policy())
        key = try P256.Signing.PublicKey(x963Representation: pki.leafPublicKey)

        var notifications: [[UInt8]] = []
        var transactions: [[UInt8]] = []
        var messages: [SignedMessage] = []
        var index = 0
        while notifications.count < VerifyBenchMaterial.notificationCount {
            for delivery in simulator.life(index).notifications() {
                let parts = try VerifyBenchMaterial.statements(of: delivery.payload)
                guard parts.count == 3 else { continue }
                notifications.append(delivery.payload)
                transactions.append(Array(parts[1]))
                messages += try parts.map { try SignedMessage($0) }
            }
            index += 1
        }

        self.notifications = notifications
        self.transactions = transactions
        self.messages = messages
        receipts = (0..<VerifyBenchMaterial.receiptCount).compactMap { index in
            simulator.life(index).appReceipts().last?.payload
        }
        responses = (0..<VerifyBenchMaterial.responseCount).map {
            VerifyReceiptResponse(number: $0)
        }
    }

    /// Runs one piece of a measurement and returns its size: payloads or bytes.
    ///
    /// Throws if the result is wrong, because a fast wrong answer counts for nothing.
    func step(_ measurement: VerifyBench.Measurement, _ index: Int) throws -> Double {
        switch measurement {
        case .bare:
            let message = messages[index % messages.count]
            try check(key.isValidSignature(message.signature, for: message.digest))
            return 1
        case .bareWithHashing:
            let message = messages[index % messages.count]
            var hash = SHA256()
            message.bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
            try check(key.isValidSignature(message.signature, for: hash.finalize()))
            return 1
        case .transactions:
            try check(try factCount(transactions[index % transactions.count]) == 1)
            return 1
        case .notifications:
            try check(try factCount(notifications[index % notifications.count]) == 3)
            return 1
        case .receipts:
            _ = try factCount(receipts[index % receipts.count])
            return 1
        case .parse:
            let response = responses[index % responses.count]
            try check(try response.parse() == VerifyReceiptResponse.memberCount)
            return Double(response.bytes.count)
        case .decode:
            let response = responses[index % responses.count]
            try check(try factCount(response.bytes) == VerifyReceiptResponse.factCount)
            return Double(response.bytes.count)
        case .plainDecode:
            let response = responses[index % responses.count]
            try check(try response.decodePlain() == VerifyReceiptResponse.rowCount)
            return Double(response.bytes.count)
        }
    }

    private func factCount(_ payload: [UInt8]) throws -> Int {
        try verifier.verify(
            payload: payload,
            source: "bench",
            receivedAt: receivedAt,
            voucher: .operator
        ).groups.reduce(0) { $0 + $1.value.count }
    }

    private func check(_ isRight: Bool) throws {
        guard isRight else {
            throw Failure(
                Exit.internalError,
                "a measurement gave a wrong result, so no rate is reported"
            )
        }
    }

    /// The JWS of a notification, up to three, outermost first.
    static func statements(of body: [UInt8]) throws -> [ArraySlice<UInt8>] {
        guard let outer = try JSON(body).root["signedPayload"]?.utf8 else { return [] }
        let segments = outer.split(separator: UInt8(ascii: "."))
        guard segments.count == 3, let claims = Base64.decodeURLUnpadded(segments[1]),
            let data = try JSON(claims).root["data"]
        else { return [outer] }
        let inner = [data["signedTransactionInfo"], data["signedRenewalInfo"]]
        return [outer] + inner.compactMap { $0?.utf8 }
    }
}

extension VerifyBenchMaterial.SignedMessage {
    init(_ compact: ArraySlice<UInt8>) throws {
        guard let dot = compact.lastIndex(of: UInt8(ascii: ".")),
            let raw = Base64.decodeURLUnpadded(compact[(dot + 1)...])
        else { throw Failure(Exit.internalError, "the simulator made a JWS without a signature") }
        bytes = compact[..<dot]
        digest = SHA256.hash(data: bytes)
        signature = try P256.Signing.ECDSASignature(rawRepresentation: raw)
    }
}
