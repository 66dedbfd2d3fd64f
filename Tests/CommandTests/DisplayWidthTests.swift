import CommandSupport
import Testing

/// How wide texts are on a terminal.
struct DisplayWidthTests {
    @Test(arguments: [
        ("abc", 3), ("", 0), ("日本語", 6), ("한국어", 6), ("ＡＢ", 4), ("café", 4),
        ("cafe\u{301}", 4), ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("☺️", 2), ("→ ·", 3), ("ﾊﾝｶｸ", 4),
        ("a\u{200b}b", 2),
    ])
    func `a text is as wide as a terminal shows it`(text: String, width: Int) {
        #expect(text.displayWidth == width, "\(text)")
    }

    @Test func `columns stay aligned behind wide names`() {
        var table = TextTable(["customer", "access"])
        table.add(["日本語の名前", "yes"])
        table.add(["anna", "no"])
        #expect(
            table.text.split(separator: "\n").map(String.init) == [
                " customer      access", " 日本語の名前  yes", " anna          no",
            ]
        )
    }
}
