import Events
import SwiftASN1
import Testing

@testable import AppStore

/// The plain form of BER is read as the parser reads it, or left to the parser.
struct PlainElementsTests {
    private typealias Forge = ReceiptForge

    private static let mutationCount = 4_000

    // Lengths in several bytes, tags of containers and of strings in pieces.
    private static let odd: [UInt8] = [0x00, 0x80, 0x81, 0x82, 0x30, 0x24, 0xff]

    // An indefinite length around the attributes is never plain: there, the parser reads them all.
    @Test(arguments: 0..<5 as Range<UInt64>)
    func `changed attributes read the same in both forms`(seed: UInt64) throws {
        let set = try #require(PlainElements.only(.set, in: Forge.payload()[...]))
        var generator = SeededGenerator(seed: seed)
        var accepted = 0
        for number in 0..<Self.mutationCount {
            let attributes = Self.mutated(Array(set), with: &generator)
            let plain = Self.outcome(Forge.set([attributes]))
            let parsed = Self.outcome([0x31, 0x80] + attributes + [0, 0])
            #expect(plain == parsed, "seed \(seed), mutation \(number): \(attributes)")
            if plain.receipt != nil { accepted += 1 }
        }
        #expect(accepted > 0 && accepted < Self.mutationCount, "seed \(seed)")
    }

    @Test(arguments: 0..<5 as Range<UInt64>)
    func `a plain element is what the parser finds in the same bytes`(seed: UInt64) throws {
        let samples: [(PlainElements.Tag, [UInt8])] = [
            (.integer, Forge.integer(1)), (.integer, Forge.integer(300)),
            (.integer, [2, 2, 0xff, 0x7f]), (.integer, [2, 8, 0x80, 0, 0, 0, 0, 0, 0, 0]),
            (.ia5String, Forge.ia5("2023-11-14T22:13:20Z")), (.utf8String, Forge.utf8("ä")),
            (.octetString, [4, 0x81, 0x80] + Array(repeating: 7, count: 0x80)),
            (.octetString, [4, 0x82, 1, 0] + Array(repeating: 7, count: 0x100)),
        ]
        var generator = SeededGenerator(seed: seed)
        var found = 0
        for number in 0..<Self.mutationCount {
            let (tag, sample) = samples[number % samples.count]
            let bytes = Self.mutated(sample, with: &generator)
            guard let content = PlainElements.only(tag, in: bytes[...]) else { continue }
            found += 1
            let node = try BERReader.root(of: bytes[...], in: "a sample")
            guard case .primitive(let parsed) = node.content else {
                Issue.record("seed \(seed): constructed: \(bytes)")
                continue
            }
            #expect(content == parsed, "seed \(seed): \(bytes)")
            // The parser also accepts more bytes than a number needs.
            if tag == .integer, let number = PlainElements.integer(content) {
                #expect(number == Self.integer(node), "seed \(seed): \(bytes)")
            }
        }
        #expect(found > 0 && found < Self.mutationCount, "seed \(seed)")
    }

    @Test func `a length in too many bytes is left to the parser`() throws {
        #expect(PlainElements.only(.octetString, in: [4, 0x81, 2, 7, 7]) == nil)
        #expect(PlainElements.only(.octetString, in: [4, 0x80, 0, 0]) == nil)
        #expect(PlainElements.only(.octetString, in: [4, 3, 7, 7]) == nil)
        #expect(PlainElements.only(.octetString, in: [4, 1, 7, 7]) == nil)
        #expect(PlainElements.only(.octetString, in: [4, 2, 7, 7]) == [7, 7])
        #expect(PlainElements.integer([]) == nil)
        #expect(PlainElements.integer([0, 1]) == nil)
        #expect(PlainElements.integer([0xff, 0x80]) == nil)
        #expect(PlainElements.integer([0, 0x80]) == 128)
        #expect(PlainElements.integer([0xff, 0x7f]) == -129)
    }

    private struct Outcome: Equatable {
        var receipt: AppReceipt?
        var refusal: Rejection.Code?
    }

    private static func outcome(_ content: [UInt8]) -> Outcome {
        do throws(Rejection) {
            return Outcome(receipt: try AppReceipt(content: content[...]))
        } catch {
            return Outcome(refusal: error.code)
        }
    }

    private static func integer(_ node: ASN1Node) -> Int64? {
        do {
            return try Int64(berEncoded: node)
        } catch {
            return nil
        }
    }

    /// Changes, drops or repeats up to three bytes.
    private static func mutated(
        _ bytes: [UInt8],
        with generator: inout SeededGenerator
    ) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 0..<4, using: &generator) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &generator)
            switch UInt8.random(in: 0..<4, using: &generator) {
            case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 1: bytes[index] = odd[Int.random(in: 0..<odd.count, using: &generator)]
            case 2: bytes.remove(at: index)
            default: bytes.insert(bytes[index], at: index)
            }
        }
        return bytes
    }
}
