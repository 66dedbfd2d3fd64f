/// Markup of a page, in which inserted text can never act as markup.
package struct HTML: Sendable, ExpressibleByStringInterpolation {
    /// The markup.
    package let text: String

    /// Markup from a literal in a source file.
    package init(stringLiteral value: String) { text = value }

    package init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

    private init(markup: String) { text = markup }

    /// Everything that is inserted into markup: texts are escaped, markup is not.
    package struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        package mutating func appendLiteral(_ literal: String) { text += literal }

        package mutating func appendInterpolation(_ markup: HTML) { text += markup.text }

        package mutating func appendInterpolation(_ markup: [HTML]) {
            for piece in markup { text += piece.text }
        }

        package mutating func appendInterpolation(_ number: Int) { text += "\(number)" }

        package mutating func appendInterpolation(_ value: String) { text += HTML.escaped(value) }
    }

    /// The pieces, one after the other.
    package static func joined(_ pieces: [HTML], by separator: String = "\n") -> HTML {
        HTML(markup: pieces.map(\.text).joined(separator: escaped(separator)))
    }

    // Control characters are not allowed in HTML or XML; they are shown by their symbols.
    private static func escaped(_ value: String) -> String {
        var escaped = ""
        escaped.reserveCapacity(value.utf8.count)
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\u{0}"..<"\u{9}", "\u{b}"..<"\u{20}", "\u{7f}"..<"\u{a0}",
                "\u{fffe}"..."\u{ffff}":
                escaped += "\u{fffd}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
