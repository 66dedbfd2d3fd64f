import Events
import Testing

/// Which texts identify nothing.
@Suite struct PlaceholderTests {
    @Test(arguments: [
        "", " ", "\t\n", "0", "000", "0-0", "-", "00000000-0000-0000-0000-000000000000",
        "FFFFFFFF-ffff-FFFF-ffff-FFFFFFFFFFFF", "null", "NULL", " null ", "(null)", "<null>",
        "nil", "<nil>", "None", "undefined",
    ])
    func `blanks, zeros, the greatest UUID and words for nothing are placeholders`(text: String) {
        #expect(text.isPlaceholder)
        var content = Content(format: .signedTransaction)
        content[.appAccountToken] = .text(text)
        #expect(content.identity(.appAccountToken) == nil)
    }

    @Test(arguments: [
        "1", "10", "007", "0b5e7c1a-3f6d-4e0b-9a51-7f3d2c1b0a99", "nullable", "none of them",
        "f0000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-fffffffffffe", "nils",
        "anna", "N", "(", "ünull", "704346128300986174",
    ])
    func `every other text is an id`(text: String) {
        #expect(!text.isPlaceholder)
        var content = Content(format: .signedTransaction)
        content[.appTransactionId] = .text(text)
        #expect(content.identity(.appTransactionId) == text)
    }
}
