/// The repetitions of one stream in one commit, as of about the same time: how the log stores
/// confirmations.
///
/// A poll of an unchanged subscription repeats all that is known of it, so a repetition must take
/// only a few bytes: it is stored as differences from the one before, and its fields as the index
/// of a set that the row holds once. Specified in `schema/README.md`.
package struct ConfirmationRow: Hashable, Sendable {
    /// The subscription.
    package let stream: StreamID
    /// The earliest as-of in it.
    package let asOf: Instant
    /// The lowest number of the payloads that prove it.
    package let evidence: Int64
    /// What is repeated, encoded.
    package let repetitions: [UInt8]
    /// The transaction ids that were new for known purchases, each once.
    package let transactionIds: [String]

    /// The most that the latest as-of of a row may lie after its earliest: one poll is signed
    /// within seconds, and a look-up by instant need not search further back.
    package static let spanMillisecondsMax: Int64 = 60_000

    /// A row as the log holds it.
    package init(
        stream: StreamID,
        asOf: Instant,
        evidence: Int64,
        repetitions: [UInt8],
        transactionIds: [String]
    ) {
        self.stream = stream
        self.asOf = asOf
        self.evidence = evidence
        self.repetitions = repetitions
        self.transactionIds = transactionIds
    }

    /// The numbers of the payloads that prove it, ascending; empty if the row cannot be read.
    package var evidenceNumbers: [Int64] {
        var numbers: [Int64] = []
        for confirmation in confirmations(lane: .only) ?? []
        where numbers.last != confirmation.evidence { numbers.append(confirmation.evidence) }
        return numbers
    }

    /// The rows for the repetitions of one stream in a commit; empty if there are none.
    package static func rows(
        of confirmations: [Confirmation],
        stream: StreamID
    ) -> [ConfirmationRow] {
        var rows: [ConfirmationRow] = []
        var pending: [Confirmation] = []
        for confirmation in confirmations.sorted(by: { $0.asOf < $1.asOf }) {
            if let first = pending.first,
                confirmation.asOf.milliseconds - first.asOf.milliseconds > spanMillisecondsMax
            {
                rows.append(ConfirmationRow(pending, stream: stream, from: first.asOf))
                pending = []
            }
            pending.append(confirmation)
        }
        if let first = pending.first {
            rows.append(ConfirmationRow(pending, stream: stream, from: first.asOf))
        }
        return rows
    }

    private init(_ confirmations: [Confirmation], stream: StreamID, from asOf: Instant) {
        let ordered = confirmations.sorted { $0.precedes($1) }
        let lowest = ordered.first?.evidence ?? 0
        var masks: [FieldSet] = []
        var ids: [String] = []
        var entries = ByteWriter()
        var (evidence, offset, time) = (lowest, Int64(0), asOf.milliseconds)

        for confirmation in ordered {
            let mask = masks.firstIndex(of: confirmation.fields) ?? masks.count
            if mask == masks.count { masks.append(confirmation.fields) }
            let id = confirmation.transactionId
            entries.leb128(UInt64(confirmation.evidence - evidence))
            entries.zigzag(confirmation.position.offset - offset)
            entries.zigzag(confirmation.asOf.milliseconds - time)
            entries.leb128(UInt64(mask) << 1 | (id.isEmpty ? 0 : 1))
            if !id.isEmpty {
                let place = ids.firstIndex { areSameBytes($0, id) } ?? ids.count
                if place == ids.count { ids.append(id) }
                entries.leb128(UInt64(place))
            }
            evidence = confirmation.evidence
            offset = confirmation.position.offset
            time = confirmation.asOf.milliseconds
        }

        var writer = ByteWriter()
        writer.leb128(UInt64(masks.count))
        for mask in masks { writer.leb128(mask.rawValue) }
        writer.raw(entries.bytes)
        self.init(
            stream: stream,
            asOf: asOf,
            evidence: lowest,
            repetitions: writer.bytes,
            transactionIds: ids
        )
    }

    /// The repetitions in it; nil unless they are encoded as `rows(of:stream:)` writes them.
    ///
    /// Ignores fields whose tags this program cannot hold. One that is written several times is read
    /// once: it says nothing more.
    package func confirmations(lane: Lane) -> [Confirmation]? {
        var reader = ByteReader(repetitions[...])
        guard let maskCount = reader.wideLEB128(), maskCount <= UInt64(repetitions.count) else {
            return nil
        }
        var masks: [FieldSet] = []
        for _ in 0..<maskCount {
            guard let mask = reader.maskLEB128() else { return nil }
            masks.append(FieldSet(rawValue: mask))
        }

        var confirmations: [Confirmation] = []
        var (evidence, offset, time) = (self.evidence, Int64(0), asOf.milliseconds)
        while !reader.isAtEnd {
            guard let step = reader.wideLEB128(), let offsetStep = reader.zigzag(),
                let timeStep = reader.zigzag(), let mask = reader.wideLEB128(),
                mask >> 1 < UInt64(masks.count),
                let nextEvidence = evidence.adding(Int64(clamping: step)),
                let nextOffset = offset.adding(offsetStep), let nextTime = time.adding(timeStep)
            else { return nil }
            (evidence, offset, time) = (nextEvidence, nextOffset, nextTime)
            var id = ""
            if mask & 1 == 1 {
                guard let place = reader.leb128(), place < transactionIds.count else { return nil }
                id = transactionIds[place]
            }
            let confirmation = Confirmation(
                position: Position(lane: lane, offset: offset),
                asOf: Instant(milliseconds: time),
                fields: masks[Int(mask >> 1)],
                transactionId: id,
                evidence: evidence
            )
            if confirmation != confirmations.last { confirmations.append(confirmation) }
        }
        return confirmations
    }
}

extension ConfirmationRow {
    /// The order of a commit's rows in its digest: by environment, id, as-of.
    package func precedes(_ other: ConfirmationRow) -> Bool {
        stream == other.stream ? asOf < other.asOf : stream < other.stream
    }
}

extension Confirmation {
    /// The order of repetitions in a row.
    func precedes(_ other: Confirmation) -> Bool {
        if evidence != other.evidence { return evidence < other.evidence }
        if position != other.position { return position < other.position }
        if asOf != other.asOf { return asOf < other.asOf }
        if fields != other.fields { return fields.rawValue < other.fields.rawValue }
        return transactionId.utf8.lexicographicallyPrecedes(other.transactionId.utf8)
    }
}

extension Int64 {
    fileprivate func adding(_ step: Int64) -> Int64? {
        let (sum, isTooLarge) = addingReportingOverflow(step)
        return isTooLarge ? nil : sum
    }
}

extension ByteWriter {
    /// Appends a signed number, small ones in few bytes: 0, -1, 1, -2 … as 0, 1, 2, 3 ….
    fileprivate mutating func zigzag(_ number: Int64) {
        leb128(UInt64(bitPattern: number << 1 ^ number >> 63))
    }
}

extension ByteReader {
    /// The next unsigned LEB128 number in its shortest form; nil if it has more than 64 bits.
    fileprivate mutating func wideLEB128() -> UInt64? {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while let byte = integer(UInt8.self) {
            guard shift < 63 || (shift == 63 && byte <= 1) else { return nil }
            number |= UInt64(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return byte == 0 && shift > 0 ? nil : number }
            shift += 7
        }
        return nil
    }

    /// The next set of tags below 256, as its lower 64 bits: this program has no higher tag.
    fileprivate mutating func maskLEB128() -> UInt64? {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 259, by: 7) {
            guard let byte = integer(UInt8.self) else { return nil }
            if shift < 64 { number |= UInt64(byte & 0x7f) << shift }
            if byte & 0x80 == 0 { return byte == 0 && shift > 0 ? nil : number }
        }
        return nil
    }

    fileprivate mutating func zigzag() -> Int64? {
        wideLEB128().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
    }
}
