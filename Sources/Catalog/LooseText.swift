import Foundation

/// A text that may also be written as a number: an identifier, a price.
struct LooseText: Decodable {
    let text: String

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            text = try container.decode(String.self)
        } catch DecodingError.typeMismatch {
            // Decimal and not Double: 9.99 must stay 9.99.
            text = "\(try container.decode(Decimal.self))"
        }
    }

    /// The text; nil if it is empty.
    var ifAny: String? { text.isEmpty ? nil : text }
}
