import AppStore
import Testing

/// Which part of a refused payload is kept, and which is not.
@Suite struct SecretFreeBodyTests {
    private static let secret = "0123456789abcdef0123456789abcdef"

    private func kept(_ text: String, secret: String? = nil) -> String? {
        SecretFreeBody.redacted(Array(text.utf8), secrets: [secret].compactMap { $0 }).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test(arguments: [
        ("{\"password\":\"S\"}", "{\"password\":\"\"}"),
        (
            "{ \"a\" : 1, \"password\" : \"S\" , \"b\":2 }",
            "{ \"a\" : 1, \"password\" : \"\" , \"b\":2 }"
        ),
        ("{\"a\":[{\"b\":{\"password\":\"S\"}},1]}", "{\"a\":[{\"b\":{\"password\":\"\"}},1]}"),
        (
            "[{\"password\":\"S\"},{\"password\":\"S\"}]",
            "[{\"password\":\"\"},{\"password\":\"\"}]"
        ),
        ("{\"p\\u0061ssword\":\"S\"}", "{\"p\\u0061ssword\":\"\"}"),
        (
            "{\"\\u0070\\u0041\\u0053sw\\u006Frd\":\"S\"}",
            "{\"\\u0070\\u0041\\u0053sw\\u006Frd\":\"\"}"
        ),
        ("{\"PassWord\":\"S\"}", "{\"PassWord\":\"\"}"),
        ("{\"shared_password_2\":\"S\"}", "{\"shared_password_2\":\"\"}"),
        ("{\"password\":[\"S\",{\"x\":\"S\"}],\"b\":1}", "{\"password\":\"\",\"b\":1}"),
        ("{\"password\":{\"value\":\"S\"}}", "{\"password\":\"\"}"),
        ("{\"password\":12345678901,\"b\":null}", "{\"password\":\"\",\"b\":null}"),
        ("{\"password\":\"a\\\"b\",\"b\":1}", "{\"password\":\"\",\"b\":1}"),
        ("\n {\"password\":\"S\"}\n", "\n {\"password\":\"\"}\n"),
        ("{\"password\":\"\"}", "{\"password\":\"\"}"),
    ])
    func `a member named like a password is blanked, and the rest keeps its bytes`(
        body: String,
        expected: String
    ) {
        let body = body.replacing("S", with: Self.secret)
        #expect(kept(body) == expected.replacing("S", with: Self.secret))
        #expect(kept(body)?.contains(Self.secret) == false)
    }

    @Test(arguments: [
        // Text that is not JSON, truncated JSON, or JSON that is refused as such.
        "{\"password\":\"S\"", "{\"p\\u0061ssword\":\"S", "password=S&receipt-data=x",
        "p%61ssword=S", "<key>password</key><string>S</string>", "x password S",
        "{\"password\":\"S\",\"password\":\"S\"}", "{\"PassWord\": S}",
        String(repeating: "[", count: 40) + "{\"password\":\"S\"}"
            + String(repeating: "]", count: 40),
        // In a text, where its end is unknown.
        "{\"body\":\"{\\\"password\\\":\\\"S\\\"}\"}", "[\"password S\"]",
        "{\"body\":\"{\\\"p\\\\u0061ssword\\\":\\\"S\\\"}\"}",
        // The same secret again under another name.
        "{\"password\":\"S\",\"copy\":\"S\"}",
    ])
    func `nothing is kept if a secret cannot be separated from the rest`(body: String) {
        #expect(kept(body.replacing("S", with: Self.secret)) == nil)
    }

    @Test func `a password between zero bytes is detected`() {
        for text in ["{\"password\":\"x\"}", "{\"p\\u0061ssword\":\"x\"}"] {
            #expect(SecretFreeBody.redacted(text.utf8.flatMap { [$0, 0] }, secrets: []) == nil)
            #expect(SecretFreeBody.redacted(text.utf8.flatMap { [0, $0] }, secrets: []) == nil)
        }
    }

    @Test func `a password inside base64 is detected at every alignment and depth`() {
        let body = Array("{\"password\":\"\(Self.secret)\"}".utf8)
        for prefix in ["", "a", "ab", "abc", "abcd", "{\"receipt-data\":\"", "x."] {
            for isURL in [false, true] {
                var text = body
                for _ in 0..<3 {
                    text = Array(base64(text, isURL: isURL).utf8)
                    let whole = Array(prefix.utf8) + text
                    #expect(
                        SecretFreeBody.redacted(whole, secrets: []) == nil,
                        "\(prefix) \(isURL)"
                    )
                }
            }
        }
    }

    @Test func `a known secret is searched for under any name`() {
        let body = "{\"token\":\"\(Self.secret)\"}"
        #expect(kept(body) == body)
        #expect(kept(body, secret: Self.secret) == nil)
        #expect(kept("{\"token\":\"x\"}", secret: Self.secret) == "{\"token\":\"x\"}")
        #expect(kept("{}", secret: "") == "{}")
    }

    @Test(arguments: [
        "", " ", "{}", "{\"a\":1", "passwor", "pass word", "\u{0}\u{1}", "eyJhbGciOi",
    ])
    func `a payload that mentions no password is kept unchanged`(body: String) {
        #expect(kept(body) == body)
    }

    private func base64(_ bytes: [UInt8], isURL: Bool) -> String {
        let alphabet = Array(
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                + (isURL ? "-_" : "+/")).utf8
        )
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            var group = part.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            group <<= UInt32(8 * (3 - part.count))
            for place in 0...part.count {
                text.append(alphabet[Int(group >> UInt32(18 - 6 * place)) & 63])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    @Test func `a payload with very many passwords is not kept and costs only its size`() {
        let members = (0..<20_000).map { "{\"password\":\"secret-\($0 + 1_000_000)\"}" }
        #expect(kept("[\(members.joined(separator: ","))]") == nil)
    }
}
