package import EventLog

/// What to export, and where.
package struct ExportRequest: Sendable {
    /// The folder; created if it is missing.
    package var folder: String
    /// Names of tables of schema `analytics`; empty for all except those on request.
    package var tables: [String] = []
    /// How tables are partitioned, with one folder for each value; nil for `month`.
    ///
    /// `year`, `month` and `day` (UTC) of a table's time, or columns; each table uses those that it
    /// has.
    package var partitions: [String]?
    /// The format of the files.
    package var format = Format.csv
    /// How much of the log is used; nil for the content of the live tables, which needs no fold.
    package var knownAt: KnownAt?

    /// The format of the files.
    package enum Format: String, CaseIterable, Codable, Sendable {
        /// CSV with a header, compressed by gzip.
        case csv
        /// One JSON object per line, compressed by gzip.
        case ndjson
        /// Parquet, which DuckDB's program writes.
        case parquet
    }

    /// The most folders that a table may be divided into: each is written as one file.
    package static let partitionsMax = 20_000

    /// The maximum length of a folder's name in bytes: the limit of file systems.
    package static let folderNameByteCountMax = 255

    /// An export of all tables into a folder.
    package init(folder: String) {
        self.folder = folder
    }
}

/// Why nothing, or not everything, was exported.
package struct ExportError: Error, Hashable, Sendable {
    /// What happened, for callers to switch on.
    package let code: Code
    /// What happened, to which object, and what to do next; safe to log.
    package let message: String

    /// The causes.
    package enum Code: String, CaseIterable, Sendable {
        /// No table has that name.
        case unknownTable = "unknown-table"
        /// No table can be partitioned by that.
        case unknownPartition = "unknown-partition"
        /// The table is not derived from the log, so its earlier content is unknown.
        case notKnownAt = "not-known-at"
        /// A table would have more folders than `partitionsMax`.
        case tooManyPartitions = "too-many-partitions"
        /// A value of a partition column cannot be the name of a folder.
        case unfitPartition = "unfit-partition"
        /// The folder contains other files.
        case foreignFolder = "foreign-folder"
        /// The folder contains the export of another ledger.
        case otherLedger = "other-ledger"
        /// The manifest of the folder cannot be read.
        case damagedManifest = "damaged-manifest"
        /// Another process is exporting into the folder.
        case folderInUse = "folder-in-use"
        /// DuckDB is not installed, which writes Parquet.
        case noDuckDB = "no-duckdb"
        /// DuckDB could not write a file as Parquet.
        case conversionFailed = "conversion-failed"
        /// The file system refused.
        case fileSystem = "file-system"
    }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension ExportError: CustomStringConvertible {
    /// The message and the code.
    package var description: String { "\(message) [\(code.rawValue)]" }
}

/// What an export wrote.
package struct ExportDocument: Codable, Hashable, Sendable {
    /// The folder.
    package let folder: String
    /// The newest event of each lane that is included, by the lane's number.
    package let positions: [String: Int64]
    /// SHA-256 of `manifest.json`, in hexadecimal.
    package let manifest: String
    /// The tables, in the order of schema `analytics`.
    package let tables: [Table]
    /// Subscriptions that a fold refused, which no table contains.
    package let refusedSubscriptions: Int

    /// An exported table.
    package struct Table: Codable, Hashable, Sendable {
        /// Its name.
        package let name: String
        /// Rows in all of its files.
        package let rows: Int64
        /// Its files.
        package let files: Int
        /// Bytes in all of its files.
        package let bytes: Int64
        /// Files that this export wrote; the others are unchanged.
        package let filesWritten: Int
        /// Files of an earlier export that were removed because they have no rows left.
        package let filesRemoved: Int
    }
}
