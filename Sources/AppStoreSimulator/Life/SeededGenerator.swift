/// A pseudo-random generator whose whole sequence follows from its seed: SplitMix64.
///
/// Not suitable for secrets. It is implemented here so that the bytes of a simulated history stay
/// the same on every platform and with every version of the standard library (Steele, Lea and
/// Flood, "Fast splittable pseudorandom number generators", 2014).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// The generator of a seed; equal seeds give equal sequences.
    package init(seed: UInt64) {
        state = seed
    }

    /// The generator of one numbered branch of a seed.
    ///
    /// Branches are independent, so the thousandth can be created without the others.
    package init(seed: UInt64, branch: UInt64) {
        var root = SeededGenerator(seed: seed)
        let base = root.next()
        var offset = SeededGenerator(seed: branch &+ 0x5851_f42d_4c95_7f2d)
        state = base ^ offset.next()
    }

    /// The next 64 bits.
    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number in a closed range.
    ///
    /// The bias of the multiplication is at most the width of the range divided by 2^64, far too
    /// small to matter in a simulation. Both bounds must lie within ±2^62.
    package mutating func integer(in range: ClosedRange<Int64>) -> Int64 {
        let width = UInt64(range.upperBound - range.lowerBound) + 1
        return range.lowerBound + Int64(next().multipliedFullWidth(by: width).high)
    }

    /// Returns true with that probability, in percent.
    package mutating func chance(percent: Int64) -> Bool {
        integer(in: 0...99) < percent
    }

    /// One of the elements, each with equal probability; nil if there are none.
    package mutating func element<Elements: RandomAccessCollection>(
        of elements: Elements
    ) -> Elements.Element? {
        guard !elements.isEmpty else { return nil }
        let offset = Int(integer(in: 0...Int64(elements.count - 1)))
        return elements[elements.index(elements.startIndex, offsetBy: offset)]
    }

    /// That many bytes.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(count + 7)
        while result.count < count {
            let word = next()
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                result.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        result.removeLast(result.count - count)
        return result
    }

    /// A UUID of version 4, in lower case.
    package mutating func uuid() -> String {
        var raw = bytes(16)
        raw[6] = raw[6] & 0x0f | 0x40
        raw[8] = raw[8] & 0x3f | 0x80
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, byte) in raw.enumerated() {
            if index == 4 || index == 6 || index == 8 || index == 10 { text.append(0x2d) }
            text.append(hexadecimalDigit(byte >> 4))
            text.append(hexadecimalDigit(byte & 15))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The elements in random order (Fisher and Yates).
    package mutating func shuffled<Element>(_ elements: [Element]) -> [Element] {
        var result = elements
        var last = result.count - 1
        while last > 0 {
            result.swapAt(last, Int(integer(in: 0...Int64(last))))
            last -= 1
        }
        return result
    }
}

private func hexadecimalDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? 0x30 + value : 0x57 + value
}
