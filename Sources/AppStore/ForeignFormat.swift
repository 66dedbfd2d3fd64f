internal import Events

/// Forms that are recognised so that a rejection can name them, but cannot be decoded here.
enum ForeignFormat {
    /// The rejection of a JSON object that is neither a notification nor a server response.
    static func rejection(of body: JSON.Value) -> Rejection {
        func has(_ names: StaticString...) -> Bool { names.contains { body[$0] != nil } }
        if has("signedAppTransactionInfo") {
            return Rejection(
                .appTransaction,
                "The payload is an app transaction, which contains no subscription data."
            )
        }
        if has("errorCode") { return unsupported("an error response of the App Store Server API") }
        if has("x5c") { return ForeignFormat.certificate }
        if has("receipt-data") { return unsupported("a verifyReceipt request") }
        if has("subscriptionGroups", "nonRenewingSubscriptions") {
            return unsupported("a .storekit configuration")
        }
        if has("notificationType", "notificationUUID", "transactionId", "originalTransactionId") {
            return unsupported("decoded data without its signature; give the JWS it came from")
        }
        return unsupported("a JSON object of unknown form")
    }

    /// The rejection of a certificate or of a chain of them, which an `x5c` holds.
    static let certificate = Rejection(
        .unsupportedFormat,
        "The payload is a certificate, such as the x5c chain of a JWS has, and not the JWS. Give the "
            + "whole JWS that contains the chain: header, payload and signature, with dots between "
            + "them."
    )

    /// The rejection of text in braces that is not JSON but another known form.
    static func rejection(ofText text: ArraySlice<UInt8>) -> Rejection? {
        isIOS6Receipt(text) ? Rejection.ios6Receipt : nil
    }

    /// Whether text is the property list that iOS 6 used as a receipt
    /// (Apple's data: app receipts).
    static func isIOS6Receipt(_ text: ArraySlice<UInt8>) -> Bool {
        let head = text.prefix(lookAheadByteCount)
        return text.first == UInt8(ascii: "{")
            && (contains(head, "\"purchase-info\"") || contains(head, "\"signature\" = \""))
    }

    /// The rejection of a file that must be unpacked or exported first; nil for any other.
    static func rejection(ofFile bytes: ArraySlice<UInt8>) -> Rejection? {
        guard let file = files.first(where: { bytes.starts(with: $0.start) }) else { return nil }
        return Rejection(
            .unsupportedFormat,
            "The file is \(file.name), which is not read. Unpack it and ingest what it contains: "
                + "`\(file.command) | subledger ingest -`."
        )
    }

    private static let files: [(start: [UInt8], name: String, command: String)] = [
        ([0x50, 0x4b, 0x03, 0x04], "a zip archive", "unzip -p FILE"),
        (Array("BZh".utf8), "compressed by bzip2", "bzcat FILE"),
        ([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], "compressed by xz", "xzcat FILE"),
        ([0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], "a 7z archive", "7z x -so FILE"),
        (Array("SQLite format 3\0".utf8), "an SQLite database", "sqlite3 FILE .dump"),
        (Array("PGDMP".utf8), "a dump of pg_dump in its own format", "pg_restore -f - FILE"),
        (Array("PAR1".utf8), "a Parquet file", "duckdb -csv -c \"FROM 'FILE'\""),
    ]

    /// The rejection of bytes that are neither JSON object nor JWS.
    static func rejection(of text: ArraySlice<UInt8>) -> Rejection {
        if let rejection = rejection(ofFile: text) { return rejection }
        let head = text.prefix(lookAheadByteCount)
        switch text.first {
        case UInt8(ascii: "["):
            return unsupported("a JSON array; split it first, because each element is a payload")
        case UInt8(ascii: "\""):
            return unsupported("a JSON string; give its content")
        default: break
        }
        let letters = head.filter { !Envelope.isWhitespace($0) }
        let whole = letters.prefix(letters.count & ~3)
        guard let decoded = Base64.decodeStandard(whole[...]) else {
            return unsupported("bytes of unknown form")
        }
        if isIOS6Receipt(decoded[...]) { return Rejection.ios6Receipt }
        return unsupported("base64 of unknown form")
    }

    /// How far into a payload to search for a mark: each occurs in the first lines.
    private static let lookAheadByteCount = 4096

    private static func unsupported(_ form: String) -> Rejection {
        Rejection(
            .unsupportedFormat,
            "The payload is \(form). Accepted are notifications of versions 1 and 2, JWS"
                + " transactions and renewal info, app receipts, and responses of the App Store"
                + " Server API and of verifyReceipt."
        )
    }

    private static func contains(_ bytes: ArraySlice<UInt8>, _ word: StaticString) -> Bool {
        String(decoding: bytes, as: UTF8.self).contains(word.description)
    }
}

extension Rejection {
    static let ios6Receipt = Rejection(
        .ios6Receipt,
        "The payload is an iOS 6 transaction receipt (a property list), which is not verified here."
            + " Give Apple's verifyReceipt response to it, or get its transaction from the App"
            + " Store Server API by the transaction id."
    )
}
