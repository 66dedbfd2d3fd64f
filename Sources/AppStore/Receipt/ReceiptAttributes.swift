import Events
import SwiftASN1

/// The attributes of a receipt or of a purchase: `SET OF SEQUENCE { type, version, value }`.
struct ReceiptAttributes {
    private let elements: Elements
    private let place: String
    private let repeatableType: Int64?

    private enum Elements {
        /// All attributes, because each has the plain form.
        case plain([Attribute])
        /// A reader of elements in any form.
        case parsed(BERReader)
    }

    /// The only type that may occur more than once, and only in a receipt: in-app purchases.
    static let inAppType: Int64 = 17
    /// Most different attributes: a receipt has thirty, and Apple adds one every few years.
    static let typeCountMax = 256
    // The sequence and what it holds: type, version and value.
    private static let elementsPerAttribute = 4
    // Attributes of a purchase, with the unnamed ones.
    private static let usualCount = 24

    /// The attributes of a purchase.
    init(ofPurchase value: ArraySlice<UInt8>) throws(Rejection) {
        place = "an in-app purchase"
        repeatableType = nil
        if let attributes = ReceiptAttributes.plain(value) {
            elements = .plain(attributes)
            return
        }
        elements = .parsed(
            try BERReader(try BERReader.root(of: value, in: place), as: .set, in: place)
        )
    }

    /// The attributes of a whole receipt, which Xcode wraps in one more octet string.
    init(ofReceipt content: ArraySlice<UInt8>) throws(Rejection) {
        let place = "the payload"
        self.place = place
        repeatableType = ReceiptAttributes.inAppType
        let wrapped = PlainElements.only(.octetString, in: content)
        if let attributes = ReceiptAttributes.plain(wrapped ?? content) {
            elements = .plain(attributes)
            return
        }
        var root = try BERReader.root(of: content, in: place)
        if root.identifier == .octetString {
            let inner: ArraySlice<UInt8>
            do {
                inner = try ASN1OctetString(berEncoded: root).bytes
            } catch {
                throw Rejection.receiptMalformed(in: place)
            }
            root = try BERReader.root(of: inner, in: place)
        }
        elements = .parsed(try BERReader(root, as: .set, in: place))
    }

    // Nil unless the set and all its elements have the plain form, and are few enough for a parser.
    private static func plain(_ bytes: ArraySlice<UInt8>) -> [Attribute]? {
        guard let set = PlainElements.only(.set, in: bytes) else { return nil }
        var elements = PlainElements(set)
        var attributes: [Attribute] = []
        attributes.reserveCapacity(usualCount)
        while !elements.isAtEnd {
            guard attributes.count < BERReader.elementCountMax / elementsPerAttribute,
                let sequence = elements.next(.sequence),
                let attribute = Attribute(plain: sequence)
            else { return nil }
            attributes.append(attribute)
        }
        return attributes
    }

    /// Passes each attribute to `take`, in order.
    ///
    /// Throws `receipt-attribute-duplicate` for a second one of a type, except purchases, and
    /// `receipt-malformed` for anything that is not an attribute.
    func read(
        _ take: (Attribute) throws(Rejection) -> Void
    ) throws(Rejection) {
        // Few enough to be compared one by one.
        var types: [Int64] = []
        types.reserveCapacity(ReceiptAttributes.usualCount)
        switch elements {
        case .plain(let attributes):
            for attribute in attributes {
                try count(attribute.type, among: &types)
                try take(attribute)
            }
        case .parsed(var reader):
            while let element = reader.next() {
                let attribute = try Attribute(element, in: place)
                try count(attribute.type, among: &types)
                try take(attribute)
            }
        }
    }

    private func count(_ type: Int64, among types: inout [Int64]) throws(Rejection) {
        guard type != repeatableType else { return }
        guard !types.contains(type) else {
            throw Rejection(
                .receiptAttributeDuplicate,
                "In the app receipt, \(place) has the attribute \(type) twice, so its value is"
                    + " ambiguous."
            )
        }
        guard types.count < ReceiptAttributes.typeCountMax else {
            throw Rejection(
                .receiptTooLarge,
                "In the app receipt, \(place) has more than \(ReceiptAttributes.typeCountMax)"
                    + " different attributes."
            )
        }
        types.append(type)
    }

    /// One attribute whose value is not decoded yet.
    struct Attribute {
        let type: Int64
        let value: ArraySlice<UInt8>

        init(_ element: ASN1Node, in place: String) throws(Rejection) {
            var reader = try BERReader(element, as: .sequence, in: place)
            let number = try reader.require(.integer)
            type = try reader.read { try Int64(berEncoded: number) }
            _ = try reader.require(.integer)
            value = try reader.requireOctets()
            try reader.requireEnd()
        }

        /// The attribute in the content of a sequence; nil unless all has the plain form.
        init?(plain sequence: ArraySlice<UInt8>) {
            var elements = PlainElements(sequence)
            guard let number = elements.next(.integer), let type = PlainElements.integer(number),
                elements.next(.integer) != nil, let value = elements.next(.octetString),
                elements.isAtEnd
            else { return nil }
            self.type = type
            self.value = value
        }
    }
}

extension ReceiptAttributes.Attribute {
    /// The attribute as it arrived.
    var kept: ReceiptAttribute { ReceiptAttribute(type: type, value: value) }

    /// The value as text; nil for the empty text.
    ///
    /// Throws `receipt-attribute-malformed` unless it is a string of ASN.1 in UTF-8.
    func text() throws(Rejection) -> String? {
        guard let text = String(validating: try string(), as: UTF8.self) else {
            throw malformed("text")
        }
        return text.isEmpty ? nil : text
    }

    // The bytes of a string.
    private func string() throws(Rejection) -> ArraySlice<UInt8> {
        if let bytes = PlainElements.only(.ia5String, in: value)
            ?? PlainElements.only(.utf8String, in: value)
        {
            return bytes
        }
        let node = try node()
        guard node.identifier == .utf8String || node.identifier == .ia5String,
            case .primitive(let bytes) = node.content
        else { throw malformed("text") }
        return bytes
    }

    // A plain integer of at most eight bytes; nil for any other form.
    private var plainInteger: Int64? {
        PlainElements.only(.integer, in: value).flatMap(PlainElements.integer)
    }

    /// The value as an id; nil for the empty text.
    ///
    /// Throws `id-malformed` if it is too long for an id or contains control characters, some of
    /// which PostgreSQL cannot store, and whatever `text` throws.
    func identifier(
        byteCountMax: Int = Claims.identifierByteCountMax
    ) throws(Rejection) -> String? {
        guard let text = try text() else { return nil }
        try Claims.checkIdentifier(
            try string(),
            "The app receipt's attribute \(type)",
            byteCountMax: byteCountMax
        )
        return text
    }

    /// The value as a number of at most eight bytes.
    func integer() throws(Rejection) -> Int64 {
        if let plainInteger { return plainInteger }
        let node = try node()
        do {
            return try Int64(berEncoded: node)
        } catch {
            throw malformed("a number of at most eight bytes")
        }
    }

    /// The value as the decimal text of a number: an id, with which nothing is calculated.
    func decimal() throws(Rejection) -> String {
        if let plainInteger { return String(plainInteger) }
        let node = try node()
        do {
            return String(try Int64(berEncoded: node))
        } catch {
            do {
                return String(try UInt64(berEncoded: node))
            } catch {
                throw malformed("a number of at most eight bytes")
            }
        }
    }

    /// The value as a date; nil for the empty text, which means that it is not set.
    ///
    /// Throws `receipt-attribute-malformed` unless it is a date and time of RFC 3339 with its zone,
    /// and `date-implausible` unless it is from 2008 to 2199. Xcode of 2020 wrote zones without a
    /// colon.
    func date() throws(Rejection) -> Instant? {
        let text = try string()
        guard !text.isEmpty else { return nil }
        guard let instant = ReceiptDate.instant(text) else { throw malformed("a date (RFC 3339)") }
        guard instant.isPlausible else {
            throw Rejection(
                .dateImplausible,
                "The app receipt's attribute \(type) is outside the years 2008 to 2199, so it is "
                    + "not an App Store date."
            )
        }
        return instant
    }

    /// Whether the value is the date that Foundation names `distantFuture`.
    var isDistantFuture: Bool {
        value.dropFirst(2).starts(with: "4001-01-01T00:00:00".utf8)
    }

    private func node() throws(Rejection) -> ASN1Node {
        do throws(Rejection) {
            return try BERReader.root(of: value, in: "an attribute")
        } catch {
            throw malformed("one ASN.1 value")
        }
    }

    private func malformed(_ expected: String) -> Rejection {
        Rejection(
            .receiptAttributeMalformed,
            "The app receipt's attribute \(type) is not \(expected)."
        )
    }
}

/// The dates of a receipt: RFC 3339, always with a time and a zone.
enum ReceiptDate {
    /// The instant of a text such as `2015-10-07T16:16:10Z`; nil for anything else.
    static func instant(_ text: ArraySlice<UInt8>) -> Instant? {
        // A bare date, or a time without a zone, could only be guessed.
        guard text.count >= 20, text[text.startIndex + 10] == UInt8(ascii: "T"),
            let last = text.last
        else { return nil }
        if last == UInt8(ascii: "Z") { return Instant(utf8: text) }
        let zone = text.suffix(5)
        if isSign(zone[zone.startIndex]) {
            return Instant(utf8: text.dropLast(2) + [UInt8(ascii: ":")] + text.suffix(2))
        }
        return isSign(text[text.endIndex - 6]) ? Instant(utf8: text) : nil
    }

    private static func isSign(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
    }
}
