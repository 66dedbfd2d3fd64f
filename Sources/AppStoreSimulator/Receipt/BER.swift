/// Writes ASN.1 by the basic encoding rules, to the extent that an app receipt needs them.
///
/// swift-asn1 writes only DER, but Apple's receipts also occur with indefinite lengths (Apple's
/// data: app receipts); elements written here with definite lengths are DER.
enum BER {
    static let integer: UInt8 = 0x02
    static let octetString: UInt8 = 0x04
    static let null: [UInt8] = [0x05, 0x00]
    static let utf8String: UInt8 = 0x0c
    static let ia5String: UInt8 = 0x16
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    /// The bit that turns a string into a sequence of pieces (X.690 §8.7.3).
    static let constructed: UInt8 = 0x20
    /// The context-specific, constructed tag 0.
    static let explicit0: UInt8 = 0xa0

    /// An element whose length is written before it.
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(content.count + 6)
        bytes.append(tag)
        append(length: content.count, to: &bytes)
        bytes.append(contentsOf: content)
        return bytes
    }

    /// A constructed element that ends with two zero bytes instead of having a length (X.690
    /// §8.1.3.6).
    static func indefinite(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag, 0x80] + content + [0, 0]
    }

    /// The elements of a SET OF, in the order that DER requires: by their bytes (X.690 §11.6).
    static func setOf(_ elements: [[UInt8]]) -> [UInt8] {
        element(set, elements.sorted { $0.lexicographicallyPrecedes($1) }.flatMap { $0 })
    }

    /// A number of up to eight bytes, in as few bytes as hold it and its sign.
    static func integer(_ number: Int64) -> [UInt8] {
        var bytes = stride(from: Int64(56), through: 0, by: -8).map {
            UInt8(truncatingIfNeeded: number >> $0)
        }
        while bytes.count > 1, bytes[0] == (bytes[1] < 0x80 ? 0 : 0xff) { bytes.removeFirst() }
        return element(integer, bytes)
    }

    static func utf8(_ text: String) -> [UInt8] { element(utf8String, Array(text.utf8)) }

    static func ia5(_ text: String) -> [UInt8] { element(ia5String, Array(text.utf8)) }

    private static func append(length: Int, to bytes: inout [UInt8]) {
        guard length >= 0x80 else {
            bytes.append(UInt8(length))
            return
        }
        let digits = stride(from: 24, through: 0, by: -8).map {
            UInt8(truncatingIfNeeded: length >> $0)
        }
        let significant = digits.drop { $0 == 0 }
        bytes.append(0x80 | UInt8(significant.count))
        bytes.append(contentsOf: significant)
    }
}
