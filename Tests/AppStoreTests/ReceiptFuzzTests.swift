import Events
import Foundation
import Testing

@testable import AppStore

/// Real receipts with random changes: refused, or with the same content.
@Suite(.enabled(if: RealData.isPresent))
struct ReceiptFuzzTests {
    private static let mutationCount = 2_000

    // The message's framing, its list of digests and embedded certificates outside the chain are
    // not signed: a receipt changed there may be accepted, but its content must be the same.
    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `no change to a real receipt changes its accepted content`(seed: UInt64) throws {
        let path = RealReceiptTests.signedByApple[Int(seed) - 1]
        let bytes = try RealReceiptTests.message(path)
        let opener = ReceiptOpener(roots: RootCertificate.apple)
        let original = try opener.open(bytes[...], receivedAt: receivedAt)
        let content = try SignedData(bytes[...]).content
        let signed = try #require(bytes.firstRange(of: content))
        var refused = 0
        var generator = SeededGenerator(seed: seed)
        for number in 0..<ReceiptFuzzTests.mutationCount {
            var mutated = bytes
            let touched = mutate(&mutated, near: signed, with: &generator)
            let place = "seed \(seed), mutation \(number) at \(touched)"
            do throws(Rejection) {
                let opened = try opener.open(mutated[...], receivedAt: receivedAt)
                #expect(opened.receipt == original.receipt, "\(place)")
                #expect(opened.root == original.root && !opened.isLocal, "\(place)")
                #expect(mutated.firstRange(of: content) != nil, "\(place)")
            } catch {
                refused += 1
            }
        }
        #expect(refused > ReceiptFuzzTests.mutationCount / 2, "seed \(seed)")
    }

    /// Changes, drops or repeats a few bytes; half of the time outside the content, which is long
    /// and whose changes are always refused.
    private func mutate(
        _ bytes: inout [UInt8],
        near signed: Range<Int>,
        with generator: inout SeededGenerator
    ) -> Int {
        var index = Int.random(in: 0..<bytes.count, using: &generator)
        if Bool.random(using: &generator), signed.contains(index) {
            index = Int.random(in: 0..<signed.lowerBound + 1, using: &generator)
        }
        switch UInt8.random(in: 0..<6, using: &generator) {
        case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
        case 2: bytes[index] = [0x80, 0x84, 0xff, 0x00, 0x30, 0x24][index % 6]
        case 3: bytes.remove(at: index)
        case 4: bytes.insert(UInt8.random(in: .min ... .max, using: &generator), at: index)
        default:
            let other = Int.random(in: 0..<bytes.count, using: &generator)
            bytes.swapAt(index, other)
        }
        return index
    }
}

extension RealReceiptTests {
    /// A real receipt as PKCS #7 bytes, whatever the encoding of its file.
    static func message(_ path: String) throws -> [UInt8] {
        Array(try ReceiptEncoding.decoded(try RealData.bytes(path)[...]))
    }
}
