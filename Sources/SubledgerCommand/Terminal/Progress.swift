import CommandSupport
import Foundation
import Subledger
import Synchronization

/// Progress on stderr: one line that rewrites itself on a terminal, a plain line every ten seconds
/// elsewhere, nothing with `--quiet`; any thread may report it.
final class Progress: Sendable {
    private let label: String
    private let isQuiet: Bool
    private let isTerminal: Bool
    private let started = ContinuousClock.now
    private let state = Mutex(State())

    private struct State {
        var reported = ContinuousClock.now
        var hasLine = false
        var noted = ""

        mutating func clearLine() {
            guard hasLine else { return }
            StandardStream.writeErrors(Array("\r\u{1B}[K".utf8))
            hasLine = false
        }
    }

    private static let terminalInterval = Duration.milliseconds(100)
    private static let plainInterval = Duration.seconds(10)

    init(_ label: String, isQuiet: Bool) {
        self.label = label
        self.isQuiet = isQuiet
        isTerminal = StandardStream.isTerminal(2) && ProcessEnvironment.variables["CI"] == nil
    }

    /// Reports the progress of the work; `bytes` is the number read and the total, if known, and
    /// `note` any additional text.
    func report(
        _ count: Int,
        _ noun: String,
        bytes: (done: Int64, total: Int64)? = nil,
        note: String = ""
    ) {
        // What a test captures must not depend on how long a command takes.
        guard !isQuiet, StandardStream.captured == nil else { return }
        state.withLock { state in
            let now = ContinuousClock.now
            let interval = isTerminal ? Progress.terminalInterval : Progress.plainInterval
            guard now - state.reported >= interval else { return }
            state.reported = now
            let seconds = (now - started) / .seconds(1)
            let line =
                "\(label): " + Progress.words(count, noun, bytes: bytes, after: seconds) + note
            if isTerminal {
                StandardStream.writeErrors(Array("\r\u{1B}[K\(line)".utf8))
                state.hasLine = true
            } else {
                Terminal.write(line)
            }
        }
    }

    /// The progress, the speed, and the remaining time, after this many seconds.
    static func words(
        _ count: Int,
        _ noun: String,
        bytes: (done: Int64, total: Int64)?,
        after seconds: Double
    ) -> String {
        let rate = seconds > 0 ? Int(Double(count) / seconds) : 0
        let soFar = counted(count, noun)
        // If the total is smaller than what was read, as for a growing file, there is no
        // percentage.
        guard let (done, total) = bytes, done > 0, done <= total else {
            return "\(soFar), \(rate)/s"
        }
        let left = seconds * Double(total - done) / Double(done)
        return "\(soFar), \(byteWords(done)) of \(byteWords(total)) (\(done * 100 / total) %), "
            + "\(rate)/s, about \(durationWords(left)) left"
    }

    /// Writes a line of its own, unless it was the last one written: what the work waits for.
    func note(_ words: String) {
        guard !isQuiet else { return }
        state.withLock { state in
            guard words != state.noted else { return }
            state.noted = words
            state.clearLine()
            Terminal.write("\(label): \(words)")
        }
    }

    /// Clears the line.
    func finish() { state.withLock { $0.clearLine() } }
}
