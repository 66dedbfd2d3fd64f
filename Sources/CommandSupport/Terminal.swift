import Foundation
internal import Synchronization

/// Output to the screen: results on stdout, everything else on stderr.
package enum Terminal {
    /// Writes a line to stderr, escaped for a terminal.
    package static func write(_ line: String) {
        let bytes = Array((line.harmless + "\n").utf8)
        if !Pager.takes(bytes, for: 2) { StandardStream.writeErrors(bytes) }
    }

    /// Writes a line to stdout, escaped for a terminal.
    package static func print(_ line: String) {
        put(line.harmless + "\n")
    }

    /// Writes text to stdout unchanged.
    package static func put(_ text: String) {
        put(bytes: Array(text.utf8))
    }

    /// Writes bytes to stdout unchanged.
    package static func put(bytes: [UInt8]) {
        StandardStream.writeOutput(bytes)
    }

    /// The most columns of a table; nil if stdout is not a terminal, or with `--wide`.
    static var tableWidth: Int? {
        !isWide.load(ordering: .relaxed) && StandardStream.isTerminal(1) ? size.columns : nil
    }

    /// The columns and rows of stdout; nil if it is not a terminal.
    package static var size: (columns: Int?, rows: Int?) {
        var size = winsize()
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0 else { return (nil, nil) }
        return (size.ws_col > 0 ? Int(size.ws_col) : nil, size.ws_row > 0 ? Int(size.ws_row) : nil)
    }

    static func leaveTablesWide(_ isWide: Bool) { self.isWide.store(isWide, ordering: .relaxed) }

    private static let isWide = Atomic(false)

    /// Prints a value as one JSON document.
    package static func print(json value: some Encodable) throws {
        put(try text(json: value) + "\n")
    }

    /// A value as JSON with sorted keys, so scripts can compare outputs.
    package static func text(json value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
