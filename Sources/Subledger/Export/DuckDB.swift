internal import EmbeddedPostgres
internal import Foundation

/// DuckDB's program, which writes Parquet.
struct DuckDB: Sendable {
    private let program: String

    /// Finds it in PATH.
    ///
    /// - Throws: `noDuckDB`.
    init() throws(ExportError) {
        guard let program = ChildProcess.path(of: "duckdb") else {
            throw ExportError(
                .noDuckDB,
                "Parquet is written by DuckDB, and there is no program duckdb in PATH; install it "
                    + "(https://duckdb.org/install, or `pip install duckdb-cli`), or export CSV"
            )
        }
        self.program = program
    }

    /// Replaces a finished file of compressed CSV by the same rows as Parquet.
    ///
    /// - Throws: `conversionFailed`, `fileSystem`.
    func convert(_ file: ExportFile, of table: ExportSchema.Table) throws(ExportError) {
        let parquet = file.path + DuckDB.suffix
        // The program starts in another folder.
        let (from, to) = (
            URL(fileURLWithPath: file.path).path, URL(fileURLWithPath: parquet).path
        )
        let ending: ChildProcess.Ending
        do {
            let sql = table.parquetSQL(from: from, to: to)
            ending = try ChildProcess(command: [program, "-init", "/dev/null", "-c", sql]).run()
        } catch {
            throw ExportError(.conversionFailed, error.message)
        }
        guard ending.succeeded else {
            // Further lines may contain values.
            let reason = ending.output.split(separator: "\n").first ?? "no reason given"
            throw ExportError(
                .conversionFailed,
                "duckdb did not write a file of \(table.name) as Parquet (exit \(ending.code)): "
                    + "\(reason); run again to continue, or export CSV"
            )
        }
        try ExportFile.flush(parquet)
        guard rename(parquet, file.path) == 0 else {
            throw ExportFolder.failure(file.path, "written")
        }
    }

    /// What follows the name of a file while it is converted.
    static let suffix = ".parquet"
}
