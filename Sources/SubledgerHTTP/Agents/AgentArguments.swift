internal import Subledger

/// The arguments of a call to a tool.
///
/// A number counts as its digits: a model that has an id, a position or milliseconds often writes
/// one.
struct AgentArguments: ParameterSource {
    private let values: [String: [String]]

    /// The most rows of a report, or entries of a list, if a call does not say how many.
    static let limitDefault = 200
    /// The most that a call may ask for.
    static let limitMax = 1_000

    static let owner = "tool"

    /// The arguments in an object; null counts as absent.
    ///
    /// - Throws: `Problem` 400 for a value that is neither text, a number, a flag nor a list of
    ///   these.
    init(_ object: [String: JSONTree]) throws(Problem) {
        var values: [String: [String]] = [:]
        for (name, value) in object where value != .null {
            values[name] = try Self.texts(value, of: name)
        }
        self.values = values
    }

    private static func texts(
        _ value: JSONTree,
        of name: String,
        inList: Bool = false
    ) throws(Problem) -> [String] {
        switch value {
        case .text(let text) where !text.isEmpty && !text.utf8.contains(0): return [text]
        case .integer(let number): return ["\(number)"]
        case .flag(let flag): return ["\(flag)"]
        case .list(let list) where !inList && !list.isEmpty:
            var texts: [String] = []
            for value in list { texts += try Self.texts(value, of: name, inList: true) }
            return texts
        case .text, .null, .number, .list, .object:
            throw Problem(
                query: "The argument \(name.prefix(64)) is empty, or not of the type that the "
                    + "tool's inputSchema names."
            )
        }
    }

    var names: [String] { values.keys.sorted() }

    func queries(_ name: QueryParameter) -> [String] { values[name.rawValue] ?? [] }

    func query(_ name: QueryParameter) throws(Problem) -> String? {
        let values = queries(name)
        guard values.count <= 1 else {
            throw Problem(query: "\(name) has \(values.count) values; give it one.")
        }
        return values.first
    }

    /// An argument without which the tool has nothing to answer.
    func required(_ name: QueryParameter) throws(Problem) -> String {
        guard let value = try query(name) else {
            throw Problem(query: "The argument \(name) is missing.")
        }
        return value
    }

    /// The most entries of each list in the answer.
    func limit() throws -> Int {
        let words = "a whole number from 1 to \(Self.limitMax)"
        return try query(.limit, expecting: words) { text in
            Int(text).flatMap { (1...Self.limitMax).contains($0) ? $0 : nil }
        } ?? Self.limitDefault
    }

    /// Whether only one subscription of a customer is meant.
    func isAlone() throws -> Bool {
        try query(.alone, expecting: "true or false", Bool.init) ?? false
    }
}
