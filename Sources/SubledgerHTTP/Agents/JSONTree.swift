internal import Foundation

/// A JSON value whose form is not known beforehand: a message of an agent, or an answer to it.
package indirect enum JSONTree: Hashable, Sendable {
    case null
    case flag(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case list([JSONTree])
    case object([String: JSONTree])
}

extension JSONTree: Codable {
    // Doubles of this size and more may be no Int64.
    private static let integerEnd = 9.2e18

    package init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
            return
        }
        do {
            self = .text(try value.decode(String.self))
            return
        } catch DecodingError.typeMismatch {}
        do {
            self = .flag(try value.decode(Bool.self))
            return
        } catch DecodingError.typeMismatch {}
        do {
            let number = try value.decode(Double.self)
            let isInteger = number == number.rounded() && number.magnitude < Self.integerEnd
            self = isInteger ? .integer(try value.decode(Int64.self)) : .number(number)
            return
        } catch DecodingError.typeMismatch {}
        do {
            self = .list(try value.decode([JSONTree].self))
            return
        } catch DecodingError.typeMismatch {}
        self = .object(try value.decode([String: JSONTree].self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .flag(let flag): try container.encode(flag)
        case .integer(let number): try container.encode(number)
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .list(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }

    /// Parses JSON.
    ///
    /// - Throws: `DecodingError` for bytes that are not JSON.
    init(json: [UInt8]) throws {
        self = try JSONDecoder().decode(JSONTree.self, from: Data(json))
    }

    /// A document as it is encoded.
    init(_ document: some Encodable) throws {
        self = try JSONDecoder().decode(JSONTree.self, from: try JSONEncoder().encode(document))
    }

    /// As JSON with sorted keys, without line breaks.
    package var json: [UInt8] {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return Array(try encoder.encode(self))
        }
    }
}

extension JSONTree: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral text: String) { self = .text(text) }
    package init(booleanLiteral flag: Bool) { self = .flag(flag) }
    package init(integerLiteral number: Int64) { self = .integer(number) }
    package init(arrayLiteral values: JSONTree...) { self = .list(values) }
    package init(dictionaryLiteral members: (String, JSONTree)...) {
        self = .object(Dictionary(members) { $1 })
    }
}

extension JSONTree {
    /// Its text; nil for any other value.
    var text: String? { if case .text(let text) = self { text } else { nil } }

    /// Its members; nil for any other value.
    var members: [String: JSONTree]? { if case .object(let object) = self { object } else { nil } }

    /// A member of an object; setting it has no effect on any other value.
    subscript(name: String) -> JSONTree? {
        get { members?[name] }
        set {
            guard case .object(var members) = self else { return }
            members[name] = newValue
            self = .object(members)
        }
    }

    /// The same with at most so many entries in each list, the newest ones: lists of answers are in
    /// the order of time.
    ///
    /// - Parameters:
    ///   - limit: The most entries.
    ///   - path: The names of the members that lead here.
    ///   - leftOut: Receives, for each list that was cut, how many entries were left out.
    /// - Returns: The cut value.
    func cut(to limit: Int, at path: String = "", leftOut: inout [String: Int64]) -> JSONTree {
        switch self {
        case .list(let values):
            let kept = values.suffix(limit)
            if kept.count < values.count {
                leftOut[path, default: 0] += Int64(values.count - kept.count)
            }
            return .list(kept.map { $0.cut(to: limit, at: path, leftOut: &leftOut) })
        case .object(let members):
            var cut: [String: JSONTree] = [:]
            for (name, value) in members {
                let place = path.isEmpty ? name : "\(path).\(name)"
                cut[name] = value.cut(to: limit, at: place, leftOut: &leftOut)
            }
            return .object(cut)
        case .null, .flag, .integer, .number, .text: return self
        }
    }
}
