import Foundation
import Testing

@testable import AppStore

struct RejectionTests {
    @Test func `every reason is provoked by a test that needs no real data`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        var tests = ""
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where file.hasSuffix("Tests.swift") && !file.hasPrefix("Real") {
            tests += try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
        }
        // Files and kept rejections are read by whoever calls: the command line's tests provoke these.
        for code in Rejection.Code.allCases where ![.unreadable, .bodyNotKept].contains(code) {
            let isProvoked = tests.contains(".\(code)")
            #expect(isProvoked, "nothing provokes \(code.rawValue)")
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
