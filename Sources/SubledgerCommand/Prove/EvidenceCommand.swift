import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Subledger

struct EvidenceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evidence",
        abstract: "Move old payloads out of the database.",
        subcommands: [MoveEvidenceCommand.self]
    )
}

struct MoveEvidenceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Move the bytes of old payloads from the database to files.",
        discussion: """
            Events, and the digests that prove payloads, stay in the database: questions, reports \
            and `rebuild` need no files. `verify`, `event --raw` and `erase` read them. Each file \
            is durable and was read back before its bytes leave the database; if the command is \
            interrupted, run it again. Appends continue.

            The files have at most 16 MiB each. They change only if something in them is erased, so \
            back them up once, and again after erasures. If their folder changes, set \
            SUBLEDGER_EVIDENCE_FOLDER wherever subledger runs. PostgreSQL reuses the space for new \
            payloads; to give it back to the system, run VACUUM (FULL) ledger.evidence (appends and \
            reads wait while it runs).

            The database login must be a member of ledger_owner. Run `verify` first.
            """
    )

    @Option(
        help: Clock.help("Move the payloads of commits before this instant."),
        transform: Clock.time
    )
    var before: AskedTime

    @Option(help: ArgumentHelp("The folder for the files; it must exist.", valueName: "folder"))
    var to: String

    @OptionGroup var zone: ZoneOption
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let folder = URL(fileURLWithPath: to).standardizedFileURL.path
        guard FileStatus(folder)?.kind == .folder else {
            throw Failure(
                Exit.inputMissing,
                "there is no folder \(folder) for the files; create it on the disk that is to keep them"
            )
        }

        let log = try await database.openLog(try DatabaseOptions.logOptions())
        let instant = zone.instant(before, "--before", now: .systemClock(), isQuiet: output.quiet)
        var files: [MovedEvidenceFile] = []
        if let instant {
            try await log.moveEvidence(before: instant, to: folder) { files.append($0) }
        }
        await log.close()

        let document = MovedEvidenceDocument(files)
        let text =
            files.isEmpty
            ? "nothing to move"
            : "moved \(counted(document.payloads, "payload")) "
                + "(\(byteWords(Int64(document.bytes)))) to \(counted(document.files, "file")) in "
                + folder
        try output.print(document, [text])
    }
}
