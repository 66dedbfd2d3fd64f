import Foundation
import Projections
import Synchronization

/// What goes to the screen: results on stdout, all else on stderr.
enum Terminal {
    /// Writes a line to stderr.
    static func write(_ line: String) {
        StandardStream.writeErrors(Array((line + "\n").utf8))
    }

    /// Writes a line to stdout.
    static func print(_ line: String) {
        put(line + "\n")
    }

    /// Writes text to stdout as it is.
    static func put(_ text: String) {
        put(bytes: Array(text.utf8))
    }

    /// Writes bytes to stdout as they are.
    static func put(bytes: [UInt8]) {
        StandardStream.writeOutput(bytes)
    }

    /// Prints a value as one JSON document.
    static func print(json value: some Encodable) throws {
        print(try text(json: value))
    }

    /// With which characters a picture is drawn: letters where asked for, where the locale is not
    /// UTF-8, and where stdout is no terminal.
    static func pictureStyle(isASCII: Bool) -> TimelinePicture.Style {
        let environment = ProcessInfo.processInfo.environment
        let locale =
            ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }
            .first { !$0.isEmpty } ?? ""
        let isUTF8 = locale.uppercased().replacing("-", with: "").contains("UTF8")
        return isASCII || !isUTF8 || isatty(1) != 1 ? .ascii : .unicode
    }

    /// How many columns stdout has; the default of pictures where it is no terminal.
    static var width: Int {
        var size = winsize()
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return TimelinePicture.defaultWidth
        }
        return Int(size.ws_col)
    }

    /// A value as JSON, keys sorted, so that scripts can compare outputs.
    static func text(json value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

/// Progress on stderr: one line that rewrites itself on a terminal, a plain line every ten seconds
/// elsewhere, nothing with `--quiet`.
struct Progress {
    private let label: String
    private let isQuiet: Bool
    private let isTerminal: Bool
    private let started = ContinuousClock.now
    private var reported = ContinuousClock.now
    private var hasLine = false

    private static let terminalInterval = Duration.milliseconds(100)
    private static let plainInterval = Duration.seconds(10)

    init(_ label: String, isQuiet: Bool) {
        self.label = label
        self.isQuiet = isQuiet
        isTerminal = isatty(2) == 1 && ProcessInfo.processInfo.environment["CI"] == nil
    }

    /// Says how far the work has come.
    mutating func report(_ count: Int, _ noun: String) {
        guard !isQuiet else { return }
        let now = ContinuousClock.now
        guard now - reported >= (isTerminal ? Progress.terminalInterval : Progress.plainInterval)
        else { return }
        reported = now
        let seconds = (now - started) / .seconds(1)
        let rate = seconds > 0 ? Int(Double(count) / seconds) : 0
        let line = "\(label): \(count) \(noun), \(rate)/s"
        if isTerminal {
            StandardStream.writeErrors(Array("\r\u{1B}[K\(line)".utf8))
            hasLine = true
        } else {
            Terminal.write(line)
        }
    }

    /// Clears the line.
    mutating func finish() {
        guard hasLine else { return }
        StandardStream.writeErrors(Array("\r\u{1B}[K".utf8))
        hasLine = false
    }
}

/// A progress that may be reported to from any thread.
final class SharedProgress: Sendable {
    private let progress: Mutex<Progress>

    init(_ label: String, isQuiet: Bool) {
        progress = Mutex(Progress(label, isQuiet: isQuiet))
    }

    func report(_ count: Int, _ noun: String) {
        progress.withLock { $0.report(count, noun) }
    }

    func finish() {
        progress.withLock { $0.finish() }
    }
}
