import AppStoreSimulator
import Events
import Foundation
import struct TestSupport.SeededGenerator
import Testing

@testable import EventLog

/// Payloads are packed and restored bit by bit.
@Suite struct EvidencePackingTests {
    private static let pki = SimulatedPKI(seed: 5)

    /// The ledger's dictionary, or nil.
    private static func dictionary(_ isUsed: Bool) -> EvidenceDictionary? {
        isUsed ? TestDictionary.first : nil
    }

    @Test(arguments: [false, true])
    func `unpacking restores any bytes`(withDictionary: Bool) {
        for seed in UInt64(1)...400 {
            var random = RandomPayload(seed: seed)
            let payload = random.payload()
            let packing = TestPacking(payload, Self.dictionary(withDictionary))
            #expect(packing.unpacked(byteCountMax: payload.count) == payload, "seed \(seed)")
            #expect(
                packing.unpacked(byteCountMax: payload.count - 1) == nil,
                "seed \(seed): longer than allowed"
            )
        }
    }

    @Test(arguments: [false, true])
    func `payloads of every format are restored`(withDictionary: Bool) {
        for payload in TestPayloads.all() {
            let packing = TestPacking(payload, Self.dictionary(withDictionary))
            #expect(packing.unpacked(byteCountMax: payload.count) == payload)
            #expect(packing.unpacked(byteCountMax: payload.count - 1) == nil)
            // A binary receipt can be deflated; nothing else makes it smaller.
            let most = withDictionary ? payload.count * 2 / 3 : payload.count + 10
            #expect(packing.packed.body.count <= most)
        }
    }

    @Test(
        arguments: [
            "", "e", "eyJ", "eyJ.", "eyJ..", "..", "====", "\u{0}", "{}", "\"\"", "A.", "~", "#",
            "^|", "<|", "&|", "|", "@", "`", "\":", "{\":\"", "{\"a\":\"~\"}", "{\"a\":\"1234",
            "{\"a\":\"12\\\"34\"}", "{\"a\" : 12345}", "{\"a\":12345", "{\"\":\"\"}",
            "{\"a\":\"1234\n5678\"}", "{\"a\":\"\u{e9}\u{2028}1234\"}", "{\"a\":12.50e10}",
            "{\"a\":\"0a1b2c3d-0000-4000-8000-0123456789ab\"}",
            "{\"a\":\"0A1B2C3D-0000-4000-8000-0123456789AB\"}",
            "{\"a\":\"0a1b2c3d-0000-4000-8000-0123456789aB\"}",
            "{\"a\":\"0a1b2c3d00000-4000-8000-0123456789ab\"}",
        ]
    )
    func `small malformed payloads are restored as well`(text: String) {
        let payload = Array(text.utf8)
        for isUsed in [false, true] {
            let packing = TestPacking(payload, Self.dictionary(isUsed))
            #expect(packing.unpacked(byteCountMax: payload.count) == payload)
        }
    }

    @Test func `base64 that is not canonical is restored unchanged`() {
        let good = Data((0..<60).map { UInt8($0) }).base64EncodedString()
        let texts = [
            good, "\(good.prefix(79))=", good + "A", good + "====", "\(good.prefix(78))B=",
            good.replacing("A", with: "_"), String(repeating: "A", count: 65) + "=",
            "eyJ" + good, "eyJ\(good).\(good).\(good)", "eyJ\(good).\(good)",
        ]
        for text in texts {
            let payload = Array("{\"a\":\"\(text)\",\"b\":\(text)}".utf8)
            let packing = TestPacking(payload, TestDictionary.first)
            #expect(packing.unpacked(byteCountMax: payload.count) == payload, "\(text)")
        }
    }

    @Test func `three nested JWS share one header, which is stored once`() throws {
        let inner = Self.jws(#"{"transactionId":"1"}"#)
        let renewal = Self.jws(#"{"autoRenewStatus":1}"#)
        let outer = Self.jws(
            #"{"data":{"signedTransactionInfo":"\#(inner)","signedRenewalInfo":"\#(renewal)"}}"#
        )
        let payload = Array(#"{"signedPayload":"\#(outer)"}"#.utf8)
        let packing = TestPacking(payload, TestDictionary.first)
        #expect(packing.packed.segments.count == 1)
        let header = try #require(outer.split(separator: ".").first)
        let key = try #require(packing.packed.segments.first).key
        #expect(key.bytes == Array(Digest.of(Array(header.utf8)).bytes.prefix(16)))
        #expect(EvidencePacking.segmentKeys(of: packing.packed.body) == [key])
        #expect(packing.unpacked(byteCountMax: payload.count) == payload)
        // Three signatures, a key, and fewer than a hundred bytes for everything else.
        #expect(packing.packed.body.count < 3 * 64 + 16 + 100)
    }

    @Test func `JWS with different headers refer each to its own`() {
        let other = SimulatedPKI(seed: 6)
        let others = String(decoding: other.sign(payloadJSON: Array("{}".utf8)), as: UTF8.self)
        let mine = Self.jws("{}")
        let payload = Array("[\"\(mine)\",\"\(others)\",\"\(others)\",\"\(mine)\"]".utf8)
        for isUsed in [false, true] {
            let packing = TestPacking(payload, Self.dictionary(isUsed))
            #expect(packing.packed.segments.count == 2)
            #expect(packing.unpacked(byteCountMax: payload.count) == payload)
        }
    }

    @Test func `deep nesting is restored too`() {
        var text = "seed"
        for _ in 0..<12 { text = Self.jws(#"{"n":"\#(text)"}"#) }
        let payload = Array(text.utf8)
        let packing = TestPacking(payload, TestDictionary.first)
        #expect(packing.unpacked(byteCountMax: payload.count) == payload)
    }

    /// The storage cost of a notification is a promise to whoever pays for the disk.
    @Test func `a notification takes at most 440 bytes on average, without its header`() throws {
        let dictionary = try #require(TestDictionary.first)
        let payloads = TestPayloads.notifications()
        let packed = payloads.map { EvidencePacking.pack($0, dictionary: dictionary) }
        let bytes = packed.reduce(0) { $0 + $1.body.count } / packed.count
        #expect(bytes <= 440, "\(bytes) bytes")
        #expect(Set(packed.flatMap(\.segments)).count == 1)
    }

    @Test func `a dictionary has a number from 1 and a length that zlib can use`() throws {
        let most = EvidenceDictionary.byteCountMax
        #expect(EvidenceDictionary(number: 0, bytes: [1]) == nil)
        #expect(EvidenceDictionary(number: 1, bytes: []) == nil)
        let long = [UInt8](repeating: 7, count: most + 1)
        #expect(EvidenceDictionary(number: 1, bytes: long) == nil)
        let random = (0..<most).map { _ in UInt8.random(in: .min ... .max) }
        let longest = try #require(EvidenceDictionary(number: 255, bytes: random))
        // All of it is used, except what the first bytes of the frame push out of reach.
        let payload = Array(random[100..<2100])
        let packing = TestPacking(payload, longest)
        #expect(packing.packed.body.first == 255)
        #expect(packing.packed.body.count < 100)
        #expect(packing.unpacked(byteCountMax: payload.count) == payload)
    }

    @Test func `without its dictionary or segment a payload is missing, not wrong`() throws {
        let payload = try #require(TestPayloads.notifications().first)
        let packing = TestPacking(payload, TestDictionary.first)
        let body = packing.packed.body
        func unpacked(
            _ dictionaries: (UInt8) -> [UInt8]?,
            _ segment: (SegmentKey) -> [UInt8]?
        ) -> [UInt8]? {
            EvidencePacking.unpack(
                body,
                byteCountMax: payload.count,
                dictionaries: dictionaries,
                segment: segment
            )
        }
        #expect(unpacked(packing.dictionary, packing.segment) == payload)
        #expect(unpacked({ _ in nil }, packing.segment) == nil)
        #expect(unpacked(packing.dictionary, { _ in nil }) == nil)
        #expect(unpacked({ _ in Array("{\"other\":1}".utf8) }, packing.segment) != payload)
    }

    @Test func `many tasks pack and unpack concurrently`() async {
        let payloads = TestPayloads.all()
        let other = EvidenceDictionary(number: 2, bytes: Array("\"transactionId\":\"~\"".utf8))
        await withTaskGroup(of: Int.self) { group in
            for task in 0..<16 {
                group.addTask {
                    var failures = 0
                    for (number, payload) in payloads.enumerated() {
                        let isOther = (task + number) % 3 == 0
                        let packing = TestPacking(payload, isOther ? other : TestDictionary.first)
                        let unpacked = packing.unpacked(byteCountMax: payload.count)
                        if unpacked != payload { failures += 1 }
                    }
                    return failures
                }
            }
            for await failures in group { #expect(failures == 0) }
        }
    }

    @Test func `Python unpacks our payloads with its standard library`() async throws {
        var payloads = TestPayloads.all()
        for seed in UInt64(1)...150 {
            var random = RandomPayload(seed: seed)
            payloads.append(random.payload())
        }
        var lines: [String] = []
        for (number, payload) in payloads.enumerated() {
            let packing = TestPacking(payload, Self.dictionary(number % 2 == 1))
            lines.append(try packing.json())
        }
        let input = FileManager.default.temporaryDirectory
            .appendingPathComponent("subledger-packed-\(UUID().uuidString)")
        try Data(lines.joined(separator: "\n").utf8).write(to: input)
        defer { unlink(input.path) }
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("unpack_evidence.py").path
        let output = try await PythonVerifier.run(["python3", script, input.path])
        let unpacked = String(decoding: output, as: UTF8.self).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        #expect(unpacked.dropLast().map(String.init) == payloads.map { hexadecimal($0) })
    }

    private static func jws(_ json: String) -> String {
        String(decoding: pki.sign(payloadJSON: Array(json.utf8)), as: UTF8.self)
    }
}
