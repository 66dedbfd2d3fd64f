package import Events
internal import Projections

/// The value of a property in a document; instants are milliseconds since 1970 UTC.
public enum PropertyValue: Hashable, Sendable {
    /// A text.
    case text(String)
    /// A count, a code, milliunits of a currency, or milliseconds.
    case number(Int64)
    /// True or false.
    case flag(Bool)
    /// Several values.
    case list([PropertyValue])

    /// The value of a field.
    package init(_ value: FieldValue) {
        switch value {
        case .text(let text): self = .text(text)
        case .integer(let number): self = .number(number)
        case .boolean(let flag): self = .flag(flag)
        case .instant(let instant): self = .number(instant.milliseconds)
        }
    }
}

extension PropertyValue: Codable {
    /// Decodes a text, a whole number, a flag, or a list of them.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            self = .flag(try container.decode(Bool.self))
            return
        } catch DecodingError.typeMismatch {}
        do {
            self = .number(try container.decode(Int64.self))
            return
        } catch DecodingError.typeMismatch {}
        do {
            self = .text(try container.decode(String.self))
            return
        } catch DecodingError.typeMismatch {}
        self = .list(try container.decode([PropertyValue].self))
    }

    /// Encodes the value alone.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .flag(let flag): try container.encode(flag)
        case .list(let values): try container.encode(values)
        }
    }
}

extension Content {
    /// Its fields under Apple's names; fields of later versions by their tags, in hexadecimal.
    package var properties: [String: PropertyValue] {
        var fields: [String: PropertyValue] = [:]
        for entry in entries { fields["\(entry.field)"] = PropertyValue(entry.value) }
        for (tag, value) in unrecognised { fields["tag\(tag)"] = .text(hexadecimal(value)) }
        return fields
    }
}

extension PropertyValue {
    /// The value of a column; nil for null.
    init?(_ value: ColumnValue) {
        switch value {
        case .null: return nil
        case .integer(let number): self = .number(number)
        case .int32(let number): self = .number(Int64(number))
        case .boolean(let flag): self = .flag(flag)
        case .text(let text): self = .text(text)
        case .timestamp(let instant): self = .number(instant.milliseconds)
        case .integers(let numbers): self = .list(numbers.map(PropertyValue.number))
        case .texts(let texts): self = .list(texts.map(PropertyValue.text))
        }
    }
}
