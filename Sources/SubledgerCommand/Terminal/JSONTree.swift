import Events
import Subledger

/// A JSON document put together by hand, for documents with members that are null or of several
/// types.
enum JSONTree: Encodable {
    case object([String: JSONTree])
    case array([JSONTree])
    case text(String)
    case number(Int64)
    case flag(Bool)
    case explanation(ExplanationDocument)
    case null

    /// A text, or null.
    init(_ text: String?) { self = text.map(JSONTree.text) ?? .null }

    /// A number, or null.
    init(_ number: Int64?) { self = number.map(JSONTree.number) ?? .null }

    /// A position: a number where there is one lane, else `"lane:offset"`.
    init(_ position: Position, lanes: LaneCount) {
        self =
            lanes == .one
            ? .number(position.offset) : .text(position.text(lanes: lanes))
    }

    /// The value of a field; instants in milliseconds.
    init(_ value: FieldValue) {
        switch value {
        case .text(let text): self = .text(text)
        case .integer(let number): self = .number(number)
        case .boolean(let flag): self = .flag(flag)
        case .instant(let instant): self = .number(instant.milliseconds)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .object(let members): try container.encode(members)
        case .array(let elements): try container.encode(elements)
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .flag(let flag): try container.encode(flag)
        case .explanation(let document): try container.encode(document)
        case .null: try container.encodeNil()
        }
    }
}
