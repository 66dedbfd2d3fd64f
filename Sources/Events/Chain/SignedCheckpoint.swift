/// A checkpoint and its signature, if it has one.
public struct SignedCheckpoint: Hashable, Sendable {
    /// What was signed.
    public let checkpoint: Checkpoint
    /// Who signed it; nil if it is unsigned.
    public let signature: Signature?

    /// A signature and the key that made it.
    public struct Signature: Hashable, Sendable {
        /// The key.
        public let publicKey: CheckpointPublicKey
        /// ECDSA over the SHA-256 of the checkpoint's canonical bytes, in DER.
        public let value: [UInt8]

        /// A signature as it was stored; nothing is checked yet.
        public init(publicKey: CheckpointPublicKey, value: [UInt8]) {
            self.publicKey = publicKey
            self.value = value
        }
    }

    /// A checkpoint signed with that key, or unsigned if there is no key.
    public init(_ checkpoint: Checkpoint, signedBy key: CheckpointPrivateKey?) {
        self.checkpoint = checkpoint
        signature = key.map {
            Signature(publicKey: $0.publicKey, value: $0.sign(checkpoint.canonicalBytes))
        }
    }

    /// A checkpoint as it was stored; nil if the signature does not match its bytes.
    public init?(_ checkpoint: Checkpoint, signature: Signature?) {
        if let signature {
            let bytes = checkpoint.canonicalBytes
            guard signature.publicKey.verifies(signature.value, of: bytes) else { return nil }
        }
        self.checkpoint = checkpoint
        self.signature = signature
    }
}
