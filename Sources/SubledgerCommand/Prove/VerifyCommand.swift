import AppStore
import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Subledger

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Recompute all digests from the rows of the log; exit with 3 on a mismatch.",
        discussion: """
            Reads and hashes every event, confirmation and payload again, on all cores. This finds \
            every change, unless the whole chain was rewritten to match.

            A superuser can rewrite the chain with matching digests. --against finds that: it \
            compares the log with documents of `checkpoint`, or output of `verify --json`, that \
            were kept outside the database. For each lane it reports up to which commit the log \
            matches the document. Old documents are useful, too. A file may contain one document, \
            or one per line. An edited document is refused (exit 65); a document of another ledger \
            is a mismatch. Rows of ledger.checkpoint are also compared.

            --since reads only the commits after a checkpoint, so it takes time in proportion to \
            their number.

            With --signatures, every stored payload is also verified again, offline, and every \
            event is compared with what its payload states. Certificates are checked at the \
            payload's own dates. Apple's root certificates are built in; pass any other root that \
            payloads were ingested with. Payloads without a signature are decoded again: only the \
            chain proves that they were fetched, vouched for, or contained the shared secret.
            """
    )

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Documents that `checkpoint` or `verify --json` printed earlier.",
            valueName: "file"
        )
    )
    var against: [String] = []

    @Option(
        help: ArgumentHelp(
            "Read only commits made after this document, which `checkpoint` printed.",
            valueName: "file"
        )
    )
    var since: String?

    @Option(
        help: ArgumentHelp(
            "Accept only documents signed with this key (PEM or DER); repeat for more keys.",
            valueName: "file"
        )
    )
    var publicKey: [String] = []

    @Flag(help: "Also verify every stored payload again.")
    var signatures = false

    @Option(
        help: ArgumentHelp(
            "Also trust this root certificate (DER or PEM); repeat for more.",
            valueName: "file"
        )
    )
    var rootCertificate: [String] = []

    @Option(help: "Number of cores and of connections to use. Default: all cores.")
    var jobs: Int?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    /// The most connections at once: by default, PostgreSQL admits a hundred.
    static let jobsMax = 64

    func validate() throws {
        if let jobs, !(1...VerifyCommand.jobsMax).contains(jobs) {
            throw ValidationError("--jobs must be from 1 to \(VerifyCommand.jobsMax), not \(jobs)")
        }
        guard signatures || rootCertificate.isEmpty else {
            throw ValidationError("--root-certificate requires --signatures")
        }
        guard publicKey.isEmpty || since != nil || !against.isEmpty else {
            throw ValidationError("--public-key requires --against or --since")
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

    /// What the log is compared with.
    private struct Inputs {
        var documents: [KeptDocument]
        let since: KeptDocument?
        let keys: Set<CheckpointPublicKey>
        let roots: [RootCertificate]

        /// The fingerprints of the keys that signed documents.
        var signers: [String: String] {
            documents.reduce(into: [:]) { signers, document in
                signers[document.name] = document.checkpoint?.signature?.publicKey.fingerprint
            }
        }
    }

    /// The results for the chain and, if requested, for the signatures.
    private struct Findings {
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
                "\(path) is not a document of `checkpoint`; --since requires one"
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
        return Findings(chain: chain, proof: proof)
    }

    private func show(_ findings: Findings, _ inputs: Inputs) throws {
        let text = VerifyText(
            report: findings.chain,
            documents: inputs.documents,
            isPinned: !inputs.keys.isEmpty,
            proof: findings.proof
        )
        if output.json {
            try Terminal.print(
                json: VerifyDocument(
                    findings.chain,
                    findings.proof,
                    since: inputs.since?.name,
                    signers: inputs.signers
                )
            )
        } else {
            text.lines.forEach(Terminal.print)
            findings.proof.map { print($0) }
        }
        if !findings.chain.isOK || findings.proof?.isOK == false { throw Exit.mismatch }
    }

    private func verify(_ log: EventLog, _ inputs: Inputs) async throws -> VerificationReport {
        let progress = Progress("verify", isQuiet: output.quiet)
        var options = VerificationOptions()
        options.kept = inputs.documents.map(\.heads)
        options.since = inputs.since?.checkpoint?.checkpoint
        options.publicKeys = inputs.keys
        options.jobs = cores
        let report = try await log.verify(options) { progress.report(Int($0), "event") }
        progress.finish()
        return report
    }

    private func proveSignatures(
        _ log: EventLog,
        _ inputs: Inputs
    ) async throws -> SignatureReport? {
        guard signatures else { return nil }
        let progress = Progress("signatures", isQuiet: output.quiet)
        let verification = SignatureVerification(
            log: log,
            roots: RootCertificate.apple + inputs.roots,
            jobs: cores
        )
        let report = try await verification.run(
            since: inputs.since?.checkpoint?.checkpoint
        ) { progress.report(Int($0), "payload") }
        progress.finish()
        return report
    }

    private func print(_ events: UnkeptEvents) {
        let place = events.lane.isOnly ? "" : "lane \(events.lane.number), "
        for (offsets, reason) in [
            (events.erased, "erased"),
            (events.arrivedAfterErasure, "arrived after the erasure, verified on arrival only"),
            (
                events.byEarlierVersion,
                "arrived after the erasure of another subscription, by an earlier version"
            ),
        ] where !offsets.isEmpty {
            let text = offsets.description
            let isLong = text.utf8.count > VerifyCommand.offsetsByteCountMax
            Terminal.print(
                "not kept: the payloads of \(place)events "
                    + text.prefix(isLong ? VerifyCommand.offsetsByteCountMax : text.count)
                    + (isLong ? "… (--json lists all)" : "") + ": \(reason)"
            )
        }
    }

    /// The most of a list of offsets that a line of text shows.
    private static let offsetsByteCountMax = 500

    private func print(_ report: SignatureReport) {
        let trusts = Verification.Trust.allCases.compactMap { trust in
            report.byTrust[trust].map { "\($0) \(trust.rawValue)" }
        }
        let verified =
            counted(report.verified, "payload")
            + (trusts.isEmpty ? "" : " (\(trusts.joined(separator: ", ")))")
            + (report.notKept > 0 ? "; \(report.notKept) not kept after erasures" : "")
        guard let failure = report.firstFailure else {
            Terminal.print("signatures ok: \(verified)")
            report.notKeptEvents.forEach { print($0) }
            return
        }
        let evidence = failure.evidence.map { ", evidence \($0)" } ?? ""
        Terminal.print(
            "NOT PROVEN: event \(failure.position)\(evidence): "
                + "\(failure.message) [\(failure.reason)]"
        )
        Terminal.print("verified before this failure: \(verified)")
    }
}
