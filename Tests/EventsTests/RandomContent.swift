import Events
import TestSupport

extension SeededGenerator {
    /// A content of any format with any fields, including values at the limits of their types.
    mutating func content() -> Content {
        let formats = Format.allCases
        var content = Content(format: formats[Int.random(in: formats.indices, using: &self)])
        for field in Field.allCases where Bool.random(using: &self) {
            content[field] = value(of: field.valueType)
        }
        return content
    }

    mutating func value(of type: Field.ValueType) -> FieldValue {
        switch type {
        case .text: .text(text())
        case .integer: .integer(number())
        case .boolean: .boolean(Bool.random(using: &self))
        case .instant: .instant(Instant(milliseconds: number()))
        }
    }

    private mutating func number() -> Int64 {
        let edges = [0, 1, -1, Int64.min, Int64.max, Int64.random(in: .min ... .max, using: &self)]
        return edges[Int.random(in: edges.indices, using: &self)]
    }

    private mutating func text() -> String {
        let pieces = ["", "a", "\u{E9}", "e\u{301}", "\0", "🧾", String(repeating: "x", count: 200)]
        return (0..<Int.random(in: 0...3, using: &self)).map { _ in
            pieces[Int.random(in: pieces.indices, using: &self)]
        }.joined()
    }
}
