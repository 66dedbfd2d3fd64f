import Foundation

/// Decompresses zstd by running the program of that name, if it is installed.
///
/// A program rather than the library: logs in zstd are rare, every build would need another C
/// library, and a system that creates such files has the program.
final class ZstdProgram {
    private let process = Process()
    private let output = Pipe()
    private let errors = Pipe()
    /// The decompressed output.
    let unpacked: InputFile

    /// Whether bytes begin like zstd.
    static func recognises(_ head: [UInt8]) -> Bool { head.starts(with: [0x28, 0xb5, 0x2f, 0xfd]) }

    /// What to do without it.
    static let advice =
        "install the program zstd, or unpack it yourself: zstd -dc FILE | subledger ingest -"

    /// Starts it on a file, from its beginning; nil if it is not installed or cannot be run.
    init?(_ file: InputFile) {
        guard let path = ZstdProgram.path else { return nil }
        file.rewind()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = ["-d", "-c", "-q"]
        process.standardInput = FileHandle(fileDescriptor: file.descriptor, closeOnDealloc: false)
        process.standardOutput = output
        process.standardError = errors
        unpacked = InputFile(output.fileHandleForReading.fileDescriptor, isOwned: false)
        do {
            try process.run()
        } catch {
            return nil
        }
    }

    private static var path: String? {
        let folders = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return folders.split(separator: ":").map { "\($0)/zstd" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Waits for its end; its error message, or nil.
    func complaint() -> String? {
        let text = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus != 0 else { return nil }
        let words = String(decoding: text, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        return words.isEmpty ? "it ended with code \(process.terminationStatus)" : words
    }
}
