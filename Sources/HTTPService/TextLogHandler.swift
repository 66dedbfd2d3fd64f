internal import Foundation
public import Logging

/// Writes log lines as text: time, level, message, then the metadata.
public struct TextLogHandler: LogHandler {
    /// The lowest level that is written.
    public var logLevel: Logger.Level
    /// Metadata included in every line.
    public var metadata: Logger.Metadata = [:]
    private let write: @Sendable (String) -> Void

    /// A handler.
    ///
    /// - Parameters:
    ///   - level: The lowest level that is written.
    ///   - write: Receives a line without its newline.
    public init(level: Logger.Level, write: @escaping @Sendable (String) -> Void) {
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
        let all = metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 })
        let words = all.sorted { $0.key < $1.key }
            .map { " \($0.key)=\(TextLogHandler.quoted("\($0.value)"))" }.joined()
        let text = TextLogHandler.inOneLine("\(event.message)") + words
        write("\(Date.now.formatted(.iso8601)) \(event.level.rawValue) \(text)")
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
