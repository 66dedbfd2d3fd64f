import Foundation
import HTTPTypes

/// A JSON value.
indirect enum JSONValue: Decodable, Equatable {
    case null
    case flag(Bool)
    case number(Double)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([JSONValue].self) {
            self = .list(list)
        } else {
            self = .object(try value.decode([String: JSONValue].self))
        }
    }

    var text: String? { if case .text(let value) = self { value } else { nil } }
    var number: Double? { if case .number(let value) = self { value } else { nil } }
    var list: [JSONValue]? { if case .list(let value) = self { value } else { nil } }
    var object: [String: JSONValue]? { if case .object(let value) = self { value } else { nil } }

    /// A member of an object; nil if there is none.
    subscript(name: String) -> JSONValue? { object?[name] }

    /// The words of JSON Schema for its type.
    fileprivate var types: Set<String> {
        switch self {
        case .null: ["null"]
        case .flag: ["boolean"]
        case .number(let value): value == value.rounded() ? ["integer", "number"] : ["number"]
        case .text: ["string"]
        case .list: ["array"]
        case .object: ["object"]
        }
    }
}

/// /openapi.json, with which answers are compared.
struct ServiceDescription {
    /// The file in the sources.
    static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources/SubledgerHTTP/openapi.json")

    /// The description in the sources.
    static let kept = Result {
        ServiceDescription(
            root: try JSONDecoder().decode(JSONValue.self, from: try Data(contentsOf: file))
        )
    }

    let root: JSONValue

    /// One method of one path.
    struct Operation {
        let method: HTTPRequest.Method
        /// The path, with `{name}` for its parameters.
        let path: String
        let content: JSONValue
    }

    /// The names of the parameters of an operation in its path or its query.
    func parameters(of operation: Operation, in place: String) -> [String] {
        (operation.content["parameters"]?.list ?? []).compactMap(resolved)
            .filter { $0["in"]?.text == place }.compactMap { $0["name"]?.text }
    }

    /// All of them.
    var operations: [Operation] {
        (root["paths"]?.object ?? [:]).sorted { $0.key < $1.key }.flatMap { path, methods in
            (methods.object ?? [:]).compactMap { method, content in
                HTTPRequest.Method(method.uppercased()).map {
                    Operation(method: $0, path: path, content: content)
                }
            }
        }
    }

    /// The operation that a request asks for; nil if none is described.
    func operation(_ method: HTTPRequest.Method, _ uri: String) -> Operation? {
        let parts = uri.prefix { $0 != "?" }.split(separator: "/")
        return operations.first { operation in
            let described = operation.path.split(separator: "/")
            return operation.method == method && described.count == parts.count
                && zip(described, parts).allSatisfy { $0.first == "{" || $0 == $1 }
        }
    }

    /// What an answer violates.
    func faults(
        of answer: TestService.Answer,
        to method: HTTPRequest.Method,
        _ uri: String
    ) -> [String] {
        guard let operation = operation(method, uri) else {
            return [404, 405].contains(answer.status) || method == .head
                ? [] : ["the route is not described"]
        }
        guard let response = resolved(operation.content["responses"]?["\(answer.status)"]) else {
            return ["the status \(answer.status) is not described"]
        }
        // Text and payloads have no schema.
        guard let content = response["content"]?.object, !content.isEmpty else { return [] }
        let type = answer.headers[.contentType] ?? ""
        guard let schema = content[type]?["schema"] else {
            return ["the media type \(type) is not described"]
        }
        guard type.hasSuffix("json") else { return [] }
        do {
            let value = try JSONDecoder().decode(JSONValue.self, from: Data(answer.body))
            return faults(of: value, "", against: schema)
        } catch {
            return ["\(error)"]
        }
    }

    /// What a reference stands for; other values unchanged.
    private func resolved(_ value: JSONValue?) -> JSONValue? {
        guard let reference = value?["$ref"]?.text else { return value }
        return reference.split(separator: "/").dropFirst().reduce(root) { $0?[String($1)] }
    }

    // Members that are not described are faults, too, which JSON Schema allows.
    private func faults(
        of value: JSONValue,
        _ place: String,
        against schema: JSONValue
    ) -> [String] {
        guard let schema = resolved(schema) else { return ["\(place): unknown reference"] }
        if let choices = schema["anyOf"]?.list {
            let faults = choices.map { self.faults(of: value, place, against: $0) }
            return faults.contains([]) ? [] : faults.flatMap { $0 }
        }
        let types = schema["type"]?.list ?? schema["type"].map { [$0] } ?? []
        guard types.isEmpty || types.contains(where: { value.types.contains($0.text ?? "") }) else {
            return ["\(place) is \(value.types), not \(types)"]
        }
        if let words = schema["enum"]?.list, !words.contains(value) {
            return ["\(place) is \(value), not one of \(words)"]
        }
        switch value {
        case .object(let members) where !types.isEmpty:
            return faults(of: members, place, against: schema)
        case .list(let elements):
            let count = Double(elements.count)
            var found: [String] = []
            if count < schema["minItems"]?.number ?? 0
                || count > schema["maxItems"]?.number ?? count
            {
                found.append("\(place) has \(elements.count) elements")
            }
            guard let items = schema["items"] else { return found }
            return found
                + elements.enumerated().flatMap {
                    faults(of: $0.element, "\(place)[\($0.offset)]", against: items)
                }
        default: return []
        }
    }

    private func faults(
        of members: [String: JSONValue],
        _ place: String,
        against schema: JSONValue
    ) -> [String] {
        let missing = (schema["required"]?.list ?? []).compactMap(\.text)
            .filter { members[$0] == nil }
        return missing.map { "\(place) has no member \($0)" }
            + members.flatMap { name, member in
                (schema["properties"]?[name] ?? schema["additionalProperties"]).map {
                    faults(of: member, "\(place).\(name)", against: $0)
                } ?? ["\(place) has a member \(name), which is not described"]
            }
    }
}

extension ServiceDescription {
    /// The references to components that nothing refers to.
    var unusedComponents: Set<String> {
        let all = (root["components"]?.object ?? [:]).filter { $0.key != "securitySchemes" }
            .flatMap { kind, members in
                (members.object ?? [:]).keys.map { "#/components/\(kind)/\($0)" }
            }
        var used: Set<String> = []
        func follow(_ value: JSONValue) {
            for element in value.list ?? [] { follow(element) }
            for (_, member) in value.object ?? [:] { follow(member) }
            guard let reference = value["$ref"]?.text, used.insert(reference).inserted else {
                return
            }
            if let target = resolved(value) { follow(target) }
        }
        if let paths = root["paths"] { follow(paths) }
        return Set(all).subtracting(used)
    }
}
