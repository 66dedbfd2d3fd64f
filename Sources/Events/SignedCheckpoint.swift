/// A checkpoint with the signature of whoever took it, if any.
public struct SignedCheckpoint: Hashable, Sendable {
    /// What was signed.
    public let checkpoint: Checkpoint
    /// Who signed it; nil where nobody did.
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

    /// A checkpoint, signed with that key; without one it stays unsigned.
    public init(_ checkpoint: Checkpoint, signedBy key: CheckpointPrivateKey?) {
        self.checkpoint = checkpoint
        signature = key.map {
            Signature(publicKey: $0.publicKey, value: $0.sign(checkpoint.canonicalBytes))
        }
    }

    /// A checkpoint as it was stored; nil where its signature is not of these bytes.
    public init?(_ checkpoint: Checkpoint, signature: Signature?) {
        if let signature {
            let bytes = checkpoint.canonicalBytes
            guard signature.publicKey.verifies(signature.value, of: bytes) else { return nil }
        }
        self.checkpoint = checkpoint
        self.signature = signature
    }
}
