import AppStore
import EventLog
import Events
import Foundation
import Postgres
import Subledger

/// Ingests the lines of a file and acknowledges each on stdout once `append` has returned: the
/// crash test kills it during its work.
///
/// Arguments: the file, a root certificate, how many payloads may be under way at once. A line of
/// the file is a number, a space and a payload; its acknowledgement is the number, then `+` and the
/// position of each fact that was appended, `=` and that of each that was known or refused. Or it
/// is `erase`, a scope, an environment and an id, or `repair`, acknowledged unchanged; or
/// `checkpoint`.
@main
struct CrashChild {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let url = ProcessInfo.processInfo.environment["DATABASE_URL"]
        guard arguments.count == 4, let url, let window = Int(arguments[3]) else {
            throw UsageError()
        }
        let root = try Data(contentsOf: URL(fileURLWithPath: arguments[2]))
        let ledger = try await Ledger.open(
            ConnectionSettings(url),
            policy: VerificationPolicy(roots: try RootCertificate.read([UInt8](root)))
        )
        let file = try Data(contentsOf: URL(fileURLWithPath: arguments[1]))
        try await withThrowingTaskGroup(of: Void.self) { group in
            var underWay = 0
            for line in file.split(separator: UInt8(ascii: "\n")) {
                guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { continue }
                let number = String(decoding: line[..<space], as: UTF8.self)
                let payload = [UInt8](line[line.index(after: space)...])
                if underWay == window {
                    try await group.next()
                    underWay -= 1
                }
                underWay += 1
                if number == "erase" {
                    group.addTask { try await erase(payload, in: ledger) }
                    continue
                }
                if number == "checkpoint" {
                    group.addTask { try await keepCheckpoint(of: ledger.log) }
                    continue
                }
                if number == "repair" {
                    group.addTask {
                        try await untilAvailable {
                            _ = try await ledger.log.repair(reason: "crash test", by: "crash test")
                        }
                        try write("repair")
                    }
                    continue
                }
                group.addTask {
                    let outcomes = try await ledger.ingest(payload, source: "crash-test").outcomes
                    try acknowledge(number, outcomes)
                }
            }
            try await group.waitForAll()
        }
        await ledger.log.close()
    }

    // A killed server comes back, and an interrupted erasure is repeated.
    private static func erase(_ words: [UInt8], in ledger: Ledger) async throws {
        let parts = String(decoding: words, as: UTF8.self).split(separator: " ").map(String.init)
        guard parts.count == 3, let scope = Erasure.Scope(rawValue: parts[0]) else {
            throw UsageError()
        }
        let environment = StoreEnvironment(parts[1])
        let stream = StreamID(environment: environment, originalTransactionId: parts[2])
        try await untilAvailable {
            _ = try await ledger.erase(
                [ErasureTarget(stream: stream, scope: scope)],
                reason: ErasureReason("crash test", by: "crash test"),
                withSiblings: true
            )
        }
        try write("erase \(parts.joined(separator: " "))")
    }

    private static func keepCheckpoint(of log: EventLog) async throws {
        try await untilAvailable {
            try await log.record(SignedCheckpoint(try await log.checkpoint(), signedBy: nil))
        }
    }

    private static func untilAvailable(_ body: () async throws -> Void) async throws {
        while true {
            do {
                return try await body()
            } catch let error as EventLogError where error.isRetryable {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    // One write of less than PIPE_BUF is atomic: lines of several threads do not mix, and every
    // line that the parent reads is complete.
    private static func acknowledge(_ number: String, _ outcomes: [AppendOutcome]) throws {
        let words = outcomes.map { outcome in
            "\(outcome.isNew ? "+" : "=")\(outcome.position.lane.number):\(outcome.position.offset)"
        }
        try write(([number] + words).joined(separator: " "))
    }

    private static func write(_ text: String) throws {
        let line = Array(text.utf8) + [UInt8(ascii: "\n")]
        guard Foundation.write(STDOUT_FILENO, line, line.count) == line.count else {
            throw UsageError()
        }
    }
}

/// The process was not started by the crash test.
struct UsageError: Error {}
