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
        abstract: "Verify payloads and append the new facts in them.",
        discussion: """
            Reads files, folders, named pipes and - (stdin). Payloads are notifications of both \
            versions, bare JWS, app receipts (DER or base64), responses of the App Store Server \
            API and of verifyReceipt, and verifyReceipt requests (only their receipt is kept). \
            They are found in JSON arrays, NDJSON, logs with other text (also lines that Docker or \
            Kubernetes cut), CSV, TSV, and the output of PostgreSQL's COPY and pg_dump and of \
            mysqldump. They are also found in records that contain a payload as an object, as \
            text, in base64 or in hexadecimal (exports of MongoDB, DynamoDB and Firestore). Any of \
            these may be in UTF-16, or compressed with gzip or zstd. Every format is recognised by \
            its content. Log lines without a payload are skipped and counted.

            A payload that cannot be verified is refused as a whole, with the reason; all others \
            are appended, and the exit code is 65. Ingesting the same payloads again, in any \
            order, appends nothing. The command prints positions up to which the log contains what \
            the payloads state; pass them to `follow --wait-for`.

            verifyReceipt responses and version 1 notifications are not signed: only what the app \
            receipt inside them proves is accepted, unless a shared secret proves the \
            notification, or you vouch for the payloads with --vouch. Transactions and renewal \
            info that a program decoded and kept without their JWS also need --vouch. A summary \
            lists what was left out or refused, by reason, with the option that would accept it. \
            The environment \
            is never guessed: payloads that name none (iOS 6, JWS before 2022-02-24) are refused \
            without --assume-environment.

            --plan reads and verifies the same payloads, needs no database and writes nothing: it \
            prints what they contain, what would be left out or refused, and roughly how long the \
            ingest will take. It exits as the ingest would: 65 if a payload would be refused.
            """
    )

    @Argument(help: "The files and folders to read, or - for stdin.")
    var paths: [String]

    @Option(help: "The channel that the payloads came by; stored with the evidence.")
    var source = "file"

    @Flag(
        help: """
            How the payloads arrived; stored with the evidence. Default: --live if the only path \
            is -, else --import.
            """
    )
    var arrival: ArrivalFlag?

    @Flag(help: "Also accept unsigned payloads: you know that they came from Apple.")
    var vouch = false

    @Flag(help: "Only read and verify, without a database, and print what an ingest would do.")
    var plan = false

    @Flag(help: "Also exit with 65 if facts were left out of accepted payloads.")
    var strict = false

    @Flag(name: .shortAndLong, help: "List each payload that was refused or only partly accepted.")
    var verbose = false

    @Option(help: "The column of CSV, TSV and COPY files that holds payloads. Default: detected.")
    var column: String?

    @OptionGroup var trust: TrustOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    /// The flags `--live` and `--import`.
    enum ArrivalFlag: String, EnumerableFlag {
        case live
        case `import`
    }

    /// The longest name of a source, in bytes: it is stored with every payload.
    static let sourceByteCountMax = 64

    func validate() throws {
        guard !source.isEmpty, source.utf8.count <= IngestCommand.sourceByteCountMax else {
            throw ValidationError(
                "--source must have 1 to \(IngestCommand.sourceByteCountMax) bytes"
            )
        }
        guard !plan || !verbose else {
            throw ValidationError(
                "--plan prints what would be refused, by reason with one example each, and cannot "
                    + "list payloads; use it without --verbose"
            )
        }
    }

    func run() async throws {
        let isQuiet = output.quiet
        let walk = try PayloadWalk(paths, column: column) { sentence in
            if !isQuiet { Terminal.write("ingest: \(sentence)") }
        }
        let policy = try trust.policy()
        let reader = PayloadReader(walk)
        let work = IngestWork(
            label: plan ? "plan" : "ingest",
            isQuiet: output.quiet,
            inputBytes: output.quiet ? nil : InputSize.bytes(of: paths),
            bytesRead: { reader.bytesRead },
            currentPath: { reader.currentPath }
        )
        if plan { return try await printPlan(reader, policy, work) }

        let ledger = try await database.openLedger(policy: policy)
        DatabaseOptions.warnOfLoss(ledger.log, "ingest", isQuiet: isQuiet)
        Interrupt.heed()
        var report = try await work.run(on: ledger.log) { progress in
            try await ledger.ingest(
                next: { try await reader.next() },
                source: source,
                arrival: recordedArrival,
                voucher: voucher,
                isStopped: { Interrupt.isRequested },
                progress: progress
            )
        }

        await ledger.log.close()
        if !output.quiet { for remark in await reader.remarks { Terminal.write(remark) } }
        report.skipped = await reader.skipped
        try IngestSummary(
            report: report,
            place: ledger.log.identity.lanes.text(report.positions)
        ).finish(output, isVerbose: verbose, isStrict: strict)
    }

    private func printPlan(
        _ reader: PayloadReader,
        _ policy: VerificationPolicy,
        _ work: IngestWork
    ) async throws {
        Interrupt.heed()
        let progress = Progress(work.label, isQuiet: work.isQuiet)
        let found = try await IngestPlan.read(
            next: { try await reader.next() },
            verifier: AppStoreVerifier(policy: policy),
            voucher: voucher,
            now: .systemClock(),
            processors: ProcessInfo.processInfo.activeProcessorCount,
            skipped: { await reader.skipped },
            isStopped: { Interrupt.isRequested },
            progress: { work.show($0, on: progress) }
        )
        progress.finish()
        if !output.quiet { for remark in await reader.remarks { Terminal.write(remark) } }
        try output.print(found, found.text)
        if found.wasStopped { throw Exit.interrupted }
        if found.rejected > 0 || strict && found.leftOut > 0 { throw Exit.badInput }
    }

    private var voucher: Voucher { vouch ? .operator : .unvouched }

    private var recordedArrival: Arrival {
        switch arrival {
        case .live: .live
        case .import: .imported
        case nil: paths == ["-"] ? .live : .imported
        }
    }
}
