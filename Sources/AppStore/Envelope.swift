import Events

/// The outermost form of a signed payload: which JWS it holds, and where.
struct Envelope {
    /// What the payload is; nil for a bare JWS, which says it only in its claims.
    let kind: PayloadKind?
    /// The JWS, in the payload's order.
    let parts: [Part]
    /// The unsigned word of a server response about its environment: for payloads from before
    /// 2022-02-24, which carry none themselves (app-store.md §D.3).
    let environmentHint: Environment?

    /// One statement, or two that belong together.
    enum Part {
        case any(ArraySlice<UInt8>)
        case notification(ArraySlice<UInt8>)
        case transaction(ArraySlice<UInt8>)
        case status(transaction: ArraySlice<UInt8>?, renewal: ArraySlice<UInt8>?)
    }

    /// A bare JWS.
    init(compact: ArraySlice<UInt8>) {
        self.init(kind: nil, parts: [.any(compact)])
    }

    private init(kind: PayloadKind?, parts: [Part], environmentHint: Environment? = nil) {
        self.kind = kind
        self.parts = parts
        self.environmentHint = environmentHint
    }

    /// A notification as posted, or a response of the App Store Server API; nil for other objects.
    init?(_ body: JSON.Value) throws(Rejection) {
        if let compact = body["signedPayload"]?.utf8 {
            self.init(kind: .signedNotification, parts: [.notification(compact)])
            return
        }
        guard let parts = try Envelope.responseParts(body) else { return nil }
        // Nobody signed this word. It may say that purchases of 2021, whose payloads name no
        // environment, were tests; it may not make test purchases real ones (promise 10).
        let word = Environment(body["environment"]?.text ?? "")
        self.init(
            kind: .serverAPIResponse,
            parts: parts,
            environmentHint: word == .sandbox ? word : nil
        )
    }

    // The responses of app-store.md §E.2; nil where the object is none of them.
    private static func responseParts(_ body: JSON.Value) throws(Rejection) -> [Part]? {
        if let transactions = body["signedTransactions"], transactions.kind == .array {
            return try transactions.elements.map { element throws(Rejection) in
                .transaction(try compact(element, "signedTransactions"))
            }
        }
        if let transaction = body["signedTransactionInfo"] {
            return [.transaction(try compact(transaction, "signedTransactionInfo"))]
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
                parts.append(
                    .status(
                        transaction: try last["signedTransactionInfo"].map {
                            value throws(Rejection) in
                            try compact(value, "signedTransactionInfo")
                        },
                        renewal: try last["signedRenewalInfo"].map { value throws(Rejection) in
                            try compact(value, "signedRenewalInfo")
                        }
                    )
                )
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

    /// Whether a text has a dot at least, and nothing but dots and base64url.
    static func isJWSText(_ text: ArraySlice<UInt8>) -> Bool {
        let dot = UInt8(ascii: ".")
        return text.withUnsafeBytes { ByteScan.firstIndex(of: dot, in: $0) } != nil
            && Base64.isURLText(text, orAnyOf: dot)
    }

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
