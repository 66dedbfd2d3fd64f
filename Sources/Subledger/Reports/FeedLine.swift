package import EventLog
internal import Events

/// An event or a confirmation as one flat line of JSON, under the names that `history` and `event`
/// use.
///
/// The members have a fixed order: position and times, the subject of the event, Apple's properties
/// by ascending tag, its origin, and the cursor last. A property that the event lacks has no
/// member. The encoder is our own, because Foundation's takes most of the time of a whole feed.
package struct FeedLine {
    /// The cursor's text before and after the lane's mark.
    private let before: [UInt8]
    private let after: [UInt8]
    /// The cursor after the last event.
    private var cursor: [UInt8]

    /// Lines for the events and confirmations of a page, in their order.
    package init(_ page: FeedPage) {
        let text = page.before.text(around: page.lane)
        (before, after) = (Array(text.before.utf8), Array(text.after.utf8))
        cursor = Array(page.before.description.utf8)
    }

    /// Appends a line of the page, with its newline.
    package mutating func append(_ line: FeedPage.Line, to bytes: inout [UInt8]) {
        switch line {
        case .event(let event): append(event, to: &bytes)
        case .confirmation(let confirmation): append(confirmation, to: &bytes)
        }
    }

    /// Appends the line of a confirmation.
    ///
    /// It names the event that it confirms, the fields, and the transaction id if it was new. Its
    /// cursor is that of the event before it.
    private func append(_ fed: FedConfirmation, to line: inout [UInt8]) {
        line.append(UInt8(ascii: "{"))
        append(.confirms, fed.confirmation.position, to: &line)
        line.member(.recordedAt, fed.recordedAt.milliseconds)
        line.member(.asOf, fed.confirmation.asOf.milliseconds)
        line.member(.kind, "confirmation")
        line.member(.environment, fed.stream.environment.word)
        line.member(.originalTransactionId, fed.stream.originalTransactionId)
        line.name(.fields)
        line.append(UInt8(ascii: "["))
        for (index, field) in fed.confirmation.fields.fields.enumerated() {
            if index > 0 { line.append(UInt8(ascii: ",")) }
            line.text("\(field)")
        }
        line.append(UInt8(ascii: "]"))
        if !fed.confirmation.transactionId.isEmpty {
            line += FeedLine.fieldNames[Int(Field.transactionId.rawValue)]
            line.text(fed.confirmation.transactionId)
        }
        appendCursor(to: &line)
    }

    private func appendCursor(to line: inout [UInt8]) {
        line.name(.cursor)
        line.append(UInt8(ascii: "\""))
        line += cursor
        line += Array("\"}\n".utf8)
    }

    private mutating func append(_ fed: FedEvent, to line: inout [UInt8]) {
        let (event, fact) = (fed.event, fed.event.fact)
        line.append(UInt8(ascii: "{"))
        append(.position, event.position, to: &line)
        line.member(.recordedAt, event.recordedAt.milliseconds)
        if fact.kind != .erased { line.member(.asOf, fact.asOf.milliseconds) }
        if fact.isUndated(in: fed.evidence) {
            line.name(.asOfIsLowerBound)
            line += Array("true".utf8)
        }
        line.member(.kind, fact.kind.rawValue)
        if let erased = fed.event.erased.word { line.member(.erased, erased) }
        line.member(.format, FeedLine.formatNames[Int(fact.content.format.rawValue)])
        line.member(.environment, fact.stream.environment.word)
        line.member(.bundleId, fact.bundleId)
        line.member(.originalTransactionId, fact.stream.originalTransactionId)
        if let date = fact.purchaseDate.ifSet { line.member(.purchaseDate, date.milliseconds) }
        if let date = fact.expiresDate.ifSet { line.member(.expiresDate, date.milliseconds) }
        for entry in fact.content.entries { line.member(entry) }
        for (tag, value) in fact.content.unrecognised {
            line += Array(",\"tag\(tag)\":\"\(hexadecimal(value))\"".utf8)
        }
        if let evidence = fed.evidence {
            if let digest = evidence.digest { line.member(.evidence, digest.hex) }
            line.member(.evidenceKind, evidence.evidenceKind)
            line.member(.source, evidence.source)
            line.member(.arrival, evidence.arrival)
            line.member(.trust, evidence.trust)
        }
        cursor = before + Array(fed.mark.description.utf8) + after
        appendCursor(to: &line)
    }

    // The first member, without a comma: a number if there is one lane, otherwise `"lane:offset"`.
    private func append(_ member: Member, _ position: Position, to line: inout [UInt8]) {
        line += Array("\"\(member.rawValue)\":".utf8)
        if position.lane.isOnly {
            line.number(position.offset)
        } else {
            line.text("\(position)")
        }
    }

    /// The members that are not properties of Apple's content; no `Field` may have one of these
    /// names.
    package enum Member: String, CaseIterable {
        case position, recordedAt, asOf, asOfIsLowerBound, kind, erased, format, environment
        case bundleId, originalTransactionId, purchaseDate, expiresDate
        case evidence, evidenceKind, source, arrival, trust, cursor
        /// Of confirmations only.
        case confirms, fields
    }

    // The name of an enum case is looked up through reflection, so each is looked up once.
    fileprivate static let fieldNames: [[UInt8]] = (0..<64).map { tag in
        Field(rawValue: tag).map { Array(",\"\($0)\":".utf8) } ?? []
    }

    private static let formatNames: [String] = (0...UInt8.max).map { raw in
        Format(rawValue: raw).map { "\($0)" } ?? ""
    }
}

extension [UInt8] {
    fileprivate mutating func name(_ member: FeedLine.Member) {
        append(UInt8(ascii: ","))
        text(member.rawValue)
        append(UInt8(ascii: ":"))
    }

    fileprivate mutating func member(_ member: FeedLine.Member, _ number: Int64) {
        name(member)
        self.number(number)
    }

    fileprivate mutating func member(_ member: FeedLine.Member, _ text: String) {
        name(member)
        self.text(text)
    }

    fileprivate mutating func member(_ entry: Content.Entry) {
        self += FeedLine.fieldNames[Int(entry.field.rawValue)]
        switch entry.value {
        case .text(let text): self.text(text)
        case .integer(let number): self.number(number)
        case .boolean(let flag): self += Array((flag ? "true" : "false").utf8)
        case .instant(let instant): number(instant.milliseconds)
        }
    }

    fileprivate mutating func number(_ number: Int64) {
        self += Array(String(number).utf8)
    }

    // RFC 8259 §7: only quotes, backslashes and characters below a space must be escaped. What lies
    // between them is copied in one piece.
    fileprivate mutating func text(_ text: String) {
        let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        append(quote)
        var text = text
        text.withUTF8 { utf8 in
            var start = 0
            for (index, byte) in utf8.enumerated()
            where byte < 0x20 || byte == quote || byte == backslash {
                append(contentsOf: utf8[start..<index])
                start = index + 1
                if byte < 0x20 {
                    self += Array("\\u00".utf8) + Array(hexadecimal([byte]).utf8)
                } else {
                    append(contentsOf: [backslash, byte])
                }
            }
            append(contentsOf: utf8[start...])
        }
        append(quote)
    }
}
