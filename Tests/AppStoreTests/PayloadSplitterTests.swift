import Testing

@testable import AppStore

struct PayloadSplitterTests {
    private func split(_ text: String, chunk: Int? = nil) -> [String] {
        let bytes = Array(text.utf8)
        var splitter = PayloadSplitter()
        var pieces: [PayloadSplitter.Piece] = []
        var position = 0
        while position < bytes.count {
            let end = min(bytes.count, position + (chunk ?? bytes.count))
            pieces += splitter.append(bytes[position..<end])
            position = end
        }
        pieces += splitter.finish()
        return pieces.map { piece in
            switch piece {
            case .success(let bytes): String(decoding: bytes, as: UTF8.self)
            case .failure(let rejection): "! \(rejection.code.rawValue)"
            }
        }
    }

    private static let cases: [(String, [String])] = [
        ("", []), (" \n\t", []),
        ("{\"a\":1}", ["{\"a\":1}"]),
        ("{\n  \"a\": [1, {\"b\": \"}\\\"\"}]\n}\n", ["{\n  \"a\": [1, {\"b\": \"}\\\"\"}]\n}"]),
        ("{\"a\":1}\n{\"b\":2}\r\n\n{\"c\":3}", ["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"]),
        ("{\"a\":1}\n{\"b\":\n{\"c\":3}\n", ["{\"a\":1}", "{\"b\":", "{\"c\":3}"]),
        ("{\"a\":\n{\"b\":2}\n", ["{\"a\":", "{\"b\":2}"]),
        ("{\n\"a\":1}{\n\"b\":2}", ["{\n\"a\":1}", "{\n\"b\":2}"]),
        ("ey.b.c\ney.d.e\n", ["ey.b.c", "ey.d.e"]),
        ("ey.b.c", ["ey.b.c"]),
        ("{\"a\":1}\ney.d.e", ["{\"a\":1}", "ey.d.e"]),
        (
            "[\"ey.b.c\", {\"a\": [1,2]},\n{} , 12,null]",
            ["ey.b.c", "{\"a\": [1,2]}", "{}", "12", "null"]
        ),
        ("[]", []), ("[ [1], \"a\\/b\" ]", ["[1]", "a/b"]),
        // Receipts in base64: one on one line, and one over two lines.
        ("MIIABAECAwQ=\nMIIABAECAwQ=\n", ["MIIABAECAwQ=", "MIIABAECAwQ="]),
        ("MIIABAEC\nAwQ=\n", ["MIIABAEC\nAwQ="]),
        ("[{\"a\":1}", ["{\"a\":1}"]), ("[{\"a\":1", ["{\"a\":1"]),
        ("\u{feff}{\"a\":1}", ["{\"a\":1}"]),
        ("MIIB\nAAAA\n", ["! unsupported-format"]),
    ]

    @Test func `arrays and lines are split, and anything else is one payload`() {
        for (text, expected) in PayloadSplitterTests.cases {
            #expect(split(text) == expected, "\(text)")
        }
    }

    @Test func `chunk boundaries make no difference`() {
        for (text, expected) in PayloadSplitterTests.cases {
            for chunk in 1...7 { #expect(split(text, chunk: chunk) == expected, "\(text)") }
        }
    }

    @Test func `a payload above the limit is refused, and those after it are read`() {
        let long = String(repeating: "x", count: AppStoreVerifier.payloadByteCountMax)
        let expected = ["{\"a\":1}", "! payload-too-large", "{\"b\":2}"]
        #expect(split("{\"a\":1}\n{\"l\":\"\(long)\"}\n{\"b\":2}\n", chunk: 1 << 20) == expected)
        #expect(split("[{\"a\":1},{\"l\":\"\(long)\"},{\"b\":2}]", chunk: 1 << 20) == expected)
    }

    @Test func `one object of more than a million bytes is one payload`() {
        let text = "{\"l\":\"" + String(repeating: "x", count: 3 << 20) + "\"}"
        #expect(split(text, chunk: 1 << 16).count == 1)
    }
}
