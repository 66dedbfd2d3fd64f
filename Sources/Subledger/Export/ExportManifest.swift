internal import Foundation

/// What a folder of exported tables holds: `manifest.json`, which is written last.
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

    /// A table as it was exported last.
    public struct Table: Codable, Hashable, Sendable {
        /// Its name.
        public let name: String
        /// The newest commit of each lane that is in it, by lane.
        public let heads: [ChainHead]
        /// The newest instant that Apple had signed then, in milliseconds; nil where the table does
        /// not depend on it.
        public let asOf: Int64?
        /// The newest version of the catalog that the folds knew; 0 for none.
        public let catalogVersion: Int
        /// The versions of the folds behind it, by name.
        public let folds: [String: Int]
        /// SHA-256 of how it is computed and written: its views, columns, folders and format.
        public let definition: String
        /// How its files are written.
        public let fileFormat: ExportRequest.Format
        /// The names of its folders, from the outside in.
        public let partitionBy: [String]
        /// Rows in all of its files.
        public let rows: Int64
        /// Its files, by path.
        public let files: [File]
    }

    /// A file of a table.
    public struct File: Codable, Hashable, Sendable {
        /// Where it is, below the folder.
        public let path: String
        /// The values that its folders stand for, from the outside in.
        public let partition: [String]
        /// Its rows.
        public let rows: Int64
        /// Its size.
        public let bytes: Int64
        /// SHA-256 of its bytes, in hexadecimal.
        public let sha256: String
        /// A sum over hashes of its rows, by which the next export knows whether they changed.
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
        /// What a row is.
        public let comment: String
        /// The columns that tell rows apart.
        public let key: [String]
        /// The columns in files, in their order.
        public let columns: [Column]
        /// The columns that are names of folders, from the outside in.
        public let partitions: [Column]
        /// The files, as a pattern below the folder.
        public let files: String
        /// How they are written.
        public let fileFormat: ExportRequest.Format
    }

    /// A column.
    public struct Column: Codable, Hashable, Sendable {
        /// Its name.
        public let name: String
        /// What its values are.
        public let type: ColumnType
        /// What it means.
        public let comment: String
    }

    /// What values are.
    public enum ColumnType: String, Codable, Sendable {
        /// Words.
        case string
        /// `true` or `false`; in CSV `t` or `f`.
        case boolean
        /// A 32-bit integer.
        case int32
        /// A 64-bit integer; of columns in milliunits thousandths of a currency's unit.
        case int64
        /// A point in time with its offset from UTC, which is 0.
        case timestamp
        /// A day, UTC.
        case date
        /// Words, as a JSON array.
        case strings = "string[]"
        /// A JSON value.
        case json
    }
}

extension Encodable {
    /// The document as a file: keys sorted, so that the same content gives the same bytes.
    func exportedFile() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        return Array(try encoder.encode(self)) + [0x0a]
    }
}
