import Events
import Testing

@testable import AppStore

/// Every way in which logs, tables and databases store payloads; the bytes must be recovered
/// exactly.
struct LogFormTests {
    private typealias Samples = LogSamples

    private func expect(
        _ file: String,
        _ expected: [String],
        column: String? = nil,
        skippedCount: Int = 0,
        location: SourceLocation = #_sourceLocation
    ) {
        let bytes = Array(file.utf8)
        for chunk in [nil, 1009, 64] {
            let split = LogSamples.split(bytes, column: column, chunk: chunk)
            #expect(
                split.pieces.map { $0.prefix(300) } == expected.map { $0.prefix(300) },
                "in chunks of \(chunk ?? 0): \(file.prefix(300))",
                sourceLocation: location
            )
            #expect(split.pieces == expected, "bytes changed", sourceLocation: location)
            #expect(split.skippedCount == skippedCount, "passed over", sourceLocation: location)
        }
    }

    @Test func `text before and after a payload is not part of it`() {
        for payload in LogSamples.all {
            let prefixes = [
                "2026-01-02T03:04:05Z INFO ", "[2026-01-02 03:04:05,123] [web-1] DEBUG body: ",
                "<134>Jan  2 03:04:05 host app[12]: ", "level=info code=200 payload=",
                "I0102 03:04:05.000 12 hook.go:7] ", "App 411 output: {pool} => ",
            ]
            for prefix in prefixes {
                let line = prefix + payload + " status=200 12ms"
                expect("\(prefix)starts\n\(line)\n\nat a.b(C:3)\n", [payload], skippedCount: 2)
            }
        }
    }

    @Test(arguments: [48, 60, 64, 76])
    func `base64 of gzip over several lines is joined, and ends where something else begins`(
        columns: Int
    ) {
        let payload = #"{"notification_type":"A","note":"é\"x","unified_receipt":{}}"#
        let packed =
            "H4sIAAAAAAACA6tWyssvyUzLTE4syczPiy+pLEhVslJyVNIBiY"
            + "OYh1fGKFUAuaV5QFWpKfFFqcmpmQUlSlbVtbUAe52jcD0AAAA="
        let lines = stride(from: 0, to: packed.count, by: columns).map {
            String(packed.dropFirst($0).prefix(columns))
        }
        for end in ["\n", "\r\n"] {
            let text = lines.map { $0 + end }.joined()
            expect(text, [payload])
            expect("10:00 a\(end)\(text)10:01 b\(end)\(text)", [payload, payload], skippedCount: 2)
            expect("\(text)\(payload)\(end)", [payload, payload])
            // One that is cut off is refused, and leaves the others.
            let cut: [String] = LogSamples.split("\(payload)\(end)\(lines[0])\(end)\(text)")
            #expect(
                cut.filter { $0 == payload || $0.hasPrefix("!") }
                    == [payload, "! unsupported-format", payload]
            )
        }
        let many = String(repeating: lines[0] + "\n", count: 2000)
        let found: [String] = LogSamples.split(many)
        #expect(found.count { $0 == "! unsupported-format" } == 2000)
    }

    @Test func `an escaped object inside quotes in a text is found`() {
        let line = "msg=\"got\" body=\(LogSamples.quoted(LogSamples.statusUpdate)) status=200"
        expect("\(line)\n", [LogSamples.statusUpdate])
    }

    @Test func `an object printed over many lines after a prefix is found`() {
        let file = """
            10:00:00 INFO received {
              "signedPayload" : "\(LogSamples.jws)"
            } in 12 ms
            10:00:01 INFO done {
            10:00:02 INFO \(LogSamples.notification)

            """
        let printed = "{\n  \"signedPayload\" : \"\(LogSamples.jws)\"\n}"
        expect(file, [printed, LogSamples.notification], skippedCount: 1)
    }

    @Test func `a payload inside a record is found in any member`() {
        for payload in LogSamples.all {
            let value = LogSamples.value(payload)
            let text = LogSamples.quoted(payload)
            let encoded = LogSamples.quoted(LogSamples.base64(Array(payload.utf8)))
            let records = [
                "{\"status\":200,\"response\":\(value)}",
                "{\"body\":\(text),\"isBase64Encoded\":false}",
                "{\"isBase64Encoded\":true,\"body\":\(encoded)}",
                "{\"a\":[{\"b\":{\"c\":\(value)}}]}",
                "{\"log\":\(LogSamples.quoted("INFO body=\(payload) 12ms\n")),\"stream\":\"stdout\"}",
                "{\"Records\":[{\"Sns\":{\"Message\":\(LogSamples.quoted("{\"body\":\(text)}"))}}]}",
                "{\"_id\":{\"$oid\":\"65a0c0ffee0123456789abcd\"},\"payload\":\(value)}",
                "{\"Item\":{\"id\":{\"S\":\"1\"},\"payload\":{\"S\":\(text)}}}",
                "{\"fields\":{\"payload\":{\"stringValue\":\(text)}},\"name\":\"n\"}",
            ]
            for record in records {
                expect(record, [payload])
                expect("\(record)\n\(record)\n", [payload, payload])
                expect("[\(record),\n \(record)]", [payload, payload])
            }
        }
    }

    @Test func `the type annotations of a database are removed`() {
        let plain =
            "{\"notification_type\":\"DID_RENEW\",\"n\":12,\"b\":true,\"l\":[\"x\",{}],\"z\":null}"
        let typed = [
            """
            {"_id":{"$oid":"65a0"},"p":{"notification_type":"DID_RENEW","n":{"$numberLong":"12"},\
            "b":true,"l":["x",{}],"z":null}}
            """,
            """
            {"Item":{"p":{"M":{"notification_type":{"S":"DID_RENEW"},"n":{"N":"12"},\
            "b":{"BOOL":true},"l":{"L":[{"S":"x"},{"M":{}}]},"z":{"NULL":true}}}}}
            """,
            """
            {"name":"d","fields":{"p":{"mapValue":{"fields":{"notification_type":\
            {"stringValue":"DID_RENEW"},"n":{"integerValue":"12"},"b":{"booleanValue":true},\
            "l":{"arrayValue":{"values":[{"stringValue":"x"},{"mapValue":{}}]}},\
            "z":{"nullValue":null}}}}}}
            """,
        ]
        for record in typed { expect(record, [plain]) }
        // A payload that is itself a document keeps what the database added.
        expect(
            "{\"_id\":{\"$oid\":\"65a0\"},\"notification_type\":\"X\"}\n",
            ["{\"_id\":\"65a0\",\"notification_type\":\"X\"}"]
        )
    }

    @Test
    func `the cells of a table that hold payloads are read, even if quoted over many lines`() {
        for payload in LogSamples.all {
            let printed =
                payload.hasPrefix("{") ? "{\r\n \"x\":\"\"," + payload.dropFirst() : payload
            for delimiter in [",", ";", "\t", "|"] {
                let row = ["7", LogSamples.cell(printed), "\"a \"\"note\"\"\""]
                let file =
                    ["id", "payload", "note"].joined(separator: delimiter) + "\r\n"
                    + row.joined(separator: delimiter) + "\r\n"
                    + ["8", "", "x"].joined(separator: delimiter) + "\r\n"
                    + row.joined(separator: delimiter)
                expect(file, [printed, printed], skippedCount: 1)
                expect(file, [printed, printed], column: "payload", skippedCount: 1)
            }
        }
        let hex = "id,raw\n1,\\x\(LogSamples.hex(LogSamples.notification.utf8))\n"
        expect(hex, [LogSamples.notification])
        expect("1,\(LogSamples.jws),x\n2,\(LogSamples.jws),y\n", [LogSamples.jws, LogSamples.jws])
        expect("payload\n\(LogSamples.cell(LogSamples.notification))\n", [LogSamples.notification])
    }

    @Test func `if a column is named, only that column is read`() {
        let other = LogSamples.notifications[1]
        let file =
            "id,a,b\n1,\(LogSamples.cell(LogSamples.notification)),\(LogSamples.cell(other))\n"
        expect(file, [LogSamples.notification, other])
        expect(file, [other], column: "b")
        expect(file + "2,x,broken\n", [other, "broken"], column: "B")
        expect("id,a\n1,x\n", ["! unsupported-format"], column: "b", skippedCount: 2)
        expect(file, ["! unsupported-format"], column: "c")
        let refused = PayloadSplitter.split(Array(file.utf8), column: "c").first
        guard case .failure(let reason)? = refused else {
            Issue.record("the file was accepted")
            return
        }
        #expect(
            reason.message
                == "The table has no column c, so it was not read; its columns are id, a, b."
        )
    }

    @Test func `the rows of COPY are read from a dump and from a file without a header`() {
        let escaped = LogSamples.statusUpdate.replacing("{\"", with: "{ \"x\":\"a\\\\b\\\"\",\"")
        let rows = """
            1\t\(LogSamples.copied(escaped))\t\\N
            2\t\\N\t\\\\x\(LogSamples.hex(LogSamples.notification.utf8))
            3\t\\N\t\\N

            """
        expect(rows, [escaped, LogSamples.notification], skippedCount: 1)
        let dump = """
            -- PostgreSQL database dump
            SET client_encoding = 'UTF8';

            COPY public.hook (id, "body", raw) FROM stdin;
            \(rows)\\.

            COPY public.other (id, secret) FROM stdin;
            1\t\(LogSamples.jws)
            \\.

            -- PostgreSQL database dump complete

            """
        expect(dump, [escaped, LogSamples.notification, LogSamples.jws], skippedCount: 4)
        expect(dump, [LogSamples.notification], column: "raw", skippedCount: 6)
    }

    @Test func `a verifyReceipt request gives its receipt and never its password`() {
        let request =
            "{\"receipt-data\":\"\(LogSamples.receipt)\",\"password\":\"\(LogSamples.secret)\","
            + "\"exclude-old-transactions\":true}"
        expect(request, [LogSamples.receipt])
        let line = "10:00 POST /verifyReceipt \(request) -> \(LogSamples.response)"
        expect("\(line)\n", [LogSamples.receipt, LogSamples.response])
        expect("{\"request\":\(LogSamples.quoted(request))}", [LogSamples.receipt])
        for chunk in [nil, 7] {
            let pieces = LogSamples.split(line, chunk: chunk)
            #expect(!pieces.contains { $0.contains(LogSamples.secret) })
        }
    }

    @Test func `lines of strings, and strings with any payload, give their content`() {
        let lines = LogSamples.all.map(LogSamples.quoted)
        expect(lines.joined(separator: "\n"), LogSamples.all)
        expect("[\(lines.joined(separator: ", "))]", LogSamples.all)
    }

    @Test
    func `receipts over several lines, byte order marks and printed objects may share one file`() {
        let broken = LogSamples.broken(LogSamples.receipt)
        let printed = "{\r\n  \"signedPayload\": \"\(LogSamples.jws)\"\r\n}"
        let mark = "\u{feff}"
        let file =
            "\(mark)\(LogSamples.notification)\r\n\(printed)\r\n\(mark)\(broken)\r\n\(broken)\r\n\r\n"
            + "\(mark)\(LogSamples.jws)\r\n\(printed)\(LogSamples.notification)\r\n\(broken)"
        let lines = broken.replacing("\r\n", with: "\n")
        expect(
            file,
            [
                LogSamples.notification, printed, lines, lines, LogSamples.jws, printed,
                LogSamples.notification, lines,
            ]
        )
        expect("\(broken)\n\n\(broken)\n", [lines, lines])
    }
}
