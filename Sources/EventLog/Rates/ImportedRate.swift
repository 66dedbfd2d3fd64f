/// A rate that the operator imports: its subject has one value at a time, which is never overwritten.
public protocol ImportedRate: Hashable, Sendable {
    /// The subject of a rate, with the first day for which it holds.
    associatedtype Key: ImportedRateKey
    /// What holds for it.
    associatedtype Value: Hashable, Codable, Sendable

    /// Its subject.
    var key: Key { get }
    /// What holds for it.
    var value: Value { get }
    /// The value in words.
    static func words(_ value: Value) -> String

    /// Where rates are stored.
    static var table: ImportedRateTable { get }
    /// The fields of the columns of the key, then of the value, as PostgreSQL accepts them.
    var fields: [String] { get }
    /// The value with these fields; nil if there is none.
    static func value(_ fields: [String]) -> Value?
}

/// The subject of a rate, with the first day for which it holds.
public protocol ImportedRateKey: Hashable, Codable, Sendable {
    /// The day, UTC, as `2026-03-03`.
    var day: String { get }
    /// The subject in words.
    var words: String { get }
}

/// A table of rates, in which each row is a revision of the rate of its key.
public struct ImportedRateTable: Sendable {
    let name: String
    /// The columns of the key, with the first day in `day`.
    let keys: [String]
    /// The columns of the value: decimal numbers.
    let values: [String]
}

/// The outcome of adding a rate.
public enum ImportedRateOutcome<Value: Hashable & Sendable>: Hashable, Sendable {
    /// It is, or in a dry run would be, the first one of its key.
    case added
    /// It replaces another one.
    case replaced(Value)
    /// It was already known.
    case known
}
