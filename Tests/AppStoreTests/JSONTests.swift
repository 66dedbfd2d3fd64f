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
    func `a whole number is read without rounding in every notation`(
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
    func `milliseconds lose only their fraction`(text: String, number: Int64?) throws {
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
    func `texts that RFC 8259 does not allow are refused`(text: String, reason: JSON.Reason) {
        #expect(failure(text) == reason)
    }

    @Test func `bytes that are not UTF-8 are refused`() {
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

    @Test func `depth, size and length of numbers are limited`() {
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

    @Test func `random texts mean the same as in Foundation`() throws {
        let seed: UInt64 = 4711
        var generator = SeededGenerator(seed: seed)
        for round in 0..<600 {
            let text = RandomJSON.text(using: &generator)
            let root = try JSON(Array(text.utf8)).root
            let oracle = try JSONSerialization.jsonObject(
                with: Data(text.utf8),
                options: .fragmentsAllowed
            )
            #expect(JSONOracle.agree(root, oracle), "round \(round), seed \(seed): \(text)")
            let again = try JSON(root.canonicalText).root
            #expect(
                JSONOracle.agree(again, oracle),
                "canonical, round \(round), seed \(seed): \(text)"
            )
        }
    }

    @Test func `a damaged text that Foundation refuses is never accepted`() throws {
        let seed: UInt64 = 815
        var generator = SeededGenerator(seed: seed)
        var (accepted, refused) = (0, 0)
        for round in 0..<4000 {
            var bytes = Array(RandomJSON.text(using: &generator).utf8)
            RandomJSON.damage(&bytes, using: &generator)
            let note = "round \(round), seed \(seed): \(String(decoding: bytes, as: UTF8.self))"
            switch JSONOracle.judge(bytes) {
            case .bothAccept: accepted += 1
            case .bothRefuse: refused += 1
            case .knownDifference: break
            case .disagree(let why): Issue.record("\(why), \(note)")
            }
        }
        #expect(accepted > 300 && refused > 300, "the mixture must test both sides")
    }
}
