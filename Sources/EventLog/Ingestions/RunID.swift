internal import Events

/// The name of one ingest run: a random UUID.
package struct RunID: Hashable, Sendable {
    /// Thirty-six characters, lower case.
    package let text: String

    /// A new one (RFC 9562 §5.4).
    package init() {
        var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        text = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { hexadecimal(bytes[$0]) }
            .joined(separator: "-")
    }
}
