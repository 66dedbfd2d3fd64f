import EventLog
internal import Events
internal import Postgres
internal import Projections

/// One export.
struct ExportRun {
    let request: ExportRequest
    let ledger: Ledger
    let session: PostgresSession
    let ground: AnalyticsGround
    let folder: ExportFolder
    /// Only for Parquet.
    let duckDB: DuckDB?
    let progress: @Sendable (String, Int) -> Void

    /// The known files of a table: those of the manifest, and those written since.
    private struct Known {
        // Keyed by the bytes of their paths: Swift treats more strings as equal than a file system
        // does.
        var reusable: [FieldValue: ExportManifest.File] = [:]
        var paths: [FieldValue: String] = [:]
    }

    func document(_ relations: [AnalyticsRelation]) async throws -> ExportDocument {
        let manifest = try folder.document(ExportManifest.self, named: ExportManifest.fileName)
        let schema = try folder.document(ExportSchema.self, named: ExportSchema.fileName)
        try check(manifest)
        let finished = try folder.finished()
        let named = (manifest?.tables ?? []).flatMap { table in
            table.files.map { (table: table.name, path: $0.path) }
        }
        for file in named + finished.map({ (table: $0.table, path: $0.file.path) }) {
            try folder.check(file.path, of: file.table)
        }

        let tables = try await tables(relations)
        var exported: [String: ExportManifest.Table] = [:]
        var documents: [ExportDocument.Table] = []
        for table in manifest?.tables ?? [] { exported[table.name] = table }
        for table in tables {
            let last = exported[table.name]
            let entry = try await entry(of: table)
            let known = try known(table.name, entry.definition, last, finished)
            let (files, written) = try await files(of: table, entry, last, known)
            let there = Set(files.map { FieldValue.text($0.path) })
            let gone = known.paths.filter { !there.contains($0.key) }.values
            for path in gone.sorted() { try folder.remove(path) }
            let whole = entry.with(files)
            exported[table.name] = whole
            documents.append(
                ExportDocument.Table(
                    name: table.name,
                    rows: whole.rows,
                    files: files.count,
                    bytes: files.reduce(0) { $0 + $1.bytes },
                    filesWritten: written,
                    filesRemoved: gone.count
                )
            )
        }

        return ExportDocument(
            folder: request.folder,
            positions: PositionVector(ground.offsets).document,
            manifest: try write(exported, tables.map(\.schema), after: schema),
            tables: documents,
            refusedSubscriptions: ground.refused
        )
    }

    private func check(_ manifest: ExportManifest?) throws(ExportError) {
        guard let manifest else { return }
        let place = "\(folder.path)/\(ExportManifest.fileName)"
        guard manifest.format == ExportManifest.currentFormat else {
            throw ExportError(
                .damagedManifest,
                "\(place) has format \(manifest.format), but this program knows "
                    + "\(ExportManifest.currentFormat); name a new or empty folder"
            )
        }
        let own = UUIDText.text(ledger.log.identity.ledgerId)
        guard manifest.ledgerId == own else {
            throw ExportError(
                .otherLedger,
                "\(folder.path) contains the export of ledger \(manifest.ledgerId), but this is "
                    + "ledger \(own); name a new or empty folder"
            )
        }
    }

    // The manifest is written last: until then, the previous one describes the folder.
    private func write(
        _ tables: [String: ExportManifest.Table],
        _ schemas: [ExportSchema.Table],
        after last: ExportSchema?
    ) throws -> String {
        var columns: [String: ExportSchema.Table] = [:]
        for table in (last?.tables ?? []) + schemas { columns[table.name] = table }
        let schema = ExportSchema(
            tables: columns.values.filter { tables[$0.name] != nil }.sorted { $0.name < $1.name }
        )
        try folder.write(try schema.exportedFile(), as: ExportSchema.fileName)
        try folder.write(Array(schema.duckSQL.utf8), as: ExportSchema.duckFileName)
        let manifest = ExportManifest(
            format: ExportManifest.currentFormat,
            ledgerId: UUIDText.text(ledger.log.identity.ledgerId),
            tables: tables.values.sorted { $0.name < $1.name }
        )
        let bytes = try manifest.exportedFile()
        try folder.write(bytes, as: ExportManifest.fileName)
        try folder.end()
        return Digest.of(bytes).hex
    }
}

extension ExportRun {
    // The views as they are: their columns, their comments, and the folders that they can have.
    private func tables(_ relations: [AnalyticsRelation]) async throws -> [ExportedTable] {
        let partitions = request.partitions ?? ["month"]
        var tables: [ExportedTable] = []
        var divided: Set<String> = []
        for relation in relations {
            guard let grain = relation.grain else { continue }
            let (comment, columns) = try await columns(of: relation.name)
            let own = partitions.compactMap { name in
                ExportedTable.Partition(name, of: grain, with: columns)
            }
            divided.formUnion(own.map(\.column.name))
            tables.append(
                ExportedTable(
                    name: relation.name,
                    grain: grain,
                    comment: comment,
                    columns: columns,
                    partitions: own,
                    format: request.format
                )
            )
        }

        for name in request.partitions ?? [] where !divided.contains(name) {
            throw ExportError(
                .unknownPartition,
                "no table can be partitioned by '\(name)'; expected year, month, day, or a column "
                    + "of text, dates, numbers or booleans"
            )
        }
        return tables
    }

    private func columns(
        of name: String
    ) async throws -> (comment: String, columns: [ExportSchema.Column]) {
        let view = ground.sql("analytics.\(name)")
        let rows = try await session.query(
            ReportSQL.text(embeddedFile("find-columns.sql")).replacing("{{view}}", with: view)
        )
        let columns = try rows.map { row in
            ExportSchema.Column(
                name: try row.text(0),
                type: ExportSchema.ColumnType(sql: try row.text(1)),
                comment: ColumnVocabulary.comment(on: try row.text(0)) ?? ""
            )
        }
        return (try rows.first?.text(2) ?? "", columns)
    }

    // Everything that determines a table's files, except the rows.
    private func entry(of table: ExportedTable) async throws -> ExportManifest.Table {
        let relations = AnalyticsRelation.needed(by: "analytics.\(table.name)")
        let projections = AnalyticsRelation.projections(of: relations, and: "")
        var asOf: Int64?
        if relations.contains(where: { $0.name == "last_signed_at" }) {
            asOf = try await session.query(
                ground.sql(
                    "SELECT (extract(epoch FROM analytics.last_signed_at()) * 1000)::bigint"
                )
            ).single().int8IfPresent(0)
        }

        let definition = relations.map(\.sql) + [table.copySQL()] + table.columns.map(\.name)
        return ExportManifest.Table(
            name: table.name,
            heads: ground.heads.sorted { $0.key < $1.key }.map { lane, head in
                VerificationReport.Head(
                    lane: lane,
                    offset: head.offset,
                    commit: head.commit,
                    digest: head.digest
                )
            },
            asOf: asOf,
            catalogVersion: ground.catalogVersion,
            folds: ledger.projector.folds.filter { projections.contains($0.key) },
            definition: Digest.of(Array(definition.joined(separator: "\n").utf8)).hex,
            fileFormat: table.format,
            partitionBy: table.partitions.map(\.column.name),
            rows: 0,
            files: []
        )
    }

    // Files count only if they match what was recorded, byte for byte.
    private func known(
        _ name: String,
        _ definition: String,
        _ last: ExportManifest.Table?,
        _ finished: [ExportFolder.Finished]
    ) throws(ExportError) -> Known {
        var known = Known()
        for file in last?.files ?? [] {
            known.paths[.text(file.path)] = file.path
            guard last?.definition == definition else { continue }
            if try holds(file) { known.reusable[.text(file.path)] = file }
        }
        for line in finished where line.table == name {
            let path = line.file.path
            known.paths[.text(path)] = path
            known.reusable[.text(path)] = nil
            guard line.definition == definition else { continue }
            if try holds(line.file) { known.reusable[.text(path)] = line.file }
        }
        return known
    }

    private func holds(_ file: ExportManifest.File) throws(ExportError) -> Bool {
        guard folder.size(of: file.path) == file.bytes else { return false }
        return try ExportFile.digest(of: "\(folder.path)/\(file.path)")?.hex == file.sha256
    }

    private func files(
        of table: ExportedTable,
        _ entry: ExportManifest.Table,
        _ last: ExportManifest.Table?,
        _ known: Known
    ) async throws -> (files: [ExportManifest.File], written: Int) {
        let relation = AnalyticsRelation.all.first { $0.name == table.name }
        // An erasure since then may have removed rows of a past position, with the same heads, so a
        // table at a past position is always read.
        if let last, request.knownAt == nil, relation?.followsFromLog == true,
            entry.with(last.files) == last,
            last.files.allSatisfy({ known.reusable[.text($0.path)] == $0 })
        {
            return (last.files, 0)
        }
        guard !known.reusable.isEmpty else {
            let files = try await copy(table, entry.definition, nil)
            return (files.sorted { $0.path < $1.path }, files.count)
        }
        let (kept, changed) = try await compare(table, known)
        let files = changed.isEmpty ? [] : try await copy(table, entry.definition, changed)
        return ((kept + files).sorted { $0.path < $1.path }, files.count)
    }

    private func compare(
        _ table: ExportedTable,
        _ known: Known
    ) async throws -> (kept: [ExportManifest.File], changed: [[String]]) {
        var kept: [ExportManifest.File] = []
        var changed: [[String]] = []
        for row in try await session.query(ground.sql(table.contentSQL)) {
            let partition = try row.textArray(0)?.compactMap { $0 } ?? []
            let sum = RowSum(try row.text(2), try row.text(3))
            if let file = known.reusable[.text(table.path(of: partition))],
                file.rows == (try row.int8(1)), file.content == sum?.text
            {
                kept.append(file)
            } else {
                changed.append(partition)
            }
        }
        return (kept, changed)
    }

    private func copy(
        _ table: ExportedTable,
        _ definition: String,
        _ some: [[String]]?
    ) async throws -> [ExportManifest.File] {
        let progress = progress
        let sink = ExportSink(table, definition, in: folder, duckDB) { progress(table.name, $0) }
        do {
            var filled = try await session.copyOut(
                ground.sql(table.copySQL(of: some)),
                into: sink
            ) { (sink, row) throws(CopyEnd) in
                do throws(ExportError) {
                    try sink.take(row)
                } catch {
                    throw .folder(error)
                }
            }
            try filled.finish()
            return filled.files
        } catch CopyEnd.folder(let error) {
            throw error
        } catch CopyEnd.postgres(let error) {
            throw error
        }
    }
}

/// Why a COPY ended early.
private enum CopyEnd: PostgresErrorConvertible {
    case folder(ExportError)
    case postgres(PostgresError)

    init(_ error: PostgresError) { self = .postgres(error) }
}

extension ExportManifest.Table {
    fileprivate func with(_ files: [ExportManifest.File]) -> ExportManifest.Table {
        var table = self
        table.rows = files.reduce(0) { $0 + $1.rows }
        table.files = files
        return table
    }
}

extension ExportSchema.ColumnType {
    // An unknown type is exported as text.
    fileprivate init(sql type: String) {
        self =
            switch type {
            case "boolean": .boolean
            case "integer": .int32
            case "bigint": .int64
            case "timestamp with time zone": .timestamp
            case "date": .date
            case "text[]": .strings
            case "json", "jsonb": .json
            default: .string
            }
    }
}
