public import Events

/// A payload that was refused, with as much of it as may be kept.
///
/// It is no part of the log: nothing proves it, and anybody can send any amount. It is kept so that
/// somebody can look at what was refused, mend the cause and take it in again.
public struct RejectedPayload: Sendable {
    /// SHA-256 of the exact bytes that arrived.
    public let digest: Digest
    /// The machine word of the refusal.
    public let reason: String
    /// The reason for people, without control characters, at most `messageByteCountMax` bytes.
    public let message: String
    /// The channel it came by, as the operator names it.
    public let source: String
    /// Where it was found; empty where nobody said.
    ///
    /// At most `locationByteCountMax` bytes: of a longer one the end, which tells the file.
    public let location: String
    /// Length of the payload as it arrived, in bytes.
    public let byteCount: Int
    /// What may be kept of it, at most `bodyByteCountMax` bytes; nil for nothing.
    public let body: [UInt8]?
    /// When it reached us, on our clock.
    public let receivedAt: Instant

    /// Most bytes kept of one payload: a notification has thirty thousand, and of a larger payload
    /// the beginning tells what it is.
    public static let bodyByteCountMax = 64 << 10

    /// Most bytes of a message: it may name an id that the payload made up.
    public static let messageByteCountMax = 2 << 10

    /// Most bytes of a location: the longest path of common systems.
    public static let locationByteCountMax = 4 << 10

    /// A refusal to be kept; texts and body are cut to their limits.
    ///
    /// - Parameters:
    ///   - payload: The exact bytes that arrived; only their digest and number are taken.
    ///   - body: What may be kept of them, free of secrets; nil for nothing.
    ///   - reason: The machine word.
    ///   - message: The reason for people.
    ///   - source: The channel.
    ///   - location: Where it was found; empty where nobody said.
    ///   - receivedAt: Our clock.
    public init(
        payload: [UInt8],
        body: [UInt8]?,
        reason: String,
        message: String,
        source: String,
        location: String,
        receivedAt: Instant
    ) {
        digest = Digest.of(payload)
        byteCount = payload.count
        self.body = body.map { Array($0.prefix(RejectedPayload.bodyByteCountMax)) }
        self.reason = reason
        let words = RejectedPayload.printable(message).utf8
        self.message = String(
            decoding: words.prefix(RejectedPayload.messageByteCountMax),
            as: UTF8.self
        )
        self.source = RejectedPayload.printable(source)
        let path = RejectedPayload.printable(location).utf8
        self.location = String(
            decoding: path.suffix(RejectedPayload.locationByteCountMax),
            as: UTF8.self
        )
        self.receivedAt = receivedAt
    }

    // PostgreSQL refuses a zero character in a text, and a terminal obeys the others.
    private static func printable(_ text: String) -> String {
        let isControl = { (scalar: Unicode.Scalar) in
            scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value)
        }
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { isControl($0) ? "\u{fffd}" : $0 }
            )
        )
    }
}
