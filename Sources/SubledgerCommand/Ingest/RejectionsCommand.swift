import AppStore
import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Subledger

struct RejectionsCommand: AsyncParsableCommand, ZonedCommand {
    static let configuration = CommandConfiguration(
        commandName: "rejections",
        abstract: "Payloads that were refused, and why; --retry ingests them again.",
        discussion: """
            A payload is listed once for each reason, with the place where it was first found: the \
            newest run first, and within a run in the order of the input. The first MiB of each \
            payload is kept, with every password blanked. No bytes are kept if a secret could not \
            be removed from them, or once all kept payloads together reach 1 GiB.

            A rejection is open until its payload is accepted, by --retry or by an `ingest` of the \
            original; --open lists only open rejections. --retry ingests them again, with the \
            options of `ingest` that you give here. A version 1 notification is stored without its \
            password: to prove it by a shared secret, ingest the original again.
            """
    )

    @Option(help: "Only payloads refused for this reason, as `ingest --json` prints it.")
    var reason: String?

    @Option(help: "Only payloads from this source (see `ingest --source`).")
    var source: String?

    @Option(
        help: Clock.help("Only payloads refused at this instant or later."),
        transform: Clock.time
    )
    var since: AskedTime?

    @OptionGroup var zone: ZoneOption

    @Option(help: "Maximum number of lines. Default: 100.")
    var limit: Int?

    @Option(
        help: ArgumentHelp(
            "Write the kept bytes of this payload to stdout, unchanged.",
            valueName: "digest"
        )
    )
    var body: String?

    @Flag(help: "Only payloads that were not accepted later.")
    var open = false

    @Flag(help: "Ingest the open payloads again, with the options of `ingest`.")
    var retry = false

    @Flag(help: "With --retry: also accept unsigned payloads.")
    var vouch = false

    @OptionGroup(title: "With --retry") var trust: TrustOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    /// The most lines of one answer, which is held in memory.
    static let limitMax = 100_000

    private static let limitDefault = 100

    func validate() throws {
        guard limit.map((1...RejectionsCommand.limitMax).contains) ?? true else {
            throw ValidationError(
                "--limit must be from 1 to \(RejectionsCommand.limitMax), not \(limit ?? 0)"
            )
        }
        guard !retry || limit == nil else {
            throw ValidationError(
                "--limit applies to the list, but --retry ingests all; select with --reason, "
                    + "--source or --since"
            )
        }
        if let reason, Rejection.Code(rawValue: reason) == nil {
            let words = Rejection.Code.allCases.map(\.rawValue).sorted()
            throw ValidationError(
                "invalid reason '\(reason)'; expected one of "
                    + words.joined(separator: ", ")
            )
        }
        guard retry || !vouch && trust.areDefaults else {
            throw ValidationError("the options of `ingest` need --retry")
        }

        guard let body else { return }
        if Digest(hex: body) == nil {
            throw ValidationError(
                "'\(body)' is not a SHA-256 in hexadecimal; `subledger rejections` lists them"
            )
        }
        if output.json || reason != nil || source != nil || since != nil || open || retry {
            throw ValidationError(
                "--body writes the bytes of one payload; use it without other options"
            )
        }
    }

    func run() async throws {
        if retry { return try await takeAgain() }
        let ledger = try await database.openLedger()
        if let digest = body.flatMap(Digest.init(hex:)) {
            let found = try await ledger.log.rejectedBody(digest)
            await ledger.close()
            try writeBody(found, of: digest)
            return
        }
        let answer = try await ledger.rejections(
            filter,
            limit: limit ?? RejectionsCommand.limitDefault
        )
        await ledger.close()
        try output.print(answer, text(answer))
        let more = answer.count - Int64(answer.rejections.count)
        if more > 0, !output.json { Terminal.write("… and \(more) more; --limit N lists more") }
    }

    private var filter: RejectionFilter {
        RejectionFilter(
            reason: reason,
            source: source,
            since: zone.instant(since, "--since", now: .systemClock(), isQuiet: output.quiet),
            isOpen: open
        )
    }

    private func takeAgain() async throws {
        let ledger = try await database.openLedger(policy: try trust.policy())
        DatabaseOptions.warnOfLoss(ledger.log, "retry", isQuiet: output.quiet)
        Interrupt.heed()
        let work = IngestWork(label: "retry", isQuiet: output.quiet)
        let report = try await work.run(on: ledger.log) { progress in
            try await ledger.retryRejections(
                filter,
                voucher: vouch ? .operator : .unvouched,
                isStopped: { Interrupt.isRequested },
                progress: progress
            )
        }
        await ledger.log.close()
        try IngestSummary(
            report: report,
            place: ledger.log.identity.lanes.text(report.positions),
            isRetry: true
        ).finish(output, isVerbose: false, isStrict: false)
    }

    private func writeBody(_ found: [UInt8]??, of digest: Digest) throws {
        guard let kept = found else {
            throw Failure(
                Exit.notFound,
                "no payload \(digest) was refused; `subledger rejections` lists those that were"
            )
        }
        guard let bytes = kept else {
            throw Failure(
                Exit.notFound,
                "the bytes of \(digest) are not kept: they contain a password that could not be "
                    + "removed, or the limit for kept payloads was reached; use the original"
            )
        }
        Terminal.put(bytes: Array(bytes))
    }

    private func text(_ answer: RejectionsDocument) -> [Block] {
        let rows = answer.rejections.map { rejection in
            [
                rejection.receivedAt.clock, rejection.takenAt?.clock ?? "–",
                rejection.reason, "\(rejection.byteCount)",
                rejection.source, rejection.digest.hex, rejection.location,
            ]
        }
        guard rows.isEmpty else {
            return [
                .table(
                    ["refused", "accepted", "reason", "bytes", "source", "digest", "found at"],
                    rows
                )
            ]
        }
        return [
            .line(
                open
                    ? "no open rejections: no payload was refused, or all were accepted later"
                    : "no payload was refused"
            )
        ]
    }
}
