import Crypto
import Foundation
import Testing

@testable import AppStoreSimulator

/// ECDSA with the nonce of RFC 6979, against the vectors of its appendix A.2.5.
@Suite struct DeterministicSigningTests {
    private static let secret = "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721"

    @Test(arguments: [
        (
            "sample", "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716",
            "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
        ),
        (
            "test", "F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367",
            "019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083"
        ),
    ])
    func `the signatures are those of the RFC`(message: String, r: String, s: String) throws {
        let key = try #require(DeterministicSigningKey(rawRepresentation: bytes(Self.secret)))
        let signature = key.signature(for: SHA256.hash(data: Array(message.utf8)))
        #expect(signature == bytes(r) + bytes(s))
        let parsed = try P256.Signing.ECDSASignature(rawRepresentation: signature)
        #expect(key.verifyingKey.isValidSignature(parsed, for: Array(message.utf8)))
    }

    @Test func `the library accepts the signatures of 100 seeded keys`() throws {
        var generator = SeededGenerator(seed: 6979)
        for round in 0..<100 {
            let key = DeterministicSigningKey(from: &generator)
            let message = generator.bytes(round)
            let signature = try P256.Signing.ECDSASignature(
                rawRepresentation: key.signature(for: SHA256.hash(data: message))
            )
            #expect(
                key.verifyingKey.isValidSignature(signature, for: message),
                "round \(round) of seed 6979"
            )
        }
    }

    @Test func `a scalar times its inverse is one`() throws {
        var generator = SeededGenerator(seed: 256)
        let one = CurveOrderScalar(reducing: [UInt8](repeating: 0, count: 31) + [1])
        for round in 0..<100 {
            let scalar = CurveOrderScalar(reducing: generator.bytes(32))
            #expect(scalar * scalar.inverse == one, "round \(round) of seed 256")
        }
    }

    @Test func `arithmetic wraps at the order of the curve`() throws {
        let order = bytes("FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551")
        let last = bytes("FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632550")
        let one = CurveOrderScalar(reducing: [UInt8](repeating: 0, count: 31) + [1])
        #expect(CurveOrderScalar(exactly: order) == nil)
        #expect(CurveOrderScalar(reducing: order) == .zero)
        let minusOne = try #require(CurveOrderScalar(exactly: last))
        #expect(minusOne + one == .zero)
        #expect(minusOne * minusOne == one)
        #expect(CurveOrderScalar.zero.inverse == .zero)
        #expect(DeterministicSigningKey(rawRepresentation: order) == nil)
    }

    private func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = hexadecimal.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(digits[$0] * 16 + digits[$0 + 1])
        }
    }
}
