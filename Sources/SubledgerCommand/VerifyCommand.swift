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
            Every event, confirmation and payload is read and hashed again. Keep what --json \
            prints outside the database: --against proves later that the log still contains it.

            With --signatures every stored payload is also verified again, offline, and every \
            event held against what its payload says. Certificates are judged at the payload's own \
            dates. Give the roots that the ledger was filled with; Apple's are built in. What was \
            not signed is decoded again: that it was fetched, vouched for or carried the shared \
            secret is told by the chain alone.
            """
    )

    @Option(
        help: ArgumentHelp(
            "What an earlier `verify --json` printed.",
            valueName: "file"
        )
    )
    var against: String?

    @Flag(help: "Verify every stored payload again too.")
    var signatures = false

    @Option(
        help: ArgumentHelp(
            "Trust this root certificate too (DER or PEM); repeat for more.",
            valueName: "file"
        )
    )
    var rootCertificate: [String] = []

    @Option(help: "Payloads verified at once. Default: one a core.")
    var jobs: Int?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    /// Most payloads verified at once: more cores than this no machine of today has.
    static let jobsMax = 1024

    func validate() throws {
        if let jobs, !(1...VerifyCommand.jobsMax).contains(jobs) {
            throw ValidationError("--jobs must be from 1 to \(VerifyCommand.jobsMax), not \(jobs)")
        }
        guard signatures || (rootCertificate.isEmpty && jobs == nil) else {
            throw ValidationError("--root-certificate and --jobs are for --signatures")
        }
    }

    func run() async throws {
        let kept = try against.map(VerifyCommand.readHeads) ?? []
        let roots = try TrustOptions.roots(in: rootCertificate)
        // Swift 6.3 cannot optimise one long asynchronous function here: its LLVM crashes.
        let findings = try await examine(kept, roots)
        try show(findings)
    }

    /// What the chain and, where asked for, the signatures came to.
    private struct Findings {
        let lanes: LaneCount
        let chain: VerificationReport
        let proof: SignatureReport?
    }

    private func examine(
        _ kept: [VerificationReport.Head],
        _ roots: [RootCertificate]
    ) async throws -> Findings {
        let log = try await database.openLog()
        let chain = try await verify(log, kept)
        let proof = try await proveSignatures(log, roots)
        await log.close()
        return Findings(lanes: log.identity.lanes, chain: chain, proof: proof)
    }

    private func show(_ findings: Findings) throws {
        if output.json {
            try Terminal.print(
                json: VerifyDocument(findings.chain, findings.proof, lanes: findings.lanes)
            )
        } else {
            print(findings.chain)
            findings.proof.map { print($0, lanes: findings.lanes) }
        }
        if !findings.chain.isOK || findings.proof?.isOK == false { throw Exit.mismatch }
    }

    private func verify(
        _ log: EventLog,
        _ kept: [VerificationReport.Head]
    ) async throws -> VerificationReport {
        let progress = SharedProgress("verify", isQuiet: output.quiet)
        let report = try await log.verify(kept: kept) { progress.report(Int($0), "events") }
        progress.finish()
        return report
    }

    private func proveSignatures(
        _ log: EventLog,
        _ roots: [RootCertificate]
    ) async throws -> SignatureReport? {
        guard signatures else { return nil }
        let progress = SharedProgress("signatures", isQuiet: output.quiet)
        let verification = SignatureVerification(
            log: log,
            roots: RootCertificate.apple + roots,
            jobs: jobs ?? ProcessInfo.processInfo.activeProcessorCount
        )
        let report = try await verification.run { progress.report(Int($0), "payloads") }
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

    private func print(_ report: VerificationReport) {
        guard let mismatch = report.firstMismatch else {
            Terminal.print("ok: \(report.events) events in \(report.commits) commits")
            for head in report.heads {
                Terminal.print(
                    "lane \(head.lane): offset \(head.offset), commit \(head.commit), "
                        + "digest \(head.digest)"
                )
            }
            return
        }
        let event = mismatch.offset.map { ", event \($0)" } ?? ""
        Terminal.print(
            "MISMATCH in lane \(mismatch.lane), commit \(mismatch.commit)\(event): "
                + mismatch.reason
        )
        Terminal.print(
            "\(report.events) events in \(report.commits) commits before it are as they were"
        )
    }

    private static func readHeads(_ path: String) throws -> [VerificationReport.Head] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Failure(Exit.inputMissing, "\(path) cannot be read")
        }
        do {
            let kept = try JSONDecoder().decode(KeptHeads.self, from: data)
            guard kept.ok ?? true, !kept.heads.isEmpty, kept.heads.allSatisfy({ $0.commit >= 1 })
            else {
                throw Failure(
                    Exit.badInput,
                    "\(path) proves nothing: it needs the heads of a verification that was ok"
                )
            }
            return try kept.heads.map { head in
                guard let digest = Digest(hex: head.digest) else {
                    throw Failure(
                        Exit.badInput,
                        "\(path): \(head.digest) is no SHA-256 in hexadecimal"
                    )
                }
                return VerificationReport.Head(
                    lane: head.lane,
                    offset: head.offset,
                    commit: head.commit,
                    digest: digest
                )
            }
        } catch is DecodingError {
            throw Failure(Exit.badInput, "\(path) is not what `verify --json` prints")
        }
    }

    private struct KeptHeads: Decodable {
        let ok: Bool?
        let heads: [VerifyDocument.Head]
    }
}
