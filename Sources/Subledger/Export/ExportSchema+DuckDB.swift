extension ExportSchema {
    /// The file with the views.
    static let duckFileName = "duckdb.sql"

    /// Views over the files for DuckDB, to be run in the folder.
    var duckSQL: String {
        "-- Typed views over these files: in this folder, duckdb -c \".read \(ExportSchema.duckFileName)\".\n"
            + tables.map(\.duckSQL).joined()
    }
}

extension ExportSchema.Table {
    fileprivate var duckSQL: String {
        let types = columns.map { "'\($0.name)': '\($0.type.duckType(in: fileFormat))'" }
            .joined(separator: ", ")
        let folders = partitions.map { "'\($0.name)': '\($0.type.duckType(in: fileFormat))'" }
            .joined(separator: ", ")
        let hive =
            partitions.isEmpty ? "" : ", hive_partitioning = true, hive_types = {\(folders)}"
        let reading =
            switch fileFormat {
            case .csv:
                "read_csv('\(files)', auto_detect = false, header = true, delim = ',', quote = '\"', "
                    + "escape = '\"', nullstr = '', allow_quoted_nulls = false, columns = {\(types)}"
            case .ndjson:
                "read_json('\(files)', format = 'newline_delimited', columns = {\(types)}"
            }
        let arrays = columns.filter { $0.type == .strings }.map {
            "from_json(\"\($0.name)\", '[\"VARCHAR\"]') AS \"\($0.name)\""
        }
        let replacing =
            fileFormat == .csv && !arrays.isEmpty
            ? " REPLACE (\(arrays.joined(separator: ", ")))" : ""
        return """
            CREATE OR REPLACE VIEW "\(name)" AS
            SELECT *\(replacing) FROM \(reading)\(hive));

            """
    }
}

extension ExportSchema.ColumnType {
    fileprivate func duckType(in format: ExportRequest.Format) -> String {
        switch self {
        case .string: "VARCHAR"
        case .boolean: "BOOLEAN"
        case .int32: "INTEGER"
        case .int64: "BIGINT"
        case .timestamp: "TIMESTAMPTZ"
        case .date: "DATE"
        // A CSV field is text, which the view parses.
        case .strings: format == .csv ? "VARCHAR" : "VARCHAR[]"
        case .json: "JSON"
        }
    }
}
