internal import Foundation

/// The content of a folder of exported tables: `manifest.json`, which is written last.
public struct ExportManifest: Codable, Hashable, Sendable {
    /// The version of this document.
    public let format: Int
    /// The ledger's id as a UUID.
    public let ledgerId: String
    /// The tables, by name.
    public let tables: [Table]

    /// Its name in the folder.
    public static let fileName = "manifest.json"

    static let currentFormat = 1

    /// A table as of its last export.
    public struct Table: Codable, Hashable, Sendable {
        /// Its name.
        public let name: String
        /// The newest commit of each lane that it includes, by lane.
        public let heads: [VerificationReport.Head]
        /// The newest instant that Apple had signed by then, in milliseconds; nil if the table does
        /// not depend on it.
        public let asOf: Int64?
        /// The newest version of the catalog used by the folds; 0 for none.
        public let catalogVersion: Int
        /// The versions of the folds it is computed from, by name.
        public let folds: [String: Int]
        /// SHA-256 of how it is computed and written: its views, columns, folders and format.
        public let definition: String
        /// The format of its files.
        public let fileFormat: ExportRequest.Format
        /// The names of its partition folders, outermost first.
        public let partitionBy: [String]
        /// Rows in all of its files.
        public internal(set) var rows: Int64
        /// Its files, by path.
        public internal(set) var files: [File]
    }

    /// A file of a table.
    public struct File: Codable, Hashable, Sendable {
        /// Its path below the folder.
        public let path: String
        /// The values of its partition folders, outermost first.
        public let partition: [String]
        /// Its rows.
        public let rows: Int64
        /// Its size.
        public let bytes: Int64
        /// SHA-256 of its bytes, in hexadecimal.
        public let sha256: String
        /// A sum over the hashes of its rows, by which the next export detects changes.
        public let content: String
    }
}

/// The names and types of all columns in a folder of exported tables: `schema.json`.
public struct ExportSchema: Codable, Hashable, Sendable {
    /// The tables, by name.
    public let tables: [Table]

    /// Its name in the folder.
    public static let fileName = "schema.json"

    /// The columns of a table.
    public struct Table: Codable, Hashable, Sendable {
        /// Its name.
        public let name: String
        /// The meaning of a row.
        public let comment: String
        /// The columns that identify a row.
        public let key: [String]
        /// The columns in the files, in order.
        public let columns: [Column]
        /// The columns that are partition folders, outermost first.
        public let partitions: [Column]
        /// The files, as a glob pattern below the folder.
        public let files: String
        /// The format of the files.
        public let fileFormat: ExportRequest.Format
    }

    /// A column.
    public struct Column: Codable, Hashable, Sendable {
        /// Its name.
        public let name: String
        /// The type of its values.
        public let type: ColumnType
        /// Its meaning.
        public let comment: String
    }

    /// The type of a column's values.
    public enum ColumnType: String, Codable, Sendable {
        /// Text.
        case string
        /// `true` or `false`; in CSV `t` or `f`.
        case boolean
        /// A 32-bit integer.
        case int32
        /// A 64-bit integer; in columns of milliunits, thousandths of the currency's unit.
        case int64
        /// A point in time with its offset from UTC, which is 0.
        case timestamp
        /// A day, UTC.
        case date
        /// A list of texts, as a JSON array.
        case strings = "string[]"
        /// A JSON value.
        case json
    }
}

extension Encodable {
    /// The document as a file: keys are sorted, so the same content gives the same bytes.
    func exportedFile() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        return Array(try encoder.encode(self)) + [0x0a]
    }
}
