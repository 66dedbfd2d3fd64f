internal import Events

/// Databases whose JSON wraps each value in its type, and the conversion to plain JSON.
///
/// MongoDB's extended JSON (`{"$numberLong":"1"}`), DynamoDB's (`{"S":"…"}`, `{"M":{…}}`) and
/// Firestore's (`{"stringValue":"…"}`). Strings are restored byte for byte, so a JWS or a receipt
/// still proves itself. The original text of an unsigned object is lost: its evidence is the plain
/// text made here, with the members in the database's order and numbers as the database wrote them.
enum TypedJSON: CaseIterable {
    case extended
    case dynamo
    case firestore

    /// The database whose types all values of an object have; nil for plain objects.
    static func typing(ofMembers object: JSON.Value) -> TypedJSON? {
        guard !object.members.isEmpty else { return nil }
        return [TypedJSON.dynamo, .firestore].first { typing in
            object.members.allSatisfy { typing.typed($0.value) != nil }
        }
    }

    /// Whether there is a value of MongoDB's types anywhere inside.
    static func holdsExtended(_ value: JSON.Value) -> Bool {
        switch value.kind {
        case .object:
            TypedJSON.extended.typed(value) != nil
                || value.members.contains { holdsExtended($0.value) }
        case .array: value.elements.contains { holdsExtended($0) }
        default: false
        }
    }

    /// The text of the value without types.
    func plainText(_ value: JSON.Value) -> [UInt8] {
        var output: [UInt8] = []
        append(value, to: &output)
        return output
    }

    private func append(_ value: JSON.Value, to output: inout [UInt8]) {
        if let (name, inner) = typed(value) { return append(inner, named: name, to: &output) }
        switch value.kind {
        case .object:
            appendList(value.members, "{", "}", to: &output) { member, output in
                JSONString.append(member.name.utf8 ?? [], to: &output)
                output.append(UInt8(ascii: ":"))
                append(member.value, to: &output)
            }
        case .array:
            appendList(value.elements, "[", "]", to: &output) { append($0, to: &$1) }
        case .string: JSONString.append(value.utf8 ?? [], to: &output)
        default: output += value.bytes
        }
    }

    private func appendList<Items: Collection>(
        _ items: Items,
        _ opening: Unicode.Scalar,
        _ closing: Unicode.Scalar,
        to output: inout [UInt8],
        _ each: (Items.Element, inout [UInt8]) -> Void
    ) {
        output.append(UInt8(ascii: opening))
        for (index, item) in items.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            each(item, &output)
        }
        output.append(UInt8(ascii: closing))
    }

    private func append(_ inner: JSON.Value, named name: String, to output: inout [UInt8]) {
        switch name {
        case "NULL", "nullValue", "$undefined", "$minKey", "$maxKey":
            output += "null".utf8
        case "N", "NS", "integerValue", "$numberLong", "$numberInt", "$numberDouble",
            "$numberDecimal":
            appendNumber(inner, to: &output)
        case "arrayValue":
            // Firestore leaves `values` out of an empty array, and `fields` out of an empty map.
            guard let values = inner["values"] else { return output += "[]".utf8 }
            append(values, to: &output)
        case "mapValue":
            guard let fields = inner["fields"] else { return output += "{}".utf8 }
            append(fields, to: &output)
        default: append(inner, to: &output)
        }
    }

    // A number that JSON does not allow (NaN, Infinity) stays text.
    private func appendNumber(_ value: JSON.Value, to output: inout [UInt8]) {
        switch value.kind {
        case .array:
            appendList(value.elements, "[", "]", to: &output) { appendNumber($0, to: &$1) }
        case .string where JSON.root(of: Array(value.bytes))?.kind != .number:
            JSONString.append(value.utf8 ?? [], to: &output)
        default: output += value.bytes
        }
    }

    /// The one member of a typed value; nil for any other value.
    private func typed(_ value: JSON.Value) -> (name: String, inner: JSON.Value)? {
        guard value.kind == .object, let (name, inner) = value.members.first,
            value.members.count == 1, name.byteCount <= TypedJSON.nameByteCountMax,
            let word = name.text, let kinds = kinds(of: word), kinds.contains(inner.kind)
        else { return nil }
        return (word, inner)
    }

    private static let nameByteCountMax = 20

    // The kinds of values that a type may wrap.
    private func kinds(of name: String) -> Set<JSON.Kind>? {
        switch (self, name) {
        case (.extended, "$oid"), (.extended, "$numberLong"), (.extended, "$numberInt"),
            (.extended, "$numberDouble"), (.extended, "$numberDecimal"), (.extended, "$symbol"),
            (.extended, "$uuid"):
            [.string, .number]
        case (.extended, "$date"): [.string, .number, .object]
        case (.extended, "$undefined"), (.extended, "$minKey"), (.extended, "$maxKey"):
            [.true, .number]
        case (.dynamo, "S"), (.dynamo, "N"), (.dynamo, "B"): [.string]
        case (.dynamo, "BOOL"), (.dynamo, "NULL"): [.true, .false]
        case (.dynamo, "M"): [.object]
        case (.dynamo, "L"), (.dynamo, "SS"), (.dynamo, "NS"), (.dynamo, "BS"): [.array]
        case (.firestore, "stringValue"), (.firestore, "timestampValue"),
            (.firestore, "bytesValue"), (.firestore, "referenceValue"):
            [.string]
        case (.firestore, "integerValue"), (.firestore, "doubleValue"): [.string, .number]
        case (.firestore, "booleanValue"): [.true, .false]
        case (.firestore, "nullValue"): [.null, .string]
        case (.firestore, "mapValue"), (.firestore, "arrayValue"), (.firestore, "geoPointValue"):
            [.object]
        default: nil
        }
    }
}
