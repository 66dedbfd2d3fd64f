import AppStore
import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Subledger

struct RejectionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rejections",
        abstract: "What was refused and why, newest first; with --body, the refused bytes.",
        discussion: """
            A payload is listed once for each reason, with where it was found the first time. Of \
            each the first 64 KiB are kept, every password blanked; nothing where a secret could \
            not be told from the rest. Mend the cause and ingest the original again.
            """
    )

    @Option(help: "Only those refused for this reason, a machine word as `ingest --json` prints.")
    var reason: String?

    @Option(help: "Only those that came by this channel.")
    var source: String?

    @Option(help: "Only those refused at this instant or later.", transform: Clock.instant)
    var since: Instant?

    @Option(help: "Most lines.")
    var limit = 100

    @Option(
        help: ArgumentHelp(
            "Write what is kept of this payload to stdout, as it is.",
            valueName: "digest"
        )
    )
    var body: String?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    /// Most lines of one answer: the list is held in memory.
    static let limitMax = 100_000

    func validate() throws {
        guard (1...RejectionsCommand.limitMax).contains(limit) else {
            throw ValidationError(
                "--limit must be from 1 to \(RejectionsCommand.limitMax), not \(limit)"
            )
        }
        if let reason, Rejection.Code(rawValue: reason) == nil {
            let words = Rejection.Code.allCases.map(\.rawValue).sorted()
            throw ValidationError(
                "'\(reason)' is no reason of a refusal; the words are "
                    + words.joined(separator: ", ")
            )
        }
        guard let body else { return }
        if Digest(hex: body) == nil {
            throw ValidationError(
                "'\(body)' is no SHA-256 in hexadecimal; `subledger rejections` lists them"
            )
        }
        if output.json || reason != nil || source != nil || since != nil {
            throw ValidationError("--body writes the bytes of one payload; give nothing else")
        }
    }

    func run() async throws {
        let ledger = try await database.openLedger()
        if let digest = body.flatMap(Digest.init(hex:)) {
            let found = try await ledger.log.rejectedBody(digest)
            await ledger.close()
            try writeBody(found, of: digest)
            return
        }
        let answer = try await ledger.rejections(
            RejectionFilter(reason: reason, source: source, since: since),
            limit: limit
        )
        await ledger.close()
        if output.json { try Terminal.print(json: answer) } else { printTable(answer) }
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
                "nothing is kept of \(digest): it mentions a password that could not be told from "
                    + "the rest; look at the original"
            )
        }
        Terminal.put(bytes: Array(bytes))
    }

    private func printTable(_ answer: RejectionsDocument) {
        let rejections = answer.rejections
        guard !rejections.isEmpty else {
            Terminal.print("nothing was refused")
            return
        }
        var table = TextTable(["refused", "reason", "bytes", "source", "digest", "found at"])
        for rejection in rejections {
            table.add([
                rejection.receivedAt.clock, rejection.reason, "\(rejection.byteCount)",
                rejection.source, rejection.digest, rejection.location,
            ])
        }
        Terminal.print(table.text)
        if answer.count > rejections.count {
            Terminal.write(
                "… and \(answer.count - Int64(rejections.count)) older ones; see --limit"
            )
        }
    }
}
