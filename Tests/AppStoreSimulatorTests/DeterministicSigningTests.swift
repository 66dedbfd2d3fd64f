import Crypto
import Testing

@testable import AppStoreSimulator

/// Signatures that are the same bytes every time, and that swift-crypto accepts.
@Suite struct DeterministicSigningTests {
    @Test func `the library accepts the signatures of 100 seeded keys`() throws {
        var generator = SeededGenerator(seed: 17)
        for round in 0..<100 {
            let key = DeterministicSigningKey(from: &generator)
            let message = generator.bytes(round)
            let bytes = key.signature(for: SHA256.hash(data: message))
            #expect(bytes == key.signature(for: SHA256.hash(data: message)))
            let signature = try P256.Signing.ECDSASignature(rawRepresentation: bytes)
            #expect(
                key.privateKey.publicKey.isValidSignature(signature, for: message),
                "round \(round) of seed 17"
            )
        }
    }
}
