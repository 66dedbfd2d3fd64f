package import Events
internal import Postgres

/// A request of Apple's for consumption information, and what became of it.
package struct ConsumptionRequest: Hashable, Sendable {
    /// The position of the notification.
    package let position: Position
    /// The subscription, or the one-time purchase.
    package let stream: StreamID
    /// The app.
    package let bundleId: String
    /// The transaction whose refund the customer asks for.
    package let transactionId: String
    /// When Apple signed it.
    package let requestedAt: Instant
    /// What became of it.
    package var outcome = Outcome.open
    /// Why, in words; empty if the outcome says it.
    package var note = ""
    /// How often an answer was attempted.
    package var attempts = 0
    /// When the outcome was recorded; nil before the first one.
    package var decidedAt: Instant?
    /// When it is tried again; nil unless the last attempt failed.
    package var retryAt: Instant?
    /// Apple's error code of the last attempt; nil if it gave none.
    package var errorCode: Int64?
    /// The body for Apple, from just before it is first sent; nil if nothing was sent.
    package var body: String?

    /// A request that is open.
    package init(_ event: Event, transactionId: String) {
        position = event.position
        stream = event.fact.stream
        bundleId = event.fact.bundleId
        requestedAt = event.fact.asOf
        self.transactionId = transactionId
    }

    /// Until when Apple takes an answer.
    package var dueAt: Instant {
        Instant(milliseconds: requestedAt.milliseconds + ConsumptionRequest.answerMilliseconds)
    }

    /// How long Apple takes an answer: twelve hours.
    package static let answerMilliseconds: Int64 = 12 * 3_600_000

    /// What became of a request.
    package enum Outcome: String, CaseIterable, Codable, Sendable {
        /// Not decided.
        case open
        /// About to be sent: a process that finds it later sends the same body again.
        case sending
        /// The last attempt failed; it is tried again until the request is too old.
        case failed
        /// Apple has the answer.
        case sent
        /// The customer did not consent.
        case notConsented
        /// Nothing was sent because Apple has decided, or would refuse it.
        case notNeeded
        /// Apple refused the answer.
        case refused
        /// Nobody answered in time.
        case tooLate
        /// A newer request about the transaction came before it was answered.
        case superseded

        /// Whether the request still waits for an answer.
        package var isWaiting: Bool { self == .open || self == .sending || self == .failed }
    }
}

// Its row.
extension ConsumptionRequest {
    /// The values of the columns that say which it is, in the order of `ConsumptionSQL`.
    var identity: [PostgresValue] {
        stream.key(inLane: position.lane.number) + [
            .int8(position.offset), .text(transactionId),
            .timestamptz(microseconds: requestedAt.microseconds),
        ]
    }

    /// The request in a row of `ConsumptionSQL.select`.
    init(in row: PostgresRow, of lanes: LaneCount) throws {
        func instant(_ column: Int) throws -> Instant? {
            try row.timestamptzIfPresent(column).map { Instant(microseconds: $0) }
        }
        position = Position(lane: lanes[Int(try row.int4(0))], offset: try row.int8(1))
        stream = try row.stream(2)
        bundleId = try row.text(4)
        transactionId = try row.text(5)
        requestedAt = Instant(microseconds: try row.timestamptz(6))
        outcome = Outcome(rawValue: try row.text(7)) ?? .refused
        note = try row.text(8)
        attempts = Int(try row.int4(9))
        (decidedAt, retryAt) = (try instant(10), try instant(11))
        errorCode = try row.int8IfPresent(12)
        body = try row.textIfPresent(13)
    }
}
