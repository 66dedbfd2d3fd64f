import Testing

@testable import AppStore

/// Names of an object's members: none occurs twice, and they are found by their bytes.
struct JSONNameTests {
    private func duplicate(_ text: String) -> Int? {
        do throws(JSON.Failure) {
            _ = try JSON(Array(text.utf8))
            return nil
        } catch {
            #expect(error.reason == .duplicateName)
            return error.offset
        }
    }

    private func object(_ names: [String]) -> String {
        "{" + names.map { "\"\($0)\":[1]" }.joined(separator: ",") + "}"
    }

    @Test func `a repeated name is detected at every length, and only a repeated one`() {
        for length in 0...40 {
            let name = String(repeating: "n", count: length)
            #expect(duplicate(object([name, "x", "\(name)"])) != nil, "\(length)")
            #expect(duplicate(object([name, "x", name + "m"])) == nil, "\(length)")
            for position in 0..<length {
                // Same length; the longest also share their first and last eight bytes.
                var other = Array(name)
                other[position] = "m"
                #expect(duplicate(object([name, String(other)])) == nil, "\(length) \(position)")
            }
        }
    }

    @Test(arguments: [2, 28, 63, 64, 65, 66, 130])
    func `the first repeated name is reported, wherever both occurrences are`(count: Int) {
        let names = (0..<count).map { "purchase_date_\($0)_ms_of_this" }
        #expect(duplicate(object(names)) == nil)
        for first in stride(from: 0, to: count - 1, by: 7) {
            for second in stride(from: first + 1, to: count, by: 5) {
                var twice = names
                twice[second] = names[first]
                let head = object(Array(twice[..<second]))
                #expect(duplicate(object(twice)) == head.utf8.count + 1, "\(first), \(second)")
            }
        }
    }

    @Test func `names are compared by their meaning, not by their escapes`() {
        #expect(duplicate(#"{"ab":1,"a\u0062":2}"#) == 9)
        #expect(duplicate(#"{"a\u0062":1,"c":2,"ab":2}"#) == 20)
        #expect(duplicate(#"{"a\u0062":1,"a\u0063":2}"#) == nil)
        #expect(duplicate(#"{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}"#) == nil)
        #expect(duplicate(#"{"a":{"b":1,"b":2},"a":1}"#) == 13)
    }

    // Comparing all pairs would take many minutes instead of seconds.
    @Test func `the cost of a hostile object grows only with its size`() throws {
        let names = (0..<100_000).map { "same_start_\($0 + 1_000_000)_same_end" }
        #expect(duplicate(object(names)) == nil)
        #expect(duplicate(object(names + [names[7]])) != nil)
    }

    @Test func `a value is found by its name among names with the same prefix`() throws {
        let names = (0..<40).map { String(repeating: "n", count: $0) }
        let root = try JSON(Array(object(names).utf8)).root
        #expect(root.members.map(\.name.text) == names)
        #expect(root.members.count == 40)
        #expect(root["nnnnnnnnn"]?.index == 1 + 9 * 3 + 1)
        #expect(root["nnnnnnnnm"] == nil)
        #expect(root["nnnnnnnnn"]?["n"] == nil)
        #expect(root["nnnnnnnnn"]?.members.isEmpty == true)
        #expect(try JSON(Array(#"{"a\u0062":3}"#.utf8)).root["ab"]?.integer == 3)
    }

    @Test func `numbers of any length are read as Swift reads them`() throws {
        let seed: UInt64 = 18
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let digits = (0..<Int.random(in: 1...21, using: &generator)).map { _ in
                String(Int.random(in: 0...9, using: &generator))
            }
            var text = digits.joined()
            while text.hasPrefix("0"), text.count > 1 { text.removeFirst() }
            if Bool.random(using: &generator) { text = "-" + text }
            let value = try JSON(Array(text.utf8)).root
            #expect(value.integer == Int64(text), "\(text), seed \(seed)")
            #expect(value.truncatedInteger == Int64(text), "\(text), seed \(seed)")
        }
    }
}
