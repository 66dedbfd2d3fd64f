/// A member of a document that is written as null where it has no value, because readers count on
/// the member; all others are left out then.
public struct OrNull<Value: Codable & Hashable & Sendable>: Hashable, Sendable {
    /// The value; nil for null.
    public let value: Value?

    /// A value, or null.
    public init(_ value: Value?) { self.value = value }
}

extension OrNull: Codable {
    /// Reads a value, or null.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        value = container.decodeNil() ? nil : try container.decode(Value.self)
    }

    /// Writes the value, or null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value {
            try container.encode(value)
        } else {
            try container.encodeNil()
        }
    }
}
