import CommandSupport
import EventLog
import Subledger

/// Takes payloads in with progress on stderr, and stops when the operator asks to.
struct IngestWork {
    let label: String
    let isQuiet: Bool
    /// Bytes of the input; nil where that is not known.
    var inputBytes: Int64?
    /// How many of them were read, as they lie in files.
    var bytesRead: @Sendable () -> Int64 = { 0 }

    /// How long what is under way may take once the operator asked to stop: a database that answers
    /// at all needs less.
    private static let interruptSecondsMax = 5

    /// Runs the work; it is given what to call with its progress.
    func run(
        on log: EventLog,
        _ work: ((IngestReport.Progress) -> Void) async throws -> IngestReport
    ) async throws -> IngestReport {
        var progress = Progress(label, isQuiet: isQuiet)
        var last: IngestReport.Progress?
        let watch = Task { try await giveUpAfterInterrupt(log) }
        defer { watch.cancel() }
        do {
            let report = try await work {
                last = $0
                show($0, on: &progress)
            }
            progress.finish()
            return report
        } catch let error as EventLogError where error.isRetryable {
            progress.finish()
            throw unfinished(error, last)
        }
    }

    /// Shows how far it is.
    func show(_ done: IngestReport.Progress, on progress: inout Progress) {
        progress.report(
            done.payloads,
            "payload",
            bytes: inputBytes.map { (bytesRead(), $0) }
        )
    }

    private func giveUpAfterInterrupt(_ log: EventLog) async throws {
        while !Interrupt.isRequested { try await Task.sleep(for: .milliseconds(100)) }
        log.giveUpAppends(after: .seconds(IngestWork.interruptSecondsMax))
    }

    // What is in and what is not, where the database left in the middle.
    private func unfinished(_ error: EventLogError, _ last: IngestReport.Progress?) -> Failure {
        let (done, underWay) = (last?.payloads ?? 0, last?.underWay ?? 0)
        return Failure(
            Interrupt.isRequested ? Exit.interrupted : Exit.unavailable,
            (Interrupt.isRequested ? "interrupted; " : "")
                + "\(counted(done, "payload")) \(done == 1 ? "is" : "are") finished; "
                + "\(underWay) more \(underWay == 1 ? "was" : "were") read but not finished. Run "
                + "again: nothing is written twice. \(error)"
        )
    }
}
