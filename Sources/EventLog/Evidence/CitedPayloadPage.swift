package import Events

/// A run of commits of a lane, with their payloads.
package struct CitedPayloadPage: Sendable {
    /// The payloads, by number.
    package let payloads: [CitedPayload]
    /// An event, or a confirmation of one, that cannot be read, with the reason; nil if all can.
    package let malformed: (position: Position, reason: String)?
    /// The commit after which the next page begins.
    package let lastCommit: Int64

    /// Payloads in a page: enough to keep a core busy for tens of milliseconds.
    static let payloadsMax = 128
    /// Bytes of payloads at which a page is full; one commit may be larger.
    static let bytesMax = 16 << 20
}
