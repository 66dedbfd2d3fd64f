public import Events
internal import Foundation

/// The JSON document of a checkpoint: what `subledger checkpoint` prints, and `verify` compares.
public struct CheckpointDocument: Codable, Sendable {
    /// Always `CheckpointDocument.type`; distinguishes the document from others.
    public let type: String
    /// The ledger's id as a UUID.
    public let ledgerId: String
    /// Version of the canonical bytes with which the chains of the ledger start.
    public let formatVersion: Int
    /// Number of lanes of the ledger.
    public let lanes: Int
    /// When it was taken: milliseconds since 1970 UTC, on the database server's clock.
    public let takenAt: Int64
    /// The newest commit of each lane with commits, by lane.
    public let heads: [Checkpoint.Head]
    /// The signer; null if it is not signed.
    public let signature: Signature?

    /// A signature of the canonical bytes.
    public struct Signature: Codable, Hashable, Sendable {
        /// Always `CheckpointDocument.algorithm`.
        public let algorithm: String
        /// SubjectPublicKeyInfo in DER, in base64.
        public let publicKey: String
        /// The ECDSA signature in DER, in base64.
        public let value: String
    }

    /// The value of `type` that identifies the document.
    public static let type = "subledger-checkpoint"
    /// The only signature algorithm.
    public static let algorithm = "ECDSA-P256-SHA256"

    /// The document of a checkpoint.
    public init(_ signed: SignedCheckpoint) {
        let checkpoint = signed.checkpoint
        type = CheckpointDocument.type
        ledgerId = UUIDText.text(checkpoint.identity.ledgerId)
        formatVersion = checkpoint.identity.formatVersion
        lanes = checkpoint.identity.lanes.value
        takenAt = checkpoint.takenAt.milliseconds
        heads = checkpoint.heads
        signature = signed.signature.map {
            Signature(
                algorithm: CheckpointDocument.algorithm,
                publicKey: Data($0.publicKey.der).base64EncodedString(),
                value: Data($0.value).base64EncodedString()
            )
        }
    }
}

extension CheckpointDocument {
    /// Writes the document; a member without a value that readers rely on is written as null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(type, forKey: .type)
        try container.encode(ledgerId, forKey: .ledgerId)
        try container.encode(formatVersion, forKey: .formatVersion)
        try container.encode(lanes, forKey: .lanes)
        try container.encode(takenAt, forKey: .takenAt)
        try container.encode(heads, forKey: .heads)
        try container.encode(signature, forKey: .signature)
    }
}

extension CheckpointDocument {
    /// The checkpoint in the document, after checking its signature.
    ///
    /// - Throws: `CheckpointDocumentError` for a document that cannot be a checkpoint, or whose
    ///   signature does not match its content.
    public func signedCheckpoint() throws(CheckpointDocumentError) -> SignedCheckpoint {
        guard type == CheckpointDocument.type, let checkpoint else {
            throw .malformed
        }
        guard let signature else {
            return SignedCheckpoint(checkpoint, signedBy: nil)
        }
        guard signature.algorithm == CheckpointDocument.algorithm,
            let key = Data(base64Encoded: signature.publicKey),
            let value = Data(base64Encoded: signature.value),
            let publicKey = CheckpointPublicKey(der: Array(key)),
            let signed = SignedCheckpoint(
                checkpoint,
                signature: SignedCheckpoint.Signature(publicKey: publicKey, value: Array(value))
            )
        else { throw .forged }
        return signed
    }

    private var checkpoint: Checkpoint? {
        guard let ledgerId = UUIDText.bytes(ledgerId), let lanes = LaneCount(lanes) else {
            return nil
        }
        return Checkpoint(
            identity: LedgerIdentity(
                ledgerId: ledgerId,
                lanes: lanes,
                formatVersion: formatVersion
            ),
            takenAt: Instant(milliseconds: takenAt),
            heads: heads
        )
    }
}

/// Why a document is not accepted as a checkpoint.
public enum CheckpointDocumentError: Error, Hashable, Sendable {
    /// It lacks a member, or a member has an impossible value.
    case malformed
    /// Its signature does not match its content: it was edited or forged.
    case forged
}

/// The text of an id of sixteen bytes.
enum UUIDText {
    static func text(_ bytes: [UInt8]) -> String {
        let digits = Array(hexadecimal(bytes))
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
            .joined(separator: "-")
    }

    static func bytes(_ text: String) -> [UInt8]? {
        guard let id = UUID(uuidString: text) else { return nil }
        return withUnsafeBytes(of: id.uuid) { Array($0) }
    }
}
