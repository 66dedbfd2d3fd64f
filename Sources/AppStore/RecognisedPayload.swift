package import Events

/// A payload whose form was detected and whose JSON is parsed; nothing in it is verified.
package struct RecognisedPayload {
    let form: PayloadForm

    /// Throws if the bytes have no known form.
    package init(_ payload: [UInt8]) throws(Rejection) {
        form = try PayloadForm(payload)
    }

    /// What it is; nil if only its claims would show it, as for a bare JWS, and for a response of
    /// the App Store Server API that holds nothing.
    package var kind: PayloadKind? {
        switch form {
        case .signed(let envelope):
            if case .any = envelope.parts.first { nil } else { envelope.parts.first?.kind }
        case .receipt: .appReceipt
        case .unsigned(let body, _): body.kind
        case .decoded(let statement, _): statement.kind
        case .link: .customerLink
        }
    }

    /// The number of statements in it; nil if only verification can find it, as for a receipt.
    package var statementCount: Int? {
        switch form {
        case .signed(let envelope): envelope.parts.count
        case .receipt: nil
        case .unsigned(let body, _): body.statementCount
        case .decoded, .link: 1
        }
    }
}
