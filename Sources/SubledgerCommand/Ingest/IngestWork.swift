import CommandSupport
import EventLog
import Subledger

/// Ingests payloads with progress on stderr, and stops at the operator's request.
struct IngestWork {
    let label: String
    let isQuiet: Bool
    /// The size of the input, in bytes; nil if unknown.
    var inputBytes: Int64?
    /// How many of these bytes were read, as stored in the files.
    var bytesRead: @Sendable () -> Int64 = { 0 }
    /// What is being read now; nil if unknown.
    var currentPath: @Sendable () -> String? = { nil }

    /// Seconds that the work in progress may take after the operator asked to stop: a database that
    /// responds at all needs less.
    private static let interruptSecondsMax = 5

    /// Runs the work, which receives a function for reporting its progress.
    func run(
        on log: EventLog,
        _ work: ((IngestReport.Progress) -> Void) async throws -> IngestReport
    ) async throws -> IngestReport {
        let progress = Progress(label, isQuiet: isQuiet)
        var last: IngestReport.Progress?
        let watch = Task { try await giveUpAfterInterrupt(log) }
        defer { watch.cancel() }
        do {
            let report = try await work {
                last = $0
                show($0, on: progress)
            }
            progress.finish()
            return report
        } catch let error as EventLogError where error.isRetryable {
            progress.finish()
            throw unfinished(error, last)
        }
    }

    /// Shows the progress.
    func show(_ done: IngestReport.Progress, on progress: Progress) {
        progress.report(
            done.payloads,
            "payload",
            bytes: inputBytes.map { (bytesRead(), $0) },
            note: currentPath().map { ", in \($0.harmless)" } ?? ""
        )
    }

    private func giveUpAfterInterrupt(_ log: EventLog) async throws {
        while !Interrupt.isRequested { try await Task.sleep(for: .milliseconds(100)) }
        log.giveUpAppends(after: .seconds(IngestWork.interruptSecondsMax))
    }

    // What was ingested and what was not, if the database failed in between.
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
