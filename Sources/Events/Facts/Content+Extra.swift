// A property without a tag of its own is kept in `extra`, under Apple's name. When a later version
// gives it a tag, old events keep it there; comparisons treat both places as the same.

extension Content {
    /// The content after moving every property in `extra` that has a tag to that tag, which is what
    /// comparisons and folds use.
    ///
    /// A value that its tag cannot hold stays in `extra`.
    var withTagsOfExtra: Content {
        guard carried.contains(.extra), let extra = text(.extra) else { return self }
        var moved: [(name: String, field: Field, value: FieldValue)] = []
        var object = ExtraObject(extra)
        guard object.members.contains(where: { Content.fieldOfName[$0.name] != nil }) else {
            return self
        }
        for member in object.members {
            guard let field = Content.fieldOfName[member.name], self[field] == nil,
                let value = field.holdsJSON ? member.document : member.value(of: field.valueType)
            else { continue }
            moved.append((member.name, field, value))
        }
        guard !moved.isEmpty else { return self }
        var content = self
        for move in moved {
            guard content[move.field] == nil else { continue }
            content[move.field] = move.value
            object.remove(move.name)
        }
        content[.extra] = object.members.isEmpty ? nil : .text(object.text)
        return content
    }

    // Apple's names in JWS and in the older formats, which name an instant in milliseconds `…_ms`.
    private static let fieldOfName: [String: Field] = {
        var fields: [String: Field] = [:]
        for field in Field.allCases where field != .extra {
            let name = "\(field)"
            fields[name] = field
            let snake = name.reduce(into: "") { text, letter in
                text += letter.isUppercase ? "_" + letter.lowercased() : String(letter)
            }
            fields[snake] = field
            if field.valueType == .instant { fields[snake + "_ms"] = field }
        }
        return fields
    }()
}

/// The members of the JSON object in `extra`, or of one inside it, each value as it is written.
package struct ExtraObject {
    /// The members, in the order in which they are written.
    package private(set) var members: [Member] = []

    /// A member.
    package struct Member {
        /// Its name.
        package let name: String
        /// The name as it is written, with its quotes.
        let rawName: Substring.UTF8View
        package let raw: Substring.UTF8View

        /// The value as a field of that type holds it; nil if it does not have that type.
        func value(of type: Field.ValueType) -> FieldValue? {
            let string = ExtraObject.unquoted(raw)
            let plain = string ?? String(raw) ?? ""
            switch type {
            case .text: return string.map(FieldValue.text)
            case .integer: return Int64(plain).map(FieldValue.integer)
            case .instant:
                let instant = Int64(plain).map { Instant(milliseconds: $0) }
                return instant.flatMap {
                    Instant.calendar.contains($0) ? FieldValue.instant($0) : nil
                }
            case .boolean:
                switch plain {
                case "true": return .boolean(true)
                case "false": return .boolean(false)
                default: return nil
                }
            }
        }
    }

    /// Parses canonical JSON; has no members if the text is not an object.
    package init(_ text: String) {
        self.init(text[...].utf8)
    }

    /// Parses the value of a member; has no members if it is not an object.
    package init(_ raw: Substring.UTF8View) {
        var rest = raw
        guard rest.popFirst() == UInt8(ascii: "{") else { return }
        while let name = ExtraObject.string(&rest), rest.popFirst() == UInt8(ascii: ":") {
            let value = ExtraObject.value(&rest)
            guard let plain = ExtraObject.unquoted(name) else { break }
            members.append(Member(name: plain, rawName: name, raw: value))
            guard rest.popFirst() == UInt8(ascii: ",") else { break }
        }
    }

    /// The value of the member with that name; nil if there is none.
    package subscript(name: String) -> Substring.UTF8View? {
        members.first { areSameBytes($0.name, name) }?.raw
    }

    /// The elements of an array; empty for any other value.
    package static func elements(of raw: Substring.UTF8View) -> [Substring.UTF8View] {
        var rest = raw
        guard rest.popFirst() == UInt8(ascii: "["), rest.first != UInt8(ascii: "]") else {
            return []
        }
        var elements: [Substring.UTF8View] = []
        repeat { elements.append(value(&rest)) } while rest.popFirst() == UInt8(ascii: ",")
        return elements
    }

    mutating func remove(_ name: String) {
        members.removeAll { areSameBytes($0.name, name) }
    }

    var text: String {
        let parts = members.map { "\(String($0.rawName) ?? ""):\(String($0.raw) ?? "")" }
        return "{" + parts.joined(separator: ",") + "}"
    }

    // A string with its quotes.
    private static func string(_ rest: inout Substring.UTF8View) -> Substring.UTF8View? {
        guard rest.first == UInt8(ascii: "\"") else { return nil }
        var end = rest.index(after: rest.startIndex)
        while end < rest.endIndex, rest[end] != UInt8(ascii: "\"") {
            if rest[end] == UInt8(ascii: "\\") { end = rest.index(after: end) }
            guard end < rest.endIndex else { return nil }
            end = rest.index(after: end)
        }
        guard end < rest.endIndex else { return nil }
        end = rest.index(after: end)
        defer { rest = rest[end...] }
        return rest[..<end]
    }

    // A value up to the comma, the brace or the bracket that ends it.
    private static func value(_ rest: inout Substring.UTF8View) -> Substring.UTF8View {
        let start = rest
        var depth = 0
        while let byte = rest.first {
            if byte == UInt8(ascii: "\"") {
                guard string(&rest) != nil else { break }
                continue
            }
            if depth == 0,
                byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
            {
                break
            }
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") { depth += 1 }
            if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") { depth -= 1 }
            rest.removeFirst()
        }
        return start[..<rest.startIndex]
    }

    // The text of a string; nil for other values.
    private static func unquoted(_ raw: Substring.UTF8View) -> String? {
        guard raw.count >= 2, raw.first == UInt8(ascii: "\""), raw.last == UInt8(ascii: "\"")
        else { return nil }
        return JSONString.decoded(Array(raw)[1...].dropLast()).map {
            String(decoding: $0, as: UTF8.self)
        }
    }
}
