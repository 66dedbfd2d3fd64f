import AppStore
import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Subledger

struct IngestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ingest",
        abstract: "Verify payloads and append what is news in them.",
        discussion: """
            Takes files, folders and - (stdin): notifications of both versions, bare JWS, app \
            receipts (DER or base64), responses of the App Store Server API and of verifyReceipt, \
            and verifyReceipt requests, of which only the receipt is kept. JSON arrays, NDJSON, \
            logs with text around the payloads, CSV, TSV, PostgreSQL's COPY and pg_dump, records \
            with a payload in them (as an object, as text, in base64; exports of MongoDB, DynamoDB \
            and Firestore) are taken apart, also compressed by gzip or zstd. Each is recognised by \
            its content. Lines of a log without a payload are passed over and counted. A payload that cannot be verified is \
            refused whole with its reason; the others are in, and the exit code is 65. Taking in \
            the same payloads again, in any order, appends nothing. The positions that it prints \
            are those for `follow --wait-for`: up to there the log holds what the payloads say.

            verifyReceipt responses and version 1 notifications are not signed: of them only what \
            the app receipt inside proves is taken, unless the shared secret proves the \
            notification, or you vouch for the payloads with --vouch.
            """
    )

    @Argument(help: "Files, folders, or - for stdin.")
    var paths: [String]

    @Option(help: "The channel the payloads came by; kept with the evidence.")
    var source = "file"

    @Flag(
        help: """
            How the payloads arrived; kept with the evidence. Without it stdin alone is live, and \
            files are an import.
            """
    )
    var arrival: ArrivalFlag?

    @Flag(help: "Stand behind what is not signed: you know that these payloads came from Apple.")
    var vouch = false

    @Option(help: "The column of CSV, TSV and COPY files that holds payloads; else it is found.")
    var column: String?

    @OptionGroup var trust: TrustOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    /// The flags `--live` and `--import`.
    enum ArrivalFlag: String, EnumerableFlag {
        case live
        case `import`
    }

    /// Longest name of a source, in bytes: it is kept with every payload.
    static let sourceByteCountMax = 64

    func validate() throws {
        guard !source.isEmpty, source.utf8.count <= IngestCommand.sourceByteCountMax else {
            throw ValidationError(
                "--source must have 1 to \(IngestCommand.sourceByteCountMax) bytes"
            )
        }
    }

    func run() async throws {
        let walk = try PayloadWalk(paths, column: column)
        let ledger = try await Ledger.open(
            try await database.settings(),
            policy: try trust.policy(),
            options: try DatabaseOptions.logOptions()
        )
        Interrupt.heed()
        let (report, skipped) = try await IngestCommand.ingest(
            walk,
            into: ledger,
            source: source,
            arrival: recordedArrival,
            voucher: vouch ? .operator : .nobody,
            isQuiet: output.quiet
        )
        await ledger.log.close()
        try print(report, skipped: skipped, lanes: ledger.log.identity.lanes)
        if report.wasStopped { throw Exit.interrupted }
        if report.rejected > 0 { throw Exit.badInput }
    }

    private var recordedArrival: Arrival {
        switch arrival {
        case .live: .live
        case .import: .imported
        case nil: paths == ["-"] ? .live : .imported
        }
    }

    /// Takes in a walk's payloads with progress on stderr.
    static func ingest(
        _ walk: sending PayloadWalk,
        into ledger: Ledger,
        source: String,
        arrival: Arrival,
        voucher: Voucher = .nobody,
        isQuiet: Bool
    ) async throws -> (IngestReport, skipped: Int) {
        let reader = PayloadReader(walk)
        var progress = Progress("ingest", isQuiet: isQuiet)
        var last: IngestReport.Progress?
        let watch = Task { try await giveUpAfterInterrupt(ledger.log) }
        defer { watch.cancel() }
        do {
            let report = try await ledger.ingest(
                next: { try await reader.next() },
                source: source,
                arrival: arrival,
                voucher: voucher,
                isStopped: { Interrupt.isRequested },
                progress: {
                    last = $0
                    progress.report($0.payloads, "payloads")
                }
            )
            progress.finish()
            if !isQuiet { for remark in await reader.remarks { Terminal.write(remark) } }
            return (report, await reader.skipped)
        } catch let error as EventLogError where error.isRetryable {
            progress.finish()
            throw unfinished(error, last)
        }
    }

    /// How long what is under way may take once the operator asked to stop: a database that answers
    /// at all needs less.
    private static let interruptSecondsMax = 5

    private static func giveUpAfterInterrupt(_ log: EventLog) async throws {
        while !Interrupt.isRequested { try await Task.sleep(for: .milliseconds(100)) }
        log.giveUpAppends(after: .seconds(interruptSecondsMax))
    }

    // What is in and what is not, where the database left in the middle.
    private static func unfinished(
        _ error: EventLogError,
        _ last: IngestReport.Progress?
    ) -> Failure {
        Failure(
            Interrupt.isRequested ? Exit.interrupted : Exit.unavailable,
            (Interrupt.isRequested ? "stopped; " : "")
                + "\(last?.payloads ?? 0) payloads are finished, \(last?.underWay ?? 0) were read and are "
                + "not: run it again, nothing is written twice. \(error)"
        )
    }

    private func print(_ report: IngestReport, skipped: Int, lanes: LaneCount) throws {
        if output.json {
            try Terminal.print(json: IngestDocument(report, skipped: skipped))
            return
        }
        for remark in report.notices {
            Terminal.write(
                "notice   \(remark.path): \(remark.notice.message) "
                    + "[\(remark.notice.code.rawValue)]"
            )
        }
        if report.noticeCount > report.notices.count {
            Terminal.write("… and \(report.noticeCount - report.notices.count) more notices")
        }
        for refusal in report.rejections {
            Terminal.write(
                "refused  \(refusal.path): \(refusal.rejection.message) "
                    + "[\(refusal.rejection.code.rawValue)]"
            )
        }
        if report.rejected > report.rejections.count {
            Terminal.write("… and \(report.rejected - report.rejections.count) more")
        }
        let place = PositionVector(report.positions).text(lanes: lanes)
        Terminal.print(
            "\(counted(report.payloads, "payload")): \(counted(report.appended, "fact")) appended, "
                + "\(report.duplicates) known already, "
                + "\(counted(report.rejected, "payload")) refused; "
                + counted(report.streams, "stream")
                + (report.erased > 0
                    ? "; \(counted(report.erased, "fact")) refused, because the subscription was "
                        + "erased"
                    : "")
                + (report.leftOut > 0 ? "; \(counted(report.leftOut, "statement")) left out" : "")
                + (report.unchanged > 0
                    ? "; \(counted(report.unchanged, "payload")) without news" : "")
                + (skipped > 0 ? "; \(counted(skipped, "other file")) passed over" : "")
                + (place.isEmpty ? "" : "; in the log up to \(place)")
        )
        if report.wasStopped {
            Terminal.write("stopped; all that is counted is in, run it again for the rest")
        }
    }
}
