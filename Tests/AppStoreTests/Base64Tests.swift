import Foundation
import Events
import Testing

@testable import AppStore

struct Base64Tests {
    @Test func `both forms decode what Foundation encodes`() {
        let seed: UInt64 = 64
        var generator = SeededGenerator(seed: seed)
        for count in 0..<300 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let standard = Data(bytes).base64EncodedString()
            #expect(Base64.decodeStandard(Array(standard.utf8)[...]) == bytes, "seed \(seed)")
            let url = base64URL(bytes)
            #expect(Base64.decodeURLUnpadded(Array(url.utf8)[...]) == bytes, "seed \(seed)")
        }
    }

    @Test(arguments: ["A", "AA==", "AB", "AAB", "AA A", "AA\n", "AA+A", "AA/A", "A=AA", "ÄAA"])
    func `base64url has one alphabet, no padding and no stray bits`(text: String) {
        #expect(Base64.decodeURLUnpadded(Array(text.utf8)[...]) == nil)
    }

    @Test(arguments: [
        "AA", "AAA", "AB==", "AAB=", "AA=A", "AAA=AAAA", "A===", "====", "AA-A", "AA_A",
    ])
    func `standard base64 is padded exactly and has no stray bits`(text: String) {
        #expect(Base64.decodeStandard(Array(text.utf8)[...]) == nil)
    }

    @Test func `every accepted text is the only encoding of its bytes`() {
        let seed: UInt64 = 65
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array("AQgw09-_+/=B ".utf8)
        var accepted = 0
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...9, using: &generator)).map { _ in
                alphabet.randomElement(using: &generator) ?? 0
            }
            if let bytes = Base64.decodeURLUnpadded(text[...]) {
                accepted += 1
                #expect(Array(base64URL(bytes).utf8) == text, "seed \(seed)")
            }
            if let bytes = Base64.decodeStandard(text[...]) {
                #expect(Array(Data(bytes).base64EncodedString().utf8) == text, "seed \(seed)")
            }
        }
        #expect(accepted > 1000)
    }
}
