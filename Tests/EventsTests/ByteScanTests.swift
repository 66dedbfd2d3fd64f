import Events
import Testing

/// Comparing and finding bytes, several at a time.
@Suite struct ByteScanTests {
    @Test func `bytes are equal only where every one of them is`() {
        for count in 0...40 {
            let bytes = (0..<count).map { UInt8($0) }
            #expect(ByteScan.areEqual(bytes[...], bytes[...]), "\(count) bytes")
            #expect(!ByteScan.areEqual(bytes[...], (bytes + [0])[...]), "\(count) bytes")
            for index in bytes.indices {
                var other = bytes
                other[index] ^= 0x80
                #expect(!ByteScan.areEqual(bytes[...], other[...]), "byte \(index) of \(count)")
            }
        }
    }

    @Test func `texts are equal only if their UTF-8 is equal`() {
        // One scalar and two, which Swift considers equal; short texts, and texts at other
        // addresses.
        for tail in ["", "a monthly subscription of a long name"] {
            #expect(areSameBytes("caf\u{e9}" + tail, "caf\u{e9}" + tail))
            #expect("caf\u{e9}" + tail == "cafe\u{301}" + tail)
            #expect(!areSameBytes("caf\u{e9}" + tail, "cafe\u{301}" + tail))
            #expect(!areSameBytes("caf" + tail, "cag" + tail))
        }
    }

    @Test func `the first of two bytes is found at any offset`() {
        for count in 0...70 {
            let bytes = [UInt8](repeating: 0x61, count: count)
            for start in 0...count {
                #expect(Self.first(in: bytes, from: start) == nil)
                for index in start..<count {
                    for found in [UInt8(ascii: "\""), UInt8(ascii: "\\")] {
                        var other = bytes
                        other[index] = found
                        if index + 1 < count { other[count - 1] = UInt8(ascii: "\"") }
                        #expect(Self.first(in: other, from: start) == index)
                    }
                }
            }
        }
    }

    private static func first(in bytes: [UInt8], from start: Int) -> Int? {
        bytes.withUnsafeBytes {
            let (quote, escape) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
            return ByteScan.firstIndex(of: quote, or: escape, in: $0, from: start)
        }
    }
}
