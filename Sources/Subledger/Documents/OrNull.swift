/// A member of a document that is written as null when it has no value, because readers rely on the
/// member; other members are omitted then.
public struct OrNull<Value: Codable & Hashable & Sendable>: Hashable, Sendable {
    /// The value; nil for null.
    public let value: Value?

    /// A value, or null.
    public init(_ value: Value?) { self.value = value }
}

extension OrNull: Codable {
    /// Decodes a value, or null.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        value = container.decodeNil() ? nil : try container.decode(Value.self)
    }

    /// Encodes the value, or null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value {
            try container.encode(value)
        } else {
            try container.encodeNil()
        }
    }
}
