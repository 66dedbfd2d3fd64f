internal import EventLog
internal import Events
internal import Foundation
internal import Subledger

/// A JSON value in the description of the service.
indirect enum Node: Encodable {
    case text(String)
    case number(Int)
    case flag(Bool)
    case list([Node])
    case object([String: Node])

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .flag(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    static func type(_ name: String) -> Node { .object(["type": .text(name)]) }
}

/// The JSON schema of documents, derived from how they decode themselves, so it cannot differ from
/// them.
struct SchemaReader {
    /// The schemas that others refer to, by name.
    private(set) var components: [String: Node] = [:]

    /// Types with an encoding of their own, with a sample value of each.
    private static let leaves: [ObjectIdentifier: (schema: Node, sample: String)] = [
        ObjectIdentifier(Instant.self): (
            .object([
                "type": .text("integer"), "format": .text("int64"),
                "description": .text("Milliseconds since 1970 UTC."),
            ]), "0"
        ),
        ObjectIdentifier(Events.Environment.self): (
            .object([
                "type": .text("string"),
                "description": .text("Apple's word: Production, Sandbox, Xcode, LocalTesting."),
            ]), "\"Production\""
        ),
        ObjectIdentifier(Position.self): (
            .object([
                "type": .list([.text("integer"), .text("string")]),
                "description": .text("An offset, or lane:offset if the ledger has several lanes."),
            ]), "1"
        ),
        ObjectIdentifier(IntervalValue.self): (
            .object([
                "type": .text("array"), "items": .type("integer"),
                "minItems": .number(2), "maxItems": .number(2),
                "description": .text(
                    "Start and end in milliseconds since 1970 UTC; the end is exclusive."
                ),
            ]), "[0,1]"
        ),
        ObjectIdentifier(SubscriptionStatus.self): (.type("string"), "\"active\""),
        ObjectIdentifier(Digest.self): (
            .type("string"), "\"" + String(repeating: "0", count: 64) + "\""
        ),
        ObjectIdentifier(PropertyValue.self): (.object([:]), "\"\""),
        ObjectIdentifier(ReportValue.self): (.object([:]), "\"\""),
    ]

    /// A reference to the schema of a document, which is added to the components.
    mutating func reference<Document: Decodable>(_ type: Document.Type) throws -> Node {
        try read(type).schema
    }

    /// The schema of a type, and a value of it.
    mutating func read<Value: Decodable>(
        _ type: Value.Type
    ) throws -> (schema: Node, value: Value) {
        if let leaf = SchemaReader.leaves[ObjectIdentifier(type)] {
            let value = try JSONDecoder().decode(type, from: Data(leaf.sample.utf8))
            return (leaf.schema, value)
        }
        if let cases = type as? any (CaseIterable & RawRepresentable).Type,
            let (schema, value) = SchemaReader.enumeration(cases) as? (Node, Value)
        {
            return (schema, value)
        }
        let decoder = SchemaDecoder(self)
        let value = try type.init(from: decoder)
        components.merge(decoder.reader.components) { $1 }
        if decoder.isNullable {
            return (.object(["anyOf": .list([decoder.schema, .type("null")])]), value)
        }
        guard case .object(let schema) = decoder.schema, schema["properties"] != nil else {
            return (decoder.schema, value)
        }
        let name = String(reflecting: type).split(separator: ".").dropFirst().joined()
        components[name] = decoder.schema
        return (.object(["$ref": .text("#/components/schemas/\(name)")]), value)
    }

    private static func enumeration<Value: CaseIterable & RawRepresentable>(
        _ type: Value.Type
    ) -> (Node, Value)? {
        let words = type.allCases.compactMap { $0.rawValue as? String }
        guard let first = type.allCases.first, !words.isEmpty else { return nil }
        return (
            .object(["type": .text("string"), "enum": .list(words.map(Node.text))]), first
        )
    }
}

/// Lets a value decode itself, and records what it asks for.
private final class SchemaDecoder: Decoder {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    var reader: SchemaReader
    var schema: Node = .object([:])
    /// Whether null is allowed in its place.
    var isNullable = false

    init(_ reader: SchemaReader) { self.reader = reader }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        schema = .object(["type": .text("object"), "properties": .object([:])])
        return KeyedDecodingContainer(Members<Key>(decoder: self))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { Elements(decoder: self) }

    func singleValueContainer() -> any SingleValueDecodingContainer { Single(decoder: self) }

    /// Records a member of an object.
    func note(_ name: String, _ member: Node, isOptional: Bool) {
        guard case .object(var object) = schema,
            case .object(var properties)? = object["properties"]
        else { return }
        properties[name] = member
        object["properties"] = .object(properties)
        if !isOptional {
            var required: [Node] = []
            if case .list(let known)? = object["required"] { required = known }
            object["required"] = .list(required + [.text(name)])
        }
        schema = .object(object)
    }

    func read<Value: Decodable>(_ type: Value.Type) throws -> (schema: Node, value: Value) {
        try reader.read(type)
    }
}

private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: SchemaDecoder
    let optional = OptionalNames()
    var codingPath: [any CodingKey] { [] }

    /// The names of members that may be absent.
    final class OptionalNames {
        var names: Set<String> = []
        var isDictionary = false
    }

    // A dictionary asks for all keys; so does a document that refuses unknown members, and gets
    // none. The key type of dictionaries is internal to the standard library.
    var allKeys: [Key] {
        guard String(describing: Key.self) == "_DictionaryCodingKey" else { return [] }
        optional.isDictionary = true
        return [Key(stringValue: "key")].compactMap { $0 }
    }

    func contains(_ key: Key) -> Bool {
        optional.names.insert(key.stringValue)
        return true
    }

    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let read = try decoder.read(type)
        if optional.isDictionary {
            decoder.schema = .object([
                "type": .text("object"), "additionalProperties": read.schema,
            ])
        } else {
            let name = key.stringValue
            decoder.note(name, read.schema, isOptional: optional.names.contains(name))
        }
        return read.value
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try leaf("boolean", false, key)
    }
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try leaf("string", "", key)
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try leaf("number", 0, key)
    }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try leaf("integer", 0, key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try leaf("integer", 0, key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try leaf("integer", 0, key) }

    private func leaf<Value>(_ type: String, _ value: Value, _ key: Key) throws -> Value {
        let name = key.stringValue
        if optional.isDictionary {
            decoder.schema = .object([
                "type": .text("object"), "additionalProperties": .type(type),
            ])
        } else {
            decoder.note(name, .type(type), isOptional: optional.names.contains(name))
        }
        return value
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw SchemaReader.Unreadable() }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw SchemaReader.Unreadable()
    }

    func superDecoder() throws -> any Decoder { throw SchemaReader.Unreadable() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw SchemaReader.Unreadable() }
}

private struct Elements: UnkeyedDecodingContainer {
    let decoder: SchemaDecoder
    var codingPath: [any CodingKey] { [] }
    var count: Int? { nil }
    var currentIndex = 0
    var isAtEnd: Bool { currentIndex > 0 }

    init(decoder: SchemaDecoder) { self.decoder = decoder }

    mutating func decodeNil() -> Bool { false }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        currentIndex += 1
        let read = try decoder.read(type)
        decoder.schema = .object(["type": .text("array"), "items": read.schema])
        return read.value
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { throw SchemaReader.Unreadable() }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw SchemaReader.Unreadable()
    }

    mutating func superDecoder() throws -> any Decoder { throw SchemaReader.Unreadable() }
}

private struct Single: SingleValueDecodingContainer {
    let decoder: SchemaDecoder
    var codingPath: [any CodingKey] { [] }

    // Only a value that may be null calls this.
    func decodeNil() -> Bool {
        decoder.isNullable = true
        return false
    }

    func decode(_ type: Bool.Type) -> Bool { leaf("boolean", false) }
    func decode(_ type: String.Type) -> String { leaf("string", "") }
    func decode(_ type: Double.Type) -> Double { leaf("number", 0) }
    func decode(_ type: Int.Type) -> Int { leaf("integer", 0) }
    func decode(_ type: Int32.Type) -> Int32 { leaf("integer", 0) }
    func decode(_ type: Int64.Type) -> Int64 { leaf("integer", 0) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let read = try decoder.read(type)
        decoder.schema = read.schema
        return read.value
    }

    private func leaf<Value>(_ type: String, _ value: Value) -> Value {
        decoder.schema = .type(type)
        return value
    }
}

extension SchemaReader {
    /// A document that decodes itself in an unsupported way.
    struct Unreadable: Error {}
}
