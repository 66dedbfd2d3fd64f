internal import Events
internal import Projections

/// A table to be exported: its columns, and the SQL that reads them.
struct ExportedTable: Sendable {
    let name: String
    let grain: AnalyticsRelation.Grain
    let comment: String
    /// All columns of the view.
    let columns: [ExportSchema.Column]
    /// Its partitions.
    let partitions: [Partition]
    let format: ExportRequest.Format

    /// A partition's name and its value in a row, as SQL.
    struct Partition: Sendable {
        let column: ExportSchema.Column
        let value: String
    }

    /// What engines that read Hive partitions treat as null.
    static let nullFolder = "__HIVE_DEFAULT_PARTITION__"

    /// The bytes that end and quote a value in the prefix of a row.
    struct Delimiters: Sendable {
        let separator: UInt8
        let quote: UInt8
    }

    var delimiters: Delimiters {
        switch format {
        case .csv, .parquet: Delimiters(separator: UInt8(ascii: ","), quote: UInt8(ascii: "\""))
        // JSON contains neither byte, so COPY writes it unchanged.
        case .ndjson: Delimiters(separator: 2, quote: 1)
        }
    }

    /// The suffix of its file names.
    var ending: String { format.rawValue + (format == .parquet ? "" : ".gz") }

    /// The columns in the files, which do not repeat the partition columns.
    var fileColumns: [ExportSchema.Column] {
        let folders = Set(partitions.map(\.column.name))
        return columns.filter { !folders.contains($0.name) }
    }

    /// The columns as `schema.json` lists them.
    var schema: ExportSchema.Table {
        ExportSchema.Table(
            name: name,
            comment: comment,
            key: grain.key,
            columns: fileColumns,
            partitions: partitions.map(\.column),
            files: partitions.isEmpty ? "\(name)/\(name).\(ending)" : "\(name)/**/*.\(ending)",
            fileFormat: format
        )
    }

    /// What precedes the first row of a file.
    var header: [UInt8] {
        format == .ndjson ? [] : Array((fileColumns.map(\.name).joined(separator: ",") + "\n").utf8)
    }

    /// The path of a partition's file, below the export folder.
    func path(of partition: [String]) -> String {
        "\(name)/\(folders(of: partition).map { "\($0)/" }.joined())\(name).\(ending)"
    }

    /// Refuses values that cannot be the name of a folder.
    ///
    /// - Throws: `unfitPartition`.
    func checkFolders(of partition: [String]) throws(ExportError) {
        for (index, folder) in folders(of: partition).enumerated() {
            let column = partitions[index].column.name
            let reason: String
            if partition[index].isEmpty {
                reason = "an empty \(column), which engines would read as null in a folder's name"
            } else if folder.utf8.count > ExportRequest.folderNameByteCountMax {
                reason =
                    "a \(column) for which the folder's name would have \(folder.utf8.count) bytes; "
                    + "the maximum is \(ExportRequest.folderNameByteCountMax)"
            } else {
                continue
            }
            throw ExportError(
                .unfitPartition,
                "\(name) has a row with \(reason). Partition it by another column"
            )
        }
    }

    private func folders(of partition: [String]) -> [String] {
        zip(partitions, partition).map { folder, value in
            "\(folder.column.name)=\(ExportedTable.escaped(value))"
        }
    }

    // Escaped as in Hive; bytes beyond ASCII are kept.
    private static func escaped(_ value: String) -> String {
        var bytes: [UInt8] = []
        for byte in value.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x80...,
                UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                bytes.append(byte)
            default: bytes += Array("%\(hexadecimal([byte]).uppercased())".utf8)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension ExportedTable {
    /// The COPY statement: each row has its partition values and two hashes before its columns, and
    /// rows are ordered by partition and key.
    ///
    /// - Parameter some: The partitions to read; nil for all.
    /// - Returns: SQL.
    func copySQL(of some: [[String]]? = nil) -> String {
        let folders = partitions.indices.map { "x.\(ExportedTable.folder($0)), " }.joined()
        let columns =
            format == .ndjson
            ? "(SELECT row_to_json(y) FROM (SELECT "
                + fileColumns.map { "x.\($0.name)" }.joined(separator: ", ") + ") y)"
            : fileColumns.map(text).joined(separator: ", ")
        let options =
            format == .ndjson
            ? "FORMAT csv, DELIMITER E'\\x02', QUOTE E'\\x01', ESCAPE E'\\x01'" : "FORMAT csv"
        return """
            COPY (
                SELECT \(folders)\(ExportedTable.hashes), \(columns)
                FROM (\(rows(of: some, isOrdered: true))) x
            ) TO STDOUT (\(options))
            """
    }

    /// The partitions, with their numbers of rows and the sums of both hashes.
    var contentSQL: String {
        let folders = partitions.indices.map { "x.\(ExportedTable.folder($0))" }
        let group = folders.isEmpty ? "" : " GROUP BY " + folders.joined(separator: ", ")
        return """
            SELECT ARRAY[\(folders.joined(separator: ", "))]::text[], count(*),
                coalesce(sum(x.hash_1), 0)::text, coalesce(sum(x.hash_2), 0)::text
            FROM (
                SELECT \(folders.map { "\($0), " }.joined())\(ExportedTable.hashes)
                FROM (\(rows(of: nil, isOrdered: false))) x
            ) x\(group)
            """
    }

    // Hashes of whole rows, so one pass finds what changed; two of them, because 64 bits are too
    // few.
    private static let hashes =
        "hash_record_extended(x, 0) AS hash_1, hash_record_extended(x, 1) AS hash_2"

    private static func folder(_ index: Int) -> String { "folder_\(index + 1)" }

    // OFFSET 0 keeps the planner from evaluating a column that is looked up per row more than once.
    private func rows(of some: [[String]]?, isOrdered: Bool) -> String {
        let folders = partitions.enumerated().map { index, partition in
            ", \(partition.value) AS \(ExportedTable.folder(index))"
        }
        let values = partitions.map(\.value).joined(separator: ", ")
        let chosen = some.map { folders in
            folders.map { "(\($0.map(ExportedTable.literal).joined(separator: ", ")))" }
                .joined(separator: ", ")
        }
        let filter =
            partitions.isEmpty ? "" : chosen.map { " WHERE (\(values)) IN (VALUES \($0))" } ?? ""
        let order =
            isOrdered
            ? " ORDER BY "
                + (partitions.map(\.value) + grain.key.map(sortable))
                .map { "\($0)" }.joined(separator: ", ") : ""
        return "SELECT t.*\(folders.joined()) FROM analytics.\(name) t\(filter)\(order) OFFSET 0"
    }

    private func sortable(_ name: String) -> String {
        let isText = columns.first { $0.name == name }?.type == .string
        return "t.\(name)" + (isText ? " COLLATE \"C\"" : "")
    }

    private func text(of column: ExportSchema.Column) -> String {
        column.type == .strings ? "array_to_json(x.\(column.name))" : "x.\(column.name)"
    }

    private static func literal(_ text: String) -> String {
        "'" + text.replacing("'", with: "''") + "'"
    }
}

extension ExportedTable.Partition {
    /// A partition by a part of the rows' time, or by a column; nil if the table has neither.
    init?(
        _ name: String,
        of grain: AnalyticsRelation.Grain,
        with columns: [ExportSchema.Column]
    ) {
        let value: String
        if let own = columns.first(where: { $0.name == name }) {
            guard own.type != .strings, own.type != .json, own.type != .timestamp else {
                return nil
            }
            (column, value) = (own, "t.\(name)::text")
        } else if let form = ExportedTable.Partition.forms[name], let time = grain.time {
            let isDay = columns.first { $0.name == time }?.type == .date
            column = ExportSchema.Column(
                name: name,
                type: name == "day" ? .date : .string,
                comment: "The \(name), UTC, of \(time)."
            )
            value = "to_char(t.\(time)\(isDay ? "" : " AT TIME ZONE 'UTC'"), '\(form)')"
        } else {
            return nil
        }
        self.value = "coalesce(\(value), '\(ExportedTable.nullFolder)') COLLATE \"C\""
    }

    /// The parts of a time that rows can be partitioned by, with their formats.
    static let forms = ["year": "YYYY", "month": "YYYY-MM", "day": "YYYY-MM-DD"]
}
