internal import AppStore

/// A JSON object that may have certain members only, as a file of an operator must.
struct StrictObject {
    private let value: JSON.Value
    /// Where it is, for messages; empty for the whole text.
    private let path: String

    /// The object that a text contains.
    ///
    /// - Throws: `ConsumptionPolicyError` for other texts, and for a member that occurs twice.
    init(_ bytes: [UInt8], members: [String]) throws(ConsumptionPolicyError) {
        let json: JSON
        do throws(JSON.Failure) {
            json = try JSON(bytes)
        } catch {
            guard error.reason == .duplicateName else {
                throw ConsumptionPolicyError(
                    "not a JSON object: \(error.reason.rawValue) at byte \(error.offset)"
                )
            }
            let name = bytes[error.offset...].prefix { $0 != UInt8(ascii: "\"") }
            throw ConsumptionPolicyError(
                "member \(String(decoding: name.prefix(80), as: UTF8.self)) occurs twice; expected "
                    + "each member once"
            )
        }
        try self.init(json.root, at: "", members: members)
    }

    init(
        _ value: JSON.Value,
        at path: String,
        members: [String]
    ) throws(ConsumptionPolicyError) {
        (self.value, self.path) = (value, path)
        guard value.kind == .object else { throw StrictObject.malformed(path, "a JSON object") }
        for (name, _) in value.members {
            let name = name.text ?? ""
            guard members.contains(name) else {
                throw ConsumptionPolicyError(
                    "unknown member \(place(String(name.prefix(80)))); expected one of "
                        + members.joined(separator: ", ")
                )
            }
        }
    }

    /// The value of a member as `read` accepts it; nil if there is no such member.
    func value<Value>(
        _ name: StaticString,
        _ expected: String,
        _ read: (JSON.Value) -> Value?
    ) throws(ConsumptionPolicyError) -> Value? {
        guard let member = value[name] else { return nil }
        guard let value = read(member) else {
            throw StrictObject.malformed(place("\(name)"), expected)
        }
        return value
    }

    /// A word of an enumeration.
    func word<Word: CaseIterable & RawRepresentable<String>>(
        _ name: StaticString
    ) throws(ConsumptionPolicyError) -> Word? {
        let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
        return try value(name, words) { $0.text.flatMap(Word.init) }
    }

    /// A list of texts, at least one.
    func texts(_ name: StaticString) throws(ConsumptionPolicyError) -> Set<String>? {
        try value(name, "a list of texts, at least one") { list in
            let texts = list.elements.compactMap(\.text)
            return texts.isEmpty || texts.contains("") || texts.count != list.elements.count
                ? nil : Set(texts)
        }
    }

    /// A whole number in a range.
    func number(
        _ name: StaticString,
        _ range: ClosedRange<Int64>
    ) throws(ConsumptionPolicyError) -> Int? {
        let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        return try value(name, expected) { number in
            number.integer.flatMap { range.contains($0) ? Int($0) : nil }
        }
    }

    /// The object of a member.
    func object(
        _ name: StaticString,
        members: [String]
    ) throws(ConsumptionPolicyError) -> StrictObject? {
        guard let member = value[name] else { return nil }
        return try StrictObject(member, at: place("\(name)"), members: members)
    }

    /// The name of a member with where it is.
    func place(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

    private static func malformed(_ path: String, _ expected: String) -> ConsumptionPolicyError {
        ConsumptionPolicyError(
            path.isEmpty ? "expected \(expected)" : "member \(path) is wrong; expected \(expected)"
        )
    }
}

/// Why a policy, or the answer of an app, was not accepted; safe to log.
package struct ConsumptionPolicyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which member is wrong, and what is expected.
    package let description: String

    init(_ description: String) { self.description = description }
}
