import struct AppStoreSimulator.SimulatedPKI
import Events
import Foundation
import struct TestSupport.SeededGenerator
import Testing

@testable import EventLog

/// Payloads packed and put together again, bit by bit.
@Suite struct EvidencePackingTests {
    private static let pki = SimulatedPKI(seed: 5)

    @Test func `whatever the bytes, unpacking gives them back`() {
        for seed in UInt64(1)...400 {
            var random = RandomPayload(seed: seed)
            let payload = random.payload()
            let packed = EvidencePacking.pack(payload)
            #expect(Self.unpacked(packed, payload.count) == payload, "seed \(seed)")
            #expect(
                Self.unpacked(packed, payload.count - 1) == nil,
                "seed \(seed): longer than allowed"
            )
        }
    }

    @Test(arguments: ["", "e", "eyJ", "eyJ.", "eyJ..", "..", "====", "\u{0}", "{}", "\"\"", "A."])
    func `small payloads of no sense come back as well`(text: String) {
        let payload = Array(text.utf8)
        #expect(Self.unpacked(EvidencePacking.pack(payload), payload.count) == payload)
    }

    @Test func `base64 that is not canonical is kept as it stands`() {
        let good = Data((0..<60).map { UInt8($0) }).base64EncodedString()
        let texts = [
            good, "\(good.prefix(79))=", good + "A", good + "====", "\(good.prefix(78))B=",
            good.replacing("A", with: "_"), String(repeating: "A", count: 65) + "=",
            "eyJ" + good, "eyJ\(good).\(good).\(good)", "eyJ\(good).\(good)",
        ]
        for text in texts {
            let payload = Array("{\"a\":\"\(text)\",\"b\":\(text)}".utf8)
            let packed = EvidencePacking.pack(payload)
            #expect(Self.unpacked(packed, payload.count) == payload, "\(text)")
        }
    }

    @Test func `three JWS in each other share one header, which is kept once`() {
        let inner = Self.jws(#"{"transactionId":"1"}"#)
        let renewal = Self.jws(#"{"autoRenewStatus":1}"#)
        let outer = Self.jws(
            #"{"data":{"signedTransactionInfo":"\#(inner)","signedRenewalInfo":"\#(renewal)"}}"#
        )
        let payload = Array(#"{"signedPayload":"\#(outer)"}"#.utf8)
        let packed = EvidencePacking.pack(payload)
        #expect(packed.segments.count == 1)
        #expect(Self.unpacked(packed, payload.count) == payload)
        let size = packed.body.count + packed.segments.reduce(0) { $0 + $1.body.count }
        #expect(size * 4 < payload.count, "\(size) of \(payload.count)")
    }

    @Test func `nesting beyond any sense comes back too`() {
        var text = "seed"
        for _ in 0..<12 { text = Self.jws(#"{"n":"\#(text)"}"#) }
        let payload = Array(text.utf8)
        #expect(Self.unpacked(EvidencePacking.pack(payload), payload.count) == payload)
    }

    @Test func `cut and changed bodies never trap and never grow beyond the limit`() {
        let jws = Self.jws(#"{"a":"\#(Self.jws(#"{"b":1}"#))","c":"plain text of some length"}"#)
        let payload = Array(#"{"signedPayload":"\#(jws)"}"#.utf8)
        let packed = EvidencePacking.pack(payload)
        for count in packed.body.indices {
            Self.check(Array(packed.body.prefix(count)), packed, payload, "cut at \(count)")
        }
        for seed in UInt64(1)...3000 {
            var random = SeededGenerator(seed: seed)
            var body = packed.body
            for _ in 0...Int.random(in: 0...2, using: &random) {
                let index = Int.random(in: body.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: body[index] = UInt8.random(in: .min ... .max, using: &random)
                case 1: body.remove(at: index)
                default: body.insert([0, 1, 2, 3, 0x80, 0xff].randomElement() ?? 0, at: index)
                }
            }
            Self.check(body, packed, payload, "seed \(seed)")
        }
    }

    private static func check(
        _ body: [UInt8],
        _ packed: EvidencePacking.Packed,
        _ payload: [UInt8],
        _ comment: Comment
    ) {
        let bodies = segments(of: packed)
        // The changed body stands for its own segments as well: a segment that holds itself.
        for segments in [bodies, bodies.mapValues { _ in body }] {
            let output = EvidencePacking.unpack(body, byteCountMax: payload.count) { segments[$0] }
            #expect(output?.count ?? 0 <= payload.count, comment)
        }
    }

    private static func segments(of packed: EvidencePacking.Packed) -> [Digest: [UInt8]] {
        Dictionary(uniqueKeysWithValues: packed.segments.map { ($0.digest, $0.body) })
    }

    private static func unpacked(_ packed: EvidencePacking.Packed, _ count: Int) -> [UInt8]? {
        let bodies = segments(of: packed)
        return EvidencePacking.unpack(packed.body, byteCountMax: count) { bodies[$0] }
    }

    private static func jws(_ json: String) -> String {
        String(decoding: pki.sign(payloadJSON: Array(json.utf8)), as: UTF8.self)
    }
}

/// Bytes, and JSON with base64 of all kinds in it.
private struct RandomPayload {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// At least one byte.
    mutating func payload() -> [UInt8] {
        if Int.random(in: 0..<5, using: &random) == 0 {
            return [0x20] + bytes(Int.random(in: 0..<2000, using: &random))
        }
        return Array(json(depth: 0).utf8)
    }

    private mutating func json(depth: Int) -> String {
        let members = (0..<Int.random(in: 1...4, using: &random)).map { number in
            "\"k\(number)\":\"\(value(depth: depth))\""
        }
        return "{\(members.joined(separator: ","))}"
    }

    private mutating func value(depth: Int) -> String {
        let inner = depth < 4 ? json(depth: depth + 1) : "end"
        let plain = bytes(Int.random(in: 0..<120, using: &random))
        switch Int.random(in: 0..<7, using: &random) {
        case 0: return Data(plain).base64EncodedString()
        case 1: return Self.url(plain)
        case 2: return Data(inner.utf8).base64EncodedString()
        case 3: return Self.url(Array(inner.utf8))
        case 4:
            let header = Self.url(Array("{\"alg\":\"ES256\",\"n\":\(plain.count % 3)}".utf8))
            return "\(header).\(Self.url(Array(inner.utf8))).\(Self.url(plain))"
        case 5: return Data(plain).base64EncodedString(options: .lineLength64Characters)
        default: return Data(plain).base64EncodedString().replacing("=", with: "")
        }
    }

    private mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    private static func url(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}
