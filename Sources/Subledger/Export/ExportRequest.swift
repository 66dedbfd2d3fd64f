public import EventLog

/// What to export, and where to.
public struct ExportRequest: Sendable {
    /// The folder; made where it is missing.
    public var folder: String
    /// Names of tables of schema `analytics`; empty for all of them, but those on request.
    public var tables: [String] = []
    /// What tables are divided by, a folder for each value; nil for `month`.
    ///
    /// `year`, `month` and `day` (UTC) of a table's time, or columns; each table by those that it
    /// has.
    public var partitions: [String]?
    /// How files are written.
    public var format = Format.csv
    /// How much of the log counts; nil for what the live tables hold, which takes no fold.
    public var knownAt: KnownAt?

    /// How files are written.
    public enum Format: String, CaseIterable, Codable, Sendable {
        /// CSV with a header, packed by gzip.
        case csv
        /// One JSON object per line, packed by gzip.
        case ndjson
    }

    /// Most folders that a table may be divided into: each is a file that is open once.
    public static let partitionsMax = 20_000

    /// Most bytes that the name of a folder has: what file systems take.
    public static let folderNameByteCountMax = 255

    /// An export of all tables into a folder.
    public init(folder: String) {
        self.folder = folder
    }
}

/// Why nothing, or not everything, was exported.
public struct ExportError: Error, Hashable, Sendable {
    /// What happened, for callers to switch on.
    public let code: Code
    /// What happened, to which thing, and what to do next; safe to log.
    public let message: String

    /// The causes.
    public enum Code: String, CaseIterable, Sendable {
        /// There is no table of that name.
        case unknownTable = "unknown-table"
        /// No table can be divided by that.
        case unknownPartition = "unknown-partition"
        /// The table does not follow from the log, so its earlier content is unknown.
        case notKnownAt = "not-known-at"
        /// A table would have more folders than `partitionsMax`.
        case tooManyPartitions = "too-many-partitions"
        /// A value of a column that tables are divided by cannot be the name of a folder.
        case unfitPartition = "unfit-partition"
        /// The folder holds other files.
        case foreignFolder = "foreign-folder"
        /// The folder holds the export of another ledger.
        case otherLedger = "other-ledger"
        /// The manifest of the folder cannot be read.
        case damagedManifest = "damaged-manifest"
        /// Another process exports into the folder.
        case folderInUse = "folder-in-use"
        /// The file system refused.
        case fileSystem = "file-system"
    }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// A refusal of the file system.
    init(_ path: String, cannot verb: String, _ number: Int32, then next: String) {
        self.init(.fileSystem, "\(path) cannot be \(verb): \(systemMessage(number)); \(next)")
    }
}

extension ExportError: CustomStringConvertible {
    /// The message and the code.
    public var description: String { "\(message) [\(code.rawValue)]" }
}

/// What an export wrote.
public struct ExportDocument: Codable, Hashable, Sendable {
    /// The folder.
    public let folder: String
    /// The newest event of each lane that is counted, by the lane's number.
    public let positions: [String: Int64]
    /// SHA-256 of `manifest.json`, in hexadecimal.
    public let manifest: String
    /// The tables, in the order of schema `analytics`.
    public let tables: [Table]
    /// Subscriptions that a fold refused, which no table holds.
    public let refusedSubscriptions: Int

    /// An exported table.
    public struct Table: Codable, Hashable, Sendable {
        /// Its name.
        public let name: String
        /// Rows in all of its files.
        public let rows: Int64
        /// Its files.
        public let files: Int
        /// Bytes in all of its files.
        public let bytes: Int64
        /// Files that this export wrote; the others are unchanged.
        public let filesWritten: Int
        /// Files of an earlier export that are gone, because no row is left for them.
        public let filesRemoved: Int
    }
}
