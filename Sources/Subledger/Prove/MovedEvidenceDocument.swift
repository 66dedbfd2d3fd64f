package import EventLog

/// What `evidence move` moved.
package struct MovedEvidenceDocument: Codable, Hashable, Sendable {
    /// The number of files that were written.
    package let files: Int
    /// The number of payloads in them, including erased ones, of which they contain nothing.
    package let payloads: Int64
    /// The bytes that left the database.
    package let bytes: Int
    /// Where the files are.
    package let paths: [String]

    /// The document of a move.
    package init(_ files: [MovedEvidenceFile]) {
        self.files = files.count
        payloads = files.reduce(0) { $0 + $1.last - $1.first + 1 }
        bytes = files.reduce(0) { $0 + $1.byteCount }
        paths = files.map(\.path)
    }
}
