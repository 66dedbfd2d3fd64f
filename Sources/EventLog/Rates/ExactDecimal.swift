/// A positive decimal number, exact: at most eight digits before the point and twelve after it.
package struct ExactDecimal: Hashable, Sendable {
    /// The number without redundant zeros, as PostgreSQL accepts it: `1.0842`, `0.5`, `12`.
    package let text: String

    /// The most digits before the point.
    package static let integerDigitsMax = 8

    /// The most digits after the point.
    package static let decimalsMax = 12

    /// Parses digits with at most one point; nil for anything else, and for zero.
    package init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count),
            parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (48...57).contains($0) } })
        else { return nil }
        let whole = parts[0].drop { $0 == 48 }
        var rest = parts.count == 2 ? parts[1] : parts[0].suffix(0)
        while rest.last == 48 { rest = rest.dropLast() }
        guard whole.count <= ExactDecimal.integerDigitsMax, rest.count <= ExactDecimal.decimalsMax,
            !(whole.isEmpty && rest.isEmpty)
        else { return nil }
        self.text =
            (whole.isEmpty ? "0" : String(decoding: whole, as: UTF8.self))
            + (rest.isEmpty ? "" : "." + String(decoding: rest, as: UTF8.self))
    }
}

extension ExactDecimal: Codable {
    /// Decodes its text.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let number = ExactDecimal(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "not a positive decimal number"
            )
        }
        self = number
    }

    /// Encodes its text: a JSON number would be read as floating point.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
