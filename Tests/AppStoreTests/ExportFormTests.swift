import Events
import Testing

@testable import AppStore

/// Dumps of databases, logs of frameworks and of containers: no payload may be lost in them.
struct ExportFormTests {
    private func expect(
        _ file: [UInt8],
        _ expected: [String],
        chunks: [Int?] = [nil, 1009],
        location: SourceLocation = #_sourceLocation
    ) {
        for chunk in chunks {
            let split = LogSamples.split(file, column: nil, chunk: chunk)
            #expect(
                split.pieces.map { $0.prefix(200) } == expected.map { $0.prefix(200) },
                "in chunks of \(chunk ?? 0)",
                sourceLocation: location
            )
            #expect(split.pieces == expected, "bytes changed", sourceLocation: location)
        }
    }

    private func expect(
        _ file: String,
        _ expected: [String],
        location: SourceLocation = #_sourceLocation
    ) {
        expect(Array(file.utf8), expected, location: location)
    }

    @Test func `all rows of an INSERT with escaped quotes are found`() {
        let payloads = (0..<300).map { "\(LogSamples.statusUpdate.dropLast()),\"n\":\($0)}" }
        let rows = payloads.map { "(7,'\(Self.escaped($0))',NULL)" }
        let line = "INSERT INTO `hook` VALUES \(rows.joined(separator: ","));\n"
        expect(Array(line.utf8), payloads, chunks: [nil])
    }

    @Test func `bytes in hexadecimal are found, whatever byte they end with`() throws {
        let text = LogSamples.hex(LogSamples.receiptBytes)
        let found = LogSamples.base64(LogSamples.receiptBytes)
        for line in [
            "INSERT INTO t VALUES (1,'\\x\(text)');", "INSERT INTO t VALUES (1,0x\(text));",
            "INSERT INTO t VALUES (1,X'\(text)');",
        ] {
            let pieces = PayloadSplitter.split(Array("\(line)\n".utf8))
            #expect(
                pieces.map { LogSamples.base64((try? $0.get()) ?? []) } == [found],
                "\(line.prefix(40))"
            )
        }
        // A sequence with the type of signed data, and in it any last byte.
        for last in UInt8.min...UInt8.max {
            let head: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02]
            let body = head + [UInt8](repeating: 7, count: 200) + [last]
            let receipt = [0x30, 0x81, UInt8(body.count)] + body
            for line in [
                "1\t\\\\x\(LogSamples.hex(receipt))\n", "id,raw\n1,\\x\(LogSamples.hex(receipt))\n",
            ] {
                let pieces = PayloadSplitter.split(Array(line.utf8))
                #expect(try pieces.map { try $0.get() } == [receipt], "last byte \(last)")
            }
        }
    }

    @Test func `a JWS is found in the hashes of Ruby and Elixir and in documents of a shell`() {
        let jws = LogSamples.jws
        let lines = [
            "Parameters: {\"signedPayload\"=>\"\(jws)\"}", "{\"signedPayload\"=>\"\(jws)\"}",
            "Parameters: {\"signedPayload\" => \"\(jws)\"}", "%{\"signedPayload\" => \"\(jws)\"}",
            "{ _id: ObjectId(\"65a0\"), at: ISODate(\"2026-01-02\"), signedPayload: \"\(jws)\" }",
            "{ \"_id\" : ObjectId(\"65a0\"), \"signedPayload\" : \"\(jws)\" }",
            "signedPayload=\(jws.replacing(".", with: "%2E"))", "signedPayload=\(jws)&x=1",
        ]
        for line in lines {
            expect("got a request\n\(line)\nCompleted 200 OK\n", [jws])
        }
    }

    @Test func `what nothing proves is refused whole if it is not JSON`() {
        let hash =
            "{\"notification_type\"=>\"DID_RENEW\", \"latest_receipt\"=>\"\(LogSamples.receipt)\"}"
        expect("\(hash)\n", [LogSamples.receipt, hash])
    }

    @Test func `a request in a form gives its receipt`() {
        let encoded = LogSamples.receipt.replacing("+", with: "%2B").replacing("/", with: "%2F")
            .replacing("=", with: "%3D")
        expect("POST receipt-data=\(encoded)&password=x 200\n", [LogSamples.receipt])
    }

    @Test func `the escapes of nginx are removed`() {
        let escaped = LogSamples.statusUpdate.replacing("\\", with: "\\x5C")
            .replacing("\"", with: "\\x22")
        expect("1.2.3.4 - \"POST / HTTP/1.1\" 200 \"\(escaped)\"\n", [LogSamples.statusUpdate])
        expect("\(escaped)\n", [LogSamples.statusUpdate])
    }

    @Test func `lines that a container runtime cut are joined`() {
        let payload = LogSamples.notification
        let (first, rest) = (String(payload.prefix(900)), String(payload.dropFirst(900)))
        let docker = [first, rest + "\n"].map {
            "{\"log\":\(LogSamples.quoted($0)),\"stream\":\"stdout\",\"time\":\"2026-01-02T03:04:05Z\"}\n"
        }
        let other = "{\"log\":\"x\\n\",\"stream\":\"stderr\",\"time\":\"2026-01-02T03:04:05Z\"}\n"
        expect(other + docker[0] + other + docker[1] + other, [payload])
        let cri =
            "2026-01-02T03:04:05.1Z stdout P got \(first)\n"
            + "2026-01-02T03:04:05.1Z stderr F x\n2026-01-02T03:04:05.1Z stdout F \(rest)\n"
        expect(cri + cri, [payload, payload])
        // A part without its end is refused by name.
        let pieces = LogSamples.split(docker[0], chunk: nil)
        #expect(pieces.count == 1 && pieces[0].contains(first.prefix(400)))
    }

    @Test func `a JWS in lines of 76 letters is joined`() {
        let jws = LogSamples.jws
        for width in [64, 76] {
            var broken = LogSamples.broken(jws, every: width)
            if broken.last != "\n" { broken += "\n" }
            expect(broken + broken + "done\n", [jws, jws])
        }
    }

    @Test func `text in UTF-16 is read like the same in UTF-8`() {
        let file = "id,payload,note\n1,\(LogSamples.cell(LogSamples.notification)),😀é\n"
        for isBig in [false, true] {
            let bytes = (["\u{feff}"] + file.map(String.init)).joined().utf16.flatMap { unit in
                let (high, low) = (UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit))
                return isBig ? [high, low] : [low, high]
            }
            expect(bytes, [LogSamples.notification])
        }
    }

    @Test func `archives and databases are refused by name, with the command that unpacks them`() {
        let files: [([UInt8], String)] = [
            ([0x50, 0x4b, 3, 4], "unzip"), (Array("BZh91AY".utf8), "bzcat"),
            ([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0], "xzcat"),
            (Array("SQLite format 3\0".utf8), "sqlite3"),
            (Array("PGDMP".utf8), "pg_restore"),
        ]
        for (start, command) in files {
            let content = start + [0, 1, 2] + Array("\n\(LogSamples.notification)\n".utf8)
            let verifier = PayloadSplitter.split(content)
            #expect(verifier.count == 1)
            let text = (try? verifier[0].get()) ?? []
            #expect(ForeignFormat.rejection(of: text[...]).message.contains("`\(command) "))
        }
    }

    // As mysqldump does.
    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            .replacing("'", with: "\\'")
    }
}
