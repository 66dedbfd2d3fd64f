import AppStore
import EventLog
import Events
import Postgres
import TestSupport
import Testing

/// Versions of the product catalog are events of the chain, and each is written once.
@Suite(.enabled { await TestServer.isAvailable })
struct CatalogVersionTests {
    @Test(arguments: Variant.all)
    func `versions are numbered from one and read back as they were imported`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            #expect(try await log.catalogs().isEmpty)
            let bodies = ["{\"a\":1}", "{\"é\":\"\\u0000 🧾\"}", "{\"a\":1}"]
            for (number, body) in bodies.enumerated() {
                let outcome = try await add(body, to: log, source: "/files/\(number)")
                guard case .added(let version) = outcome else {
                    Issue.record("\(body) was not added")
                    continue
                }
                #expect(version.version == number + 1)
                #expect(version.effectiveFrom == TestClock.noon, "from now on by default")
            }
            let versions = try await log.catalogs()
            #expect(versions.map(\.version) == [1, 2, 3])
            #expect(versions.map { String(decoding: $0.body, as: UTF8.self) } == bodies)
            #expect(versions.map(\.source) == ["/files/0", "/files/1", "/files/2"])
            #expect(versions.allSatisfy { $0.recordedAt == TestClock.noon })
            #expect(versions.allSatisfy { $0.digest == Digest.of($0.body) })
            let report = try await log.verify()
            #expect(report.isOK && report.commits == 3 && report.events == 3, "each is an event")
            #expect(try await log.streams().isEmpty, "and not a stream")
            try await expectSound(log, settings)
        }
    }

    @Test(arguments: Variant.extremes)
    func `importing the newest version again adds nothing unless its effective time differs`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, _ in
            let day = TestFacts.instant(day: 3)
            let first = try await add("{}", to: log, from: day).version
            #expect(try await add("{}", to: log) == .unchanged(first))
            #expect(try await add("{}", to: log, from: day) == .unchanged(first))
            let second = try await add("{}", to: log, from: TestFacts.instant(day: 1))
            #expect(second.version.version == 2, "an earlier effective time may be imported late")
            #expect(try await add("{}", to: log) == .unchanged(second.version))
            #expect(try await log.catalogs().map(\.effectiveFrom.milliseconds).count == 2)
        }
    }

    @Test(arguments: Variant.extremes)
    func `concurrent imports are numbered without gaps`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            let other = try await EventLog.open(settings, .test())
            let added = try await withThrowingTaskGroup(of: CatalogOutcome.self) { group in
                for number in 0..<12 {
                    let log = number % 2 == 0 ? log : other
                    group.addTask { try await add("{\"n\":\(number)}", to: log) }
                }
                return try await group.reduce(into: []) { $0.append($1.version.version) }
            }
            await other.close()
            #expect(added.sorted() == Array(1...12))
            #expect(try await log.catalogs().map(\.version) == Array(1...12))
        }
    }

    @Test func `a long source is shortened at its start, and a body that is too long is refused`()
        async throws
    {
        try await Variant.plain.withLog { log, _ in
            let path = String(repeating: "é", count: 5000) + "/plans.storekit"
            let version = try await add("{}", to: log, source: path).version
            #expect(version.source.hasSuffix("/plans.storekit"))
            #expect(version.source.utf8.count <= CatalogVersion.sourceByteCountMax + 3)
            #expect(try await log.catalogs().first?.source == version.source)
            let long = String(repeating: " ", count: CatalogVersion.bodyByteCountMax + 1)
            await expect(.database) { _ = try await add(long, to: log) }
            #expect(try await log.catalogs().count == 1)
        }
    }

    @Test func `a body that was changed in the database is reported`() async throws {
        try await Variant.plain.withLog { log, settings in
            _ = try await add("{}", to: log)
            let error = await #expect(throws: PostgresError.self) {
                try await settings.meddle("UPDATE ledger.catalog SET body = '[]'")
            }
            #expect(error?.sqlState == "23514", "the database itself compares the digest")
            try await settings.meddle(
                "ALTER TABLE ledger.catalog DROP CONSTRAINT catalog_digest_is_of_body; "
                    + "UPDATE ledger.catalog SET body = '[]'"
            )
            await expect(.malformedLog) { _ = try await log.catalogs() }
            await expect(.malformedLog) { _ = try await add("{}", to: log) }
            #expect(try await log.verify().firstMismatch?.commit == 1)
        }
    }

    @Test(
        arguments: Variant.localExtremes,
        [
            "effective_from_ms = effective_from_ms + 1", "source = 'other'",
            "recorded_at = recorded_at + interval '1 second'", "version = 7",
            "body = '[]', digest = sha256('[]')",
        ]
    )
    func `verify names the commit of a version whose row was changed`(
        variant: Variant,
        change: String
    ) async throws {
        try await variant.withLog { log, settings in
            _ = try await add("{}", to: log)
            _ = try await add("{\"a\":1}", to: log)
            try await settings.meddle("UPDATE ledger.catalog SET \(change) WHERE version = 2")
            let mismatch = try #require(try await log.verify().firstMismatch)
            #expect(mismatch.commit == 2 && mismatch.reason.contains("ledger.catalog differs"))
            let python = try await PythonVerifier.verify(settings)
            #expect(python.firstMismatch?.commit == 2)
        }
    }

    @Test func `verify finds a version that no event names`() async throws {
        try await Variant.plain.withLog { log, settings in
            _ = try await add("{}", to: log)
            try await settings.meddle(
                """
                INSERT INTO ledger.catalog
                SELECT lane, 2, effective_from_ms, recorded_at, source, digest, body
                FROM ledger.catalog
                """
            )
            let mismatch = try await log.verify().firstMismatch
            #expect(mismatch?.reason.contains("version 2") == true)
            #expect(try await PythonVerifier.verify(settings).ok == false)
        }
    }

    @Test(arguments: Variant.extremes)
    func `the database refuses a version in the wrong lane or with a number below one`(
        variant: Variant
    ) async throws {
        try await variant.withDatabase { settings in
            let lane = variant.lanes.lane(of: "catalog")
            let wrong = variant.lanes == .one ? 1 : (lane + 1) % variant.lanes.value
            for (lane, version) in [(wrong, 1), (lane, 0)] {
                let error = await #expect(throws: PostgresError.self) {
                    try await settings.meddle(
                        """
                        INSERT INTO ledger.catalog VALUES (\(lane), \(version), 0, now(), '',
                            sha256('{}'), '{}')
                        """
                    )
                }
                #expect(error?.sqlState == "23514", "lane \(lane), version \(version)")
            }
        }
    }

    private func add(
        _ body: String,
        to log: EventLog,
        from effectiveFrom: Instant? = nil,
        source: String = "test"
    ) async throws -> CatalogOutcome {
        try await log.addCatalog(
            { _ in Array(body.utf8) },
            effectiveFrom: effectiveFrom,
            source: source,
            recordedAt: TestClock.noon
        ) { version in
            CatalogStatement(
                version: version.version,
                effectiveFrom: version.effectiveFrom,
                bodyDigest: version.digest,
                fileName: version.source,
                importedAt: TestClock.noon
            ).verified(source: "test", receivedAt: TestClock.noon)
        }
    }
}
