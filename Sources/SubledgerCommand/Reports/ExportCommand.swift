import ArgumentParser
import CommandSupport
import EventLog
import Events
import Subledger

/// `export TABLE… --out DIR`: the tables of schema `analytics` as files.
struct ExportCommand: AsyncParsableCommand, TakingWord {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Tables of schema analytics as files, for DuckDB, Polars, Spark and the like.",
        discussion: """
            Writes a folder for each table, partitioned as in Hive and compressed with gzip \
            (transactions/month=2026-01/transactions.csv.gz); schema.json with the names and types \
            of all columns; duckdb.sql with typed views for DuckDB; and manifest.json, last, with \
            the log's positions, the rows, sizes and SHA-256 of all files. All tables of a run \
            show the same state: that of the live tables or, with --known-at, what the log knew \
            then.

            A second run with the same --out writes only files whose rows changed, which the \
            server finds by comparing them with the manifest, and files that do not match the \
            manifest. Files without any rows left are removed, so the files always contain exactly \
            the table. Tables without changes are not read. To continue a run that was stopped, \
            run the command again. During a run, files may be newer than the manifest; its digests \
            show this.

            In CSV, times are UTC, money is in thousandths of the currency's unit, an empty field \
            is null, "" is an empty string, and t and f are true and false. Parquet has the same \
            columns with their types; duckdb.sql has views over it, too.
            """
    )

    /// The word for no partitioning.
    private static let none = "none"

    @Argument(
        help: "The tables; all of schema analytics unless named.",
        transform: { $0.replacing("analytics.", with: "") }
    )
    var tables: [String] = []

    @Option(
        name: .customLong("out"),
        help: ArgumentHelp("The folder; created if missing.", valueName: "folder")
    )
    var folder: String

    @Option(
        help: ArgumentHelp(
            "Partition the tables by these names, separated by commas, or none.",
            discussion: """
                year, month or day of a table's time, or columns; each table by those that it has. \
                Default: month.
                """,
            valueName: "names"
        )
    )
    var partitionBy: String?

    @Flag(help: "Write CSV (default).")
    var csv = false

    @Flag(help: "Write one JSON object per line.")
    var ndjson = false

    @Flag(help: "Write Parquet; needs DuckDB's program duckdb in PATH.")
    var parquet = false

    @Option(help: Clock.knownAtHelp, transform: Clock.knowledge)
    var knownAt: AskedKnowledge?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard [csv, ndjson, parquet].count(where: { $0 }) <= 1 else {
            throw ValidationError("--csv, --ndjson and --parquet exclude each other")
        }
        guard !folder.isEmpty else {
            throw ValidationError("--out is empty; expected a folder")
        }
    }

    private var request: ExportRequest {
        var request = ExportRequest(folder: folder)
        request.tables = tables
        request.partitions = partitionBy.map { names in
            names == ExportCommand.none
                ? [] : names.split(separator: ",").map(String.init)
        }
        request.format = parquet ? .parquet : ndjson ? .ndjson : .csv
        request.knownAt = knownAt?.knownAt(now: .systemClock(), in: .utc)
        return request
    }

    func run() async throws {
        let ledger = try await database.openLedger(isQuiet: output.quiet)
        let progress = Progress("export", isQuiet: output.quiet)
        let document = try await ledger.export(request) { table, rows in
            progress.report(rows, "row", note: " of \(table)")
        }
        progress.finish()
        let lag = try await knownAt == nil ? ledger.lag(behind: document.positions) : 0
        await ledger.close()
        try output.print(document, document.text)
        guard !output.quiet else { return }
        Terminal.noteLag(lag, of: "export")
        guard document.refusedSubscriptions > 0 else { return }
        Terminal.write(refusedWords(document.refusedSubscriptions, "exported"))
    }
}

extension ExportDocument {
    /// The answer as text.
    fileprivate var text: [Block] {
        let rows = tables.map { table in
            [
                table.name, "\(table.rows)", "\(table.files)", byteWords(table.bytes),
                "\(table.filesWritten)", "\(table.filesRemoved)",
            ]
        }
        return [
            .table(["table", "rows", "files", "size", "written", "removed"], rows),
            .line(
                "\(folder): \(counted(tables.reduce(0) { $0 + $1.rows }, "row")) as known at "
                    + positions.words + "; manifest \(manifest)"
            ),
        ]
    }
}
