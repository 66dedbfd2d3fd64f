/// A value of a report.
package enum ReportValue: Hashable, Sendable {
    /// No value: Apple did not state it, or the whole of a share is zero.
    case none
    /// Text.
    case text(String)
    /// A count, milliunits, or milliseconds since 1970, UTC.
    case integer(Int64)
    /// A share in hundredths of a percent; in JSON a number with at most two decimals.
    case hundredths(Int64)
    /// Whether something is so.
    case flag(Bool)
}

extension ReportValue: Codable {
    /// Decodes JSON; a share without decimals is decoded as an integer.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .none
            return
        }
        do {
            self = .flag(try container.decode(Bool.self))
            return
        } catch is DecodingError {}
        do {
            // A number with decimals asked for as an integer is an error of the whole document.
            let number = try container.decode(Double.self)
            self =
                number == number.rounded()
                ? .integer(try container.decode(Int64.self))
                : .hundredths(Int64((number * 100).rounded()))
        } catch is DecodingError {
            self = .text(try container.decode(String.self))
        }
    }

    /// Encodes null, a string, a number or a truth value.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .none: try container.encodeNil()
        case .text(let text): try container.encode(text)
        case .integer(let number): try container.encode(number)
        case .hundredths(let number): try container.encode(Double(number) / 100)
        case .flag(let isSo): try container.encode(isSo)
        }
    }
}

extension Int64 {
    /// Hundredths as a decimal number.
    package var decimals: String {
        let rest = "\(magnitude % 100 + 100)".dropFirst()
        return "\(self < 0 ? "-" : "")\(magnitude / 100).\(rest)"
    }
}
