import AppStoreSimulator

/// Changes that ignore the format, and changes to BER.
extension Mutator {
    /// The bytes with one to four places changed, moved, repeated or dropped.
    mutating func changedBytes(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...number(4) { changeOnce(&bytes) }
        return bytes
    }

    private mutating func changeOnce(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else {
            bytes = generator.bytes(number(9))
            return
        }
        let place = number(bytes.count)
        switch number(12) {
        case 0: bytes[place] ^= 1 << UInt8(number(8))
        case 1: bytes[place] = UInt8(truncatingIfNeeded: generator.next())
        case 2: bytes[place] = element(of: Mutator.telling)
        case 3: bytes.removeSubrange(range(in: bytes, at: place))
        case 4: bytes.insert(contentsOf: bytes[range(in: bytes, at: place)], at: place)
        case 5: bytes.insert(contentsOf: generator.bytes(number(9)), at: place)
        case 6: bytes.insert(element(of: Mutator.telling), at: place)
        case 7: bytes.swapAt(place, number(bytes.count))
        case 8: bytes.removeSubrange(place...)
        case 9: splice(&bytes, at: place)
        case 10: changeDigits(&bytes, from: place)
        default:
            let bracket = element(of: Array("[{\"}]0".utf8))
            bytes.insert(contentsOf: [UInt8](repeating: bracket, count: number(70)), at: place)
        }
    }

    private mutating func range(in bytes: [UInt8], at place: Int) -> Range<Int> {
        place..<min(bytes.count, place + 1 + number(chance(80) ? 8 : 400))
    }

    // The head of one payload and the tail of another.
    private mutating func splice(_ bytes: inout [UInt8], at place: Int) {
        let others = [corpus.signed, corpus.unsigned, corpus.receipts, corpus.contents]
        let other = element(of: element(of: others))
        let start = chance(50) ? min(place, other.count) : number(other.count)
        bytes = Array(bytes[..<place] + other[start...])
    }

    private mutating func changeDigits(_ bytes: inout [UInt8], from place: Int) {
        var index = place
        while index < bytes.count, !isDigit(bytes[index]) { index += 1 }
        while index < bytes.count, isDigit(bytes[index]) {
            bytes[index] = UInt8(ascii: "0") + UInt8(number(10))
            index += 1
        }
    }

    private func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    private static let telling: [UInt8] =
        Array("\"\\{}[],:.-+=eE019 \n\tu".utf8) + [0, 0x7f, 0x80, 0x82, 0x84, 0x30, 0x31, 0x24]
        + [0xa0, 0xc0, 0xe0, 0xed, 0xef, 0xf4, 0xf8, 0xff, 1, 2, 3, 4]
}

extension Mutator {
    /// Changes one to three elements.
    mutating func change(_ tree: inout BERTree) {
        for _ in 0...number(3) {
            var mutator = self
            tree.change(number(tree.count)) { mutator.changeOnce(&$0) }
            self = mutator
        }
    }

    private mutating func changeOnce(_ element: inout BERTree) {
        switch (number(4), element.content) {
        case (0, _): element.tag = self.element(of: Mutator.tags)
        case (1, _): element.content = .bytes(someValue())
        case (2, .bytes(let bytes)): element.content = .bytes(changedBytes(bytes))
        case (_, .elements(var elements)) where !elements.isEmpty:
            let place = number(elements.count)
            switch number(4) {
            case 0: elements.remove(at: place)
            case 1: elements.append(elements[place])
            case 2: elements.swapAt(place, number(elements.count))
            default: elements = [elements[place]]
            }
            element.content = .elements(elements)
        case (_, .bytes(let bytes)): element.content = .bytes(Array(bytes.prefix(number(4))))
        case (_, .elements): element.content = .bytes([])
        }
    }

    private mutating func someValue() -> [UInt8] {
        switch number(5) {
        case 0: generator.bytes(number(12))
        case 1: Array(element(of: Mutator.dates).utf8)
        case 2: [UInt8](repeating: 0xff, count: number(12))
        case 3: [UInt8](repeating: 0x80, count: [1, 8, 9, 200, 70_000][number(5)])
        // The number of an attribute, between 0 and 1730.
        default: [UInt8(number(7)), UInt8(truncatingIfNeeded: generator.next())]
        }
    }

    private static let tags: [UInt8] = [
        0x00, 0x01, 0x02, 0x04, 0x05, 0x06, 0x0c, 0x13, 0x16, 0x17, 0x18, 0x1e, 0x1f, 0x24, 0x30,
        0x31, 0x3f, 0x80, 0xa0, 0xa1, 0xff,
    ]

    private static let dates = [
        "", "2023-11-14T22:13:21Z", "2023-11-14T22:13:21.5Z", "2007-12-31T23:59:59Z",
        "2200-01-01T00:00:00Z", "4001-01-01T00:00:00Z", "2023-02-30T24:61:61Z", "2023", "Z",
        "2023-11-14T22:13:21+99:99", "-023-11-14T22:13:21Z", "\u{0}",
    ]
}
