import Events

/// What a payload is, detected from its bytes.
enum PayloadForm {
    /// A JWS, or JSON that contains some.
    case signed(Envelope)
    /// A PKCS#7 app receipt, as DER or base64.
    case receipt(ArraySlice<UInt8>)
    /// JSON in which at most an embedded receipt is signed, with its own bytes.
    case unsigned(UnsignedBody, [UInt8])
    /// A transaction or renewal info without its signature, with its own bytes.
    case decoded(DecodedStatement, [UInt8])
    /// One of the operator's own statements, with its own bytes.
    case link(CustomerLink, [UInt8])

    /// Detects the form; white space around text is not part of it.
    init(_ payload: [UInt8]) throws(Rejection) {
        guard payload.count <= AppStoreVerifier.payloadByteCountMax else {
            throw Rejection.payloadTooLarge(payload.count)
        }
        let text = Envelope.trimmed(payload[...])
        guard let first = text.first else {
            throw Rejection(.payloadEmpty, "The payload is empty.")
        }
        if first == UInt8(ascii: "{") {
            try self.init(object: text.count == payload.count ? payload : Array(text))
        } else if Envelope.isJWSText(text) {
            self = .signed(Envelope(compact: text))
        } else if ReceiptEncoding.looksLikeCertificate(payload[...]) {
            throw ForeignFormat.certificate
        } else if ReceiptEncoding.looksLikeReceipt(payload[...]) {
            self = .receipt(payload[...])
        } else {
            throw ForeignFormat.rejection(of: text)
        }
    }

    private init(object text: [UInt8]) throws(Rejection) {
        let body: JSON.Value
        do {
            body = try JSON(text).root
        } catch {
            throw ForeignFormat.rejection(ofText: text[...])
                ?? Rejection(error, in: "The payload")
        }
        func has(_ names: StaticString...) -> Bool { names.contains { body[$0] != nil } }
        if let envelope = try Envelope(body) {
            self = .signed(envelope)
        } else if has("subledger") {
            self = .link(try CustomerLink(body), text)
        } else if has("notification_type", "unified_receipt") {
            self = .unsigned(try UnsignedBody(statusUpdate: body), text)
        } else if has("status"),
            !has("errorCode")
                || has("receipt", "latest_receipt_info", "latest_expired_receipt_info")
        {
            self = .unsigned(try UnsignedBody(response: body), text)
        } else if has("product_id"), has("transaction_id") {
            self = .unsigned(try UnsignedBody(entry: body), text)
        } else if let statement = DecodedStatement(body) {
            self = .decoded(statement, text)
        } else {
            throw ForeignFormat.rejection(of: body)
        }
    }
}
