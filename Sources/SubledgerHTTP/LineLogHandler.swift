internal import Foundation
public import Logging

/// Writes log entries as lines, as text or as JSON.
public struct LineLogHandler: LogHandler {
    /// The form of a line.
    public enum Format: String, CaseIterable, Sendable {
        /// Time, level and message, then the metadata.
        case text
        /// A JSON object: `ts`, `level`, `label`, `message`, then the metadata.
        case json
    }

    /// The lowest level that is written.
    public var logLevel: Logger.Level
    /// Metadata included in every line.
    public var metadata: Logger.Metadata = [:]
    /// Whether each line begins with its priority, `<6>`, as the journal of systemd reads it.
    public var hasPriority = false
    private let format: Format
    private let label: String
    private let write: @Sendable (String) -> Void

    /// A handler for a label.
    ///
    /// - Parameters:
    ///   - format: The form of the lines.
    ///   - label: The origin named in JSON.
    ///   - level: The lowest level that is written.
    ///   - write: Receives a line without its newline.
    public init(
        _ format: Format,
        label: String = "",
        level: Logger.Level,
        write: @escaping @Sendable (String) -> Void
    ) {
        (self.format, self.label, self.write) = (format, label, write)
        logLevel = level
    }

    /// One value that every line includes.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes one line.
    public func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 })
        let priority = hasPriority ? event.level.journalPriority : ""
        switch format {
        case .text: write(priority + LineLogHandler.text(event, all))
        case .json: write(priority + json(event, all))
        }
    }

    private func json(_ event: LogEvent, _ metadata: Logger.Metadata) -> String {
        var line: [String: String] = [
            "ts": Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
            "level": event.level.rawValue,
            "label": label,
            "message": "\(event.message)",
        ]
        for (key, value) in metadata {
            line[line[key] == nil ? key : "metadata.\(key)"] = "\(value)"
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(line), as: UTF8.self)
        } catch {
            return #"{"level":"error","message":"a log line could not be encoded"}"#
        }
    }

    private static func text(_ event: LogEvent, _ metadata: Logger.Metadata) -> String {
        let words = metadata.sorted { $0.key < $1.key }
            .map { " \($0.key)=\(quoted("\($0.value)"))" }.joined()
        let text = inOneLine("\(event.message)") + words
        return "\(Date.now.formatted(.iso8601)) \(event.level.rawValue) \(text)"
    }

    // A value that could be taken for another member is quoted.
    private static func quoted(_ value: String) -> String {
        guard value.unicodeScalars.contains(where: { " =\"\\".unicodeScalars.contains($0) }) else {
            return inOneLine(value)
        }
        let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\"\(inOneLine(escaped))\""
    }

    // A log line must stay one line, whatever an id contains. Checked by scalars, because a line
    // break of two scalars is a different character than one of a single scalar.
    private static func inOneLine(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { line, scalar in
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029:
                line += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            default: line.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Logger.Level {
    /// The level as sd-daemon(3) writes it at the start of a line.
    fileprivate var journalPriority: String {
        switch self {
        case .trace, .debug: "<7>"
        case .info: "<6>"
        case .notice: "<5>"
        case .warning: "<4>"
        case .error: "<3>"
        case .critical: "<2>"
        }
    }
}
