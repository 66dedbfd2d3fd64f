/// The fuzzed code: each decoder, and each way into the verifier.
package enum Decoder: String, CaseIterable, Sendable {
    /// Any text as JSON.
    case json
    /// Files of many payloads, in chunks of any size.
    case splitter
    /// Signed payloads that were changed but not signed again.
    case signed
    /// Signed payloads that were changed and signed again.
    case resigned
    /// verifyReceipt responses and version 1 notifications without a voucher.
    case unproven
    /// The same, vouched for, or with the shared secret.
    case vouched
    /// App receipts that were changed but not signed again.
    case receipt
    /// App receipts that were changed and signed again.
    case resignedReceipt
    /// Packing of evidence, and unpacking of bytes that were never packed.
    case packing
    /// Canonical bytes of contents.
    case content

    /// How often it runs in a thousand cases: their costs differ, and signing costs most.
    var share: Int {
        switch self {
        case .json: 160
        case .splitter: 60
        case .signed: 220
        case .resigned: 90
        case .unproven: 60
        case .vouched: 80
        case .receipt: 80
        case .resignedReceipt: 30
        case .packing: 80
        case .content: 140
        }
    }
}

/// A case in which a decoder broke its promise.
package struct Finding: Error, CustomStringConvertible {
    /// What was expected and what happened.
    package let message: String
    /// The input that showed it.
    package let input: [UInt8]

    /// The message, and the input in base64.
    package var description: String {
        "\(message)\n  input, base64: \(String(decoding: Mutator.base64(input), as: UTF8.self))"
    }
}
