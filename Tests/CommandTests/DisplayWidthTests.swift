import CommandSupport
import Testing

/// The width of texts on a terminal.
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

    @Test func `a table wider than the terminal continues in lines below`() {
        var table = TextTable(["from", "product", "because of"])
        table.add(["2025-09-18 12:34:19", "example.subledger.atlas.studio.team.monthly", "#1"])
        table.add(["2025-10-01 00:32:59", "安息日".description, "#2 #3"])
        #expect(table.text(width: nil) == table.text(width: 200))
        #expect(
            table.text(width: 50) == """
                 from               product             because of
                 2025-09-18         example.subledger.  #1
                 12:34:19           atlas.studio.team.
                                    monthly
                 2025-10-01         安息日              #2 #3
                 00:32:59
                """
        )
        for width in 35...120 {
            let lines = table.text(width: width).split(separator: "\n")
            #expect(lines.allSatisfy { String($0).displayWidth <= width }, "\(width)")
        }
        // Below that width each column keeps the space that a word needs.
        #expect(table.text(width: 5) == table.text(width: 20))
    }
}
