import SwiftASN1

/// Reads the elements of one constructed ASN.1 value in order and refuses unexpected ones.
///
/// App receipts are BER, not DER: indefinite lengths and strings in pieces occur (Apple's data: app
/// receipts). `root(of:in:)` is the only entry point and bounds what the parser may allocate.
struct BERReader {
    /// What is being read, for messages: "the signature", "an in-app purchase".
    let place: String
    private var elements: ASN1NodeCollection.Iterator

    /// Deepest nesting accepted: a receipt has nine levels with its certificates.
    static let depthMax = 24
    /// Most elements of one parsed text: each takes about a hundred bytes of memory, and a receipt
    /// of sixteen thousand purchases has four elements per purchase.
    static let elementCountMax = 1 << 17

    /// A reader of an element's content; throws `receipt-malformed` unless it has that tag.
    init(
        _ element: ASN1Node,
        as identifier: ASN1Identifier,
        in place: String
    ) throws(Rejection) {
        guard element.identifier == identifier, case .constructed(let nodes) = element.content
        else { throw Rejection.receiptMalformed(in: place) }
        self.place = place
        elements = nodes.makeIterator()
    }

    /// The one element that some bytes encode.
    ///
    /// Throws `receipt-too-deep` or `receipt-too-large` before anything is allocated, and
    /// `receipt-malformed` if the bytes are not BER or other bytes follow.
    static func root(
        of bytes: ArraySlice<UInt8>,
        in place: String
    ) throws(Rejection) -> ASN1Node {
        var bounds = BERBounds(bytes, in: place)
        try bounds.check()
        do {
            return try BER.parse(bytes)
        } catch {
            throw Rejection.receiptMalformed(in: place)
        }
    }

    /// The next element whatever it is; nil at the end.
    mutating func next() -> ASN1Node? { elements.next() }

    /// The next element, if it has that tag.
    mutating func next(if identifier: ASN1Identifier) -> ASN1Node? {
        var rest = elements
        guard let element = rest.next(), element.identifier == identifier else { return nil }
        elements = rest
        return element
    }

    /// The next element, which must have that tag.
    mutating func require(_ identifier: ASN1Identifier) throws(Rejection) -> ASN1Node {
        guard let element = next(if: identifier) else {
            throw Rejection.receiptMalformed(in: place)
        }
        return element
    }

    /// A reader of the next element, which must be constructed and have that tag.
    mutating func requireReader(
        _ identifier: ASN1Identifier,
        in place: String? = nil
    ) throws(Rejection) -> BERReader {
        try BERReader(try require(identifier), as: identifier, in: place ?? self.place)
    }

    /// The next element as an object identifier.
    mutating func requireObjectIdentifier() throws(Rejection) -> ASN1ObjectIdentifier {
        let element = try require(.objectIdentifier)
        return try read { try ASN1ObjectIdentifier(berEncoded: element) }
    }

    /// The next element as the bytes of an octet string, its pieces joined.
    mutating func requireOctets() throws(Rejection) -> ArraySlice<UInt8> {
        let element = try require(.octetString)
        return try read { try ASN1OctetString(berEncoded: element).bytes }
    }

    /// Refuses any remaining element.
    mutating func requireEnd() throws(Rejection) {
        guard elements.next() == nil else { throw Rejection.receiptMalformed(in: place) }
    }

    /// Runs the parser on an element; its errors become `receipt-malformed`.
    func read<Value>(_ parse: () throws -> Value) throws(Rejection) -> Value {
        do {
            return try parse()
        } catch {
            throw Rejection.receiptMalformed(in: place)
        }
    }
}

extension ASN1Identifier {
    /// A constructed or primitive element of its container's own numbering, `[number]`.
    static func context(_ number: UInt) -> ASN1Identifier {
        ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
    }
}

extension Rejection {
    static func receiptMalformed(in place: String) -> Rejection {
        Rejection(
            .receiptMalformed,
            "The app receipt cannot be read: \(place) is not encoded as PKCS #7 requires. Pass the"
                + " whole receipt as the App Store wrote it, as bytes or in base64."
        )
    }
}
