internal import Foundation
public import Logging

/// Writes log lines as JSON objects on stderr, one per line: `ts`, `level`, `label`, `message`,
/// then the metadata.
public struct JSONLogHandler: LogHandler {
    /// The lowest level that is written.
    public var logLevel: Logger.Level
    /// Metadata included in every line.
    public var metadata: Logger.Metadata = [:]
    private let label: String
    private let write: @Sendable (String) -> Void

    /// A handler for a label.
    ///
    /// - Parameters:
    ///   - label: The origin named in the lines.
    ///   - level: The lowest level that is written.
    ///   - write: Receives a line without its newline.
    public init(
        label: String,
        level: Logger.Level,
        write: @escaping @Sendable (String) -> Void
    ) {
        self.label = label
        self.write = write
        logLevel = level
    }

    /// One value that every line includes.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes one line.
    public func log(event: LogEvent) {
        var line: [String: String] = [
            "ts": Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
            "level": event.level.rawValue,
            "label": label,
            "message": "\(event.message)",
        ]
        for (key, value) in metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 }) {
            line[line[key] == nil ? key : "metadata.\(key)"] = "\(value)"
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            write(String(decoding: try encoder.encode(line), as: UTF8.self))
        } catch {
            write(#"{"level":"error","message":"a log line could not be encoded"}"#)
        }
    }
}
