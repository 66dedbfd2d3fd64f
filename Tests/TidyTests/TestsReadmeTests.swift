import Foundation
import Testing

/// The tables of Tests/README.md: they name tests that exist, in the gate that runs them.
@Suite struct TestsReadmeTests {
    private static let promises = 13
    // Read once: all sources of the tests.
    private static let suites = Result { try Suites() }

    private static func readme() throws -> String {
        try String(
            contentsOf: TidyTests.root.appendingPathComponent("Tests/README.md"),
            encoding: .utf8
        )
    }

    @Test func `every test that the README of the tests names exists`() throws {
        let suites = try Self.suites.get()
        let cited = TestCitation.all(in: try Self.readme())
        #expect(cited.count > 60)
        for test in cited { #expect(suites.finds(test), "\(test) does not exist") }
    }

    @Test func `make test runs at least one named test for each promise`() throws {
        let suites = try Self.suites.get()
        let rows = try Self.readme().split(separator: "\n").compactMap { line -> Substring? in
            // Number and promise, then the two gates.
            let cells = line.split(separator: "|").map { $0.trimmingPrefix(" ") }
            guard line.hasPrefix("| "), cells.count == 3, Int(cells[0].prefix { $0 != "." }) != nil
            else { return nil }
            return cells[1]
        }
        #expect(rows.count == Self.promises)
        for row in rows {
            let cited = TestCitation.all(in: String(row))
            #expect(!cited.isEmpty, "no test in: \(row)")
            for test in cited {
                #expect(!suites.isInAcceptance(test), "make test does not run \(test)")
            }
        }
    }

    @Test func `every test that only acceptance runs is in the README of the tests`() throws {
        let readme = try Self.readme()
        let moved = try Self.suites.get().onlyInAcceptance
        #expect(moved.count > 5)
        for name in moved { #expect(readme.contains(name), "\(name) is not in Tests/README.md") }
    }

    @Test func `a test or suite that does not exist is found`() throws {
        let suites = try Self.suites.get()
        let named = "`TidyTests.TestsReadmeTests`: \"a test or suite that does not exist is found\""
        let cited = TestCitation.all(
            in: named + ", \"absent\"; `TidyTests.AbsentTests`; `TidyTests.TidyTests`"
        )
        #expect(cited.map { suites.finds($0) } == [true, false, false, true])
    }
}

/// A suite that a text names, as `Target.Suite`, or one of the tests quoted after it.
private struct TestCitation: CustomStringConvertible {
    let target: String
    let suite: String
    var test: String?

    var description: String { "\(target).\(suite)\(test.map { ": \($0)" } ?? "")" }

    /// All that a text names; a suite with quoted tests is in them.
    static func all(in text: String) -> [TestCitation] {
        text.split(separator: "\n").flatMap { line in
            var found: [TestCitation] = []
            // Replaced by its first test, if one is quoted.
            var isReplaced = false
            for match in line.matches(of: #/`(\w+Tests)\.(\w+)`|"([^"]+)"/#) {
                if let target = match.1, let suite = match.2 {
                    found.append(TestCitation(target: String(target), suite: String(suite)))
                    isReplaced = false
                } else if let test = match.3, var named = found.last {
                    named.test = String(test)
                    if !isReplaced { found.removeLast() }
                    found.append(named)
                    isReplaced = true
                }
            }
            return found
        }
    }
}

/// The suites of all test targets.
private struct Suites {
    private static let gate = "Acceptance.isRunning, \"make"

    /// By `Target.Suite`: what stands before its name, and its body.
    private var suites: [String: (head: Substring, body: Substring)] = [:]

    init() throws {
        for (path, text) in try TidyTests.files(in: ["Tests"]) {
            let target = path.split(separator: "/")[1]
            let opening = #/(?m)^(?:@Suite\b.* )?(?:final )?(?:struct|enum|class) (\w+)/#
            let found = text.matches(of: opening)
            for (index, match) in found.enumerated() {
                let end =
                    index + 1 < found.count ? found[index + 1].range.lowerBound : text.endIndex
                let before = text[..<match.range.lowerBound]
                let start = before.range(of: "\n}\n", options: .backwards)?.upperBound
                let head = text[(start ?? text.startIndex)..<match.range.upperBound]
                suites["\(target).\(match.1)"] = (head, text[match.range.lowerBound..<end])
            }
        }
    }

    func finds(_ cited: TestCitation) -> Bool {
        guard let suite = suites["\(cited.target).\(cited.suite)"] else { return false }
        return cited.test.map { suite.body.contains("func `\($0)`") } ?? true
    }

    func isInAcceptance(_ cited: TestCitation) -> Bool {
        guard let suite = suites["\(cited.target).\(cited.suite)"] else { return false }
        if suite.head.contains(Self.gate) { return true }
        return cited.test.map { isGated($0, in: suite.body) } ?? false
    }

    /// The suites and tests that `make test` leaves out.
    var onlyInAcceptance: [String] {
        suites.sorted { $0.key < $1.key }.flatMap { name, suite -> [String] in
            if suite.head.contains(Self.gate) { return [name] }
            return suite.body.matches(of: #/func `([^`]+)`/#).map { String($0.1) }
                .filter { isGated($0, in: suite.body) }
        }
    }

    // Whether the condition stands between a test's attribute and its name.
    private func isGated(_ test: String, in body: Substring) -> Bool {
        guard let name = body.range(of: "func `\(test)`"),
            let attribute = body[..<name.lowerBound].range(of: "@Test", options: .backwards)
        else { return false }
        return body[attribute.upperBound..<name.lowerBound].contains(Self.gate)
    }
}
