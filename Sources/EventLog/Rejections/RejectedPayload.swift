package import Events

/// A payload that was refused, with as much of it as may be stored.
///
/// It is not part of the log: nothing proves it, and anyone can send any amount. It is stored so
/// the operator can inspect it, fix the cause and ingest it again.
package struct RejectedPayload: Sendable {
    /// SHA-256 of the exact bytes that arrived.
    package let digest: Digest
    /// The machine-readable reason.
    package let reason: String
    /// The reason as text, without control characters, at most `messageByteCountMax` bytes.
    package private(set) var message: String
    /// The channel it came by, as the operator names it.
    package let source: String
    /// Where it was found; empty if unknown.
    ///
    /// At most `locationByteCountMax` bytes: a longer one keeps its end, which names the file.
    package let location: String
    /// Length of the payload as it arrived, in bytes.
    package let byteCount: Int
    /// What may be stored of it, at most `bodyByteCountMax` bytes; nil for nothing.
    package private(set) var body: [UInt8]?
    /// Whether it first arrived live or through an import.
    package let arrival: Arrival
    /// What it shows of its origin.
    package let standing: Standing
    /// Its place in the input.
    package let place: Place
    /// When it reached us, on our clock.
    package let receivedAt: Instant

    /// Identifies the bytes that arrived, if other bytes are stored for them.
    package struct Original: Hashable, Sendable {
        /// Their SHA-256.
        package let digest: Digest
        /// Their number.
        package let byteCount: Int

        /// Identifies bytes by these values.
        package init(digest: Digest, byteCount: Int) {
            self.digest = digest
            self.byteCount = byteCount
        }

        /// Identifies these bytes.
        package init(_ payload: [UInt8]) {
            self.init(digest: Digest.of(payload), byteCount: payload.count)
        }
    }

    /// The place of a payload in the input of its run, by which the list of rejections is ordered.
    package struct Place: Hashable, Sendable {
        /// When the run began, on our clock.
        package let runStartedAt: Instant
        /// The payload's number in the run's input, from 1.
        package let inputNumber: Int64

        /// A place in a run.
        package init(runStartedAt: Instant, inputNumber: Int64) {
            self.runStartedAt = runStartedAt
            self.inputNumber = inputNumber
        }
    }

    /// The most bytes stored of one payload.
    ///
    /// It can be ingested again only if all of it is stored. A receipt of some years has a hundred
    /// thousand bytes; for a payload ten times as long, the beginning is enough to see what it is.
    package static let bodyByteCountMax = 1 << 20

    /// The bytes of all proven bodies together from which on no more are stored, unless
    /// `EventLog.Options` sets another limit.
    package static let allBodiesByteCountMax: Int64 = 1 << 30

    /// The rows of a standing from which on no more are stored.
    static func rowsMax(of standing: Standing) -> Int64 {
        // Proven payloads come by the million if an operator ingests files of another app; the rest
        // only has to show what is being sent.
        standing == .proven ? 1_000_000 : 10_000
    }

    /// The bytes of the bodies of a standing from which on no more are stored.
    static func bytesMax(of standing: Standing, ofProven limit: Int64) -> Int64 {
        standing == .proven ? limit : limit / 16
    }

    /// Days after which unproven rows may be deleted: Apple sends a notification for three days, and
    /// an operator finds it within a month.
    static let unprovenDaysMax: Int32 = 30

    /// The most bytes of a message: it may contain an id that the payload made up.
    package static let messageByteCountMax = 2 << 10

    /// The most bytes of a location: the longest path of common systems.
    package static let locationByteCountMax = 4 << 10

    /// A refusal to be stored; texts and body are cut to their limits.
    ///
    /// - Parameters:
    ///   - original: The exact bytes that arrived.
    ///   - body: What may be stored of them, without secrets; nil for nothing.
    ///   - reason: The machine-readable reason.
    ///   - message: The reason as text.
    ///   - source: The channel.
    ///   - location: Where it was found; empty if unknown.
    ///   - arrival: Whether it arrived live or through an import.
    ///   - standing: What it shows of its origin.
    ///   - place: Its place in the input; nil for a payload that came alone.
    ///   - receivedAt: Our clock.
    package init(
        _ original: Original,
        body: [UInt8]?,
        reason: String,
        message: String,
        source: String,
        location: String,
        arrival: Arrival = .live,
        standing: Standing = .proven,
        place: Place? = nil,
        receivedAt: Instant
    ) {
        digest = original.digest
        byteCount = original.byteCount
        self.body = body.map { Array($0.prefix(RejectedPayload.bodyByteCountMax)) }
        self.reason = reason
        self.message = RejectedPayload.cut(message)
        self.source = RejectedPayload.printable(source)
        let path = RejectedPayload.printable(location).utf8
        self.location = String(
            decoding: path.suffix(RejectedPayload.locationByteCountMax),
            as: UTF8.self
        )
        self.arrival = arrival
        self.standing = standing
        self.place = place ?? Place(runStartedAt: receivedAt, inputNumber: 1)
        self.receivedAt = receivedAt
    }

    /// The same without its bytes, because the stored bodies have reached the limit.
    func withoutBody(limit: Int64) -> RejectedPayload {
        var bare = self
        bare.body = nil
        bare.message = RejectedPayload.cut(
            message + " Its bytes are not kept: those of refused payloads that are"
                + " \(standing.rawValue) have reached the limit of \(limit) bytes. Ingest the"
                + " original again."
        )
        return bare
    }

    private static func cut(_ message: String) -> String {
        String(decoding: printable(message).utf8.prefix(messageByteCountMax), as: UTF8.self)
    }

    // PostgreSQL refuses a zero character in a text, and a terminal interprets the others.
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
