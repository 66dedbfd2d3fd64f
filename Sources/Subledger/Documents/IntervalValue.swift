public import Events

/// A half-open interval of time in a document: an array of its first instant and its end, which is
/// not part of it, in milliseconds since 1970 UTC.
public struct IntervalValue: Hashable, Sendable {
    /// The first instant.
    public let start: Instant
    /// The end, which is not part of it.
    public let end: Instant

    /// A range of instants.
    public init(_ range: Range<Instant>) {
        start = range.lowerBound
        end = range.upperBound
    }
}

extension IntervalValue: Codable {
    /// Reads an array of two instants.
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        start = try container.decode(Instant.self)
        end = try container.decode(Instant.self)
    }

    /// Writes an array of two instants.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(start)
        try container.encode(end)
    }
}

extension IntervalValue {
    /// For people.
    package var text: String { "\(start.clock) – \(end.clock)" }
}
