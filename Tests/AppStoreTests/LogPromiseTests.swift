import Events
import Testing

@testable import AppStore

/// What must never happen with any log: a payload read twice, read in part, or lost silently.
struct LogPromiseTests {
    @Test func `a payload that occurs twice in a line is read once`() {
        let payload = LogSamples.statusUpdate
        let lines = [
            "{\"raw\":\(LogSamples.quoted(payload)),\"parsed\":\(payload)}",
            "10:00 got \(payload) again \(payload)",
            "{\"old\":{\"p\":{\"S\":\(LogSamples.quoted(payload))}},"
                + "\"new\":{\"p\":{\"S\":\(LogSamples.quoted(payload))}}}",
        ]
        for line in lines {
            #expect(LogSamples.split("\(line)\n").count == 1, "\(line.prefix(60))")
        }
        let both = "{\"body\":\(LogSamples.notification),\"jws\":\"\(LogSamples.jws)\"}"
        #expect(LogSamples.split(both) == [LogSamples.notification])
        // A second line is a second arrival.
        #expect(LogSamples.split("\(lines[0])\n\(lines[0])\n").count == 2)
    }

    @Test func `a part of a payload is never read as a separate payload`() {
        let response =
            "{\"status\":0,\"receipt\":{\"bundle_id\":\"a.b\"},\"latest_receipt\":"
            + "\"\(LogSamples.receipt)\"}"
        for payload in [response, LogSamples.response, LogSamples.statusUpdate] {
            #expect(LogSamples.split(payload) == [payload])
            #expect(LogSamples.split("{\"response\":\(payload)}") == [payload])
            #expect(LogSamples.split("x y \(payload)\n") == [payload])
        }
    }

    @Test func `a certificate and a login token are not payloads`() throws {
        var login: [UInt8] = []
        Base64.encodeURLUnpadded(Array("{\"alg\":\"HS256\",\"typ\":\"JWT\"}".utf8)[...], to: &login)
        let token = "\(LogSamples.text(login)).eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
        let header = LogSamples.jws.prefix { $0 != "." }
        let decoded = try #require(Base64.decodeURLUnpadded(Array(header.utf8)[...]))
        let chain = try #require(try JSON(decoded).root["x5c"]?.elements.first?.text)
        let line = "10:00 Authorization: Bearer \(token) cert=\(chain)"
        #expect(LogSamples.split("\(line)\n\(LogSamples.jws)\n") == [LogSamples.jws])
        let record = "{\"token\":\"\(token)\",\"cert\":\"\(chain)\",\"p\":\"\(LogSamples.jws)\"}"
        #expect(LogSamples.split(record) == [LogSamples.jws])
    }

    @Test func `an operator's statement is not read from a log`() {
        let statement = "{\"subledger\":\"link\",\"customer\":\"mallory\"}"
        #expect(LogSamples.split(statement) == [statement])
        let line = "10:00 agent=\(LogSamples.quoted(statement)) \(statement) \(LogSamples.jws)"
        #expect(LogSamples.split("\(line)\n") == [LogSamples.jws])
        let record = "{\"agent\":\(statement),\"p\":\"\(LogSamples.jws)\"}"
        #expect(LogSamples.split(record) == [LogSamples.jws])
    }

    @Test func `a file without a payload is refused with its number of lines`() {
        let log = "10:00:00 INFO start\n10:00:01 INFO stop {now}\n"
        let split = LogSamples.split(Array(log.utf8))
        #expect(split.pieces == ["! unsupported-format"])
        #expect(split.skippedCount == 2)
        guard case .failure(let rejection) = PayloadSplitter.split(Array(log.utf8)).first else {
            Issue.record("the file was not refused")
            return
        }
        #expect(rejection.message.contains("none was found in 2 lines"))
        let records = "{\"time\":1,\"msg\":\"a\"}\n{\"time\":2,\"msg\":\"b\"}\n"
        #expect(LogSamples.split(records) == ["! unsupported-format"])
    }

    @Test func `a truncated payload is refused, and the lines after it are read`() {
        let (payload, other) = (LogSamples.notification, LogSamples.jws)
        for count in [40, 400, payload.utf8.count - 1] {
            let cut = String(payload.prefix(count))
            for line in [cut, "10:00 INFO body=\(cut)"] {
                let file = "10:00 INFO \(other)\n\(line)\n\(other)\n"
                #expect(LogSamples.split(file) == [other, cut, other], "\(line.prefix(60))")
            }
        }
        let receipt = String(LogSamples.receipt.prefix(1000))
        let file = "10:00 r=\(receipt)\n10:01 r=\(LogSamples.receipt)\n"
        #expect(LogSamples.split(file) == [receipt, LogSamples.receipt])
    }

    @Test func `a damaged row is refused with its line number, and the rows after it are read`() {
        let row = "1,\(LogSamples.cell(LogSamples.notification))"
        let bad = ["2,\"open", "3,\"a\"b", "4,\"x\ny\"z"]
        for line in bad {
            let file = "id,payload\n\(row)\n\(line)\n\(row)\n\(row)\n"
            let pieces = LogSamples.split(file)
            #expect(pieces.count { $0 == LogSamples.notification } == 3, "\(line)")
            #expect(pieces.contains("! unsupported-format"), "\(line)")
            for chunk in [1, 13, 1000] {
                #expect(LogSamples.split(file, chunk: chunk) == pieces, "\(line)")
            }
        }
    }

    @Test func `an unterminated line, row or quote is bounded`() {
        let long = String(repeating: "x", count: LineReader.lineByteCountMax + 1)
        let (log, row) = ("10:00 \(LogSamples.jws)", "1,\(LogSamples.cell(LogSamples.jws))")
        let files = [
            "\(log)\n10:01 \(long)\n\(log)\n", "a,b\n\(row)\n2,\"\(long)\"\n\(row)\n",
            "a,b\n\(row)\n2,\(long)\n\(row)\n",
        ]
        for file in files {
            #expect(
                LogSamples.split(file, chunk: 1 << 20)
                    == [LogSamples.jws, "! payload-too-large", LogSamples.jws]
            )
        }
    }

    @Test func `a hostile line is scanned in linear time`() {
        let parts = [
            "{\"a\":", "{\"", "\"{\"\"", "\"{\\\"", "eyJ", "MII", "[[", "{\n", "{\"a\":\"b",
        ]
        for part in parts {
            let text = String(repeating: part, count: 20_000 / part.utf8.count)
            _ = LogSamples.split("10:00 \(LogSamples.jws)\nx \(text)\n\(LogSamples.jws)\n")
            _ = LogSamples.split(text)
        }
        let long = "10:00 \(String(repeating: "x", count: 10 << 20)) \(LogSamples.jws)"
        #expect(LogSamples.split("\(long)\n", chunk: 1 << 18) == [LogSamples.jws])
    }

    @Test func `all of thousands of messages in one record are read`() {
        let messages =
            (0..<3000).map { LogSamples.quoted("10:00 \($0) {\"a\": [\($0)]} done") }
            + [LogSamples.quoted("10:01 body=\(LogSamples.statusUpdate)")]
        let record = "{\"events\":[\(messages.joined(separator: ","))]}"
        #expect(LogSamples.split(record) == [LogSamples.statusUpdate])
    }

    @Test func `lines in any order and form give each payload once, for any chunk size`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<60 {
            var (lines, expected): ([String], [String]) = ([], [])
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let payload = LogSamples.all.randomElement(using: &generator) ?? ""
                let value = LogSamples.value(payload)
                let forms = [
                    payload, "10:00 INFO body=\(payload) 200", "{\"level\":\"x\",\"p\":\(value)}",
                    LogSamples.quoted(payload), "1\t\(LogSamples.copied(payload))\t\\N",
                    "{\"p\":\(LogSamples.quoted(payload))}",
                ]
                lines.append(forms.randomElement(using: &generator) ?? "")
                expected.append(payload)
                let noise = ["", "10:01 DEBUG {x}", "\tat a.b.C(D.swift:12)", "\u{feff}"]
                lines.append(noise.randomElement(using: &generator) ?? "")
            }
            let file = lines.joined(separator: "\n")
            let chunk = Int.random(in: 1...5000, using: &generator)
            #expect(LogSamples.split(file) == expected, "seed \(seed)")
            #expect(LogSamples.split(file, chunk: chunk) == expected, "seed \(seed)")
        }
    }

    @Test func `damaged bytes give the same result for every chunking and lose no other line`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<60 {
            let payload = LogSamples.all.randomElement(using: &generator) ?? ""
            var damaged = Array("10:00 p=\(payload) {\"a\":\(LogSamples.value(payload))}".utf8)
            for _ in 0..<Int.random(in: 1...9, using: &generator) {
                let index = Int.random(in: damaged.indices, using: &generator)
                damaged[index] = UInt8.random(in: 11...255, using: &generator)
            }
            let line = Array("10:01 p=\(LogSamples.notification)\n".utf8)
            let file = line + damaged + [0x0a] + line
            let whole = LogSamples.split(file).pieces
            #expect(whole.first == LogSamples.notification, "seed \(seed)")
            #expect(whole.last == LogSamples.notification, "seed \(seed)")
            let chunk = Int.random(in: 1...5000, using: &generator)
            #expect(LogSamples.split(file, chunk: chunk).pieces == whole, "seed \(seed)")
        }
    }
}
