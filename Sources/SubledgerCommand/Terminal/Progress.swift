import CommandSupport
import Foundation
import Synchronization

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
