internal import Events

/// Text that payloads are expected to repeat, which zlib reads before the first byte.
///
/// The dictionaries of a ledger are rows of `ledger.evidence_dictionary`. One that has been used is
/// never changed or removed: bodies that name its number cannot be read without its exact bytes.
package struct EvidenceDictionary: Equatable, Sendable {
    /// The number by which bodies name it, from 1.
    package let number: UInt8
    /// The text, most frequent parts last.
    package let bytes: [UInt8]
    /// A stream that has already read it; nil if it is too long for that.
    let primed: PrimedDeflater?

    /// The most bytes in a dictionary: zlib's window of 32 kB, less what it keeps free.
    package static let byteCountMax = 32_768 - 262

    /// A dictionary; nil if the number is 0, which stands for none, or the text is empty or longer
    /// than zlib can use.
    package init?(number: UInt8, bytes: [UInt8]) {
        guard number > 0, !bytes.isEmpty, bytes.count <= EvidenceDictionary.byteCountMax else {
            return nil
        }
        self.number = number
        self.bytes = bytes
        primed = PrimedDeflater(dictionary: bytes)
    }

    /// Whether number and text are the same.
    package static func == (left: EvidenceDictionary, right: EvidenceDictionary) -> Bool {
        left.number == right.number && ByteScan.areEqual(left.bytes[...], right.bytes[...])
    }
}
