internal import Crypto
internal import FoundationEssentials

/// A P-256 key whose signatures are the same bytes every time.
///
/// swift-crypto signs with a random nonce, so the bytes would differ for a payload that Apple sends
/// twice, or between two runs of a seed. Here the nonce of every signature is 1. Then r is the x of
/// the curve's base point, and s = hash + r · key modulo the order n: the key contributes a
/// constant summand, computed once. Anyone can compute the key from a signature, and from the
/// public seed as well.
struct DeterministicSigningKey: Sendable {
    let privateKey: P256.Signing.PrivateKey
    // r · key modulo n.
    private let summand: Residue

    /// The next key of a generator; skips the one draw in 2^32 that is not a valid key.
    init(from generator: inout SeededGenerator) {
        while true {
            let bytes = generator.bytes(32)
            do {
                privateKey = try P256.Signing.PrivateKey(rawRepresentation: bytes)
            } catch {
                continue
            }
            summand = Residue(bytes).timesBaseX
            return
        }
    }

    /// The signature r‖s over a message digest, 64 bytes.
    func signature(for digest: SHA256.Digest) -> [UInt8] {
        Residue.baseX.bytes + (Residue(Array(digest)) + summand).bytes
    }
}

/// A number modulo the order n of the curve's group, in 64-bit limbs, the highest first.
private struct Residue {
    private var limbs: [UInt64]

    /// The x of the base point.
    static let baseX = Residue(
        limbs: [
            0x6b17_d1f2_e12c_4247, 0xf8bc_e6e5_63a4_40f2, 0x7703_7d81_2deb_33a0,
            0xf4a1_3945_d898_c296,
        ]
    )

    // 2^256 - n: adding it subtracts n.
    private static let minusOrder: [UInt64] = [
        0x0000_0000_ffff_ffff, 0x0000_0000_0000_0000, 0x4319_0552_58e8_617b,
        0x0c46_353d_039c_daaf,
    ]

    private init(limbs: [UInt64]) {
        self.limbs = limbs
    }

    /// The residue of a 32-byte number, most significant byte first.
    init(_ bytes: [UInt8]) {
        let limbs = stride(from: 0, to: 32, by: 8).map { start in
            bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
        self = Residue(limbs: limbs) + Residue(limbs: [0, 0, 0, 0])
    }

    var bytes: [UInt8] { limbs.flatMap { limb in withUnsafeBytes(of: limb.bigEndian, Array.init) } }

    /// The product with r, one bit after the other.
    var timesBaseX: Residue {
        bytes.reduce(Residue(limbs: [0, 0, 0, 0])) { product, byte in
            (0..<8).reversed().reduce(product) { product, bit in
                let double = product + product
                return byte >> bit & 1 == 1 ? double + Residue.baseX : double
            }
        }
    }

    static func + (left: Residue, right: Residue) -> Residue {
        let (sum, carry) = add(left.limbs, right.limbs)
        let (reduced, isAbove) = add(sum, minusOrder)
        return Residue(limbs: carry || isAbove ? reduced : sum)
    }

    private static func add(_ left: [UInt64], _ right: [UInt64]) -> ([UInt64], Bool) {
        var sum = left
        var carry = false
        for index in sum.indices.reversed() {
            let (first, overflow) = left[index].addingReportingOverflow(right[index])
            let (second, carried) = first.addingReportingOverflow(carry ? 1 : 0)
            (sum[index], carry) = (second, overflow || carried)
        }
        return (sum, carry)
    }
}
