import Foundation
import Testing

@testable import AppStore

struct RejectionTests {
    @Test func `every reason is provoked by a test that needs no real data`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        var tests = ""
        for file in [
            "JWSTests.swift", "TranslationTests.swift", "AppReceiptTests.swift",
            "ReceiptOpenerTests.swift",
        ] {
            tests += try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
        }
        // Files are read by whoever calls, so the command line's tests provoke this one.
        for code in Rejection.Code.allCases where code != .unreadable {
            #expect(tests.contains(".\(code)"), "nothing provokes \(code.rawValue)")
        }
    }

    @Test func `machine words are lower case, and no two reasons share one`() {
        let words = Rejection.Code.allCases.map(\.rawValue)
        #expect(Set(words).count == words.count)
        for word in words {
            #expect(
                word.utf8.allSatisfy {
                    (97...122).contains($0) || (48...57).contains($0) || $0 == 45
                }
            )
        }
    }
}
