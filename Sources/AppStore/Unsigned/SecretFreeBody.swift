import Events

/// The part of a payload that may be kept: everything except secrets.
///
/// Nothing in a refused payload is trusted, not even that a text is what it seems. An accepted one
/// is known to be a body from Apple, so only members named like a password count as secrets.
///
/// A verifyReceipt request and a version 1 notification carry the app's shared secret as `password`
/// (Apple's data: verifyReceipt request, version 1 body). It is never stored. If a secret cannot be
/// separated from the rest, nothing is kept: losing a refused body costs a look at the original,
/// keeping a secret costs the app's receipts.
package enum SecretFreeBody {
    /// The payload with the value of every member that is named like a password blanked; nil if the
    /// word occurs anywhere else, or in something that is not JSON.
    ///
    /// Found at any depth, in any case, in escapes (`\u0061`, `%61`), between zero bytes
    /// (UTF-16) and inside base64.
    ///
    /// - Parameters:
    ///   - payload: The bytes that arrived, all of them: truncate the result, not the input.
    ///   - secrets: The known shared secrets; a body that still contains one is not kept.
    /// - Returns: What may be kept, not truncated.
    package static func redacted(_ payload: [UInt8], secrets: [String]) -> [UInt8]? {
        let body = SecretMention.isIn(payload[...]) ? blanked(payload) : payload
        guard let body, !holds(body, secrets) else { return nil }
        return body
    }

    private static func holds(_ body: [UInt8], _ secrets: [String]) -> Bool {
        secrets.contains { !$0.isEmpty && find(Array($0.utf8), in: body[...]) }
    }

    /// Whether some bytes contain others.
    static func find(_ word: [UInt8], in bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = word.first, bytes.count >= word.count else { return false }
        var start = bytes.startIndex
        let last = bytes.endIndex - word.count
        while start <= last, let index = bytes[start...last].firstIndex(of: first) {
            if bytes[index..<index + word.count].elementsEqual(word) { return true }
            start = index + 1
        }
        return false
    }

    private static func blanked(_ payload: [UInt8]) -> [UInt8]? {
        var blanking = Blanking()
        guard let root = JSON.root(of: payload), blanking.visit(root) else { return nil }
        return blanked(payload, blanking.ranges)
    }

    /// An accepted payload with the value of every member that is named like a password blanked;
    /// nil if such a value, or a known secret, occurs again under another name.
    ///
    /// Other texts may contain the word: an app may well sell passwords.
    static func redactedAccepted(_ payload: [UInt8], secrets: [String]) -> [UInt8]? {
        guard mayName(payload) || secrets.contains(where: { !$0.isEmpty }) else { return payload }
        guard let root = JSON.root(of: payload) else { return nil }
        var blanking = Blanking(passesTexts: true)
        _ = blanking.visit(root)
        guard let body = blanked(payload, blanking.ranges), !holds(body, secrets) else {
            return nil
        }
        return body
    }

    // Whether there may be a name of a password: the word in any case, or any escape. Bodies are
    // long, and few other words in them contain a w.
    private static func mayName(_ payload: [UInt8]) -> Bool {
        payload.withUnsafeBytes { bytes in
            for letter in [UInt8(ascii: "w"), UInt8(ascii: "W")] {
                var start = 0
                while let index = ByteScan.firstIndex(of: letter, in: bytes, from: start) {
                    start = index + 1
                    guard index >= 4, index + 4 <= bytes.count,
                        bytes[index - 1] | 0x20 == UInt8(ascii: "s")
                    else { continue }
                    let word = bytes[(index - 4)..<(index + 4)].map { $0 | 0x20 }
                    if word.elementsEqual("password".utf8) { return true }
                }
            }
            var start = 0
            while let index = ByteScan.firstIndex(of: UInt8(ascii: "\\"), in: bytes, from: start) {
                start = index + 1
                if start < bytes.count, bytes[start] == UInt8(ascii: "u") { return true }
            }
            return false
        }
    }

    private static func blanked(
        _ payload: [UInt8],
        _ ranges: [(bytes: Range<Int>, isString: Bool)]
    ) -> [UInt8]? {
        guard ranges.count <= secretCountMax else { return nil }
        var body: [UInt8] = []
        var kept = payload.startIndex
        for range in ranges {
            body += payload[kept..<range.bytes.lowerBound]
            if !range.isString { body += "\"\"".utf8 }
            kept = range.bytes.upperBound
        }
        body += payload[kept...]
        // The secret occurs again under another name.
        let secrets = ranges.map { Array(payload[$0.bytes]) }
        let isRepeated = secrets.contains {
            $0.count >= secretByteCountMin && find($0, in: body[...])
        }
        return isRepeated ? nil : body
    }

    /// Shortest value that is searched for in the rest of the body: Apple's secrets have 32 digits,
    /// and a `null` or `1` occurs everywhere.
    private static let secretByteCountMin = 8

    /// Most values that are blanked: each is searched for in the rest of the body.
    private static let secretCountMax = 16

    private struct Blanking {
        /// Whether to ignore texts that mention a password.
        var passesTexts = false
        private(set) var ranges: [(bytes: Range<Int>, isString: Bool)] = []

        /// Finds what to blank; false if a text outside such a member mentions a password.
        mutating func visit(_ value: JSON.Value) -> Bool {
            switch value.kind {
            case .string: return passesTexts || !SecretMention.isIn(value.utf8 ?? [])
            case .array: return value.elements.allSatisfy { visit($0) }
            case .object:
                for (name, member) in value.members {
                    if names(name) {
                        let bytes = member.bytes
                        ranges.append((bytes.startIndex..<bytes.endIndex, member.kind == .string))
                    } else if !visit(member) {
                        return false
                    }
                }
                return true
            default: return true
            }
        }

        // If texts are kept whole, names are not decoded further: no program reads an encoded name.
        private func names(_ name: JSON.Value) -> Bool {
            guard passesTexts else { return SecretMention.isIn(name.utf8 ?? []) }
            return find(Array("password".utf8), in: (name.utf8 ?? []).map { $0 | 0x20 }[...])
        }
    }
}

/// Searches for the word `password`, however it is spelt.
enum SecretMention {
    private static let word = Array("password".utf8)

    /// Deepest nesting of base64 that is searched: a JWS in a JWS in a response has three.
    private static let depthMax = 4

    /// Shortest run of base64 that can hold the word.
    private static let runByteCountMin = 11

    /// Whether some bytes contain the word.
    static func isIn(_ bytes: ArraySlice<UInt8>) -> Bool { isIn(bytes, depth: 0) }

    private static func isIn(_ bytes: ArraySlice<UInt8>, depth: Int) -> Bool {
        if SecretFreeBody.find(word, in: folded(bytes)[...]) { return true }
        guard depth < depthMax else { return false }
        var position = bytes.startIndex
        while position < bytes.endIndex {
            var end = position
            while end < bytes.endIndex, isRunByte(bytes[end]) { end += 1 }
            if end - position >= runByteCountMin,
                isEncoded(in: bytes[position..<end], depth: depth)
            {
                return true
            }
            position = end + 1
        }
        return false
    }

    // The run may begin with characters of its surroundings, so all four alignments are tried; but
    // not inside base64 again, where each level would cost four times the one before.
    private static func isEncoded(in run: ArraySlice<UInt8>, depth: Int) -> Bool {
        let letters = run.map { byte -> UInt8 in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
        let alignments = depth == 0 ? 0..<4 : 0..<1
        return alignments.contains { skipped in
            // Without the last incomplete block, whose unused bits a decoder may refuse.
            let text = letters.dropFirst(skipped)
            let whole = text.prefix(text.count & ~3)
            guard let decoded = Base64.decodeURLUnpadded(whole) else { return false }
            let rest = text.dropFirst(whole.count)
            let tail = Base64.decodeURLUnpadded(rest) ?? []
            return isIn((decoded + tail)[...], depth: depth + 1)
        }
    }

    private static func isRunByte(_ byte: UInt8) -> Bool {
        Base64.isURLCharacter(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/")
    }

    /// The bytes in lower case, without zeros and without the escapes of JSON and of forms.
    private static func folded(_ raw: ArraySlice<UInt8>) -> [UInt8] {
        let bytes = raw.contains(0) ? raw.filter { $0 != 0 }[...] : raw
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var position = bytes.startIndex
        while position < bytes.endIndex {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\\"): continue
            case UInt8(ascii: "%"):
                take(2, of: bytes, at: &position, orElse: byte, to: &output)
            case UInt8(ascii: "u")
            where position >= bytes.startIndex + 2
                && bytes[position - 2] == UInt8(ascii: "\\"):
                take(4, of: bytes, at: &position, orElse: byte, to: &output)
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): output.append(byte | 0x20)
            default: output.append(byte)
            }
        }
        return output
    }

    private static func take(
        _ count: Int,
        of bytes: ArraySlice<UInt8>,
        at position: inout Int,
        orElse byte: UInt8,
        to output: inout [UInt8]
    ) {
        let digits = bytes[position...].prefix(count).compactMap(JSON.hexadecimalDigit)
        let unit = digits.reduce(UInt32(0)) { $0 << 4 | UInt32($1) }
        guard digits.count == count, unit < 0x80 else {
            output.append(byte)
            return
        }
        position += count
        let letter = UInt8(unit)
        guard letter != 0 else { return }
        let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter)
        output.append(isUpper ? letter | 0x20 : letter)
    }
}
