internal import Foundation
public import Logging

/// Writes log lines for people: time, level, message, then the metadata.
public struct TextLogHandler: LogHandler {
    /// The lowest level that is written.
    public var logLevel: Logger.Level
    /// What every line carries.
    public var metadata: Logger.Metadata = [:]
    private let write: @Sendable (String) -> Void

    /// A handler.
    ///
    /// - Parameters:
    ///   - level: The least level that is written.
    ///   - write: Takes a line without its end.
    public init(level: Logger.Level, write: @escaping @Sendable (String) -> Void) {
        self.write = write
        logLevel = level
    }

    /// One value that every line carries.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes one line.
    public func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 })
        let words = all.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        // A line of the log is one line, whatever somebody puts into an id.
        let text = "\(event.message)\(words)".replacing("\n", with: "\\n")
        write("\(Date.now.formatted(.iso8601)) \(event.level.rawValue) \(text)")
    }
}
