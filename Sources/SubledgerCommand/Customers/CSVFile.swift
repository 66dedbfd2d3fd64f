import CommandSupport
import Foundation

/// Reads comma-separated text as a stream; `-` is stdin.
struct CSVFile {
    /// The file's name, for messages.
    let place: String
    private let handle: FileHandle
    private var parser = CSVParser()
    private var isAtEnd = false

    /// Bytes that are read at once.
    private static let chunkByteCount = 1 << 16

    /// The error for a record that cannot be parsed.
    static let malformedLine =
        "the line is not comma-separated text in UTF-8 (RFC 4180) of at most "
        + "\(CSVParser.recordByteCountMax) bytes"

    init(_ path: String) throws {
        place = path == "-" ? "stdin" : path
        do {
            handle =
                path == "-"
                ? FileHandle.standardInput
                : try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        } catch {
            let isThere = FileManager.default.fileExists(atPath: path)
            throw Failure(
                Exit.inputMissing,
                isThere
                    ? "the list \(path) cannot be read: it is a folder, or its permissions do not "
                        + "allow it"
                    : "there is no file \(path)"
            )
        }
    }

    /// The next records; nil at the end, and after the user asked to stop.
    mutating func next() throws -> [CSVParser.Record]? {
        guard !isAtEnd, !Interrupt.isRequested else { return nil }
        let bytes: [UInt8]
        do {
            bytes = [UInt8](try handle.read(upToCount: CSVFile.chunkByteCount) ?? Data())
        } catch {
            throw Failure(
                Exit.inputMissing,
                "the list \(place) cannot be read: \(error.localizedDescription)"
            )
        }
        isAtEnd = bytes.isEmpty
        return isAtEnd ? parser.finish() : parser.append(bytes)
    }
}
