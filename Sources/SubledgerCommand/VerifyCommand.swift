import AppStore
import ArgumentParser
import EventLog
import Events
import Foundation
import Subledger

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Recompute the chain of digests from the rows of the log; exit 3 on a mismatch.",
        discussion: """
            Every event, confirmation and payload is read and hashed again, on all cores. That \
            finds every change by someone who could not rewrite the whole chain.

            Someone with a superuser's rights can, with digests that match. --against finds that: \
            it compares documents of `checkpoint` (or what `verify --json` printed) that were kept \
            outside the database, old ones too, and reports for each lane up to which commit the \
            log is as it was then. A file may hold one document or one a line. An edited document \
            is refused (exit 65), one of another ledger is a mismatch. Rows of ledger.checkpoint \
            are compared as well.

            --since reads only what was committed after a checkpoint, in time proportional to that.

            With --signatures every stored payload is also verified again, offline, and every \
            event compared with what its payload states. Certificates are judged at the payload's \
            own dates. Name the roots that the ledger was filled with; Apple's are built in. What \
            was not signed is decoded again: only the chain proves that it was fetched, vouched \
            for or carried the shared secret.
            """
    )

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Documents of `checkpoint` or `verify --json` that were kept.",
            valueName: "file"
        )
    )
    var against: [String] = []

    @Option(
        help: ArgumentHelp(
            "Read only what was committed after this document of `checkpoint`.",
            valueName: "file"
        )
    )
    var since: String?

    @Option(
        help: ArgumentHelp(
            "Accept only documents signed by this key (PEM or DER); repeat for more.",
            valueName: "file"
        )
    )
    var publicKey: [String] = []

    @Flag(help: "Verify every stored payload again too.")
    var signatures = false

    @Option(
        help: ArgumentHelp(
            "Trust this root certificate too (DER or PEM); repeat for more.",
            valueName: "file"
        )
    )
    var rootCertificate: [String] = []

    @Option(help: "Cores, and connections, to use. Default: all cores.")
    var jobs: Int?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    /// Most connections at once: PostgreSQL admits a hundred unless it is configured.
    static let jobsMax = 64

    func validate() throws {
        if let jobs, !(1...VerifyCommand.jobsMax).contains(jobs) {
            throw ValidationError("--jobs must be from 1 to \(VerifyCommand.jobsMax), not \(jobs)")
        }
        guard signatures || rootCertificate.isEmpty else {
            throw ValidationError("--root-certificate is for --signatures")
        }
        guard publicKey.isEmpty || since != nil || !against.isEmpty else {
            throw ValidationError("--public-key is for --against and --since")
        }
    }

    func run() async throws {
        let keys = Set(try publicKey.map(CheckpointKeyFile.publicKey))
        var inputs = Inputs(
            documents: try KeptDocument.read(against, keys: keys),
            since: try since.map { try VerifyCommand.checkpoint(in: $0, keys) },
            keys: keys,
            roots: try TrustOptions.roots(in: rootCertificate)
        )
        if let since = inputs.since, !inputs.documents.contains(where: { $0.name == since.name }) {
            inputs.documents.append(since)
        }
        // Swift 6.3 cannot optimise one long asynchronous function here: its LLVM crashes.
        let findings = try await examine(inputs)
        try show(findings, inputs)
    }

    /// What is compared with the log.
    private struct Inputs {
        var documents: [KeptDocument]
        let since: KeptDocument?
        let keys: Set<CheckpointPublicKey>
        let roots: [RootCertificate]
    }

    /// What the chain and, where asked for, the signatures came to.
    private struct Findings {
        let lanes: LaneCount
        let chain: VerificationReport
        let proof: SignatureReport?
    }

    private static func checkpoint(
        in path: String,
        _ keys: Set<CheckpointPublicKey>
    ) throws -> KeptDocument {
        let documents = try KeptDocument.read([path], keys: keys)
        guard let document = documents.last, document.checkpoint != nil else {
            throw Failure(
                Exit.badInput,
                "\(path) is not what `checkpoint` prints: --since needs one"
            )
        }
        return document
    }

    private var cores: Int {
        min(jobs ?? ProcessInfo.processInfo.activeProcessorCount, VerifyCommand.jobsMax)
    }

    private func examine(_ inputs: Inputs) async throws -> Findings {
        var options = try DatabaseOptions.logOptions()
        options.readersMax = max(cores, options.readersMax)
        let log = try await database.openLog(options)
        let chain = try await verify(log, inputs)
        let proof = try await proveSignatures(log, inputs)
        await log.close()
        return Findings(lanes: log.identity.lanes, chain: chain, proof: proof)
    }

    private func show(_ findings: Findings, _ inputs: Inputs) throws {
        let text = VerifyText(
            findings.chain,
            inputs.documents,
            isPinned: !inputs.keys.isEmpty
        )
        if output.json {
            try Terminal.print(
                json: VerifyDocument(
                    findings.chain,
                    findings.proof,
                    lanes: findings.lanes,
                    documents: inputs.documents,
                    note: text.note
                )
            )
        } else {
            text.lines.forEach(Terminal.print)
            findings.proof.map { print($0, lanes: findings.lanes) }
        }
        if !findings.chain.isOK || findings.proof?.isOK == false { throw Exit.mismatch }
    }

    private func verify(_ log: EventLog, _ inputs: Inputs) async throws -> VerificationReport {
        let progress = SharedProgress("verify", isQuiet: output.quiet)
        var options = VerificationOptions()
        options.kept = inputs.documents.map(\.heads)
        options.since = inputs.since?.checkpoint?.checkpoint
        options.publicKeys = inputs.keys
        options.jobs = cores
        let report = try await log.verify(options) { progress.report(Int($0), "events") }
        progress.finish()
        return report
    }

    private func proveSignatures(
        _ log: EventLog,
        _ inputs: Inputs
    ) async throws -> SignatureReport? {
        guard signatures else { return nil }
        let progress = SharedProgress("signatures", isQuiet: output.quiet)
        let verification = SignatureVerification(
            log: log,
            roots: RootCertificate.apple + inputs.roots,
            jobs: cores
        )
        let report = try await verification.run(
            since: inputs.since?.checkpoint?.checkpoint
        ) { progress.report(Int($0), "payloads") }
        progress.finish()
        return report
    }

    private func print(_ report: SignatureReport, lanes: LaneCount) {
        let trusts = Verification.Trust.allCases.compactMap { trust in
            report.byTrust[trust].map { "\($0) \(trust.rawValue)" }
        }
        let verified =
            "\(report.verified) payloads"
            + (trusts.isEmpty ? "" : " (\(trusts.joined(separator: ", ")))")
            + (report.notKept > 0 ? "; \(report.notKept) not kept after erasures" : "")
        guard let failure = report.firstFailure else {
            Terminal.print("signatures ok: \(verified)")
            return
        }
        let evidence = failure.evidence.map { ", evidence \($0)" } ?? ""
        Terminal.print(
            "NOT PROVEN: event \(failure.position.text(lanes: lanes))\(evidence): \(failure.message) "
                + "[\(failure.reason)]"
        )
        Terminal.print("\(verified) before it prove what cites them")
    }
}
