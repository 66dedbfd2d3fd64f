public import Events
internal import Postgres

extension EventLog {
    /// Adds a version of the product catalogue, unless the newest one says the same.
    ///
    /// `CatalogueOutcome.expected` is the rule. Versions that hold from earlier than the newest are
    /// welcome: history may be told late.
    ///
    /// - Parameters:
    ///   - body: Normalised JSON in UTF-8, at most `CatalogueVersion.bodyByteCountMax` bytes.
    ///   - effectiveFrom: The first instant it holds for; nil for `recordedAt`.
    ///   - source: The file it was read from; cut to `CatalogueVersion.sourceByteCountMax` bytes.
    ///   - recordedAt: Our clock.
    /// - Returns: The version that says it now, durable.
    /// - Throws: `databaseUnavailable`, `permissionDenied`.
    public func addCatalogue(
        _ body: [UInt8],
        effectiveFrom: Instant?,
        source: String,
        recordedAt: Instant
    ) async throws(EventLogError) -> CatalogueOutcome {
        let lane = catalogueLane
        return try await reading("add a version of the catalogue") { session in
            try await session.atomically { session in
                try session.execute("SET LOCAL ROLE ledger_writer")
                // One import at a time, or both would take the same number.
                _ = try session.query(
                    "SELECT FROM ledger.lane WHERE lane = $1 FOR UPDATE",
                    [.int4(lane)]
                )
                let rows = try session.query(
                    EventLog.selectCatalogues + " ORDER BY version DESC LIMIT 1",
                    [.int4(lane)]
                )
                let outcome = CatalogueOutcome.expected(
                    of: body,
                    after: try rows.map(EventLog.catalogue).first,
                    effectiveFrom: effectiveFrom,
                    source: source,
                    recordedAt: recordedAt
                )
                if case .added(let version) = outcome {
                    _ = try session.query(
                        EventLog.insertCatalogue,
                        EventLog.values(version, lane)
                    )
                }
                return outcome
            }
        }
    }

    /// Every version of the product catalogue, by number.
    ///
    /// - Throws: `databaseUnavailable`; `malformedLog` where a body is not what was imported.
    public func catalogues() async throws(EventLogError) -> [CatalogueVersion] {
        let lane = catalogueLane
        return try await reading("read the catalogue") { session in
            try await session.query(
                EventLog.selectCatalogues + " ORDER BY version",
                [.int4(lane)]
            ).map(EventLog.catalogue)
        }
    }

    private var catalogueLane: Int32 { Int32(identity.lanes.lane(of: "catalogue")) }

    private static func catalogue(_ row: PostgresRow) throws -> CatalogueVersion {
        let body = Array(try row.text(5).utf8)
        let version = Int(try row.int4(0))
        let digest = Digest.of(body)
        guard try row.bytea(4) == digest.bytes else {
            throw EventLogError(
                .malformedLog,
                "version \(version) of the catalogue is not what was imported: its body does not "
                    + "have the digest beside it; import it again as a new version"
            )
        }
        return CatalogueVersion(
            version: version,
            effectiveFrom: Instant(milliseconds: try row.int8(1)),
            recordedAt: Instant(microseconds: try row.timestamptz(2)),
            source: try row.text(3),
            digest: digest,
            body: body
        )
    }

    private static func values(_ version: CatalogueVersion, _ lane: Int32) -> [PostgresValue] {
        [
            .int4(lane), .int4(Int32(clamping: version.version)),
            .int8(version.effectiveFrom.milliseconds),
            .timestamptz(microseconds: version.recordedAt.microseconds), .text(version.source),
            .bytea(version.digest.bytes), .text(String(decoding: version.body, as: UTF8.self)),
        ]
    }

    private static let selectCatalogues = """
        SELECT version, effective_from_ms, recorded_at, source, digest, body
        FROM ledger.catalogue WHERE lane = $1
        """

    private static let insertCatalogue = """
        INSERT INTO ledger.catalogue (lane, version, effective_from_ms, recorded_at, source, digest,
            body)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """
}
