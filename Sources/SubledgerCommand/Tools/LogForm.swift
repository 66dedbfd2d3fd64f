import AppStore
import CommandSupport
import Events
import Subledger

/// A format in which logs, tables and databases store payloads.
enum LogForm: String, CaseIterable {
    case prefixed, syslog, records, gateway, table, dump, strings, printed, mongo, dynamo
    case firestore, rows, mysql, rails, nginx, docker, kubernetes, excel, cloudwatch

    /// The suffix of the file's name; its content is recognised without it.
    var ending: String {
        switch self {
        case .prefixed: "log.gz"
        case .syslog, .rails, .nginx, .docker, .kubernetes: "log"
        case .records, .strings, .cloudwatch: "ndjson"
        case .table, .excel: "csv"
        case .dump, .mysql: "sql"
        case .rows: "copy"
        case .dynamo: "json.gz"
        case .gateway, .printed, .mongo, .firestore: "json"
        }
    }

    /// A file of these payloads.
    func file(_ payloads: [LogPayload]) throws -> [UInt8] {
        switch self {
        case .prefixed:
            packed(payloads.map { "\($0.time) INFO  [hook-3] body=\($0.text) status=200" })
        case .syslog:
            lines(
                payloads.map {
                    "<134>Jan  2 03:04:05 web-1 app[411]: got \(quoted($0.text)) in 12ms"
                }
            )
        case .records: lines(payloads.map(record))
        case .gateway:
            Array("[\n\(payloads.map(answer).joined(separator: ",\n"))\n]\n".utf8)
        case .table: Array(table(payloads).utf8)
        case .excel:
            [0xff, 0xfe] + table(payloads).utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
        case .mysql:
            lines([
                "INSERT INTO `hook` VALUES "
                    + payloads.map { "(\($0.number),'\(backslashed($0.text))')" }
                    .joined(separator: ",") + ";"
            ])
        case .rails: lines(payloads.map { "  Parameters: \(hash($0.text))" })
        case .nginx:
            lines(payloads.map { "1.2.3.4 - - \"POST / HTTP/1.1\" 200 \"\(inHex($0.text))\"" })
        case .docker:
            lines(
                payloads.flatMap { payload in
                    parts("got \(payload.text)\n").map { part in
                        "{\"log\":\(quoted(part)),\"stream\":\"stdout\",\"time\":\"\(payload.time)\"}"
                    }
                }
            )
        case .kubernetes:
            lines(
                payloads.flatMap { payload in
                    let parts = parts("got \(payload.text)")
                    return parts.indices.map { index in
                        "\(payload.time) stdout \(index == parts.count - 1 ? "F" : "P") \(parts[index])"
                    }
                }
            )
        case .dump: dump(payloads)
        case .rows: lines(payloads.map { "\($0.number)\t\($0.time)\t\(escaped($0.text))\t\\N" })
        case .cloudwatch: lines(payloads.map(delivered))
        case .strings: lines(payloads.map { quoted($0.text) })
        case .printed: try printed(payloads)
        case .mongo: lines(try payloads.map(document))
        case .dynamo: GzipWriter.member(lines(try payloads.map(item)))
        case .firestore:
            Array("{\"documents\":[".utf8)
                + Array(try payloads.map(firestoreDocument).joined(separator: ",\n").utf8)
                + Array("]}\n".utf8)
        }
    }

    // A log that was rotated in the middle and joined again, with lines without a payload.
    private func packed(_ lines: [String]) -> [UInt8] {
        let start = ["2026-01-02T03:04:05.000Z INFO  [main] listening on {port: 8080}"]
        let half = lines.count / 2
        return GzipWriter.member(self.lines(start + lines.prefix(half)))
            + GzipWriter.member(self.lines(start + lines.dropFirst(half)))
    }

    private func table(_ payloads: [LogPayload]) -> String {
        "id,received_at,payload,note\r\n"
            + payloads.map { payload in
                "\(payload.number),\(payload.time),\(cell(payload.text)),\"a \"\"note\"\"\"\r\n"
            }
            .joined()
    }

    // As the runtimes of containers cut a line.
    private func parts(_ text: String) -> [String] {
        let bytes = Array(text.utf8)
        return stride(from: 0, to: bytes.count, by: 16_384).map { start in
            String(decoding: bytes[start..<min(start + 16_384, bytes.count)], as: UTF8.self)
        }
    }

    // As Rails prints a request with one parameter; others are printed as they came.
    private func hash(_ text: String) -> String {
        text.hasPrefix("{\"signedPayload\":\"")
            ? text.split(separator: "\":\"", maxSplits: 1).joined(separator: "\"=>\"") : text
    }

    private func backslashed(_ text: String) -> String {
        text.flatMap { "\\\"'".contains($0) ? ["\\", $0] : [$0] }.reduce(into: "") { $0.append($1) }
    }

    private func inHex(_ text: String) -> String {
        text.replacing("\\", with: "\\x5C").replacing("\"", with: "\\x22")
    }

    private func record(_ payload: LogPayload) -> String {
        let content = payload.isJSON ? payload.text : quoted(payload.text)
        return "{\"time\":\"\(payload.time)\",\"level\":\"info\",\"msg\":\"answered\","
            + "\"status\":200,\"response\":\(content)}"
    }

    private func answer(_ payload: LogPayload) -> String {
        let isEncoded = payload.number % 2 == 0
        let body =
            isEncoded ? "\"\(base64(Array(payload.text.utf8)))\"" : quoted(payload.text)
        return "{\"resource\":\"/hook\",\"isBase64Encoded\":\(isEncoded),\"body\":\(body)}"
    }

    // As CloudWatch hands a log on: base64 of gzip.
    private func delivered(_ payload: LogPayload) -> String {
        let message =
            "{\"messageType\":\"DATA_MESSAGE\",\"logEvents\":[{\"id\":\"\(payload.number)\","
            + "\"message\":\(quoted("INFO body=\(payload.text)"))}]}"
        let data = base64(GzipWriter.member(Array(message.utf8)))
        return "{\"awslogs\":{\"data\":\"\(data)\"}}"
    }

    private func dump(_ payloads: [LogPayload]) -> [UInt8] {
        lines(
            [
                "--", "-- PostgreSQL database dump", "--", "",
                "COPY public.hook (id, body, raw) FROM stdin;",
            ]
                + payloads.map { payload in
                    payload.number % 2 == 0
                        ? "\(payload.number)\t\(escaped(payload.text))\t\\N"
                        : "\(payload.number)\t\\N\t\\\\x\(hexadecimal(payload.bytes))"
                } + ["\\.", "", "", "-- PostgreSQL database dump complete"]
        )
    }

    private func printed(_ payloads: [LogPayload]) throws -> [UInt8] {
        try payloads.flatMap { payload -> [UInt8] in
            guard payload.isJSON else { return payload.brokenBase64 }
            let mark: [UInt8] = payload.number % 4 == 0 ? [0xef, 0xbb, 0xbf] : []
            let text =
                payload.number % 2 == 0 ? try LogJSON.printed(payload.bytes) : payload.bytes
            return mark + text + Array("\r\n".utf8)
        }
    }

    private func document(_ payload: LogPayload) throws -> String {
        let content =
            payload.isJSON
            ? try LogJSON.typed(payload.bytes, by: .mongo) : quoted(payload.text)
        return "{\"_id\":{\"$oid\":\"65a0c0ffee\(payload.number + 10_000_000_000_000)\"},"
            + "\"at\":{\"$date\":\"\(payload.time)\"},\"payload\":\(content)}"
    }

    private func item(_ payload: LogPayload) throws -> String {
        let content =
            payload.isJSON && payload.number % 2 == 0
            ? try LogJSON.typed(payload.bytes, by: .dynamo) : "{\"S\":\(quoted(payload.text))}"
        return "{\"Item\":{\"id\":{\"S\":\"\(payload.number)\"},\"payload\":\(content)}}"
    }

    private func firestoreDocument(_ payload: LogPayload) throws -> String {
        let content =
            payload.isJSON && payload.number % 2 == 0
            ? try LogJSON.typed(payload.bytes, by: .firestore)
            : "{\"stringValue\":\(quoted(payload.text))}"
        return "{\"name\":\"projects/p/databases/d/documents/h/\(payload.number)\","
            + "\"fields\":{\"payload\":\(content)},\"createTime\":\"\(payload.time)\"}"
    }

    private func lines(_ lines: [String]) -> [UInt8] { lines.flatMap { Array($0.utf8) + [0x0a] } }

    private func quoted(_ text: String) -> String {
        var output: [UInt8] = []
        JSONString.append(text.utf8, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    private func cell(_ text: String) -> String {
        "\"" + text.replacing("\"", with: "\"\"") + "\""
    }

    private func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\")
    }
}

private func base64(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    Base64.encodeStandard(bytes[...], to: &text)
    return String(decoding: text, as: UTF8.self)
}

/// A payload that is to be written into a log.
struct LogPayload {
    /// The bytes: JSON, or a binary receipt.
    let bytes: [UInt8]
    /// Its number among all payloads.
    let number: Int
    /// When it was logged.
    let time: Instant

    /// Whether it is JSON; otherwise it is a receipt.
    var isJSON: Bool { bytes.first == UInt8(ascii: "{") }

    /// Its text: itself, or the base64 of a receipt.
    var text: String { isJSON ? String(decoding: bytes, as: UTF8.self) : base64(bytes) }

    /// The base64 of a receipt in lines of 64 letters, as in mail.
    var brokenBase64: [UInt8] {
        let text = Array(base64(bytes).utf8)
        return stride(from: 0, to: text.count, by: 64).flatMap { start in
            text[start..<min(start + 64, text.count)] + [0x0a]
        }
    }
}
