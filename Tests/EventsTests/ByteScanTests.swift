import Events
import Testing

/// Comparisons of bytes, some at a time.
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

    @Test func `texts are the same only where their UTF-8 is`() {
        // One scalar and two, which Swift holds equal; short ones and such as lie elsewhere.
        for tail in ["", "a monthly subscription of a long name"] {
            #expect(areSameBytes("caf\u{e9}" + tail, "caf\u{e9}" + tail))
            #expect("caf\u{e9}" + tail == "cafe\u{301}" + tail)
            #expect(!areSameBytes("caf\u{e9}" + tail, "cafe\u{301}" + tail))
            #expect(!areSameBytes("caf" + tail, "cag" + tail))
        }
    }
}
