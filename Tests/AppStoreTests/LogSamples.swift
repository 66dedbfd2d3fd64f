import AppStoreSimulator
import Events

@testable import AppStore

/// Payloads of one simulated life, and the texts that logs store them as.
enum LogSamples {
    private static let life = AppStoreSimulator(seed: 16).lives(40).first { life in
        !life.appReceipts().isEmpty && life.statusUpdateNotifications(password: secret).count > 1
            && life.deliveries().count { $0.channel == .notification } > 2
    }

    static let secret = "0123456789abcdef0123456789abcdef"

    /// `{"signedPayload":"…"}`.
    static let notifications = (life?.deliveries() ?? [])
        .filter { $0.channel == .notification }.map { text($0.payload) }
    static let notification = notifications[0]
    /// The JWS in it.
    static let jws = String(notification.dropFirst(18).dropLast(2))
    static let receiptBytes = life?.appReceipts().first?.payload ?? []
    static let receipt = base64(receiptBytes)
    static let response = text(life?.verifyReceiptPolls().first?.payload ?? [])
    static let statusUpdates = (life?.statusUpdateNotifications(password: secret) ?? [])
        .map { text($0.payload) }
    static let statusUpdate = statusUpdates[0]
    /// One of each form.
    static let all = [notification, jws, receipt, response, statusUpdate]

    static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    static func base64(_ bytes: [UInt8]) -> String {
        var output: [UInt8] = []
        Base64.encodeStandard(bytes[...], to: &output)
        return text(output)
    }

    static func quoted(_ content: String) -> String {
        var output: [UInt8] = []
        JSONString.append(content.utf8, to: &output)
        return text(output)
    }

    /// The value as it appears inside another JSON text: an object as itself, anything else as a
    /// string.
    static func value(_ payload: String) -> String {
        payload.hasPrefix("{") ? payload : quoted(payload)
    }

    static func cell(_ content: String) -> String {
        "\""
            + content.split(separator: "\"", omittingEmptySubsequences: false)
            .joined(separator: "\"\"") + "\""
    }

    static func copied(_ content: String) -> String {
        content.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\")
    }

    static func hex(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return text(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    static func broken(_ base64: String, every count: Int = 64) -> String {
        let letters = Array(base64.utf8)
        return stride(from: 0, to: letters.count, by: count)
            .map { text(Array(letters[$0..<min($0 + count, letters.count)])) }
            .joined(separator: "\r\n")
    }

    /// The result of a file read in chunks of that size: payloads, and `!` with the code of a
    /// refusal.
    static func split(
        _ file: String,
        column: String? = nil,
        chunk: Int? = nil
    ) -> [String] {
        split(Array(file.utf8), column: column, chunk: chunk).pieces
    }

    static func split(
        _ bytes: [UInt8],
        column: String? = nil,
        chunk: Int? = nil
    ) -> (pieces: [String], skippedCount: Int) {
        var splitter = PayloadSplitter(column: column)
        var pieces: [PayloadSplitter.Piece] = []
        for start in stride(from: 0, to: bytes.count, by: chunk ?? max(1, bytes.count)) {
            pieces += splitter.append(
                bytes[start..<min(start + (chunk ?? bytes.count), bytes.count)]
            )
        }
        pieces += splitter.finish()
        let texts = pieces.map { piece in
            switch piece {
            case .success(let bytes): text(bytes)
            case .failure(let rejection): "! \(rejection.code.rawValue)"
            }
        }
        return (texts, splitter.skippedCount)
    }
}
