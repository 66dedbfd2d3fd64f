import AppStore
import Events

/// JSON as other programs reformat it: printed over many lines, or with a database's types.
enum LogJSON {
    /// A database that writes types around values.
    enum Typing {
        case mongo, dynamo, firestore
    }

    /// The text of a JSON value over many lines.
    static func printed(_ json: [UInt8]) throws -> [UInt8] {
        var output: [UInt8] = []
        print(try JSON(json).root, indent: 0, to: &output)
        return output
    }

    private static func print(_ value: JSON.Value, indent: Int, to output: inout [UInt8]) {
        let line = [UInt8(ascii: "\n")] + [UInt8](repeating: 0x20, count: 2 * indent)
        let inner = line + [0x20, 0x20]
        switch value.kind {
        case .object:
            output += "{".utf8
            for (index, member) in value.members.enumerated() {
                output += index > 0 ? Array(",".utf8) + inner : inner
                JSONString.append(member.name.utf8 ?? [], to: &output)
                output += ": ".utf8
                print(member.value, indent: indent + 1, to: &output)
            }
            output += line + "}".utf8
        case .array:
            output += "[".utf8
            for (index, element) in value.elements.enumerated() {
                output += index > 0 ? Array(",".utf8) + inner : inner
                print(element, indent: indent + 1, to: &output)
            }
            output += line + "]".utf8
        default: output += plain(value)
        }
    }

    /// The text of a JSON value with the types of a database.
    static func typed(_ json: [UInt8], by typing: Typing) throws -> String {
        typed(try JSON(json).root, typing)
    }

    private static func typed(_ value: JSON.Value, _ typing: Typing) -> String {
        let text = String(decoding: plain(value), as: UTF8.self)
        return switch (typing, value.kind) {
        case (.mongo, .object): members(value, typing)
        case (.mongo, .array): elements(value, typing)
        case (.mongo, .number): "{\"$numberLong\":\"\(text)\"}"
        case (.mongo, _): text
        case (.dynamo, .object): "{\"M\":\(members(value, typing))}"
        case (.dynamo, .array): "{\"L\":\(elements(value, typing))}"
        case (.dynamo, .string): "{\"S\":\(text)}"
        case (.dynamo, .number): "{\"N\":\"\(text)\"}"
        case (.dynamo, .null): "{\"NULL\":true}"
        case (.dynamo, _): "{\"BOOL\":\(text)}"
        case (.firestore, .object): "{\"mapValue\":{\"fields\":\(members(value, typing))}}"
        case (.firestore, .array): "{\"arrayValue\":{\"values\":\(elements(value, typing))}}"
        case (.firestore, .string): "{\"stringValue\":\(text)}"
        case (.firestore, .number): "{\"integerValue\":\"\(text)\"}"
        case (.firestore, .null): "{\"nullValue\":null}"
        case (.firestore, _): "{\"booleanValue\":\(text)}"
        }
    }

    private static func members(_ object: JSON.Value, _ typing: Typing) -> String {
        let members = object.members.map { name, value in
            "\(String(decoding: plain(name), as: UTF8.self)):\(typed(value, typing))"
        }
        return "{\(members.joined(separator: ","))}"
    }

    private static func elements(_ array: JSON.Value, _ typing: Typing) -> String {
        "[\(array.elements.map { typed($0, typing) }.joined(separator: ","))]"
    }

    private static func plain(_ value: JSON.Value) -> [UInt8] {
        guard let text = value.utf8 else { return Array(value.bytes) }
        var output: [UInt8] = []
        JSONString.append(text, to: &output)
        return output
    }
}
