import Events

/// The encodings of an app receipt: the bytes as on the device, or their base64.
enum ReceiptEncoding {
    /// The bytes of PKCS #7.
    ///
    /// Base64 is accepted in either alphabet, with or without padding, line breaks and white space.
    /// Throws `payload-empty`, `payload-too-large`, `ios6-receipt`, or `receipt-malformed`.
    static func decoded(_ receipt: ArraySlice<UInt8>) throws(Rejection) -> ArraySlice<UInt8> {
        guard receipt.count <= AppStoreVerifier.payloadByteCountMax else {
            throw Rejection.payloadTooLarge(receipt.count)
        }
        if isBER(receipt) { return try limited(receipt) }
        let text = Envelope.trimmed(receipt)
        guard !text.isEmpty else { throw Rejection(.payloadEmpty, "The payload is empty.") }
        if ForeignFormat.isIOS6Receipt(text) { throw Rejection.ios6Receipt }
        guard let bytes = base64Decoded(text) else {
            throw Rejection.receiptMalformed(in: "the text, neither PKCS #7 nor base64,")
        }
        if ForeignFormat.isIOS6Receipt(bytes[...]) { throw Rejection.ios6Receipt }
        guard isBER(bytes[...]) else {
            throw Rejection.receiptMalformed(in: "what the base64 holds")
        }
        return try limited(bytes[...])
    }

    /// Whether the bytes begin like an app receipt or like its base64.
    ///
    /// An app receipt is a sequence whose length needs more than one byte; no JSON, JWS or property
    /// list begins like that.
    static func looksLikeReceipt(_ bytes: ArraySlice<UInt8>) -> Bool {
        if isBER(bytes) { return true }
        let letters = bytes.lazy.filter { !Envelope.isWhitespace($0) }.prefix(headLetterCount)
        guard letters.count == headLetterCount, let head = base64Decoded(Array(letters)[...])
        else { return false }
        return isBER(head[...])
    }

    /// Whether the bytes begin like a certificate of X.509 (version 2 or 3), like its base64 or like
    /// its PEM: no receipt does, however damaged it is after its type.
    static func looksLikeCertificate(_ bytes: ArraySlice<UInt8>) -> Bool {
        if isCertificateHead(bytes) { return true }
        let text = Envelope.trimmed(bytes)
        if text.starts(with: Array("-----BEGIN CERTIFICATE-----".utf8)) { return true }
        let letters = text.lazy.filter { !Envelope.isWhitespace($0) }
            .prefix(certificateLetterCount)
        guard letters.count == certificateLetterCount,
            let head = base64Decoded(Array(letters)[...])
        else { return false }
        return isCertificateHead(head[...])
    }

    // A sequence of a sequence that begins with its version, which only certificates have there.
    private static func isCertificateHead(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard isBER(bytes) else { return false }
        let content = bytes.dropFirst(2 + Int(bytes[bytes.startIndex + 1] & 0x7f))
        guard isBER(content) else { return false }
        return content.dropFirst(2 + Int(content[content.startIndex + 1] & 0x7f))
            .starts(with: [0xa0, 0x03, 0x02, 0x01])
    }

    // Two tags with lengths of at most four bytes each, and the version.
    private static let certificateLetterCount = 24

    /// Whether bytes begin like PKCS #7: a sequence that starts with the type of signed data.
    ///
    /// Stricter than `looksLikeReceipt`, for places where a certificate may occur as well.
    static func isReceiptHead(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard isBER(bytes) else { return false }
        let lengthByteCount = Int(bytes[bytes.startIndex + 1] & 0x7f)
        return bytes.dropFirst(2 + lengthByteCount).starts(with: signedDataType)
    }

    /// The receipt at the beginning of these bytes, as long as it states; all of them if it does
    /// not, or if bytes are missing.
    static func stated(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        bytes.prefix(statedCount(bytes) ?? bytes.count)
    }

    // The number of bytes that the beginning of a receipt states, with its tag and its length; nil
    // if it states none.
    private static func statedCount(_ bytes: ArraySlice<UInt8>) -> Int? {
        let count = bytes.dropFirst().first.map { Int($0 & 0x7f) } ?? 0
        guard (1...4).contains(count), bytes.count >= 2 + count else { return nil }
        return 2 + count + bytes.dropFirst(2).prefix(count).reduce(0) { $0 << 8 | Int($1) }
    }

    // 1.2.840.113549.1.7.2
    private static let signedDataType: [UInt8] = [
        0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02,
    ]

    /// The number of base64 letters of a receipt that begins with this line; nil if its length is
    /// not stated.
    static func letterCount(ofReceiptStarting line: ArraySlice<UInt8>) -> Int? {
        let letters = line.lazy.filter { !Envelope.isWhitespace($0) }.prefix(headLetterCount)
        guard let head = base64Decoded(Array(letters)[...]), let count = statedCount(head[...])
        else { return nil }
        return (count + 2) / 3 * 4
    }

    /// The letters needed for detection: six bytes, of which the first two decide.
    private static let headLetterCount = 8

    // The tag of a sequence, then a length that is indefinite or takes more than one byte.
    private static func isBER(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.first == 0x30 && bytes.dropFirst().first ?? 0 >= 0x80
    }

    private static func limited(
        _ bytes: ArraySlice<UInt8>
    ) throws(Rejection) -> ArraySlice<UInt8> {
        guard bytes.count <= ReceiptOpener.receiptByteCountMax else {
            throw Rejection(
                .payloadTooLarge,
                "The app receipt has \(bytes.count) bytes; at most"
                    + " \(ReceiptOpener.receiptByteCountMax) are accepted."
            )
        }
        return bytes
    }

    /// The bytes of base64 in either alphabet, with or without white space and padding.
    static func base64Decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var letters: [UInt8] = []
        letters.reserveCapacity(text.count)
        for letter in text where !Envelope.isWhitespace(letter) {
            switch letter {
            case UInt8(ascii: "-"): letters.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): letters.append(UInt8(ascii: "/"))
            default: letters.append(letter)
            }
        }
        if letters.last != UInt8(ascii: "=") {
            while letters.count % 4 != 0 { letters.append(UInt8(ascii: "=")) }
        }
        return Base64.decodeStandard(letters[...])
    }
}
