import AppStore
import AppStoreSimulator

/// Changes to JSON: one to three values are replaced, moved, repeated or removed.
extension Mutator {
    mutating func mutatedJSON(_ tree: JSONTree, depth: Int) -> [UInt8] {
        var tree = tree
        for _ in 0...number(3) {
            var mutator = self
            tree.change(number(tree.count)) { mutator.change(&$0, depth: depth) }
            self = mutator
        }
        return tree.text
    }

    private mutating func change(_ value: inout JSONTree, depth: Int) {
        // Most of a payload is in nested texts, so these are entered first.
        if case .string(let text) = value, text.count > 100, chance(90) {
            value = .string(mutated(text, depth: depth + 1))
            return
        }
        switch (number(5), value) {
        case (0...2, .object(var members)) where !members.isEmpty:
            change(&members)
            value = .object(members)
        case (0...2, .array(var elements)) where !elements.isEmpty:
            let place = number(elements.count)
            switch number(4) {
            case 0: elements.remove(at: place)
            case 1: elements.insert(elements[place], at: 0)
            case 2: elements[place] = someValue(depth: depth)
            default: elements.swapAt(place, number(elements.count))
            }
            value = .array(elements)
        case (0, .string(let text)): value = .string(changedBytes(text))
        case (1, .plain(let text)): value = .string(text)
        case (1, .string(let text)): value = .plain(text)
        case (2, _): value = nested(value)
        default: value = someValue(depth: depth)
        }
    }

    private mutating func change(_ members: inout [JSONTree.Member]) {
        let place = number(members.count)
        switch number(7) {
        case 0: members.remove(at: place)
        case 1: members.append(members[place])
        case 2: members[place].name = element(of: corpus.names)
        case 3: members[place].value = members[number(members.count)].value
        case 4:
            members.append(
                JSONTree.Member(name: element(of: corpus.names), value: someValue(depth: 0))
            )
        case 5: members[place].name = changedBytes(members[place].name)
        default: members[place].value = someValue(depth: 0)
        }
    }

    private mutating func nested(_ value: JSONTree) -> JSONTree {
        let depth = [1, 2, JSON.depthMax - 4, JSON.depthMax, JSON.depthMax + 1, 300][number(6)]
        var value = value
        for level in 0..<depth {
            value =
                level % 2 == 0
                ? .array([value]) : .object([JSONTree.Member(name: [0x61], value: value)])
        }
        return value
    }

    private mutating func someValue(depth: Int) -> JSONTree {
        switch number(10) {
        case 0...3: return .plain(Array(element(of: Mutator.words).utf8))
        case 4...6: return .string(Array(element(of: Mutator.texts).utf8))
        case 7: return .string(element(of: corpus.statements))
        case 8: return .plain(Array(String(generator.integer(in: 1...4_000_000_000_000)).utf8))
        default:
            let long = [UInt8](repeating: UInt8(ascii: "9"), count: [20, 65, 400, 9000][number(4)])
            return number(2) == 0 ? .plain(long) : .string(long)
        }
    }

    private static let words = [
        "0", "-0", "1", "-1", "1.5", "1e3", "1e999", "1e-999", "-1e999", "0.1e1", "1E+2",
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1199145599999",
        "1199145600000", "1700000000000", "1697679936049.7297", "7258118399999", "7258118400000",
        "0e0", "00", ".5", "1.", "1e", "+1", "NaN", "null", "true", "false", "{}", "[]", "[[]]", "",
        "1700000000000.00000000000000000000000000000000000000000000000001", "\"a\":1", "}", "]",
        ",",
    ]

    private static let texts = [
        "", " ", "0", "1", "true", "false", "Sandbox", "Production", "Xcode", "LocalTesting",
        "PROD", "ProductionSandbox", "example.subledger", "example.other", "2.0", "1.0", "CANCEL",
        "TEST", "1700000000000", "-1", "1e5", "999999999999999999", "9999999999999999999",
        "2015-07-09 08:19:17 Etc/GMT", "2200-01-01 00:00:00 Etc/GMT", "2015-02-30 24:61:61 Etc/GMT",
        " Etc/GMT", "\u{1}", "\\u0000", "a\\u0000b", "\\ud83d\\ude00", "\\ud83d", "\\ude00", "\\x",
        "\u{feff}", "\u{1f468}\u{200d}\u{1f469}", "e\u{301}", "\\u0065\\u0301", "\\\\", "\\\"",
        "\u{7f}", "\\u007f", "eyJ.e30.", "..", "MIIB", "====", "\\/",
    ]
}
