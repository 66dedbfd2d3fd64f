/// A place in the log: a lane and a dense offset in it, from 1, in commit order.
public struct Position: Hashable, Sendable {
    /// The lane.
    package let lane: Lane
    /// The offset in the lane, from 1, without holes.
    public let offset: Int64

    /// The position at that offset of that lane.
    package init(lane: Lane, offset: Int64) {
        self.lane = lane
        self.offset = offset
    }
}

extension Position {
    /// More than the offsets, the commits or the payloads of any lane: sums of such numbers over all
    /// lanes do not overflow.
    ///
    /// Whoever reads a log must expect others, because a role may insert any number.
    package static let offsetMax: Int64 = 1 << 50
}

extension Position: Comparable {
    /// By lane, then offset.
    ///
    /// Positions of two lanes have no order in time.
    public static func < (left: Position, right: Position) -> Bool {
        (left.lane, left.offset) < (right.lane, right.offset)
    }
}

extension Position: CustomStringConvertible {
    /// The position as questions accept it: `17` where the ledger has one lane, otherwise `3:17`.
    public var description: String {
        lane.isOnly ? "\(offset)" : "\(lane.number):\(offset)"
    }
}

extension Position: Codable {
    /// Decodes a number, or `lane:offset`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            self.init(lane: .only, offset: try container.decode(Int64.self))
            return
        } catch DecodingError.typeMismatch {}
        let parts = try container.decode(String.self).split(separator: ":").map { Int64($0) }
        guard parts.count == 2, let lane = parts[0].flatMap({ Int(exactly: $0) }),
            let offset = parts[1]
        else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "a position is an offset, or lane:offset"
            )
        }
        self.init(lane: Lane(lane), offset: offset)
    }

    /// Encodes a number where the ledger has one lane, otherwise `lane:offset`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if lane.isOnly {
            try container.encode(offset)
        } else {
            try container.encode(description)
        }
    }
}

/// A fact that the log holds.
package struct Event: Hashable, Sendable {
    /// Its place in the log.
    package let position: Position
    /// When it was committed, on our clock.
    package let recordedAt: Instant
    /// What it says.
    package let fact: Fact
    /// The number, in its lane, of the payload that proves it.
    package let evidence: Int64
    /// Whether the payload was imported from files; false if it arrived live.
    package let isImported: Bool
    /// How much of it has been erased since; scans for folds do not set it.
    package let erased: ErasedParts

    /// Whether it is a link whose customer was erased: without the name it would read as an unlink,
    /// so folds skip it.
    package var isNamelessLink: Bool { fact.kind == .link && erased != .nothing }

    /// An event as the log holds it.
    package init(
        position: Position,
        recordedAt: Instant,
        fact: Fact,
        evidence: Int64,
        isImported: Bool = false,
        erased: ErasedParts = .nothing
    ) {
        self.position = position
        self.recordedAt = recordedAt
        self.fact = fact
        self.evidence = evidence
        self.isImported = isImported
        self.erased = erased
    }
}

/// A repetition of what an event already says: as of another instant, by stronger proof, or under
/// another transaction id.
///
/// It is not an event, because it adds nothing new. But it can change an answer, so it is kept, and
/// its payload too: if A is stated as of 1 and again as of 3, and then B as of 2 arrives late, the
/// answer is A. Confirmations form a set, so any order of arrival leaves the same ones.
package struct Confirmation: Hashable, Sendable {
    /// The event whose statement was repeated.
    package let position: Position
    /// When Apple repeated it, on Apple's clock.
    package let asOf: Instant
    /// Which fields of the event were repeated.
    package let fields: FieldSet
    /// The transaction id of the repetition, if it differs from all that were known of the
    /// purchase: an alias made by a restore (Apple's data: trap 4); empty otherwise.
    package let transactionId: String
    /// The number, in the lane, of the payload that proves it.
    package let evidence: Int64

    /// A repetition of the event at that position.
    package init(
        position: Position,
        asOf: Instant,
        fields: FieldSet,
        transactionId: String,
        evidence: Int64
    ) {
        self.position = position
        self.asOf = asOf
        self.fields = fields
        self.transactionId = transactionId
        self.evidence = evidence
    }
}

/// All that the log knows about one subscription: the input of every fold.
package struct StreamHistory: Hashable, Sendable {
    /// The subscription.
    package let stream: StreamID
    /// Its events, by offset.
    package var events: [Event]
    /// Their repetitions, in any order.
    ///
    /// Scans omit repetitions of transactions that change no row of a projection.
    package var confirmations: [Confirmation]
    /// Events in the log that this program cannot read, by offset; a fold skips them.
    ///
    /// Filled by scans of the whole log, which must not stop at one event. Code that reads a single
    /// stream throws instead and leaves this empty.
    package var unreadable: [UnreadableEvent]

    /// A history of these events and repetitions, all of which could be read.
    package init(stream: StreamID, events: [Event], confirmations: [Confirmation]) {
        self.stream = stream
        self.events = events
        self.confirmations = confirmations
        unreadable = []
    }
}

/// An event in the log that this program cannot read: damaged, or written by a newer program.
package struct UnreadableEvent: Hashable, Sendable {
    /// Its place in the log.
    package let position: Position
    /// What cannot be read, in one sentence, without any of the content.
    package let reason: String

    /// An event that cannot be read at that position, for that reason.
    package init(position: Position, reason: String) {
        self.position = position
        self.reason = reason
    }
}

extension Event {
    /// The event reduced to these fields, at its own as-of or an earlier one.
    package func limited(to fields: FieldSet, asOf: Instant? = nil) -> Event {
        var content = fact.content
        for entry in content.entries where !fields.contains(entry.field) {
            content[entry.field] = nil
        }
        return Event(
            position: position,
            recordedAt: recordedAt,
            fact: Fact(
                stream: fact.stream,
                bundleId: fact.bundleId,
                kind: fact.kind,
                purchaseDate: fact.purchaseDate,
                expiresDate: fact.expiresDate,
                asOf: asOf ?? fact.asOf,
                content: content
            ),
            evidence: evidence,
            isImported: isImported,
            erased: erased
        )
    }
}
