public import Events

/// A half-open interval of time in a document: an array of its first instant and its end
/// (exclusive), in milliseconds since 1970 UTC.
public struct IntervalValue: Hashable, Sendable {
    /// The first instant.
    public let start: Instant
    /// The end, exclusive.
    public let end: Instant

    /// A range of instants.
    public init(_ range: Range<Instant>) {
        start = range.lowerBound
        end = range.upperBound
    }
}

extension IntervalValue: Codable {
    /// Decodes an array of two instants.
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        start = try container.decode(Instant.self)
        end = try container.decode(Instant.self)
    }

    /// Encodes an array of two instants.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(start)
        try container.encode(end)
    }
}

extension IntervalValue {
    /// The interval as text.
    package var text: String { "\(start.clock) – \(end.clock)" }
}
