package import Foundation
import Synchronization

/// A program built by this package, run as a separate process.
package struct Program: Sendable {
    /// Its path.
    package let path: String

    /// The program of that name, in the folder that the tests were built into.
    package init(_ name: String) throws {
        let places = Program.buildFolders.map { $0.appendingPathComponent(name).path }
        guard let path = places.first(where: FileManager.default.isExecutableFile) else {
            throw ProgramMissing(name: name, places: places)
        }
        self.path = path
    }

    /// A program that is installed.
    package init(path: String) { self.path = path }

    /// The folder of the package.
    package static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The folders in which what was built with these tests may be.
    ///
    /// The test bundle is a program next to ours on Linux, a folder next to ours on macOS.
    package static var buildFolders: [URL] {
        let bundles =
            CommandLine.arguments.map { URL(fileURLWithPath: $0) } + [Bundle.main.bundleURL]
        var folders: [URL] = []
        for bundle in bundles where bundle.path.contains(".build/") {
            var folder = bundle
            while folder.path.contains(".build/") {
                folder.deleteLastPathComponent()
                folders.append(folder)
            }
        }
        return folders + [root.appendingPathComponent(".build/debug")]
    }

    /// How a process ended, and what it wrote.
    package struct Ending: Sendable {
        /// Its exit code, or the number of the signal that ended it.
        package let code: Int32
        /// Whether a signal ended it.
        package let wasKilled: Bool
        /// Its stdout.
        package let output: String
        /// Its stderr.
        package let errors: String

        /// An ending with these.
        package init(code: Int32, wasKilled: Bool = false, output: String, errors: String) {
            self.code = code
            self.wasKilled = wasKilled
            self.output = output
            self.errors = errors
        }
    }

    /// Runs it to its end.
    package func run(
        _ arguments: [String],
        environment: [String: String] = [:],
        folder: String? = nil,
        inputFile: String? = nil
    ) async throws -> Ending {
        try await start(
            arguments,
            environment: environment,
            folder: folder,
            inputFile: inputFile
        ).ending()
    }

    /// This process's environment, except variables that name a database, with these added.
    package static func environment(_ given: [String: String]) -> [String: String] {
        ProcessInfo.processInfo.environment.filter { name, _ in
            !name.hasPrefix("PG") && !name.hasPrefix("SUBLEDGER_") && name != "DATABASE_URL"
        }
        .merging(given) { _, given in given }
    }

    /// Starts it.
    ///
    /// It inherits this process's environment, except variables that name a database.
    package func start(
        _ arguments: [String],
        environment: [String: String] = [:],
        folder: String? = nil,
        inputFile: String? = nil
    ) throws -> RunningProgram {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = Program.environment(environment)
        if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
        process.standardInput =
            try inputFile.map { try FileHandle(forReadingFrom: URL(fileURLWithPath: $0)) }
            ?? FileHandle.nullDevice
        return try RunningProgram(process)
    }
}

/// A program was not built.
package struct ProgramMissing: Error, CustomStringConvertible {
    let name: String
    let places: [String]

    /// Where it was searched for.
    package var description: String {
        "the program \(name) was not built; looked for \(places.joined(separator: ", "))"
    }
}

/// A process that was started by a test.
package final class RunningProgram: Sendable {
    private let process: Process
    private let collected: Mutex<(output: Data, errors: Data)> = Mutex((Data(), Data()))
    private let lineStream: AsyncStream<String>
    private let errorLineStream: AsyncStream<String>
    private let endings: AsyncStream<(code: Int32, wasKilled: Bool)>

    init(_ process: Process) throws {
        self.process = process
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        let (lines, line) = AsyncStream.makeStream(of: String.self)
        let (errorLines, errorLine) = AsyncStream.makeStream(of: String.self)
        let (endings, end) = AsyncStream.makeStream(of: (code: Int32, wasKilled: Bool).self)
        lineStream = lines
        errorLineStream = errorLines
        self.endings = endings
        let done = DispatchGroup()
        for _ in 0..<3 { done.enter() }
        process.terminationHandler = { _ in done.leave() }
        try process.run()
        Thread.detachNewThread { [self] in
            RunningProgram.read(output, line) { chunk in
                collected.withLock { $0.output.append(chunk) }
            }
            done.leave()
        }
        Thread.detachNewThread { [self] in
            RunningProgram.read(errors, errorLine) { chunk in
                collected.withLock { $0.errors.append(chunk) }
            }
            done.leave()
        }
        done.notify(queue: .global()) {
            end.yield((process.terminationStatus, process.terminationReason == .uncaughtSignal))
            end.finish()
        }
    }

    private static func read(
        _ pipe: Pipe,
        _ line: AsyncStream<String>.Continuation,
        _ take: (Data) -> Void
    ) {
        var rest = Data()
        while case let chunk = pipe.fileHandleForReading.availableData, !chunk.isEmpty {
            take(chunk)
            // Only new output is searched: a line of JSON may have megabytes.
            let pieces = chunk.split(
                separator: UInt8(ascii: "\n"),
                omittingEmptySubsequences: false
            )
            for piece in pieces.dropLast() {
                line.yield(String(decoding: rest + piece, as: UTF8.self))
                rest = Data()
            }
            rest.append(pieces.last ?? Data())
        }
        // Nothing else closes it, and Foundation's Process crashes with more than a thousand files.
        try? pipe.fileHandleForReading.close()
        line.finish()
    }

    /// Its process id.
    package var processId: Int32 { process.processIdentifier }

    /// The lines of its stdout as they arrive, until its end; for one reader.
    package var lines: AsyncStream<String> { lineStream }

    /// The lines of its stderr as they arrive, until its end; for one reader.
    package var errorLines: AsyncStream<String> { errorLineStream }

    /// Whether it has not ended yet.
    package var isRunning: Bool { process.isRunning }

    /// Sends it a signal.
    package func signal(_ number: Int32) { kill(processId, number) }

    /// Waits for its end.
    package func ending() async -> Program.Ending {
        var last: (code: Int32, wasKilled: Bool) = (0, false)
        for await ending in endings { last = ending }
        let (output, errors) = collected.withLock { $0 }
        return Program.Ending(
            code: last.code,
            wasKilled: last.wasKilled,
            output: String(decoding: output, as: UTF8.self),
            errors: String(decoding: errors, as: UTF8.self)
        )
    }
}

extension RunningProgram {
    /// Reads its stderr until a line has a match, and returns the first group.
    package func firstMatch(
        of pattern: Regex<(Substring, Substring)>
    ) async throws -> String {
        for await line in errorLines {
            if let match = line.firstMatch(of: pattern) { return String(match.1) }
        }
        throw POSIXError(.ESRCH)
    }
}
