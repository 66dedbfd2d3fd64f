import AppStoreSimulator
import EventLog
import Events
import Foundation
import struct TestSupport.SeededGenerator

/// A packed payload with everything needed to unpack it.
struct TestPacking {
    let packed: EvidencePacking.Packed
    private let dictionaryInUse: EvidenceDictionary?
    private let segments: [SegmentKey: [UInt8]]

    init(_ payload: [UInt8], _ dictionary: EvidenceDictionary?) {
        packed = EvidencePacking.pack(payload, dictionary: dictionary)
        dictionaryInUse = dictionary
        segments = Dictionary(uniqueKeysWithValues: packed.segments.map { ($0.key, $0.body) })
    }

    func dictionary(_ number: UInt8) -> [UInt8]? {
        dictionaryInUse?.number == number ? dictionaryInUse?.bytes : nil
    }

    func segment(_ key: SegmentKey) -> [UInt8]? { segments[key] }

    func unpacked(byteCountMax: Int) -> [UInt8]? {
        EvidencePacking.unpack(
            packed.body,
            byteCountMax: byteCountMax,
            dictionaries: dictionary,
            segment: segment
        )
    }

    /// One line for `unpack_evidence.py`.
    func json() throws -> String {
        let object: [String: Any] = [
            "body": hexadecimal(packed.body),
            "dictionaries": dictionaryInUse.map { ["\($0.number)": hexadecimal($0.bytes)] } ?? [:],
            "segments": Dictionary(
                uniqueKeysWithValues: segments.map { ($0.key.description, hexadecimal($0.value)) }
            ),
        ]
        let data = try JSONSerialization.data(withJSONObject: object)
        return String(decoding: data, as: UTF8.self)
    }
}

/// The dictionaries of the schema.
enum TestDictionary {
    /// The bytes between the tags of the statement that stores the dictionary; nil if the file has
    /// another form, which fails the tests of sizes.
    static let first: EvidenceDictionary? = {
        let file = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("schema/migrations/v001-ledger.sql")
        do {
            let parts = try String(contentsOf: file, encoding: .utf8)
                .components(separatedBy: "$dictionary$")
            guard parts.count == 3 else { return nil }
            return EvidenceDictionary(number: 1, bytes: Array(parts[1].utf8))
        } catch {
            return nil
        }
    }()
}

/// Payloads of one simulated store.
enum TestPayloads {
    private static let simulator = AppStoreSimulator(seed: 11)
    private static let lifeCount = 6

    /// Version 2 notifications.
    static func notifications() -> [[UInt8]] {
        simulator.lives(lifeCount).flatMap { $0.notifications().map(\.payload) }
    }

    /// Payloads of every format, receipts in every form.
    static func all() -> [[UInt8]] {
        simulator.lives(lifeCount).flatMap { life -> [[UInt8]] in
            guard let horizon = life.horizon else { return [] }
            let forms: [AppReceiptForm] = [[], [.indefiniteLengths], [.wrappedTwice]]
            return life.notifications().prefix(4).map(\.payload)
                + life.history(asOf: horizon).map(\.payload)
                + [life.statuses(asOf: horizon).payload]
                + [life.verifyReceiptResponse(asOf: horizon, style: [])]
                + life.statusUpdateNotifications(style: []).prefix(2).map(\.payload)
                + forms.map { life.appReceipt(asOf: horizon, form: $0) }
                + [false, true].map { life.appReceiptBase64(asOf: horizon, inLines: $0) }
        }
    }
}

/// Random bytes, and JSON that contains all kinds of base64.
struct RandomPayload {
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
        switch Int.random(in: 0..<11, using: &random) {
        case 0: return Data(plain).base64EncodedString()
        case 1: return Self.url(plain)
        case 2: return Data(inner.utf8).base64EncodedString()
        case 3: return Self.url(Array(inner.utf8))
        case 4: return jws(inner, signature: plain)
        case 5: return Data(plain).base64EncodedString(options: .lineLength64Characters)
        case 6: return jws(inner, signature: bytes(64))
        case 7: return "\(UInt64.random(in: 0...UInt64.max, using: &random))"
        case 8: return UUID(uuid: uuid()).uuidString.lowercased()
        case 9: return "~#^<&|@`\"\\\n" + inner
        default: return Data(plain).base64EncodedString().replacing("=", with: "")
        }
    }

    private mutating func jws(_ inner: String, signature: [UInt8]) -> String {
        let number = Int.random(in: 0..<3, using: &random)
        let header = Self.url(Array("{\"alg\":\"ES256\",\"n\":\(number)}".utf8))
        return "\(header).\(Self.url(Array(inner.utf8))).\(Self.url(signature))"
    }

    private mutating func uuid() -> uuid_t {
        let bytes = bytes(16)
        return bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }
    }

    private mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    private static func url(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}
