import CommandSupport
import Testing

/// Printing input that anyone may have written.
struct HarmlessTextTests {
    @Test func `terminal controls and text direction marks are escaped`() {
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
