internal import Events
internal import Foundation
internal import Postgres

/// Receives the rows of a table from COPY, in the order of their folders, and writes one file per
/// folder.
struct ExportSink: Sendable {
    private let table: ExportedTable
    private let definition: String
    private let folder: ExportFolder
    private let duckDB: DuckDB?
    private let progress: @Sendable (Int) -> Void

    private var file: ExportFile?
    // The prefix of the rows of the current folder, and its values.
    private var prefix: [UInt8] = []
    private var partition: [String] = []
    private var content = RowSum()
    private var rowCount = 0
    private var total = 0
    // Compared by bytes: Swift treats more strings as equal than the server does.
    private var seen: Set<[FieldValue]> = []
    /// The files that have been moved into place.
    private(set) var files: [ExportManifest.File] = []

    /// Rows after which progress is reported.
    private static let progressRows = 4096

    init(
        _ table: ExportedTable,
        _ definition: String,
        in folder: ExportFolder,
        _ duckDB: DuckDB?,
        progress: @escaping @Sendable (Int) -> Void
    ) {
        self.table = table
        self.definition = definition
        self.folder = folder
        self.duckDB = duckDB
        self.progress = progress
    }

    /// Takes a row with the prefix before its columns.
    mutating func take(_ row: UnsafeRawBufferPointer) throws(ExportError) {
        if file == nil || !row.starts(with: prefix) { try begin(with: row) }
        var reader = PrefixReader(row: row, delimiters: table.delimiters, position: prefix.count)
        content.add(reader.integer(), reader.integer())
        guard let file else { preconditionFailure("a row comes before its file") }
        try file.append(UnsafeRawBufferPointer(rebasing: row[reader.position...]))
        (rowCount, total) = (rowCount + 1, total + 1)
        if total % ExportSink.progressRows == 0 { progress(total) }
    }

    /// Ends the last file; a table without folders has a file even if it has no rows.
    mutating func finish() throws(ExportError) {
        if table.partitions.isEmpty, file == nil { try open([]) }
        try end()
    }

    private mutating func begin(with row: UnsafeRawBufferPointer) throws(ExportError) {
        try end()
        var reader = PrefixReader(row: row, delimiters: table.delimiters, position: 0)
        let values = table.partitions.map { _ in reader.text() }
        prefix = Array(row[..<reader.position])
        try table.checkFolders(of: values)
        guard seen.count < ExportRequest.partitionsMax else {
            throw ExportError(
                .tooManyPartitions,
                "\(table.name) would have more than \(ExportRequest.partitionsMax) folders; "
                    + "partition it by a column with fewer values"
            )
        }
        try open(values)
    }

    private mutating func open(_ values: [String]) throws(ExportError) {
        guard seen.insert(values.map(FieldValue.text)).inserted else {
            preconditionFailure("rows of \(table.name) are not sorted by folder: \(values)")
        }
        let file = try folder.newFile()
        (self.file, partition, content, rowCount) = (file, values, RowSum(), 0)
        file.append(table.header)
    }

    private mutating func end() throws(ExportError) {
        guard let file else { return }
        try file.endPacking()
        try file.finish()
        let (bytes, digest) = try converted(file)
        let entry = ExportManifest.File(
            path: table.path(of: partition),
            partition: partition,
            rows: Int64(rowCount),
            bytes: bytes,
            sha256: digest.hex,
            content: content.text
        )
        try folder.place(
            file,
            as: ExportFolder.Finished(table: table.name, definition: definition, file: entry)
        )
        files.append(entry)
        self.file = nil
    }

    // The size and the digest of the file in its final format.
    private func converted(
        _ file: ExportFile
    ) throws(ExportError) -> (bytes: Int64, digest: Digest) {
        guard let duckDB else { return (file.byteCount, file.digest) }
        try duckDB.convert(file, of: table.schema)
        guard let bytes = ExportFolder.size(at: file.path),
            let digest = try ExportFile.digest(of: file.path)
        else { throw ExportFolder.failure(file.path, "read", ENOENT) }
        return (bytes, digest)
    }
}

/// The sums of both hashes of the rows, modulo 2^64: equal for the same rows in any order.
struct RowSum: Sendable {
    private var first: UInt64 = 0
    private var second: UInt64 = 0

    /// The sum of no rows.
    init() {}

    /// The sums that the server computed from the same hashes; nil if they are not numbers.
    init?(_ first: String, _ second: String) {
        guard let first = Int128(first), let second = Int128(second) else { return nil }
        self.first = UInt64(truncatingIfNeeded: first)
        self.second = UInt64(truncatingIfNeeded: second)
    }

    mutating func add(_ first: Int64, _ second: Int64) {
        self.first &+= UInt64(bitPattern: first)
        self.second &+= UInt64(bitPattern: second)
    }

    /// Hexadecimal digits.
    var text: String {
        hexadecimal([first, second].flatMap { withUnsafeBytes(of: $0.bigEndian, Array.init) })
    }
}

/// Parses the prefix before the columns of a row.
private struct PrefixReader {
    let row: UnsafeRawBufferPointer
    let delimiters: ExportedTable.Delimiters
    var position: Int

    /// A text, quoted or not, and its delimiter.
    mutating func text() -> String {
        var bytes: [UInt8] = []
        var isQuoted = false
        while position < row.count {
            let byte = row[position]
            position += 1
            if byte == delimiters.quote {
                // A doubled quote inside quotes stands for one quote.
                let isDoubled =
                    isQuoted && position < row.count && row[position] == delimiters.quote
                if isDoubled { (position, bytes) = (position + 1, bytes + [byte]) }
                if !isDoubled { isQuoted.toggle() }
            } else if byte == delimiters.separator, !isQuoted {
                break
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A number, and its delimiter.
    mutating func integer() -> Int64 {
        let isNegative = row[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }
        var magnitude: UInt64 = 0
        while row[position] != delimiters.separator {
            magnitude = magnitude &* 10 &+ UInt64(row[position] &- UInt8(ascii: "0"))
            position += 1
        }
        position += 1
        return Int64(bitPattern: isNegative ? 0 &- magnitude : magnitude)
    }
}
