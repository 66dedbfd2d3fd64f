/// The texts that programs write where they have no id: the one list of them.
///
/// A placeholder identifies nothing, so two subscriptions that have one have nothing in common
/// (Apple's data: trap 49). The log keeps it like any other text.
package enum Placeholder {
    /// The words, in lower case.
    static let words = ["null", "(null)", "<null>", "nil", "<nil>", "none", "undefined"]

    /// The greatest UUID (RFC 9562, section 5.10); the least one consists of zeros.
    static let maxUUID = "ffffffff-ffff-ffff-ffff-ffffffffffff"

    /// A regular expression of PostgreSQL that matches them, for `~*`.
    package static let pattern = {
        let escaped = words.map { word in
            word.map { "()".contains($0) ? "\\\($0)" : String($0) }.joined()
        }
        return "^[ \\t\\r\\n]*([0-]*|\(maxUUID)|\(escaped.joined(separator: "|")))[ \\t\\r\\n]*$"
    }()

    /// The fields that identify a customer or a purchase beyond Apple's transaction ids.
    package static let fields: [Field] = [
        .appAccountToken, .appTransactionId, .webOrderLineItemId, .customerId,
    ]
}

extension String {
    /// Whether it is blank, has only zeros and hyphens, is the greatest UUID, or is one of the
    /// words for nothing, in any letter case and with white space around it.
    package var isPlaceholder: Bool {
        // Nearly every id is decided by its first byte.
        guard let first = utf8.first else { return true }
        switch first {
        case UInt8(ascii: "1")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "e"):
            return false
        default: break
        }
        let bytes = utf8.drop { isBlank($0) }
        let trimmed = bytes.reversed().drop { isBlank($0) }.reversed()
        if trimmed.allSatisfy({ $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: "-") }) {
            return true
        }
        let lower = trimmed.map {
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0
        }
        return lower.elementsEqual(Placeholder.maxUUID.utf8)
            || Placeholder.words.contains { lower.elementsEqual($0.utf8) }
    }

    private func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0d || byte == 0x0a
    }
}

extension Content {
    /// The text of a field that identifies something; nil if there is none, or a placeholder.
    package func identity(_ field: Field) -> String? {
        text(field).flatMap { $0.isPlaceholder ? nil : $0 }
    }
}
