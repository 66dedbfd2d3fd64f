package import EventLog
internal import Foundation

/// The content of a folder of exported tables: `manifest.json`, which is written last.
package struct ExportManifest: Codable, Hashable, Sendable {
    /// The version of this document.
    package let format: Int
    /// The ledger's id as a UUID.
    package let ledgerId: String
    /// The tables, by name.
    package let tables: [Table]

    /// Its name in the folder.
    package static let fileName = "manifest.json"

    static let currentFormat = 1

    /// A table as of its last export.
    package struct Table: Codable, Hashable, Sendable {
        /// Its name.
        package let name: String
        /// The newest commit of each lane that it includes, by lane.
        package let heads: [VerificationReport.Head]
        /// The newest instant that Apple had signed by then, in milliseconds; nil if the table does
        /// not depend on it.
        package let asOf: Int64?
        /// The newest version of the catalog used by the folds; 0 for none.
        package let catalogVersion: Int
        /// The versions of the folds it is computed from, by name.
        package let folds: [String: Int]
        /// SHA-256 of how it is computed and written: its views, columns, folders and format.
        package let definition: String
        /// The format of its files.
        package let fileFormat: ExportRequest.Format
        /// The names of its partition folders, outermost first.
        package let partitionBy: [String]
        /// Rows in all of its files.
        package internal(set) var rows: Int64
        /// Its files, by path.
        package internal(set) var files: [File]
    }

    /// A file of a table.
    package struct File: Codable, Hashable, Sendable {
        /// Its path below the folder.
        package let path: String
        /// The values of its partition folders, outermost first.
        package let partition: [String]
        /// Its rows.
        package let rows: Int64
        /// Its size.
        package let bytes: Int64
        /// SHA-256 of its bytes, in hexadecimal.
        package let sha256: String
        /// A sum over the hashes of its rows, by which the next export detects changes.
        package let content: String
    }
}

/// The names and types of all columns in a folder of exported tables: `schema.json`.
package struct ExportSchema: Codable, Hashable, Sendable {
    /// The tables, by name.
    package let tables: [Table]

    /// Its name in the folder.
    package static let fileName = "schema.json"

    /// The columns of a table.
    package struct Table: Codable, Hashable, Sendable {
        /// Its name.
        package let name: String
        /// The meaning of a row.
        package let comment: String
        /// The columns that identify a row.
        package let key: [String]
        /// The columns in the files, in order.
        package let columns: [Column]
        /// The columns that are partition folders, outermost first.
        package let partitions: [Column]
        /// The files, as a glob pattern below the folder.
        package let files: String
        /// The format of the files.
        package let fileFormat: ExportRequest.Format
    }

    /// A column.
    package struct Column: Codable, Hashable, Sendable {
        /// Its name.
        package let name: String
        /// The type of its values.
        package let type: ColumnType
        /// Its meaning.
        package let comment: String
    }

    /// The type of a column's values.
    package enum ColumnType: String, Codable, Sendable {
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
