import CommandSupport
import Foundation
import Subledger
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
    private var noted = ""

    private static let terminalInterval = Duration.milliseconds(100)
    private static let plainInterval = Duration.seconds(10)

    init(_ label: String, isQuiet: Bool) {
        self.label = label
        self.isQuiet = isQuiet
        isTerminal = StandardStream.isTerminal(2) && ProcessEnvironment.variables["CI"] == nil
    }

    /// Reports the progress of the work; `bytes` is the number read and the total, if known, and
    /// `note` any additional text.
    mutating func report(
        _ count: Int,
        _ noun: String,
        bytes: (done: Int64, total: Int64)? = nil,
        note: String = ""
    ) {
        // What a test captures must not depend on how long a command takes.
        guard !isQuiet, StandardStream.captured == nil else { return }
        let now = ContinuousClock.now
        guard now - reported >= (isTerminal ? Progress.terminalInterval : Progress.plainInterval)
        else { return }
        reported = now
        let seconds = (now - started) / .seconds(1)
        let line =
            "\(label): " + Progress.words(count, noun, bytes: bytes, after: seconds) + note
        if isTerminal {
            StandardStream.writeErrors(Array("\r\u{1B}[K\(line)".utf8))
            hasLine = true
        } else {
            Terminal.write(line)
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

    /// Writes a line of its own, unless it was the last one written.
    mutating func note(_ words: String) {
        guard !isQuiet, words != noted else { return }
        noted = words
        finish()
        Terminal.write("\(label): \(words)")
    }

    /// Clears the line.
    mutating func finish() {
        guard hasLine else { return }
        StandardStream.writeErrors(Array("\r\u{1B}[K".utf8))
        hasLine = false
    }
}

/// A progress that can be updated from any thread.
final class SharedProgress: Sendable {
    private let progress: Mutex<Progress>

    init(_ label: String, isQuiet: Bool) {
        progress = Mutex(Progress(label, isQuiet: isQuiet))
    }

    func report(_ count: Int, _ noun: String, note: String = "") {
        progress.withLock { $0.report(count, noun, note: note) }
    }

    /// Reports what the work waits for: once, however often it is said.
    func note(_ words: String) {
        progress.withLock { $0.note(words) }
    }

    func finish() {
        progress.withLock { $0.finish() }
    }
}
