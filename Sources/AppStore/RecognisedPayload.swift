package import Events

/// A payload whose form is known and whose JSON is parsed; nothing of it is verified.
package struct RecognisedPayload {
    let form: PayloadForm

    /// Throws where the bytes have no form that is known.
    package init(_ payload: [UInt8]) throws(Rejection) {
        form = try PayloadForm(payload)
    }

    /// What it is; nil where only its claims tell, as of a bare JWS, and of a response of the App
    /// Store Server API that holds nothing.
    package var kind: PayloadKind? {
        switch form {
        case .signed(let envelope):
            if case .any = envelope.parts.first { nil } else { envelope.parts.first?.kind }
        case .receipt: .appReceipt
        case .unsigned(let body, _): body.kind
        case .link: .customerLink
        }
    }

    /// How many statements it makes; nil where only its verification tells, as of a receipt.
    package var statementCount: Int? {
        switch form {
        case .signed(let envelope): envelope.parts.count
        case .receipt: nil
        case .unsigned(let body, _): body.statementCount
        case .link: 1
        }
    }
}
