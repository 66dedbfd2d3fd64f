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
    /// The statement by which DuckDB writes a compressed CSV file as Parquet.
    func parquetSQL(from csv: String, to parquet: String) -> String {
        """
        COPY (SELECT *\(replacedArrays) FROM \(readCSV(csv)), compression = 'gzip'))
        TO '\(parquet.replacing("'", with: "''"))' (FORMAT parquet, COMPRESSION zstd)
        """
    }

    fileprivate var duckSQL: String {
        let folders = partitions.map { "'\($0.name)': '\($0.type.duckType(in: fileFormat))'" }
            .joined(separator: ", ")
        let hive =
            partitions.isEmpty ? "" : ", hive_partitioning = true, hive_types = {\(folders)}"
        let reading =
            switch fileFormat {
            case .csv: readCSV(files)
            case .ndjson:
                "read_json('\(files)', format = 'newline_delimited', columns = {\(types)}"
            case .parquet: "read_parquet('\(files)'"
            }
        return """
            CREATE OR REPLACE VIEW "\(name)" AS
            SELECT *\(fileFormat == .csv ? replacedArrays : "") FROM \(reading)\(hive));

            """
    }

    // Without its closing parenthesis.
    private func readCSV(_ files: String) -> String {
        "read_csv('\(files.replacing("'", with: "''"))', auto_detect = false, header = true, "
            + "delim = ',', quote = '\"', escape = '\"', nullstr = '', allow_quoted_nulls = false, "
            + "columns = {\(types)}"
    }

    private var types: String {
        columns.map { "'\($0.name)': '\($0.type.duckType(in: fileFormat))'" }
            .joined(separator: ", ")
    }

    private var replacedArrays: String {
        let arrays = columns.filter { $0.type == .strings }.map {
            "from_json(\"\($0.name)\", '[\"VARCHAR\"]') AS \"\($0.name)\""
        }
        return arrays.isEmpty ? "" : " REPLACE (\(arrays.joined(separator: ", ")))"
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
        case .strings: format == .ndjson ? "VARCHAR[]" : "VARCHAR"
        case .json: "JSON"
        }
    }
}
