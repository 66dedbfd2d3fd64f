import SwiftASN1

/// What a CMS signer signs instead of the content, including the content's digest (RFC 5652 §5.4).
///
/// Apple's receipts have none; those of other signers do.
struct SignedAttributes {
    /// The signed bytes: a SET OF in DER, whatever encoding carried it.
    let signedBytes: [UInt8]
    /// The content's digest as stated by the signer.
    let messageDigest: ArraySlice<UInt8>

    private static let contentType: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 3]
    private static let messageDigest: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 4]
    /// Most attributes accepted; four are usual.
    static let countMax = 64

    /// Reads the field `[0]` of a signer.
    ///
    /// Throws `receipt-signed-attributes` unless content type and digest each occur once, with one
    /// value, and the type is `data`.
    init(_ field: ASN1Node) throws(Rejection) {
        let place = "the list of signed attributes"
        var reader = try BERReader(field, as: .context(0), in: place)
        var values: [ASN1ObjectIdentifier: ASN1Node] = [:]
        var elements: [ASN1Node] = []
        while let element = reader.next() {
            elements.append(element)
            var attribute = try BERReader(element, as: .sequence, in: place)
            let type = try attribute.requireObjectIdentifier()
            var set = try attribute.requireReader(.set)
            try attribute.requireEnd()
            let value = set.next()
            guard let value else { throw SignedAttributes.unfit("An attribute has no value.") }
            let isSingle = set.next() == nil
            guard isSingle || (type != Self.contentType && type != Self.messageDigest) else {
                throw SignedAttributes.unfit("An attribute has several values.")
            }
            guard elements.count <= Self.countMax, values.updateValue(value, forKey: type) == nil
            else {
                throw SignedAttributes.unfit(
                    "There are too many attributes, or two of one type."
                )
            }
        }

        guard let type = values[Self.contentType], let digest = values[Self.messageDigest] else {
            throw SignedAttributes.unfit("Content type or digest is missing.")
        }
        let contentType = try reader.read { try ASN1ObjectIdentifier(derEncoded: type) }
        guard contentType == SignedData.data else {
            throw SignedAttributes.unfit("The content type is not PKCS #7 data.")
        }
        messageDigest = try reader.read { try ASN1OctetString(derEncoded: digest).bytes }
        signedBytes = try reader.read { try SignedAttributes.setOf(elements) }
    }

    // The field is transmitted as [0] and, in BER, perhaps unsorted or with indefinite lengths;
    // what is signed is the DER of the set under its own tag.
    private static func setOf(_ elements: [ASN1Node]) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serializeSetOf(elements.map(Encoded.init))
        return serializer.serializedBytes
    }

    private struct Encoded: DERSerializable {
        let node: ASN1Node

        func serialize(into coder: inout DER.Serializer) throws { coder.serialize(node) }
    }

    private static func unfit(_ why: String) -> Rejection {
        Rejection(
            .receiptSignedAttributes,
            "The app receipt's signed attributes do not cover its content. \(why)"
        )
    }
}
