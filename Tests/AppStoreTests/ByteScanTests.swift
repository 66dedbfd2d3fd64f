import Testing

@testable import AppStore
@testable import Events

/// Scans that process many bytes at a time, at every length and offset around their step size.
struct ByteScanTests {
    /// Steps are 8 and 32 bytes; this is a little more than two of the longer ones.
    private static let lengths = 0...70

    @Test func `a scan finds the first of several equal bytes`() {
        for length in ByteScanTests.lengths {
            for position in 0..<length {
                // Neighbours of the dot, which would reveal a borrow between bytes.
                for filler in [UInt8(ascii: "-"), UInt8(ascii: "/"), 0x00, 0xff, 0xae] {
                    var bytes = [UInt8](repeating: filler, count: length)
                    bytes[position] = UInt8(ascii: ".")
                    bytes[length - 1] = UInt8(ascii: ".")
                    for start in [0, 1, position, position + 1, length] {
                        let found = ByteScan.firstIndex(of: UInt8(ascii: "."), in: bytes, start)
                        let expected = bytes[start...].firstIndex(of: UInt8(ascii: "."))
                        #expect(found == expected, "\(length), \(position), \(start)")
                    }
                }
            }
        }
    }

    @Test func `byte strings are equal only if all bytes are`() {
        for length in ByteScanTests.lengths {
            let bytes = (0..<length).map { UInt8($0) }
            #expect(areEqual(bytes, bytes))
            #expect(!areEqual(bytes, bytes + [0]))
            for position in 0..<length {
                var other = bytes
                other[position] ^= 0x80
                #expect(!areEqual(bytes, other), "\(length), \(position)")
            }
        }
    }

    @Test func `a run of plain characters ends before the first other character`() {
        let stops = Array(0x00...0x1f) + [0x22, 0x5c] + Array(0x80...0xff)
        let plain: [UInt8] = [0x20, 0x21, 0x23, 0x5b, 0x5d, 0x7f]
        for length in 0...40 {
            for filler in plain {
                let run = [UInt8](repeating: filler, count: length)
                for start in 0...length { #expect(endOfPlain(run, from: start) == length) }
                for stop in stops.map({ UInt8($0) }) where length > 0 {
                    for position in [0, length / 2, length - 1] {
                        var bytes = run
                        bytes[position] = stop
                        #expect(endOfPlain(bytes, from: 0) == position, "\(bytes)")
                    }
                }
            }
        }
    }

    @Test func `base64url accepts only its own bytes, at every offset`() {
        let alphabet = Set(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8
        )
        for length in 1...40 where length % 4 != 1 {
            for position in 0..<length {
                var text = [UInt8](repeating: UInt8(ascii: "A"), count: length)
                for byte in UInt8.min...UInt8.max {
                    text[position] = byte
                    let isValid = alphabet.contains(byte)
                    #expect(Base64.isURLText(text[...]) == isValid)
                    #expect(Base64.isURLCharacter(byte) == isValid)
                    let isLast = position == length - 1 && length % 4 != 0
                    let decoded = Base64.decodeURLUnpadded(text[...])
                    // The last character of a short group may set bits that carry no data.
                    if !isLast { #expect((decoded != nil) == isValid, "\(text)") }
                    if let decoded {
                        #expect(isValid)
                        var again: [UInt8] = []
                        Base64.encodeURLUnpadded(decoded[...], to: &again)
                        #expect(again == text)
                    }
                }
            }
        }
        #expect(Base64.isURLText([]))
        #expect(Base64.isURLText(Array("a.b".utf8)[...], orAnyOf: UInt8(ascii: ".")))
        #expect(!Base64.isURLText(Array("a.b".utf8)[...]))
    }

    private func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.withUnsafeBytes { left in right.withUnsafeBytes { ByteScan.areEqual(left, $0) } }
    }

    private func endOfPlain(_ bytes: [UInt8], from start: Int) -> Int {
        bytes.withUnsafeBufferPointer { JSON.endOfPlain(from: start, in: $0) }
    }
}

extension ByteScan {
    fileprivate static func firstIndex(of byte: UInt8, in bytes: [UInt8], _ start: Int) -> Int? {
        bytes.withUnsafeBytes { firstIndex(of: byte, in: $0, from: start) }
    }
}
