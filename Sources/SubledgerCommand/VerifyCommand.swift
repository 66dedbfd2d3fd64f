import ArgumentParser
import EventLog
import Events
import Foundation

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Recompute the chain of digests from the rows of the log; exit 3 on a mismatch.",
        discussion: """
            Every event, confirmation and payload is read and hashed again. Keep what --json \
            prints outside the database: --against proves later that the log still contains it.
            """
    )

    @Option(
        help: ArgumentHelp(
            "What an earlier `verify --json` printed.",
            valueName: "file"
        )
    )
    var against: String?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let kept = try against.map(VerifyCommand.readHeads) ?? []
        let report = try await verify(kept)
        if output.json {
            try Terminal.print(json: Document(report))
        } else {
            print(report)
        }
        if !report.isOK { throw Exit.mismatch }
    }

    private func verify(_ kept: [VerificationReport.Head]) async throws -> VerificationReport {
        let log = try await database.openLog()
        let progress = SharedProgress("verify", isQuiet: output.quiet)
        let report = try await log.verify(kept: kept) { progress.report(Int($0), "events") }
        progress.finish()
        await log.close()
        return report
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
            guard kept.ok, !kept.heads.isEmpty, kept.heads.allSatisfy({ $0.commit >= 1 }) else {
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
        let ok: Bool
        let heads: [Head]
    }

    private struct Head: Codable {
        let lane: Int
        let offset: Int64
        let commit: Int64
        let digest: String
    }

    /// The fixed JSON of `verify` (DESIGN §8).
    private struct Document: Encodable {
        let ok: Bool
        let events: Int64
        let commits: Int64
        let heads: [Head]
        let firstMismatch: Mismatch?

        struct Mismatch: Encodable {
            let lane: Int
            let commit: Int64
            let offset: Int64?
            let reason: String
        }

        enum CodingKeys: CodingKey {
            case ok, events, commits, heads, firstMismatch
        }

        init(_ report: VerificationReport) {
            ok = report.isOK
            events = report.events
            commits = report.commits
            heads = report.heads.map {
                Head(
                    lane: $0.lane,
                    offset: $0.offset,
                    commit: $0.commit,
                    digest: $0.digest.hex
                )
            }
            firstMismatch = report.firstMismatch.map {
                Mismatch(
                    lane: $0.lane,
                    commit: $0.commit,
                    offset: $0.offset,
                    reason: $0.reason
                )
            }
        }

        // `firstMismatch` is part of the contract, so null is written out.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(ok, forKey: .ok)
            try container.encode(events, forKey: .events)
            try container.encode(commits, forKey: .commits)
            try container.encode(heads, forKey: .heads)
            try container.encode(firstMismatch, forKey: .firstMismatch)
        }
    }
}
