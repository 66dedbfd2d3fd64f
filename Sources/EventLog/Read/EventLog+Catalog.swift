public import Events
internal import Postgres

extension EventLog {
    /// Adds a version of the product catalog, unless the newest one has the same content.
    ///
    /// `CatalogOutcome.expected` is the rule. A version may take effect before the newest one does,
    /// because history may be imported late. A version is an event of the chain; its body is stored
    /// in `ledger.catalog` and written by the same commit.
    ///
    /// - Parameters:
    ///   - body: Makes its normalised JSON in UTF-8, at most `CatalogVersion.bodyByteCountMax`
    ///     bytes, from the newest version; nil if there is none.
    ///   - effectiveFrom: The first instant at which it is in force; nil for `recordedAt`.
    ///   - source: The file it was read from; cut to `CatalogVersion.sourceByteCountMax` bytes.
    ///   - recordedAt: Our clock.
    ///   - statement: Makes the operator's statement that this is a version: its only fact must be
    ///     about the version that it receives.
    /// - Returns: The version that now has this content, durable.
    /// - Throws: `databaseUnavailable`, `permissionDenied`, `catalogTaken` if other imports came
    ///   first every time, or what `body` or `statement` threw.
    public func addCatalog(
        _ body: (CatalogVersion?) throws -> [UInt8],
        effectiveFrom: Instant?,
        source: String,
        recordedAt: Instant,
        statement: (CatalogVersion) throws -> Verified<[Fact]>
    ) async throws -> CatalogOutcome {
        var attempt = 1
        while true {
            let newest = try await catalogs().last
            let outcome = CatalogOutcome.expected(
                of: try body(newest),
                after: newest,
                effectiveFrom: effectiveFrom,
                source: source,
                recordedAt: recordedAt
            )
            guard case .added(let version) = outcome else { return outcome }
            guard let (lane, submission, _) = try submissions(of: try statement(version)).first
            else { preconditionFailure("a version of the catalog is one fact") }
            var catalog = submission
            catalog.catalog = version
            do {
                _ = try await append(catalog, to: lane)
            } catch {
                guard error.code == .catalogTaken, attempt < EventLog.catalogAttemptsMax
                else { throw error }
                attempt += 1
                continue
            }
            return try await catalogs().first { $0.version == version.version }
                .map(CatalogOutcome.added) ?? outcome
        }
    }

    /// Attempts to get the number of a version: concurrent imports come from two operators, not
    /// from many.
    private static let catalogAttemptsMax = 20

    /// Every version of the product catalog, by number.
    ///
    /// - Throws: `databaseUnavailable`; `malformedLog` if a body differs from what was imported.
    public func catalogs() async throws(EventLogError) -> [CatalogVersion] {
        try await catalogs(havingRead: [])
    }

    /// Every version of the product catalog, by number; bodies that were read before are not
    /// transferred again.
    package func catalogs(
        havingRead known: [CatalogVersion]
    ) async throws(EventLogError) -> [CatalogVersion] {
        let statement = PostgresStatement(
            """
            SELECT version, effective_from_ms, recorded_at, source, digest,
                CASE WHEN digest <> ALL ($2) THEN body END
            FROM ledger.catalog WHERE lane = $1 ORDER BY version
            """,
            [
                .int4(Int32(identity.lanes.lane(of: StreamID.catalog.originalTransactionId))),
                .byteaArray(known.map(\.digest.bytes)),
            ]
        )
        return try await reading("read the catalog") { session in
            try await session.lookUp([statement])[0].map { try EventLog.catalog($0, known) }
        }
    }

    private static func catalog(
        _ row: PostgresRow,
        _ known: [CatalogVersion]
    ) throws -> CatalogVersion {
        let version = Int(try row.int4(0))
        let written = try row.bytea(4)
        let (digest, body): (Digest, [UInt8])
        if let before = known.first(where: { $0.digest.bytes == written }) {
            (digest, body) = (before.digest, before.body)
        } else {
            body = Array(try row.text(5).utf8)
            digest = Digest.of(body)
        }
        guard written == digest.bytes else {
            throw EventLogError(
                .malformedLog,
                "version \(version) of the catalog is not what was imported: its body does not "
                    + "match its digest; import it again as a new version"
            )
        }
        return CatalogVersion(
            version: version,
            effectiveFrom: Instant(milliseconds: try row.int8(1)),
            recordedAt: Instant(microseconds: try row.timestamptz(2)),
            source: try row.text(3),
            digest: digest,
            body: body
        )
    }
}
