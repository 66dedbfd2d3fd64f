import CommandSupport
import Testing

/// What is printed of input that anybody may have written.
struct HarmlessTextTests {
    @Test func `what commands a terminal or turns a line around is written out`() {
        #expect("a\u{1B}[31mb\u{202E}c\u{7F}".harmless == "a\\u{1B}[31mb\\u{202E}c\\u{7F}")
        #expect("é 漢字\n\t👍🏽".harmless == "é 漢字\n\t👍🏽")
    }

    @Test func `a line of a table stays one line`() {
        var table = TextTable(["name", "x"])
        table.add(["a\nb\u{1B}", "y"])
        #expect(table.text == " name       x\n a b\\u{1B}  y")
    }

    @Test func `an error of the command line repeats no password`() {
        let text = "Unexpected argument 'postgresql://u:hunter2@h/db' and 'host=h password=x y=1'"
        #expect(
            ProcessArguments.withoutPasswords(text)
                == "Unexpected argument 'postgresql://***@h/db' and 'host=h password=*** y=1'"
        )
    }
}
