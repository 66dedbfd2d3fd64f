import AppStore
import AppStoreSimulator
import ArgumentParser
import CommandSupport
import Crypto
import Events
import Foundation

/// The kinds of files that `bench ingest` ingests.
enum IngestBenchKind: String, CaseIterable, ExpressibleByArgument {
    /// Version 2 notifications with three signatures each, one per line.
    case notifications
    /// Pages of Get Transaction History with up to twenty signed transactions each, one per line.
    case pages
    /// verifyReceipt responses of twelve rows.
    case responses12
    /// verifyReceipt responses of five hundred rows.
    case responses500

    /// Its name in tables.
    var title: String {
        switch self {
        case .notifications: "notifications"
        case .pages: "API pages"
        case .responses12: "verifyReceipt, 12 rows"
        case .responses500: "verifyReceipt, 500 rows"
        }
    }
}

/// One file of payloads, and what its limit has to check.
///
/// For signed payloads, the signatures and digests are prepared; for others, the payloads
/// themselves.
struct IngestBenchMaterial: Sendable {
    let kind: IngestBenchKind
    let path: String
    let root: RootCertificate
    private(set) var payloadCount = 0
    private(set) var byteCount = 0

    private let key: P256.Signing.PublicKey
    private let verifier: AppStoreVerifier
    private var signatures: [(SHA256.Digest, P256.Signing.ECDSASignature)] = []
    private var responses: [[UInt8]] = []

    private static let receivedAt = Instant(milliseconds: 1_800_000_000_000)
    private static let shortRowCount = 12

    /// Creates a file of about this many bytes in a folder.
    init(_ kind: IngestBenchKind, byteCount limit: Int, in folder: URL) throws {
        self.kind = kind
        let simulator = AppStoreSimulator(seed: 1)
        let pki = simulator.store.pki
        root = try RootCertificate(der: pki.rootDER)
        key = try P256.Signing.PublicKey(x963Representation: pki.leafPublicKey)
        verifier = AppStoreVerifier(policy: try pki.policy())
        let file = folder.appendingPathComponent("\(kind.rawValue).ndjson")
        path = file.path
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        var index = 0
        while byteCount < limit {
            for payload in try Self.payloads(kind, index, simulator) where byteCount < limit {
                byteCount += payload.count + 1
                payloadCount += 1
                try handle.write(contentsOf: payload + [UInt8(ascii: "\n")])
                try keep(payload)
            }
            index += 1
        }
        try handle.close()
    }

    /// The number of checks in the limit.
    var checkCount: Int { signatures.isEmpty ? responses.count : signatures.count }

    /// Runs one of them, and throws if it fails, because a fast wrong answer counts for nothing.
    func check(_ index: Int) throws {
        if signatures.isEmpty {
            _ = try verifier.verify(
                payload: responses[index],
                source: "bench",
                receivedAt: Self.receivedAt,
                voucher: .operator
            )
        } else {
            let (digest, signature) = signatures[index]
            guard key.isValidSignature(signature, for: digest) else {
                throw Failure(Exit.internalError, "a signature of the simulator is wrong")
            }
        }
    }

    private static func payloads(
        _ kind: IngestBenchKind,
        _ index: Int,
        _ simulator: AppStoreSimulator
    ) throws -> [[UInt8]] {
        switch kind {
        case .notifications: return simulator.life(index).notifications().map(\.payload)
        case .pages:
            let life = simulator.life(index)
            guard let horizon = life.horizon else { return [] }
            return life.history(asOf: horizon).map(\.payload)
        case .responses12:
            return [VerifyReceiptResponse(number: index, rows: shortRowCount).bytes]
        case .responses500: return [VerifyReceiptResponse(number: index).bytes]
        }
    }

    private mutating func keep(_ payload: [UInt8]) throws {
        switch kind {
        case .notifications:
            signatures += try VerifyBenchMaterial.statements(of: payload).map(Self.ready)
        case .pages:
            for element in try JSON(payload).root["signedTransactions"]?.elements ?? [] {
                if let compact = element.utf8 { signatures.append(try Self.ready(compact)) }
            }
        case .responses12, .responses500: responses.append(payload)
        }
    }

    private static func ready(
        _ compact: ArraySlice<UInt8>
    ) throws -> (SHA256.Digest, P256.Signing.ECDSASignature) {
        let message = try VerifyBenchMaterial.SignedMessage(compact)
        return (message.digest, message.signature)
    }
}
