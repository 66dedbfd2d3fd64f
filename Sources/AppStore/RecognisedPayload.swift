/// A payload whose form is known and whose JSON is parsed; nothing of it is verified.
package struct RecognisedPayload {
    let form: PayloadForm

    /// Throws where the bytes have no form that is known.
    package init(_ payload: [UInt8]) throws(Rejection) {
        form = try PayloadForm(payload)
    }
}
