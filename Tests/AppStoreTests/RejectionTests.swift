import Foundation
import Testing

@testable import AppStore

struct RejectionTests {
    @Test func `a test without real data provokes every reason`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        var tests = ""
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where file.hasSuffix("Tests.swift") && !file.hasPrefix("Real") {
            tests += try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
        }
        // The callers read files and stored rejections, so the command line's tests provoke these.
        for code in Rejection.Code.allCases where ![.unreadable, .bodyNotKept].contains(code) {
            let isProvoked = tests.contains(".\(code)")
            #expect(isProvoked, "nothing provokes \(code.rawValue)")
        }
    }

    @Test func `reason codes are lower case and unique`() {
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
