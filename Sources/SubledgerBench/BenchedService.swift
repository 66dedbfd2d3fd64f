import CommandSupport
import EventLog
import Foundation
import Postgres
import Subledger

/// `subledger serve` as a separate process, to be measured.
struct BenchedService {
    private let process: Process
    private let port: Int
    private let token: String
    private let log: EventLog
    private let folder: URL

    /// Seconds within which the service must listen.
    private static let startSecondsMax = 30.0

    /// Starts it on an empty ledger, with default settings, and waits until it listens.
    static func start(
        _ settings: ConnectionSettings,
        root: [UInt8]
    ) async throws -> BenchedService {
        let log = try await EventLog.open(settings)
        let token = AccessToken.random(named: "bench")
        _ = try await log.add(token, [.support])

        let folder = try URL.benchFolder()
        let (certificate, lines) = (
            folder.appending(path: "root.der"), folder.appending(path: "log")
        )
        try Data(root).write(to: certificate)
        try Data().write(to: lines)

        let process = Process()
        process.executableURL = try program()
        process.arguments = ["serve", "--port", "0", "--root-certificate", certificate.path]
        process.environment = ProcessEnvironment.variables
            .filter { !$0.key.hasPrefix("SUBLEDGER_SERVE_") }
            .merging(["DATABASE_URL": settings.fullConnectionString]) { $1 }
        process.standardError = try FileHandle(forWritingTo: lines)
        process.standardInput = FileHandle.nullDevice
        try process.run()
        do {
            let port = try await port(in: lines, of: process)
            return BenchedService(
                process: process,
                port: port,
                token: token.text,
                log: log,
                folder: folder
            )
        } catch {
            process.terminate()
            throw error
        }
    }

    // Both programs are built into the same folder.
    private static func program() throws -> URL {
        let folder = Bundle.main.executableURL?.deletingLastPathComponent()
        guard let program = folder?.appending(path: "subledger"),
            FileManager.default.isExecutableFile(atPath: program.path)
        else {
            throw Failure(
                Exit.inputMissing,
                "the folder of this program has no program subledger to measure; build it, too"
            )
        }
        return program
    }

    private static func port(in lines: URL, of process: Process) async throws -> Int {
        let end = ContinuousClock.now + .seconds(startSecondsMax)
        while process.isRunning, ContinuousClock.now < end {
            let text = try String(contentsOf: lines, encoding: .utf8)
            if let match = text.firstMatch(of: #/listening at http://[0-9.]+:(\d+)\n/#),
                let port = Int(match.1)
            {
                return port
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        let text = try String(contentsOf: lines, encoding: .utf8)
        throw Failure(Exit.internalError, "serve did not start: \(text.suffix(1000))")
    }

    /// Sends requests, each of which must be answered with 200.
    func load(
        _ requests: [LoadRequest],
        _ connections: Int,
        rate: Double? = nil
    ) async throws -> LoadResult {
        let result = try await HTTPLoad.run(
            requests,
            to: port,
            connections: connections,
            rate: rate
        )
        guard result.errors == 0 else {
            throw Failure(
                Exit.internalError,
                "\(result.errors) of \(result.requests) requests were not answered with 200, so "
                    + "no rate is reported"
            )
        }
        return result
    }

    /// Sends the same requests repeatedly, up to a total number.
    func soak(_ requests: [LoadRequest], _ count: Int, _ connections: Int) async throws {
        var left = count
        while left > 0 {
            _ = try await load(Array(requests.prefix(left)), connections)
            left -= min(left, requests.count)
        }
    }

    /// Asks whether the customer of a subscription has access.
    func access(_ id: String) -> LoadRequest {
        .get("/v1/customers/\(id)/access", token: token)
    }

    /// The numbers of commits and events in the ledger.
    func groupCommit() async throws -> (commits: Int64, events: Int64) {
        try await log.heads().values.reduce((0, 0)) { ($0.0 + $1.commit, $0.1 + $1.offset) }
    }

    /// Its resident memory; zero if the kernel does not report it.
    var memoryMiB: Int {
        PeakMemory.residentMebibytes(of: process.processIdentifier)
    }

    /// Stops it, and removes its files.
    func stop() async {
        process.interrupt()
        process.waitUntilExit()
        await log.close()
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            Terminal.write("bench: \(folder.path) could not be removed: \(error)")
        }
    }

    /// Kills it, after an error.
    func kill() { process.terminate() }
}
