public import Events

/// A payload that was refused, with as much of it as may be kept.
///
/// It is no part of the log: nothing proves it, and anybody can send any amount. It is kept so that
/// the operator can inspect it, fix the cause and ingest it again.
public struct RejectedPayload: Sendable {
    /// SHA-256 of the exact bytes that arrived.
    public let digest: Digest
    /// The machine word of the refusal.
    public let reason: String
    /// The reason for people, without control characters, at most `messageByteCountMax` bytes.
    public let message: String
    /// The channel it came by, as the operator names it.
    public let source: String
    /// Where it was found; empty if unknown.
    ///
    /// At most `locationByteCountMax` bytes: of a longer one the end, which names the file.
    public let location: String
    /// Length of the payload as it arrived, in bytes.
    public let byteCount: Int
    /// What may be kept of it, at most `bodyByteCountMax` bytes; nil for nothing.
    public let body: [UInt8]?
    /// Whether it arrived live or by an import, the first time.
    public let arrival: Arrival
    /// Its place in the input.
    public let place: Place
    /// When it reached us, on our clock.
    public let receivedAt: Instant

    /// Which bytes arrived, where what is kept of them is something else.
    public struct Original: Hashable, Sendable {
        /// Their SHA-256.
        public let digest: Digest
        /// Their number.
        public let byteCount: Int

        /// Those bytes.
        public init(digest: Digest, byteCount: Int) {
            self.digest = digest
            self.byteCount = byteCount
        }

        /// The bytes themselves.
        public init(_ payload: [UInt8]) {
            self.init(digest: Digest.of(payload), byteCount: payload.count)
        }
    }

    /// Where a payload stood in the input of its run, which orders the list of rejections.
    public struct Place: Hashable, Sendable {
        /// When the run began, on our clock.
        public let runStartedAt: Instant
        /// The payload's number in the run's input, from 1.
        public let inputNumber: Int64

        /// A place in a run.
        public init(runStartedAt: Instant, inputNumber: Int64) {
            self.runStartedAt = runStartedAt
            self.inputNumber = inputNumber
        }
    }

    /// Most bytes kept of one payload.
    ///
    /// It can be taken in again only where all of it is kept. A receipt of some years has a hundred
    /// thousand bytes; of what is ten times that the beginning tells what it is.
    public static let bodyByteCountMax = 1 << 20

    /// Bytes of all bodies together from which on no more are kept, unless `EventLog.Options` names
    /// another limit: anybody can send any amount.
    public static let allBodiesByteCountMax: Int64 = 1 << 30

    /// Most bytes of a message: it may name an id that the payload made up.
    public static let messageByteCountMax = 2 << 10

    /// Most bytes of a location: the longest path of common systems.
    public static let locationByteCountMax = 4 << 10

    /// A refusal to be kept; texts and body are cut to their limits.
    ///
    /// - Parameters:
    ///   - original: The exact bytes that arrived.
    ///   - body: What may be kept of them, free of secrets; nil for nothing.
    ///   - reason: The machine word.
    ///   - message: The reason for people.
    ///   - source: The channel.
    ///   - location: Where it was found; empty if unknown.
    ///   - arrival: Whether it arrived live or by an import.
    ///   - place: Its place in the input; nil for a payload that came alone.
    ///   - receivedAt: Our clock.
    public init(
        _ original: Original,
        body: [UInt8]?,
        reason: String,
        message: String,
        source: String,
        location: String,
        arrival: Arrival = .live,
        place: Place? = nil,
        receivedAt: Instant
    ) {
        digest = original.digest
        byteCount = original.byteCount
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
        self.arrival = arrival
        self.place = place ?? Place(runStartedAt: receivedAt, inputNumber: 1)
        self.receivedAt = receivedAt
    }

    /// The same without its bytes, because all that are kept have reached the limit.
    func withoutBody(limit: Int64) -> RejectedPayload {
        RejectedPayload(
            Original(digest: digest, byteCount: byteCount),
            body: nil,
            reason: reason,
            message: message + " Its bytes are not kept: those of refused payloads have reached the"
                + " limit of \(limit) bytes. Ingest the original again.",
            source: source,
            location: location,
            arrival: arrival,
            place: place,
            receivedAt: receivedAt
        )
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
