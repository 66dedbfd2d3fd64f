import Logging
import SubledgerHTTP
import Synchronization
import Testing

/// The service's log in the format for people.
struct TextLogTests {
    @Test func `no id can split a log line or forge its members`() {
        let lines = Mutex<[String]>([])
        var logger = Logger(label: "test") { _ in
            LineLogHandler(.text, level: .info) { line in lines.withLock { $0.append(line) } }
        }
        logger[metadataKey: "customer"] = "anna\r\n2026-01-01T00:00:00Z info audit question=access"
        logger.info(
            "asked\u{2028}twice",
            metadata: ["id": "a\" status=200", "path": "\\\"", "plain": "é-1", "bell": "\u{1B}[1m"]
        )
        let written = lines.withLock { $0 }
        #expect(written.count == 1)
        let line = written.first ?? ""
        #expect(!line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x2028 }, "\(line)")
        #expect(
            line.hasSuffix(
                #" info asked\u{2028}twice bell=\u{1B}[1m "#
                    + #"customer="anna\u{D}\u{A}2026-01-01T00:00:00Z info audit question=access" "#
                    + #"id="a\" status=200" path="\\\"" plain=é-1"#
            ),
            "\(line)"
        )
    }
}
