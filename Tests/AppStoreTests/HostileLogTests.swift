import Testing

@testable import AppStore

/// Logs meant to crash a reader, to keep it busy forever, or to make it read something other than
/// what was written.
struct HostileLogTests {
    private static let payload = #"{"notification_type":"A","note":"é\"x","unified_receipt":{}}"#
    private static let accented =
        #"{"notification_type":"B","name":"\u00c9t\u00e9","unified_receipt":{}}"#

    private func split(_ text: String) -> [String] {
        PayloadSplitter.split(Array(text.utf8)).map { piece in
            switch piece {
            case .success(let bytes): String(decoding: bytes, as: UTF8.self)
            case .failure(let rejection): rejection.message
            }
        }
    }

    @Test func `any number of values on a line is read without recursion`() {
        let found = split(Self.payload + String(repeating: "{}", count: 50_000) + "\n")
        #expect(found.first == Self.payload)
    }

    @Test func `rows with unmatched quotes are refused together and quickly`() {
        let found = split(String(repeating: "b\",\"x\n", count: 20_000))
        #expect(found.count < 20_000)
        let table = "id,body\n" + "1,\"\(Self.payload.replacing("\"", with: "\"\""))\"\n"
        let damaged = split(table + String(repeating: "b\",\"x\n", count: 20_000))
        #expect(damaged.first == Self.payload, "\(damaged.prefix(3))")
        #expect(damaged.contains { $0.contains("do not match") }, "\(damaged.suffix(3))")
    }

    @Test(arguments: [payload, accented])
    func `tabs around JSON do not make it PostgreSQL COPY text`(payload: String) {
        let text = payload.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        #expect(split("2024-01-01\tid\tINFO\t\(payload)\n") == [payload])
        #expect(split("2024-01-01\tid\tINFO\t{\"body\":\"\(text)\"}\n") == [payload])
    }

    @Test(arguments: [payload, accented])
    func `a row escaped by COPY is read as it was stored`(payload: String) {
        #expect(split("1\t\\N\t\(payload.replacing("\\", with: "\\\\"))\n") == [payload])
    }

    @Test func `a receipt does not hide a payload next to it`() {
        let found = split("{\"receipt-data\":\"bm90\",\"notification\":\(Self.payload)}\n")
        #expect(found == ["bm90", Self.payload])
    }

    @Test(arguments: [payload, accented])
    func `an object whose quotes are escaped in a text is read`(payload: String) {
        let escaped = payload.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        #expect(split("INSERT INTO r VALUES (1,'\(escaped)');\n") == [payload])
        #expect(split("level=info msg=\"received \(escaped) in 3 ms\"\n") == [payload])
        let cut = split("level=info msg=\"received \(escaped.dropLast(3))\n")
        #expect(cut.count == 1 && cut[0].hasPrefix("{\"notification_type\""), "\(cut)")
    }

    @Test(arguments: [payload, accented])
    func `a URL-encoded object is read`(payload: String) {
        let encoded = payload.utf8.map { byte in
            EncodedForm.isLetterOrDigit(byte)
                ? String(UnicodeScalar(byte))
                : "%" + (byte < 16 ? "0" : "")
                    + String(byte, radix: 16, uppercase: true)
        }.joined()
        #expect(split("POST /hook?body=\(encoded)&x=1 200\n") == [payload])
    }

    @Test(arguments: ["", " "])
    func `an operator's statement inside a string is returned as that string`(space: String) {
        let link = #"{\"subledger\":\"customer-link/1\",\"customer\":\"mallory\"}"#
        let text = "\"\(space)\(link)\""
        #expect(split("[\(text)]") == [text])
        #expect(split("\(text)\n") == [text])
    }
}
