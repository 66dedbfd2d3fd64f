import AppStoreSimulator
import Foundation

/// Writes payloads as a folder of logs: small files in every supported format.
///
/// A folder for each channel with one file after another, each in the next format, as if another
/// program had written the log every day. No file holds a payload twice: some formats write a whole
/// file as one line, of which `ingest` reads a payload once.
struct LogFolderWriter {
    private let folder: String
    private var waiting: [Delivery.Channel: [LogPayload]] = [:]
    private var files: [Delivery.Channel: Int] = [:]
    private var count = 0

    /// Payloads in one file.
    private static let filePayloads = 8

    /// A writer to an existing folder.
    init(folder: String) { self.folder = folder }

    /// Adds a payload.
    mutating func write(_ delivery: Delivery) throws {
        count += 1
        let payload = LogPayload(
            bytes: delivery.payload,
            number: count,
            time: delivery.signedAt
        )
        if waiting[delivery.channel]?.contains(where: { $0.bytes == payload.bytes }) ?? false {
            try writeFile(delivery.channel)
        }
        waiting[delivery.channel, default: []].append(payload)
        if waiting[delivery.channel]?.count == LogFolderWriter.filePayloads {
            try writeFile(delivery.channel)
        }
    }

    /// Writes the remaining payloads.
    mutating func finish() throws {
        for channel in waiting.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            try writeFile(channel)
        }
    }

    private mutating func writeFile(_ channel: Delivery.Channel) throws {
        guard let payloads = waiting.removeValue(forKey: channel) else { return }
        let number = files[channel, default: 0]
        files[channel] = number + 1
        let form = LogForm.allCases[number % LogForm.allCases.count]
        let place = "\(folder)/\(channel.rawValue)"
        try FileManager.default.createDirectory(
            atPath: place,
            withIntermediateDirectories: true
        )
        let digits = String(String(number + 100_001).dropFirst())
        let url = URL(fileURLWithPath: "\(place)/\(digits)-\(form.rawValue).\(form.ending)")
        try Data(try form.file(payloads)).write(to: url)
    }
}
