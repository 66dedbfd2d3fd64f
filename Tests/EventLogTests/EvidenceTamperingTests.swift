import AppStoreSimulator
import Events
import struct TestSupport.SeededGenerator
import Testing

@testable import EventLog

/// Changed or invented packed bodies: they never trap and never unpack to more bytes than allowed.
@Suite struct EvidenceTamperingTests {
    @Test(arguments: [false, true])
    func `truncated and changed bodies never trap and never grow beyond the limit`(
        withDictionary: Bool
    ) throws {
        let payload = try #require(TestPayloads.notifications().first)
        let packing = TestPacking(payload, withDictionary ? TestDictionary.first : nil)
        let body = packing.packed.body
        for count in body.indices {
            #expect(Self.unpacked(Array(body.prefix(count)), packing, payload) != payload)
        }
        for seed in UInt64(1)...2000 {
            var random = SeededGenerator(seed: seed)
            var changed = body
            for _ in 0...Int.random(in: 0...2, using: &random) {
                let index = Int.random(in: changed.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: changed[index] = UInt8.random(in: .min ... .max, using: &random)
                case 1: changed.remove(at: index)
                default:
                    let marks = EvidencePacking.Mark.all + [0, 1, 0x80, 0xff]
                    changed.insert(marks.randomElement(using: &random) ?? 0, at: index)
                }
            }
            let unpacked = Self.unpacked(changed, packing, payload)
            #expect(unpacked?.count ?? 0 <= payload.count, "seed \(seed)")
        }
    }

    @Test func `a byte after the end makes a body malformed`() throws {
        let payload = try #require(TestPayloads.notifications().first)
        let packing = TestPacking(payload, TestDictionary.first)
        #expect(packing.packed.body.first == 1)
        #expect(Self.unpacked(packing.packed.body + [0], packing, payload) == nil)
    }

    @Test func `unpacking a decompression bomb stops at the limit`() throws {
        let dictionary = try #require(TestDictionary.first)
        // 8 MiB in 8 KiB.
        let spaces = [UInt8](repeating: 0x20, count: 8 << 20)
        let bomb = try #require(Deflate.deflate(spaces, dictionary: dictionary))
        #expect(bomb.count < 10_000)
        for byteCountMax in [0, 1, 1000, 1 << 20] {
            #expect(
                Deflate.inflate(
                    bomb[...],
                    dictionary: dictionary.bytes,
                    byteCountMax: byteCountMax
                ) == nil
            )
            let body = Self.body(number: 1, frameByteCount: spaces.count, rest: bomb)
            #expect(Self.unpacked(body, byteCountMax: byteCountMax) == nil)
        }
        let inflated = Deflate.inflate(
            bomb[...],
            dictionary: dictionary.bytes,
            byteCountMax: spaces.count
        )
        #expect(inflated == spaces)
    }

    @Test func `unpacking a small frame that refers to a long segment stops at the limit`() {
        let header = String(repeating: "A", count: 4000)
        let key = SegmentKey.of(Array(header.utf8))
        let segment = EvidencePacker.verbatim(Array(header.utf8))
        let body = Self.body(
            keys: [key],
            randoms: [UInt8](repeating: 0, count: 64 * 1000),
            frame: String(repeating: "^|", count: 1000)
        )
        func unpacked(_ byteCountMax: Int) -> [UInt8]? {
            EvidencePacking.unpack(
                body,
                byteCountMax: byteCountMax,
                dictionaries: { _ in nil },
                segment: { $0 == key ? segment : nil }
            )
        }
        let byteCount = 1000 * (4000 + 2 + 86)
        #expect(unpacked(byteCount)?.count == byteCount)
        #expect(unpacked(byteCount - 1) == nil)
        #expect(unpacked(10_000) == nil)
    }

    @Test func `a segment that refers to a segment is malformed`() {
        let key = SegmentKey.of([])
        let body = Self.body(
            keys: [key],
            randoms: [UInt8](repeating: 0, count: 64),
            frame: "^|"
        )
        let unpacked = EvidencePacking.unpack(
            body,
            byteCountMax: 1 << 20,
            dictionaries: { _ in nil },
            segment: { _ in body }
        )
        #expect(unpacked == nil)
    }

    @Test(
        arguments: [
            // Nested frames and their ends.
            ("<", ""), ("|", ""), ("<|||", ""), ("&<|", ""),
            (String(repeating: "<", count: 100_000), ""),
            (String(repeating: "<", count: 9) + String(repeating: "|", count: 9), ""),
            // Values that are missing, not terminated, or left over.
            ("~", ""), ("~", "abc"), ("~", "abc\ndef\n"), ("a", "abc\n"),
            // Random values and segments that are missing.
            ("#", ""), ("^|", ""), ("@\u{1}^|", ""), ("@", ""),
            // Verbatim bytes that are not there, and a length that does not end.
            ("`", ""), ("`\u{2}a", ""), ("`\u{7f}", "abc\n"),
        ]
    )
    func `an invented frame is malformed`(frame: String, values: String) {
        let body = Self.body(frame: frame, values: values)
        #expect(Self.unpacked(body, byteCountMax: 1 << 20) == nil)
    }

    @Test func `invented sections are malformed`() {
        let bodies: [[UInt8]] = [
            [], [0], [0, 0], [0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 0], [7, 0, 0, 0],
            // Counts of 2^35 - 1, and counts that do not end.
            [0, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0], [0, 0, 0xff, 0xff, 0xff, 0xff, 0x7f, 0],
            [0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x7f], [0] + [UInt8](repeating: 0xff, count: 40),
            // Random values that nothing uses.
            Self.body(randoms: [1], frame: "a"),
            // A dictionary, but nothing deflated.
            [1, 0, 0, 0], [1, 0, 0, 0, 0xff], [1, 0, 0, 1, 3, 0, 0],
        ]
        for body in bodies {
            #expect(Self.unpacked(body, byteCountMax: 1 << 20) == nil, "\(body)")
        }
        #expect(Self.unpacked([0, 0, 0, 0], byteCountMax: 0) == [])
        #expect(Self.unpacked(Self.body(frame: "a~b", values: "\n"), byteCountMax: 2) == [97, 98])
    }

    private static func body(
        number: UInt8 = 0,
        keys: [SegmentKey] = [],
        randoms: [UInt8] = [],
        frameByteCount: Int,
        rest: [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.integer(number)
        writer.leb128(UInt64(keys.count))
        for key in keys { writer.raw(key.bytes) }
        writer.leb128(UInt64(randoms.count))
        writer.raw(randoms)
        writer.leb128(UInt64(frameByteCount))
        writer.raw(rest)
        return writer.bytes
    }

    private static func body(
        keys: [SegmentKey] = [],
        randoms: [UInt8] = [],
        frame: String,
        values: String = ""
    ) -> [UInt8] {
        body(
            keys: keys,
            randoms: randoms,
            frameByteCount: frame.utf8.count,
            rest: Array((frame + values).utf8)
        )
    }

    private static func unpacked(_ body: [UInt8], byteCountMax: Int) -> [UInt8]? {
        EvidencePacking.unpack(
            body,
            byteCountMax: byteCountMax,
            dictionaries: { $0 == 1 ? TestDictionary.first?.bytes : nil },
            segment: { _ in nil }
        )
    }

    private static func unpacked(
        _ body: [UInt8],
        _ packing: TestPacking,
        _ payload: [UInt8]
    ) -> [UInt8]? {
        EvidencePacking.unpack(
            body,
            byteCountMax: payload.count,
            dictionaries: packing.dictionary,
            segment: packing.segment
        )
    }
}
