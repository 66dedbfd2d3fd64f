import Foundation
import Testing

@testable import AppStore

struct JSONTests {
    private func parse(_ text: String) throws -> JSON.Value {
        try JSON(Array(text.utf8)).root
    }

    private func failure(_ bytes: [UInt8]) -> JSON.Reason? {
        do throws(JSON.Failure) {
            _ = try JSON(bytes)
            return nil
        } catch {
            return error.reason
        }
    }

    private func failure(_ text: String) -> JSON.Reason? { failure(Array(text.utf8)) }

    @Test func `values are found by name and keep their bytes`() throws {
        let root = try parse(" {\"a\" : [1, \"x\\u00e9\", {\"b\":null}], \"c\":true, \"\":-0.5e3} ")
        #expect(root.kind == .object)
        #expect(root["a"]?.elements.map(\.kind) == [.number, .string, .object])
        #expect(root["a"]?.elements[1].text == "xé")
        #expect(root["a"]?.elements[2]["b"]?.kind == .null)
        #expect(root["c"]?.boolean == true)
        #expect(root[""].map { String(decoding: $0.bytes, as: UTF8.self) } == "-0.5e3")
        #expect(root["b"] == nil)
        #expect(root.members.map(\.name.text) == ["a", "c", ""])
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("12", 12), ("12.0", 12), ("1.2e1", 12), ("120E-1", 12),
            ("9223372036854775807", Int64.max), ("-9223372036854775808", Int64.min),
            ("9223372036854775808", nil), ("1e18", 1_000_000_000_000_000_000), ("1e19", nil),
            ("0e999", 0), ("1e-5", nil), ("12.5", nil), ("0.00012e5", 12),
            ("1e-999", nil), ("9007199254740993", 9_007_199_254_740_993),
        ] as [(String, Int64?)]
    )
    func `a whole number is read without rounding, however it is written`(
        text: String,
        number: Int64?
    ) throws {
        #expect(try parse(text).integer == number)
    }

    @Test(
        arguments: [
            ("1697679936049.7297", 1_697_679_936_049), ("-1.9", -1), ("0.9", 0), ("1e-9", 0),
            ("1.6976799360497297E+12", 1_697_679_936_049), ("1e40", nil), ("\"1\"", nil),
        ] as [(String, Int64?)]
    )
    func `milliseconds lose their fraction and nothing else`(text: String, number: Int64?) throws {
        #expect(try parse(text).truncatedInteger == number)
    }

    @Test(arguments: [
        ("", JSON.Reason.unexpectedEnd), ("{", .unexpectedEnd), ("[1,", .unexpectedEnd),
        ("\"a", .unexpectedEnd), ("tru", .unexpectedEnd), ("-", .unexpectedEnd),
        ("[1,]", .unexpectedByte), ("{\"a\":1,}", .unexpectedByte), ("{a:1}", .unexpectedByte),
        ("01", .unexpectedByte), ("1.", .unexpectedEnd), (".5", .unexpectedByte),
        ("+1", .unexpectedByte), ("1 2", .unexpectedByte), ("NaN", .unexpectedByte),
        ("'a'", .unexpectedByte), ("\"\n\"", .unexpectedByte), ("// c\n1", .unexpectedByte),
        ("\"\\x\"", .invalidEscape), ("\"\\ud800\"", .invalidEscape),
        ("\"\\udc00\"", .invalidEscape), ("\"\\ud800\\u0041\"", .invalidEscape),
        ("\"\\u12g4\"", .invalidEscape), ("\u{feff}1", .unexpectedByte),
        ("{\"a\":1,\"a\":1}", .duplicateName), ("{\"a\":1,\"\\u0061\":1}", .duplicateName),
    ])
    func `what RFC 8259 does not allow is refused`(text: String, reason: JSON.Reason) {
        #expect(failure(text) == reason)
    }

    @Test func `bytes that are no UTF-8 are refused`() {
        let bad: [[UInt8]] = [
            [0x80], [0xc0, 0x80], [0xc1, 0xbf], [0xe0, 0x80, 0x80], [0xed, 0xa0, 0x80],
            [0xf0, 0x80, 0x80, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80],
            [0xc3], [0xe2, 0x82], [0xff],
        ]
        for bytes in bad {
            #expect(failure([0x22] + bytes + [0x22]) == .invalidUTF8, "\(bytes)")
        }
        #expect(failure("\"é€😀\"") == nil)
    }

    @Test func `depth, size and length of numbers have limits`() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(failure(nested(JSON.depthMax)) == nil)
        #expect(failure(nested(JSON.depthMax + 1)) == .tooDeep)
        #expect(failure(String(repeating: "1", count: JSON.numberByteCountMax)) == nil)
        #expect(
            failure(String(repeating: "1", count: JSON.numberByteCountMax + 1)) == .numberTooLong
        )
        #expect(failure("1e-999") == nil)
        #expect(failure("1e1000") == .numberTooLong)
        let blank = [UInt8](repeating: 0x20, count: JSON.byteCountMax - 1)
        #expect(failure(blank + [0x31]) == nil)
        #expect(failure(blank + [0x20, 0x31]) == .tooLarge)
    }

    @Test func `names of large objects are compared too`() {
        let members = (0..<100).map { "\"k\($0)\":1" }.joined(separator: ",")
        #expect(failure("{\(members)}") == nil)
        #expect(failure("{\(members),\"k50\":1}") == .duplicateName)
    }

    @Test func `canonical text sorts names, keeps numbers and escapes little`() throws {
        let text =
            "{ \"b\": [1.50, -0, 1E5 ], \"a\\u0000\\/\": \"\\u00e9\\\"\\\\\\n\\u001f\", "
            + "\"é\":{}, \"z\": [ ] , \"\":null}"
        let expected =
            "{\"\":null,\"a\\u0000/\":\"é\\\"\\\\\\n\\u001f\",\"b\":[1.50,-0,1E5],"
            + "\"z\":[],\"é\":{}}"
        let canonical = try parse(text).canonicalText
        #expect(String(decoding: canonical, as: UTF8.self) == expected)
        #expect(try JSON(canonical).root.canonicalText == canonical)
    }

    @Test func `random texts mean what Foundation says they mean`() throws {
        let seed: UInt64 = 4711
        var generator = SeededGenerator(seed: seed)
        for round in 0..<600 {
            let text = RandomJSON.text(using: &generator)
            let root = try JSON(Array(text.utf8)).root
            let oracle = try JSONSerialization.jsonObject(
                with: Data(text.utf8),
                options: .fragmentsAllowed
            )
            #expect(agree(root, oracle), "round \(round), seed \(seed): \(text)")
            let again = try JSON(root.canonicalText).root
            #expect(agree(again, oracle), "canonical, round \(round), seed \(seed): \(text)")
        }
    }

    @Test func `of damaged texts none is accepted that Foundation refuses`() throws {
        let seed: UInt64 = 815
        var generator = SeededGenerator(seed: seed)
        var (accepted, refused) = (0, 0)
        for round in 0..<4000 {
            var bytes = Array(RandomJSON.text(using: &generator).utf8)
            RandomJSON.damage(&bytes, using: &generator)
            let ours = Result { try JSON(bytes).root }
            // Foundation also reads UTF-16 and UTF-32, which it tells by zero bytes.
            if bytes.contains(0) {
                #expect(throws: JSON.Failure.self) { try ours.get() }
                continue
            }
            let oracle = Result {
                try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
            }
            let note = "round \(round), seed \(seed): \(String(decoding: bytes, as: UTF8.self))"
            switch (ours, oracle) {
            case (.success(let root), .success(let object)):
                accepted += 1
                #expect(agree(root, object), "\(note)")
            case (.success, .failure(let error)):
                // Foundation makes every number a Double; we keep its text.
                let isTooLargeForIt = String(describing: error).contains("not representable")
                #expect(isTooLargeForIt, "\(error) \(note)")
            case (.failure(let error as JSON.Failure), .success):
                // Foundation lets a comma stand before a closing brace; RFC 8259 does not.
                let isTrailingComma =
                    error.reason == .unexpectedByte && bytes[error.offset] == UInt8(ascii: "}")
                let stricter: [JSON.Reason] = [.duplicateName, .tooDeep, .numberTooLong]
                #expect(stricter.contains(error.reason) || isTrailingComma, "\(error) \(note)")
            case (.failure, _): refused += 1
            }
        }
        #expect(accepted > 300 && refused > 300, "the mixture must test both sides")
    }

    private func agree(_ value: JSON.Value, _ oracle: Any) -> Bool {
        switch value.kind {
        case .null: oracle is NSNull
        case .true, .false: (oracle as? Bool) == value.boolean
        case .number: agree(number: value, oracle as? NSNumber)
        case .string: (oracle as? String).map { Array($0.utf8) } == value.utf8.map { Array($0) }
        case .array: agree(elements: value.elements, oracle as? [Any])
        case .object: agree(members: value.members, oracle as? [String: Any])
        }
    }

    // Foundation goes through a decimal that is rounded once more on its way to a Double.
    private func agree(number: JSON.Value, _ oracle: NSNumber?) -> Bool {
        guard let oracle = oracle?.doubleValue,
            let ours = Double(String(decoding: number.bytes, as: UTF8.self))
        else { return false }
        return abs(ours - oracle) <= abs(ours) * 1e-14
    }

    private func agree(elements: [JSON.Value], _ oracle: [Any]?) -> Bool {
        guard let oracle, oracle.count == elements.count else { return false }
        return zip(elements, oracle).allSatisfy { agree($0, $1) }
    }

    private func agree(
        members: JSON.Members,
        _ oracle: [String: Any]?
    ) -> Bool {
        // Swift's String, and so Foundation's dictionary, takes names that are canonically
        // equivalent in Unicode for one; the texts made here have none.
        guard let oracle, oracle.count == members.count else { return false }
        return members.allSatisfy { member in
            guard let name = member.name.text, let other = oracle[name] else { return false }
            return agree(member.value, other)
        }
    }
}

/// Makes JSON texts of all kinds of values, and damages them.
enum RandomJSON {
    static func text(using generator: inout SeededGenerator) -> String {
        value(depth: 0, using: &generator)
    }

    static func damage(_ bytes: inout [UInt8], using generator: inout SeededGenerator) {
        let alphabet = Array("{}[]\",:\\u0019aeE+-.tfn \n".utf8) + [0x00, 0x1f, 0x80, 0xc3, 0xa9]
        for _ in 0..<Int.random(in: 1...2, using: &generator) {
            let position = Int.random(in: 0...bytes.count, using: &generator)
            let byte = alphabet.randomElement(using: &generator) ?? 0
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: bytes.insert(byte, at: position)
            case 1 where position < bytes.count: bytes[position] = byte
            default: if position < bytes.count { bytes.remove(at: position) }
            }
        }
    }

    private static func value(depth: Int, using generator: inout SeededGenerator) -> String {
        let space = [" ", "", "", "\n\t"].randomElement(using: &generator) ?? ""
        switch Int.random(in: 0..<(depth < 4 ? 7 : 5), using: &generator) {
        case 0: return ["null", "true", "false"].randomElement(using: &generator) ?? "null"
        case 1, 2: return number(using: &generator)
        case 3, 4: return string(using: &generator)
        case 5:
            let elements = (0..<Int.random(in: 0..<5, using: &generator)).map { _ in
                value(depth: depth + 1, using: &generator)
            }
            return "[" + space + elements.joined(separator: "," + space) + space + "]"
        default:
            let members = (0..<Int.random(in: 0..<5, using: &generator)).map { index in
                let name = string(using: &generator).dropFirst()
                return "\"\(index)\(name):" + value(depth: depth + 1, using: &generator)
            }
            return "{" + members.joined(separator: space + ",") + "}" + space
        }
    }

    private static func number(using generator: inout SeededGenerator) -> String {
        let sign = Bool.random(using: &generator) ? "-" : ""
        let whole = String(UInt64.random(in: 0...UInt64.max, using: &generator) >> 11)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return sign + whole
        case 1: return sign + whole.prefix(5) + "." + whole
        case 2: return sign + whole.prefix(3) + "e-12"
        default: return "0.25E+3"
        }
    }

    private static func string(using generator: inout SeededGenerator) -> String {
        let pieces = [
            "a", "Z", "0", " ", "é", "€", "😀", "\\n", "\\\"", "\\\\", "\\/", "\\u00e9",
            "\\ud83d\\ude00", "abcdefgh", "signedDate",
        ]
        let text = (0..<Int.random(in: 0..<8, using: &generator)).map { _ in
            pieces.randomElement(using: &generator) ?? ""
        }
        return "\"" + text.joined() + "\""
    }
}
