internal import Events

/// Recognises by its names whether a JSON object is a whole payload.
enum PayloadMarks {
    /// How to treat an object.
    enum Rank {
        /// A payload: everything in it belongs to it.
        case payload
        /// A known form, mostly refused; taken only if nothing else is found near it.
        case lesser
        /// A wrapper, or something else.
        case other
    }

    /// The rank of an object; an operator's own statement counts only on its own.
    ///
    /// Text from a stranger may occur anywhere inside a log and must not link customers.
    static func rank(_ body: JSON.Value, isTop: Bool) -> Rank {
        func has(_ names: StaticString..., as kinds: JSON.Kind...) -> Bool {
            names.contains { name in body[name].map { kinds.contains($0.kind) } ?? false }
        }
        // Inside other objects a JWS has its full length; placeholders in samples do not.
        let signed: [StaticString] = [
            "signedPayload", "signedTransactionInfo", "signedRenewalInfo",
        ]
        let isSigned = signed.contains { name in
            guard let text = body[name]?.utf8 else { return false }
            return isTop || text.count >= jwsByteCountMin
        }
        if isSigned || has("signedTransactions", "notificationHistory", as: .array)
            || has("notification_type", as: .string) || has("unified_receipt", as: .object)
            || isTop && has("subledger", as: .string, .number, .object)
        {
            return .payload
        }
        let holdsStatuses = body["data"]?.elements.contains { $0["lastTransactions"] != nil }
        if holdsStatuses ?? false { return .payload }
        // MongoDB writes the number as an object.
        if has("status", as: .number, .string, .object),
            has("receipt", as: .object)
                || has("latest_receipt", as: .string)
                || has("latest_receipt_info", "latest_expired_receipt_info", as: .array, .object)
        {
            return .payload
        }
        let isRefusal = body["status"].map { isReceiptStatus($0.bytes) } ?? false
        return isRefusal || has("signedAppTransactionInfo", "notificationType", as: .string)
            || isTop && has("product_id", as: .string) && has("transaction_id", as: .string)
            ? .lesser : .other
    }

    /// Shortest text that is taken as a JWS: its certificates alone have two thousand bytes.
    private static let jwsByteCountMin = 256

    // Apple's error codes are 21000 to 21199; 200 is what any web server returns.
    private static func isReceiptStatus(_ digits: ArraySlice<UInt8>) -> Bool {
        guard let number = JSON.wholeNumber(digits) else { return false }
        return (21_000..<21_200).contains(number)
    }

    /// Whether an object on its own is a log record: it has a time and a message.
    static func isLogRecord(_ body: JSON.Value) -> Bool {
        let times: [StaticString] = ["time", "timestamp", "@timestamp", "ts", "date", "datetime"]
        let words: [StaticString] = [
            "level", "severity", "lvl", "levelname", "msg", "message", "log", "logger",
        ]
        return times.contains { body[$0] != nil } && words.contains { body[$0] != nil }
    }

    /// Whether the text of an object clearly is a payload, so that parsing can be skipped.
    ///
    /// Checks only the object's own names, and stops at the first that decides. False only costs
    /// time: the text is then parsed.
    static func isPlain(_ object: ArraySlice<UInt8>) -> Bool {
        if object.starts(with: signedPayloadStart) { return true }
        var names = TopLevelNames(object)
        var isAnswer = (hasStatus: false, hasContent: false)
        while let (name, first) = names.next() {
            let isText = first == UInt8(ascii: "\"")
            let isArray = first == UInt8(ascii: "[")
            let isObject = first == UInt8(ascii: "{")
            switch name {
            case "signedPayload" where isText: return true
            case "signedTransactionInfo" where isText, "signedRenewalInfo" where isText,
                "signedTransactions" where isArray, "notificationHistory" where isArray,
                "notification_type" where isText, "unified_receipt" where isObject:
                return hasNoTypedValues(object)
            case "status" where !isObject && !isArray: isAnswer.hasStatus = true
            case "receipt" where isObject, "latest_receipt" where isText,
                "latest_receipt_info" where isArray:
                isAnswer.hasContent = true
            default: break
            }
            if isAnswer == (true, true) { return hasNoTypedValues(object) }
        }
        return false
    }

    private static let signedPayloadStart = Array("{\"signedPayload\":\"".utf8)

    // MongoDB's names of types start with a dollar sign.
    private static func hasNoTypedValues(_ object: ArraySlice<UInt8>) -> Bool {
        object.withUnsafeBytes { ByteScan.firstIndex(of: UInt8(ascii: "$"), in: $0) } == nil
    }

    /// Whether a text that is not JSON was meant as a payload: it holds a name that only Apple
    /// uses.
    static func areMentioned(in text: ArraySlice<UInt8>) -> Bool {
        words.contains { SecretFreeBody.find($0, in: text) }
    }

    /// Whether such a text also holds facts that no JWS in it proves.
    static func areUnsignedMentioned(in text: ArraySlice<UInt8>) -> Bool {
        unsignedWords.contains { SecretFreeBody.find($0, in: text) }
    }

    private static let unsignedWords = [
        "latest_receipt", "receipt-data", "notification_type", "unified_receipt",
    ].map { Array("\"\($0)".utf8) }

    private static let words =
        unsignedWords
        + ["signedPayload", "signedTransaction", "signedRenewalInfo"].map {
            Array("\"\($0)".utf8)
        }
}

/// Reads the names of an object's own members and the first byte of each value, without a parser.
private struct TopLevelNames {
    private let text: ArraySlice<UInt8>
    private var position: Int

    init(_ object: ArraySlice<UInt8>) {
        text = object
        position = object.startIndex + 1
    }

    /// The next member; nil at the end, and if the text is not JSON.
    mutating func next() -> (name: String, first: UInt8)? {
        skip { Envelope.isWhitespace($0) || $0 == UInt8(ascii: ",") }
        guard position < text.endIndex, text[position] == UInt8(ascii: "\"") else { return nil }
        let start = position + 1
        guard
            let end = text[start...].prefix(TopLevelNames.nameByteCountMax)
                .firstIndex(of: UInt8(ascii: "\""))
        else { return nil }
        position = end + 1
        skip { Envelope.isWhitespace($0) }
        guard position < text.endIndex, text[position] == UInt8(ascii: ":") else { return nil }
        position += 1
        skip { Envelope.isWhitespace($0) }
        guard position < text.endIndex else { return nil }
        let first = text[position]
        var scanner = ValueScanner(isArray: false)
        if first == UInt8(ascii: "\"") || first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            position += scanner.takeRun(of: text[position...]).count
        } else {
            // MongoDB's shell calls functions here, as ISODate.
            guard "-0123456789tfn".utf8.contains(first) else { return nil }
            skip { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "}") }
        }
        return (String(decoding: text[start..<end], as: UTF8.self), first)
    }

    /// Longest name that is read: Apple's have up to thirty bytes.
    private static let nameByteCountMax = 256

    private mutating func skip(while isSkipped: (UInt8) -> Bool) {
        while position < text.endIndex, isSkipped(text[position]) { position += 1 }
    }
}
