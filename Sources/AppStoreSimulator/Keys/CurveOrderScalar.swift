/// An integer modulo n, the order of the curve P-256: what an ECDSA signature is computed with.
///
/// Not constant in time: it only ever touches keys that anybody can derive from a seed. Products
/// are Montgomery's (a·b·2^-256 mod n), so that no division is needed.
struct CurveOrderScalar: Equatable {
    /// Four limbs of 64 bits, the least significant first; always below n.
    private var limb0: UInt64
    private var limb1: UInt64
    private var limb2: UInt64
    private var limb3: UInt64

    static let zero = CurveOrderScalar(0, 0, 0, 0)

    private init(_ limb0: UInt64, _ limb1: UInt64, _ limb2: UInt64, _ limb3: UInt64) {
        self.limb0 = limb0
        self.limb1 = limb1
        self.limb2 = limb2
        self.limb3 = limb3
    }

    /// The scalar of 32 big-endian bytes; nil unless it is below n already.
    init?(exactly bytes: some Collection<UInt8>) {
        let unreduced = Self(unreduced: bytes)
        guard unreduced.isBelowOrder else { return nil }
        self = unreduced
    }

    /// The scalar of 32 big-endian bytes modulo n; one subtraction is enough, as n > 2^255.
    init(reducing bytes: some Collection<UInt8>) {
        let unreduced = Self(unreduced: bytes)
        self = unreduced.isBelowOrder ? unreduced : unreduced.minusOrder
    }

    private init(unreduced bytes: some Collection<UInt8>) {
        precondition(bytes.count == 32, "a scalar has 32 bytes, not \(bytes.count)")
        var limbs: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        for byte in bytes {
            limbs.3 = limbs.3 << 8 | limbs.2 >> 56
            limbs.2 = limbs.2 << 8 | limbs.1 >> 56
            limbs.1 = limbs.1 << 8 | limbs.0 >> 56
            limbs.0 = limbs.0 << 8 | UInt64(byte)
        }
        self.init(limbs.0, limbs.1, limbs.2, limbs.3)
    }

    /// 32 bytes, the most significant first.
    var bytes: [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(32)
        for limb in [limb3, limb2, limb1, limb0] {
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                result.append(UInt8(truncatingIfNeeded: limb >> shift))
            }
        }
        return result
    }

    static func + (left: Self, right: Self) -> Self {
        let (sum0, carry0) = left.limb0.addingReportingOverflow(right.limb0)
        let (sum1, carry1) = addCarrying(left.limb1, right.limb1, carry0)
        let (sum2, carry2) = addCarrying(left.limb2, right.limb2, carry1)
        let (sum3, carry3) = addCarrying(left.limb3, right.limb3, carry2)
        let sum = Self(sum0, sum1, sum2, sum3)
        return carry3 || !sum.isBelowOrder ? sum.minusOrder : sum
    }

    static func * (left: Self, right: Self) -> Self {
        left.inMontgomeryForm.montgomeryProduct(right)
    }

    /// The inverse modulo n by Fermat's little theorem; zero has none and stays zero.
    var inverse: Self {
        let base = inMontgomeryForm
        var powers = [Self.one.inMontgomeryForm, base]
        while powers.count < 16 { powers.append(powers[powers.count - 1].montgomeryProduct(base)) }
        var result = powers[0]
        for limb in Self.orderMinusTwo {
            var shift: UInt64 = 64
            while shift > 0 {
                shift -= 4
                result = result.montgomeryProduct(result)
                result = result.montgomeryProduct(result)
                result = result.montgomeryProduct(result)
                result = result.montgomeryProduct(result)
                let digit = Int(limb >> shift & 15)
                if digit != 0 { result = result.montgomeryProduct(powers[digit]) }
            }
        }
        return result.montgomeryProduct(.one)
    }
}

extension CurveOrderScalar {
    private static let one = CurveOrderScalar(1, 0, 0, 0)
    // n of SEC 2, secp256r1.
    private static let order = CurveOrderScalar(
        0xf3b9_cac2_fc63_2551,
        0xbce6_faad_a717_9e84,
        0xffff_ffff_ffff_ffff,
        0xffff_ffff_0000_0000
    )
    private static let orderMinusTwo: [UInt64] = [
        0xffff_ffff_0000_0000, 0xffff_ffff_ffff_ffff, 0xbce6_faad_a717_9e84, 0xf3b9_cac2_fc63_254f,
    ]
    // 2^512 mod n, and -1/n mod 2^64: the constants of Montgomery's product for this modulus.
    private static let radixSquared = CurveOrderScalar(
        0x8324_4c95_be79_eea2,
        0x4699_799c_49bd_6fa6,
        0x2845_b239_2b6b_ec59,
        0x66e1_2d94_f3d9_5620
    )
    private static let negativeInverse: UInt64 = 0xccd1_c8aa_ee00_bc4f

    private var inMontgomeryForm: Self { montgomeryProduct(Self.radixSquared) }

    private var isBelowOrder: Bool {
        let order = Self.order
        if limb3 != order.limb3 { return limb3 < order.limb3 }
        if limb2 != order.limb2 { return limb2 < order.limb2 }
        if limb1 != order.limb1 { return limb1 < order.limb1 }
        return limb0 < order.limb0
    }

    private var minusOrder: Self {
        let order = Self.order
        let (rest0, borrow0) = limb0.subtractingReportingOverflow(order.limb0)
        let (rest1, borrow1) = subtractBorrowing(limb1, order.limb1, borrow0)
        let (rest2, borrow2) = subtractBorrowing(limb2, order.limb2, borrow1)
        let (rest3, _) = subtractBorrowing(limb3, order.limb3, borrow2)
        return Self(rest0, rest1, rest2, rest3)
    }

    private func montgomeryProduct(_ other: Self) -> Self {
        var sum = MontgomerySum()
        sum.add(self, times: other.limb0)
        sum.add(self, times: other.limb1)
        sum.add(self, times: other.limb2)
        sum.add(self, times: other.limb3)
        let low = Self(sum.limb0, sum.limb1, sum.limb2, sum.limb3)
        return sum.limb4 != 0 || !low.isBelowOrder ? low.minusOrder : low
    }

    /// The running sum of a Montgomery product: below 2n between two rows, so five limbs.
    private struct MontgomerySum {
        var limb0: UInt64 = 0
        var limb1: UInt64 = 0
        var limb2: UInt64 = 0
        var limb3: UInt64 = 0
        var limb4: UInt64 = 0

        mutating func add(_ scalar: CurveOrderScalar, times factor: UInt64) {
            var carry: UInt64 = 0
            (carry, limb0) = multiplyAdd(scalar.limb0, factor, limb0, carry)
            (carry, limb1) = multiplyAdd(scalar.limb1, factor, limb1, carry)
            (carry, limb2) = multiplyAdd(scalar.limb2, factor, limb2, carry)
            (carry, limb3) = multiplyAdd(scalar.limb3, factor, limb3, carry)
            let (top, overflow) = limb4.addingReportingOverflow(carry)
            // The multiple of n that makes the lowest limb zero; then that limb is dropped.
            let multiple = limb0 &* CurveOrderScalar.negativeInverse
            let order = CurveOrderScalar.order
            (carry, _) = multiplyAdd(order.limb0, multiple, limb0, 0)
            (carry, limb0) = multiplyAdd(order.limb1, multiple, limb1, carry)
            (carry, limb1) = multiplyAdd(order.limb2, multiple, limb2, carry)
            (carry, limb2) = multiplyAdd(order.limb3, multiple, limb3, carry)
            let (last, lastOverflow) = top.addingReportingOverflow(carry)
            limb3 = last
            limb4 = (overflow ? 1 : 0) &+ (lastOverflow ? 1 : 0)
        }
    }
}

// left · right + first + second, which always fits into two limbs.
@inline(__always)
private func multiplyAdd(
    _ left: UInt64,
    _ right: UInt64,
    _ first: UInt64,
    _ second: UInt64
) -> (high: UInt64, low: UInt64) {
    let product = left.multipliedFullWidth(by: right)
    let (sum, carry) = product.low.addingReportingOverflow(first)
    let (low, lowCarry) = sum.addingReportingOverflow(second)
    return (product.high &+ (carry ? 1 : 0) &+ (lowCarry ? 1 : 0), low)
}

@inline(__always)
private func addCarrying(_ left: UInt64, _ right: UInt64, _ carry: Bool) -> (UInt64, Bool) {
    let (sum, overflow) = left.addingReportingOverflow(right)
    let (total, second) = sum.addingReportingOverflow(carry ? 1 : 0)
    return (total, overflow || second)
}

@inline(__always)
private func subtractBorrowing(_ left: UInt64, _ right: UInt64, _ borrow: Bool) -> (UInt64, Bool) {
    let (rest, overflow) = left.subtractingReportingOverflow(right)
    let (total, second) = rest.subtractingReportingOverflow(borrow ? 1 : 0)
    return (total, overflow || second)
}
