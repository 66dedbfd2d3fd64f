public import Events

/// A value as PostgreSQL will store it.
public enum ColumnValue: Hashable, Sendable {
    /// NULL.
    case null
    /// A `bigint`.
    case integer(Int64)
    /// An `integer`.
    case int32(Int32)
    /// A `boolean`.
    case boolean(Bool)
    /// A `text`.
    case text(String)
    /// A `timestamptz`: if an instant is outside `timestampMilliseconds`, the subscription is
    /// refused.
    case timestamp(Instant)
    /// A `bigint[]` without NULLs.
    case integers([Int64])
    /// A `text[]` without NULLs.
    case texts([String])
}

extension ColumnValue {
    /// The instants that fit in a `timestamptz`, in milliseconds since 1970: from 4713 BC, where
    /// PostgreSQL begins, to 294247 AD, where 64 bits of microseconds end.
    public static let timestampMilliseconds: ClosedRange<Int64> =
        -210_866_803_200_000...9_223_372_036_854_775

    /// A `bigint` of milliseconds, or NULL.
    public init(milliseconds instant: Instant?) {
        self = instant.map { .integer($0.milliseconds) } ?? .null
    }

    /// A `timestamptz`, or NULL.
    public init(timestamp instant: Instant?) {
        self = instant.map { .timestamp($0) } ?? .null
    }

    /// A `text`, or NULL.
    public init(_ text: String?) {
        self = text.map { .text($0) } ?? .null
    }
}
