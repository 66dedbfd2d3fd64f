import Events

/// A signed payload, split into units of evidence.
///
/// The envelope itself, a POST body or a response of the App Store Server API, is not kept.
struct Envelope {
    /// The units, in the payload's order.
    let parts: [Part]
    /// The environment in a server response, unsigned: for payloads from before 2022-02-24, which
    /// name none themselves (Apple's data: environments).
    let environmentHint: StoreEnvironment?

    /// One unit: a JWS, or two that belong together.
    enum Part {
        case any(ArraySlice<UInt8>)
        case notification(ArraySlice<UInt8>)
        case transaction(ArraySlice<UInt8>)
        case status(ArraySlice<UInt8>, Status)

        /// The unit's own bytes.
        var bytes: ArraySlice<UInt8> {
            switch self {
            case .any(let bytes), .notification(let bytes), .transaction(let bytes),
                .status(let bytes, _):
                bytes
            }
        }

        /// The SHA-256 of those bytes.
        var digest: Digest { bytes.withUnsafeBytes { Digest.of($0) } }

        /// What the unit is; a bare JWS shows it only in its claims.
        var kind: PayloadKind {
            switch self {
            case .any, .transaction: .signedTransaction
            case .notification: .signedNotification
            case .status: .subscriptionStatus
            }
        }
    }

    /// The JWS of an element of `lastTransactions`; at least one is present.
    struct Status {
        let transaction: ArraySlice<UInt8>?
        let renewal: ArraySlice<UInt8>?
    }

    /// A bare JWS.
    init(compact: ArraySlice<UInt8>) {
        parts = [.any(compact)]
        environmentHint = nil
    }

    /// A notification as posted, a response of the App Store Server API or an element of a statuses
    /// response; nil for other objects.
    init?(_ body: JSON.Value) throws(Rejection) {
        if let part = try Envelope.statementPart(body) {
            parts = [part]
        } else if let compact = body["signedPayload"]?.utf8 {
            parts = [.notification(compact)]
        } else if let pageParts = try Envelope.pageParts(body) {
            parts = pageParts
        } else {
            return nil
        }
        // This value is unsigned. It may mark purchases of 2021, whose payloads name no
        // environment, as tests; it must not turn test purchases into real ones.
        let word = StoreEnvironment(body["environment"]?.text ?? "")
        environmentHint = word == .sandbox ? word : nil
    }

    // An element of a statuses response, or the response about one transaction; nil if the object
    // is neither. This check comes before all other forms, because a stored element must be read as
    // it was in its response. An element that holds only a transaction is that transaction.
    private static func statementPart(_ body: JSON.Value) throws(Rejection) -> Part? {
        let transaction = try body["signedTransactionInfo"].map { value throws(Rejection) in
            try compact(value, "signedTransactionInfo")
        }
        let renewal = try body["signedRenewalInfo"].map { value throws(Rejection) in
            try compact(value, "signedRenewalInfo")
        }
        if transaction == nil, renewal == nil { return nil }
        let names: [StaticString] = ["signedRenewalInfo", "originalTransactionId", "status"]
        if let transaction, !names.contains(where: { body[$0] != nil }) {
            return .transaction(transaction)
        }
        return .status(body.bytes, Status(transaction: transaction, renewal: renewal))
    }

    // The responses with many statements (Apple's data: server API); nil if the object is not one
    // of them.
    private static func pageParts(_ body: JSON.Value) throws(Rejection) -> [Part]? {
        if let transactions = body["signedTransactions"], transactions.kind == .array {
            return try transactions.elements.map { element throws(Rejection) in
                .transaction(try compact(element, "signedTransactions"))
            }
        }
        if let history = body["notificationHistory"], history.kind == .array {
            return try history.elements.map { element throws(Rejection) in
                .notification(try compact(element["signedPayload"], "signedPayload"))
            }
        }
        guard let groups = body["data"], groups.kind == .array else { return nil }
        var parts: [Part] = []
        for group in groups.elements {
            for last in group["lastTransactions"]?.elements ?? [] {
                if let part = try statementPart(last) { parts.append(part) }
            }
        }
        return parts
    }

    private static func compact(
        _ value: JSON.Value?,
        _ name: String
    ) throws(Rejection) -> ArraySlice<UInt8> {
        guard let text = value?.utf8 else {
            throw Rejection(.claimMalformed, "\(name) of a server response is not a JWS string.")
        }
        return text
    }

    /// Whether a text has at least one dot, and otherwise only dots and base64url.
    static func isJWSText(_ text: ArraySlice<UInt8>) -> Bool {
        let dot = UInt8(ascii: ".")
        return text.withUnsafeBytes { ByteScan.firstIndex(of: dot, in: $0) } != nil
            && Base64.isURLText(text, orAnyOf: dot)
    }

    /// The bytes without surrounding white space.
    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = bytes
        while let first = rest.first, isWhitespace(first) { rest.removeFirst() }
        while let last = rest.last, isWhitespace(last) { rest.removeLast() }
        return rest
    }

    static func isWhitespace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09
    }
}

extension Rejection {
    static func payloadTooLarge(_ count: Int) -> Rejection {
        Rejection(
            .payloadTooLarge,
            "The payload has \(count) bytes; at most \(AppStoreVerifier.payloadByteCountMax) are"
                + " accepted."
        )
    }
}
