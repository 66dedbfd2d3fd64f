/// Sixteen bytes that identify a fact within its stream, by which the log finds it.
///
/// The first six come from the subject, so everything known about a subject is adjacent in the
/// index; if two subjects share them, the cost is a comparison. The other ten come from what is
/// said and its as-of. Specified in `schema/README.md`.
package struct FactKey: Hashable, Sendable {
    /// The sixteen bytes.
    package let bytes: [UInt8]

    private static let subjectByteCount = 6
    private static let byteCount = 16

    /// The key of a fact.
    package init(_ fact: Fact) {
        self.init(fact, of: fact.subject)
    }

    /// The key of a partly erased event, from which the erased part cannot be guessed: the six
    /// bytes of its subject, two zero bytes and its offset.
    ///
    /// The subject's bytes are zero if the event says nothing any more.
    package init(erasedAt offset: Int64, of subject: Subject?) {
        var writer = ByteWriter()
        writer.raw(subject.map { FactKey.prefix(of: $0) } ?? [0, 0, 0, 0, 0, 0])
        writer.raw([0, 0])
        writer.integer(offset)
        bytes = writer.bytes
    }

    /// The key of a fact whose subject is known.
    package init(_ fact: Fact, of subject: Subject) {
        var writer = ByteWriter()
        writer.raw(fact.content.meaningfulBytes)
        writer.instant(fact.asOf)
        let statement = Digest.of(writer.bytes).bytes
        let rest = statement[..<(FactKey.byteCount - FactKey.subjectByteCount)]
        bytes = Array(FactKey.prefix(of: subject)) + rest
    }

    /// The first and the last key that a fact about the subject of this key can have.
    package static func range(around key: [UInt8]) -> (first: [UInt8], last: [UInt8]) {
        var (first, last) = (key, key)
        for index in subjectByteCount..<byteCount { (first[index], last[index]) = (0x00, 0xff) }
        return (first, last)
    }

    private static func prefix(of subject: Subject) -> ArraySlice<UInt8> {
        var writer = ByteWriter()
        writer.prefixed(subject.stream.environment.word)
        writer.prefixed(subject.kind.rawValue)
        writer.instant(subject.purchaseDate)
        writer.instant(subject.expiresDate)
        writer.prefixed(subject.name)
        return Digest.of(writer.bytes).bytes[..<subjectByteCount]
    }
}
