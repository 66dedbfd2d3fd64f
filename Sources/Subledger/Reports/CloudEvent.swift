package import EventLog
internal import Events

/// An envelope of CloudEvents 1.0 in its JSON format, for an effect.
package struct CloudEvent: Encodable {
    private let specversion = "1.0"
    private let id: String
    private let source: String
    private let type: String
    private let subject: String
    private let time: String
    private let datacontenttype = "application/json"
    private let data: EffectDocument

    /// The envelope of an effect.
    ///
    /// - Parameters:
    ///   - effect: The effect; its document is the data.
    ///   - source: Which ledger it is of; see `source(of:)`.
    package init(_ effect: SubscriptionEffect, _ source: String) {
        (id, self.source) = (effect.id, source)
        type = "subledger.effect.\(effect.kind.rawValue)"
        subject = effect.stream.originalTransactionId
        time = effect.recordedAt.description
        data = EffectDocument(effect)
    }

    /// The source of all events of a ledger: the URN of its id.
    ///
    /// With the id of an event, it identifies the event everywhere.
    package static func source(of log: EventLog) -> String {
        let digits = hexadecimal(log.identity.ledgerId)
        let lengths = [8, 4, 4, 4, 12]
        var (parts, rest): ([Substring], Substring) = ([], digits[...])
        for length in lengths {
            parts.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return "urn:uuid:" + parts.joined(separator: "-")
    }
}

extension FeedLine {
    /// Appends the line of an event or a confirmation as a CloudEvent whose data is the plain line.
    ///
    /// The id of an event is its position, that of a confirmation the position of the event that it
    /// confirms and a digest of the line.
    ///
    /// - Parameters:
    ///   - line: The event or confirmation.
    ///   - source: Which ledger it is of.
    ///   - bytes: Where it is written.
    package mutating func append(
        cloudEvent line: FeedPage.Line,
        source: String,
        to bytes: inout [UInt8]
    ) {
        var plain: [UInt8] = []
        append(line, to: &plain)
        plain.removeLast()
        let (id, kind, stream, time): (String, String, StreamID, Instant)
        switch line {
        case .event(let fed):
            let position = fed.event.position
            id = "\(position.lane.number):\(position.offset)"
            (kind, stream) = (fed.event.fact.kind.rawValue, fed.event.fact.stream)
            time = fed.event.recordedAt
        case .confirmation(let fed):
            let position = fed.confirmation.position
            // The cursor of a confirmation depends on where the reader began.
            let end = plain.firstRange(of: Array(",\"cursor\":".utf8))?.lowerBound
            let digest = Digest.of(Array(plain[..<(end ?? plain.endIndex)])).hex
            id = "\(position.lane.number):\(position.offset)/\(digest.prefix(16))"
            (kind, stream, time) = ("confirmation", fed.stream, fed.recordedAt)
        }
        func member(_ name: String, _ value: String) {
            bytes += Array("\"\(name)\":".utf8)
            JSONString.append(value.utf8, to: &bytes)
            bytes.append(UInt8(ascii: ","))
        }
        bytes.append(UInt8(ascii: "{"))
        member("specversion", "1.0")
        member("id", id)
        member("source", source)
        member("type", "subledger.event.\(kind)")
        // What is about no subscription has none.
        if !stream.originalTransactionId.isEmpty { member("subject", stream.originalTransactionId) }
        member("time", time.description)
        member("datacontenttype", "application/json")
        bytes += Array("\"data\":".utf8) + plain + Array("}\n".utf8)
    }
}
