/// A checkpoint and its signature, if it has one.
package struct SignedCheckpoint: Hashable, Sendable {
    /// What was signed.
    package let checkpoint: Checkpoint
    /// Who signed it; nil if it is unsigned.
    package let signature: Signature?

    /// A signature and the key that made it.
    package struct Signature: Hashable, Sendable {
        /// The key.
        package let publicKey: CheckpointPublicKey
        /// ECDSA over the SHA-256 of the checkpoint's canonical bytes, in DER.
        package let value: [UInt8]

        /// A signature as it was stored; nothing is checked yet.
        package init(publicKey: CheckpointPublicKey, value: [UInt8]) {
            self.publicKey = publicKey
            self.value = value
        }
    }

    /// A checkpoint signed with that key, or unsigned if there is no key.
    package init(_ checkpoint: Checkpoint, signedBy key: CheckpointPrivateKey?) {
        self.checkpoint = checkpoint
        signature = key.map {
            Signature(publicKey: $0.publicKey, value: $0.sign(checkpoint.canonicalBytes))
        }
    }

    /// A checkpoint as it was stored; nil if the signature does not match its bytes.
    package init?(_ checkpoint: Checkpoint, signature: Signature?) {
        if let signature {
            let bytes = checkpoint.canonicalBytes
            guard signature.publicKey.verifies(signature.value, of: bytes) else { return nil }
        }
        self.checkpoint = checkpoint
        self.signature = signature
    }
}
