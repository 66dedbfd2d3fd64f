internal import Events

/// Finds the remains of an Apple JWS that a column or log of fixed length cut off.
///
/// It is no longer a payload, but ignoring it silently would lose it unnoticed.
enum CutPayload {
    /// The first such piece of a line or a row in which no payload was found.
    static func find(in text: ArraySlice<UInt8>) -> [UInt8]? {
        var rest = text
        // A search for the three bytes by the standard library takes a hundred times as long.
        while let start = rest.firstIndex(of: UInt8(ascii: "e")) {
            guard rest[start...].starts(with: "eyJ".utf8) else {
                rest = rest[(start + 1)...]
                continue
            }
            let run = rest[start...].prefix { Base64.isURLCharacter($0) || $0 == UInt8(ascii: ".") }
            let isWord = start == text.startIndex || !Base64.isURLCharacter(text[start - 1])
            if isWord, run.count >= byteCountMin, isOfApple(run) { return Array(run) }
            rest = rest[run.endIndex...]
        }
        return nil
    }

    /// Shortest piece that is reported, in bytes: shorter ones prove too little.
    private static let byteCountMin = 64

    /// Whether a line is the first of a JWS that is broken into lines, as in mail.
    static func mayGoOn(_ line: ArraySlice<UInt8>) -> Bool {
        (headByteCount...lineByteCountMax).contains(line.count) && line.starts(with: "eyJ".utf8)
            && line.allSatisfy { Base64.isURLCharacter($0) } && isOfApple(line)
    }

    /// Whether a line is the first of base64 of gzip that is broken into lines.
    static func mayGoOnAsGzip(_ line: ArraySlice<UInt8>) -> Bool {
        (headByteCount...lineByteCountMax).contains(line.count) && EncodedForm.startsLikeGzip(line)
            && line.last != UInt8(ascii: "=") && isBase64Line(line)
    }

    /// Whether a line may be a later one of it: it does not begin something else.
    static func goesOnAsGzip(_ line: ArraySlice<UInt8>) -> Bool {
        isBase64Line(line) && !EncodedForm.startsLikeGzip(line)
            && !EncodedForm.startsLikeReceipt(line)
    }

    private static func isBase64Line(_ line: ArraySlice<UInt8>) -> Bool {
        EncodedForm.isBase64(line) && !line.contains { Envelope.isWhitespace($0) }
    }

    /// Longest line of broken base64, in bytes; mail has 76.
    private static let lineByteCountMax = 1024

    // Apple's headers start with the algorithm or the certificates; those of other tokens do not.
    private static func isOfApple(_ run: ArraySlice<UInt8>) -> Bool {
        let head = run.prefix(headByteCount)
        guard !head.contains(UInt8(ascii: ".")), let json = Base64.decodeURLUnpadded(head) else {
            return false
        }
        return ["\"ES256\"", "\"x5c\"", "Apple_Xcode_Key"].contains { name in
            json.firstRange(of: name.utf8) != nil
        }
    }

    // A multiple of four, so it decodes to whole bytes.
    private static let headByteCount = 48
}
