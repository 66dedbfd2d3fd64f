import AppStore
import AppStoreSimulator
import Events

/// Changes payloads with knowledge of their structure: it unwraps base64, JWS, JSON and BER,
/// changes something inside and wraps everything up again.
struct Mutator {
    var generator: SeededGenerator
    let corpus: FuzzCorpus
    /// Whether changes behind a signature are signed again, to reach the code behind it.
    let isSigning: Bool

    /// The deepest layer entered: a notification history has a body, its JWS, the JWS nested in
    /// those, and their claims.
    private static let depthMax = 6
    /// The shortest text that is decoded as base64.
    private static let base64ByteCountMin = 40

    /// A payload with something changed in one of its layers.
    mutating func mutated(_ bytes: [UInt8], depth: Int = 0) -> [UInt8] {
        guard depth < Mutator.depthMax, chance(isSigning ? 97 : 85) else {
            return changedBytes(bytes)
        }
        if let segments = Mutator.segments(bytes) { return mutatedJWS(segments, depth: depth) }
        if let tree = Mutator.tree(bytes) { return mutatedJSON(tree, depth: depth) }
        if bytes.first == 0x30 { return mutatedReceipt(bytes) }
        if bytes.count >= Mutator.base64ByteCountMin {
            let letters = bytes.filter { $0 > 0x20 }
            if let decoded = Base64.decodeStandard(letters[...]) {
                return Mutator.base64(mutated(decoded, depth: depth + 1))
            }
        }
        return changedBytes(bytes)
    }

    static func tree(_ bytes: [UInt8]) -> JSONTree? {
        guard bytes.first == UInt8(ascii: "{") || bytes.first == UInt8(ascii: "[") else {
            return nil
        }
        do {
            return JSONTree(try JSON(bytes).root)
        } catch {
            return nil
        }
    }

    private static func segments(_ bytes: [UInt8]) -> [[UInt8]]? {
        let dot = UInt8(ascii: ".")
        guard bytes.starts(with: "eyJ".utf8), bytes.count(where: { $0 == dot }) == 2 else {
            return nil
        }
        return bytes.split(separator: dot, omittingEmptySubsequences: false).map { Array($0) }
    }

    private mutating func mutatedJWS(_ segments: [[UInt8]], depth: Int) -> [UInt8] {
        guard let claims = Base64.decodeURLUnpadded(segments[1][...]) else {
            return changedBytes(Mutator.joined(segments))
        }
        if isSigning, chance(95) {
            return corpus.pki.sign(payloadJSON: mutated(claims, depth: depth + 1))
        }
        var segments = segments
        switch number(6) {
        case 0: segments[0] = mutatedSegment(segments[0], depth: depth)
        case 1, 2: segments[1] = Mutator.base64URL(mutated(claims, depth: depth + 1))
        case 3: segments[2] = mutatedSegment(segments[2], depth: depth)
        case 4:
            let other = Mutator.segments(element(of: corpus.statements)) ?? segments
            let place = number(3)
            segments[place] = other[number(4) == 0 ? number(3) : place]
        default: return changedBytes(Mutator.joined(segments))
        }
        return Mutator.joined(segments)
    }

    private mutating func mutatedSegment(_ segment: [UInt8], depth: Int) -> [UInt8] {
        guard let decoded = Base64.decodeURLUnpadded(segment[...]) else {
            return changedBytes(segment)
        }
        return Mutator.base64URL(mutated(decoded, depth: depth + 1))
    }

    private mutating func mutatedReceipt(_ bytes: [UInt8]) -> [UInt8] {
        if isSigning, var content = BERTree.signedContent(of: bytes) {
            change(&content)
            let encoded = chance(90) ? content.bytes : changedBytes(content.bytes)
            let form = AppReceiptForm(rawValue: number(8))
            return corpus.pki.receipts.sign(payload: encoded, form: form)
        }
        guard chance(50), var tree = BERTree(bytes[...]) else { return changedBytes(bytes) }
        change(&tree)
        return tree.bytes
    }

    private static func joined(_ segments: [[UInt8]]) -> [UInt8] {
        Array(segments.joined(separator: [UInt8(ascii: ".")]))
    }

    static func base64URL(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        Base64.encodeURLUnpadded(bytes[...], to: &text)
        return text
    }

    static func base64(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        Base64.encodeStandard(bytes[...], to: &text)
        return text
    }
}

extension Mutator {
    /// A number from 0 up to one below the bound.
    mutating func number(_ bound: Int) -> Int {
        Int(generator.integer(in: 0...Int64(max(bound, 1) - 1)))
    }

    mutating func chance(_ percent: Int64) -> Bool { generator.chance(percent: percent) }

    /// One of these elements; there must be at least one.
    mutating func element<Element>(of elements: [Element]) -> Element {
        elements[number(elements.count)]
    }
}
