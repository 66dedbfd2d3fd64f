import Events

/// Fills a content from claims: known properties into fields, everything else into `extra`.
///
/// Drops only values without meaning: null, empty text, and a mark that is false. A property of an
/// unexpected JSON type is kept in `extra` unchanged, so no event is lost because of a type.
struct ContentBuilder {
    private(set) var content: Content
    private var extra = JSON.CanonicalObject()

    // Without reserved room, the fields of a transaction would be moved four times.
    private static let usualEntryCount = 16

    // Whether the claims are read from a signed statement.
    private let isSigned: Bool

    init(format: Format, isSigned: Bool = true) {
        self.isSigned = isSigned
        content = Content(format: format, expectedEntryCount: ContentBuilder.usualEntryCount)
    }

    /// Adds every member of an object.
    mutating func take(
        _ claims: JSON.Value,
        _ properties: [Property],
        leftOut: [StaticString]
    ) throws(Rejection) {
        for (name, value) in claims.members {
            if name.isAny(of: leftOut) { continue }
            if let property = name.property(of: properties),
                try take(value, as: property)
            {
                continue
            }
            keep(name, value)
        }
    }

    /// Adds a section of a notification; members without a field go into `extra` under its name.
    mutating func takeSection(
        _ name: JSON.Value,
        _ section: JSON.Value,
        _ properties: [Property]
    ) throws(Rejection) {
        var rest = JSON.CanonicalObject()
        for (key, value) in section.members {
            if key.isAny(of: Property.sectionLeftOut) { continue }
            if let property = key.property(of: properties),
                try take(value, as: property)
            {
                continue
            }
            rest.add(key.utf8 ?? [], value.canonicalText)
        }
        if !rest.isEmpty { extra.add(name.utf8 ?? [], rest.canonicalText) }
    }

    /// Keeps a member in `extra` unchanged.
    mutating func keep(_ name: JSON.Value, _ value: JSON.Value) {
        extra.add(name.utf8 ?? [], value.canonicalText)
    }

    /// Keeps an attribute of an app receipt that has no name here, as the hexadecimal of its value.
    mutating func keep(_ attribute: ReceiptAttribute) {
        let text = "\"\(hexadecimal(attribute.value))\""
        extra.add(Array(String(attribute.type).utf8)[...], Array(text.utf8))
    }

    /// Sets a field; nil leaves it as it is.
    mutating func set(_ field: Field, _ value: FieldValue?) {
        if let value { content[field] = value }
    }

    /// Sets a text field to UTF-8 from a JSON text, which is known to be valid.
    mutating func set(_ field: Field, utf8: ArraySlice<UInt8>) {
        content.set(field, utf8: utf8)
    }

    /// The content; throws `content-too-large` above `Content.byteCountMax`.
    ///
    /// `byteCount` is the length of the text it was read from.
    func finished(byteCount: Int) throws(Rejection) -> Content {
        var content = content
        if !extra.isEmpty {
            content[.extra] = .text(String(decoding: extra.canonicalText, as: UTF8.self))
        }
        // A field takes at most four times its JSON text (an integer of one digit takes ten bytes
        // next to a name of four), so small claims need not be encoded to be measured.
        if byteCount > Content.byteCountMax / 4 {
            let count = content.canonicalBytes.count
            guard count <= Content.byteCountMax else {
                throw Rejection(
                    .contentTooLarge,
                    "The statement has \(count) bytes of content; at most \(Content.byteCountMax)"
                        + " are accepted."
                )
            }
        }
        return content
    }

    // False if the value does not have the property's type.
    private mutating func take(
        _ value: JSON.Value,
        as property: Property
    ) throws(Rejection) -> Bool {
        if value.kind == .null { return true }
        switch property.shape {
        case .identifier:
            let bytes = isSigned ? Claims.plainIdBytes(value) : Claims.idBytes(value)
            guard let text = bytes else { return false }
            try Claims.checkIdentifier(
                text,
                property.name.description,
                byteCountMax: Claims.identifierByteCountMax
            )
            if !text.isEmpty { content.set(property.field, utf8: text) }
        case .word:
            guard let text = value.utf8, !Claims.hasControlCharacters(text) else { return false }
            if !text.isEmpty { content.set(property.field, utf8: text) }
        case .integer:
            guard let number = value.integer else { return false }
            content[property.field] = .integer(number)
        case .boolean:
            guard let flag = value.boolean else { return false }
            content[property.field] = .boolean(flag)
        case .mark:
            guard let flag = value.boolean else { return false }
            if flag { content[property.field] = .boolean(true) }
        case .instant:
            guard value.kind == .number else { return false }
            let instant = try AppleClock.instant(value, named: property.name.description)
            content[property.field] = .instant(instant)
        case .document:
            guard value.kind == .object || value.kind == .array else { return false }
            content[property.field] = .text(String(decoding: value.canonicalText, as: UTF8.self))
        }
        return true
    }
}

extension JSON.Value {
    fileprivate func isAny(of names: [StaticString]) -> Bool {
        storage.withUnsafeBuffers { bytes, nodes in
            let node = nodes[index]
            for name in names where node.isString(name, in: bytes) { return true }
            return false
        }
    }

    fileprivate func property(of properties: [Property]) -> Property? {
        storage.withUnsafeBuffers { bytes, nodes in
            let node = nodes[index]
            for property in properties where node.isString(property.name, in: bytes) {
                return property
            }
            return nil
        }
    }
}
