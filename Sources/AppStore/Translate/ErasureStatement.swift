public import Events

/// The operator's statement that a part of the log was erased.
///
/// It records which rows, why and by whom, never what was in them. The log stores it like any other
/// statement: chained, and kept as evidence.
public struct ErasureStatement: Hashable, Sendable {
    /// The subscription.
    public let stream: StreamID
    /// What was removed from which rows.
    public let erasure: Erasure
    /// Who erased it.
    public let erasedBy: String
    /// Why; it must not name the person.
    public let reason: String
    /// When, on the database server's clock: the as-of of the event.
    public let erasedAt: Instant

    /// Longest name of the author, in UTF-8 bytes.
    public static let erasedByByteCountMax = CustomerLink.statedByByteCountMax
    /// Longest reason, in UTF-8 bytes.
    public static let reasonByteCountMax = CustomerLink.reasonByteCountMax
    /// The name and version of the form, as `subledger` in the payload.
    public static let form = "erasure/1"

    /// A statement; `refusal` checks the limits of its reason and its author.
    public init(
        stream: StreamID,
        erasure: Erasure,
        erasedBy: String,
        reason: String,
        erasedAt: Instant
    ) {
        self.stream = stream
        self.erasure = erasure
        self.erasedBy = erasedBy
        self.reason = reason
        self.erasedAt = erasedAt
    }

    /// Why a reason or a name is refused; nil if both are acceptable.
    public static func refusal(reason: String, erasedBy: String) -> String? {
        for (name, text, limit) in [
            ("the reason", reason, reasonByteCountMax),
            ("the name of the person who erases", erasedBy, erasedByByteCountMax),
        ] {
            guard (1...limit).contains(text.utf8.count) else {
                return "\(name) has \(text.utf8.count) bytes; accepted are 1 to \(limit)"
            }
            guard !Claims.hasControlCharacters(text) else {
                return "\(name) contains control characters; use plain text on one line"
            }
        }
        return nil
    }

    /// The statement as a payload: one JSON object, names sorted, so the same statement always has
    /// the same bytes.
    public var payload: [UInt8] {
        JSON.CanonicalObject([
            "subledger": .text(ErasureStatement.form),
            "environment": .text(stream.environment.word),
            "originalTransactionId": .text(stream.originalTransactionId),
            "scope": .text(erasure.scope.rawValue),
            "events": .text(erasure.events.description),
            "confirmations": .text(erasure.confirmations.description),
            "evidence": .text(erasure.evidence.description),
            "by": .text(erasedBy),
            "reason": .text(reason),
            "erasedAt": .number(erasedAt.milliseconds),
        ]).canonicalText
    }
}

extension ErasureStatement {
    /// Reads a statement: exactly the bytes that `payload` returns.
    ///
    /// Nothing else produces statements, so nothing else is accepted.
    private init(_ body: JSON.Value, in payload: ArraySlice<UInt8>) throws(Rejection) {
        func ranges(_ name: StaticString) -> NumberRanges? {
            body[name]?.text.flatMap { NumberRanges($0) }
        }
        guard let environment = body["environment"]?.text,
            let id = body["originalTransactionId"]?.text,
            let scope = body["scope"]?.text.flatMap(Erasure.Scope.init(rawValue:)),
            let events = ranges("events"), let confirmations = ranges("confirmations"),
            let evidence = ranges("evidence"), let erasedBy = body["by"]?.text,
            let reason = body["reason"]?.text, let erasedAt = body["erasedAt"]?.integer
        else { throw ErasureStatement.malformed }
        self.init(
            stream: StreamID(environment: StoreEnvironment(environment), originalTransactionId: id),
            erasure: Erasure(
                scope: scope,
                events: events,
                confirmations: confirmations,
                evidence: evidence
            ),
            erasedBy: erasedBy,
            reason: reason,
            erasedAt: Instant(milliseconds: erasedAt)
        )
        guard self.payload.elementsEqual(payload) else { throw ErasureStatement.malformed }
    }

    private static let malformed = Rejection(
        .claimMalformed,
        "The payload is not a statement of this form about an erasure."
    )

    /// The fact that it states.
    var fact: Fact {
        var content = Content(format: .erasure)
        content[.erasureScope] = .text(erasure.scope.rawValue)
        for (field, ranges) in [
            (Field.erasedEvents, erasure.events), (.erasedConfirmations, erasure.confirmations),
            (.erasedEvidence, erasure.evidence),
        ] where !ranges.isEmpty { content[field] = .text(ranges.description) }
        content[.erasureReason] = .text(reason)
        content[.erasedBy] = .text(erasedBy)
        let origin = Provenance(environment: stream.environment, bundleId: "", asOf: erasedAt)
        return origin.fact(.erasure, about: stream.originalTransactionId, content)
    }

    /// The fact with the payload as its evidence: for `EventLog.erase`, which blanks the rows in
    /// the same transaction.
    ///
    /// `ingest` does not accept such payloads: on its own, one would claim gaps that do not exist.
    package func verified(source: String, receivedAt: Instant) -> Verified<[Fact]> {
        Verified(
            [fact],
            evidence: Evidence(
                payload: payload,
                kind: .erasureStatement,
                source: source,
                verification: Verification(trust: .vouched, root: nil),
                receivedAt: receivedAt
            )
        )
    }

    /// The fact of a stored statement, for re-verification of the log.
    package static func fact(ofStored payload: [UInt8]) throws(Rejection) -> Fact {
        guard let root = JSON.root(of: payload), root["subledger"]?.equals("erasure/1") == true
        else { throw malformed }
        return try ErasureStatement(root, in: payload[...]).fact
    }
}
