internal import EventLog
internal import Events
package import Postgres
internal import Projections
package import Projector

/// What `doctor` checks in the database of a ledger.
package struct DatabaseChecks: Sendable {
    private let settings: ConnectionSettings
    private let clockSkewSecondsMax: Int64
    // The caller's open log; nil for one that is opened for the checks.
    private let log: EventLog?
    private let projections: [any Projection]

    /// The checks that need a session, in order.
    private static let names = [
        "durability", "role", "names", "clock", "disk", "schema", "objects", "append", "tables",
        "consumers", "checkpoint",
    ]

    /// The checks of a database.
    ///
    /// - Parameters:
    ///   - settings: How to connect.
    ///   - clockSkewSecondsMax: Beyond this difference of the clocks, appends are refused.
    package init(_ settings: ConnectionSettings, clockSkewSecondsMax: Int64) {
        self.settings = settings
        self.clockSkewSecondsMax = clockSkewSecondsMax
        log = nil
        projections = .standard
    }

    /// The checks of the database of an open ledger.
    package init(of ledger: Ledger) {
        settings = ledger.log.settings
        clockSkewSecondsMax = ledger.log.clockSkewSecondsMax
        log = ledger.log
        projections = ledger.projections
    }

    /// Runs all of them; without a server the first fails, and the rest are not checked.
    package func run() async -> [DoctorCheck] {
        let inspector = LedgerInspector(settings)
        let server: LedgerInspector.Server
        do {
            server = try await inspector.server()
        } catch {
            return Self.unreachable(
                error.description,
                error.code == .tooManyConnections
                    ? "close connections that are not needed, or raise max_connections" : nil
            )
        }

        let clock = await checking("clock") {
            try await inspector.clocks().check(skewSecondsMax: clockSkewSecondsMax)
        }
        var checks = [
            .ok("database", "PostgreSQL \(server.version) answers"), server.durabilityCheck,
            server.roleCheck, server.namesCheck, clock, server.diskCheck,
        ]

        let schema = await self.schema(server)
        checks.append(schema)
        guard schema.result == .ok else {
            let missing = Self.names.suffix(5).map {
                DoctorCheck.notChecked($0, "the schema is not the one that this program needs")
            }
            return checks + missing
        }
        checks.append(await objects(inspector))
        checks += await opened(server, inspector)
        checks.append(
            await checking("checkpoint") {
                let newest = try await inspector.newestCheckpoint()
                return newest.check(datedLater: try await inspector.checkpointsDatedLater())
            }
        )
        return checks
    }

    /// The checks if there is no server to ask.
    package static func unreachable(_ message: String, _ action: String? = nil) -> [DoctorCheck] {
        let first = DoctorCheck.wrong(
            "database",
            message,
            action
                ?? "start the server, or correct --database-url, DATABASE_URL or the PG* variables"
        )
        return [first] + names.map { .notChecked($0, "the database does not answer") }
    }

    // A check whose failure is its finding; the error's message says what to do.
    private func checking(
        _ name: String,
        _ check: () async throws -> DoctorCheck
    ) async -> DoctorCheck {
        do {
            return try await check()
        } catch {
            return .wrong(name, Self.words(of: error), nil)
        }
    }

    private func schema(_ server: LedgerInspector.Server) async -> DoctorCheck {
        guard server.encoding == "UTF8" else {
            return .wrong(
                "schema",
                "the database has the encoding \(server.encoding); a ledger needs UTF8",
                "create another database: CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'"
            )
        }
        return await checking("schema") {
            let steps = try await Migrator.status(settings)
            let missing = steps.filter { !$0.isApplied }
            guard let first = missing.first else {
                return .ok("schema", "version \(steps.count), which this program needs")
            }
            let what =
                missing.count == steps.count
                ? "this database has no ledger"
                : "\(counted(missing.count, "migration")) missing, from \(first.name) on"
            return .wrong("schema", what, "run `subledger migrate` as a member of ledger_owner")
        }
    }

    private func objects(_ inspector: LedgerInspector) async -> DoctorCheck {
        await checking("objects") {
            let read = { (projector: Projector) async throws(ProjectorError) in
                try await projector.alteredViews().map(\.message)
            }
            let views =
                if let log {
                    try await read(projector(log))
                } else {
                    try await Self.projecting(settings, read)
                }
            let found = try await inspector.differences() + views
            guard let first = found.first else {
                return .ok(
                    "objects",
                    "roles, privileges, tables, triggers, functions, views and indexes are whole"
                )
            }
            let more = found.count > 1 ? ", and \(found.count - 1) more" : ""
            return .wrong(
                "objects",
                "\(counted(found.count, "difference")): \(first)\(more)",
                views.count == found.count
                    ? nil
                    : "run `subledger migrate`; `migrate --dry-run` lists what it would repair"
            )
        }
    }

    /// Gives a projector of a log that is opened for it.
    package static func projecting<Value>(
        _ settings: ConnectionSettings,
        _ body: (Projector) async throws(ProjectorError) -> Value
    ) async throws -> Value {
        var options = EventLog.Options()
        options.readersMax = 1
        let log = try await EventLog.open(settings, options)
        do throws(ProjectorError) {
            let value = try await body(Projector(log: log, settings: settings))
            await log.close()
            return value
        } catch {
            await log.close()
            throw error
        }
    }

    private func projector(_ log: EventLog) -> Projector {
        Projector(log: log, settings: settings, projections: projections)
    }

    private static func words(of error: any Error) -> String {
        switch error {
        case let error as EventLogError: error.description
        case let error as ProjectorError: error.description
        default: "\(error)"
        }
    }

    // The checks that need an open log.
    private func opened(
        _ server: LedgerInspector.Server,
        _ inspector: LedgerInspector
    ) async -> [DoctorCheck] {
        if let log { return await opened(log, server, inspector) }
        var options = EventLog.Options()
        options.readersMax = 1
        options.clockSkewSecondsMax = clockSkewSecondsMax
        let log: EventLog
        do {
            log = try await EventLog.open(settings, options)
        } catch {
            let words = Self.words(of: error)
            return [
                .wrong("append", words, nil), .notChecked("tables", words),
                .notChecked("consumers", words),
            ]
        }
        let checks = await opened(log, server, inspector)
        await log.close()
        return checks
    }

    private func opened(
        _ log: EventLog,
        _ server: LedgerInspector.Server,
        _ inspector: LedgerInspector
    ) async -> [DoctorCheck] {
        [
            await append(log, server), await tables(log, inspector),
            await checking("consumers") {
                ConsumerPlace.check(try await log.consumers(limit: Self.consumersMax))
            },
        ]
    }

    /// The most consumers that are checked, by name.
    private static let consumersMax = 10_000

    private func append(_ log: EventLog, _ server: LedgerInspector.Server) async -> DoctorCheck {
        guard server.roles.contains(LedgerRole.writer.rawValue) else {
            return .notChecked("append", "\(server.user) may not append")
        }
        guard let fault = await log.appendFault() else {
            return .ok("append", "the database would accept an append")
        }
        return .wrong("append", fault.description, nil)
    }

    /// The check of the tables alone.
    package static func tables(of ledger: Ledger) async -> DoctorCheck {
        let inspector = LedgerInspector(ledger.log.settings)
        return await DatabaseChecks(of: ledger).tables(ledger.log, inspector)
    }

    private func tables(_ log: EventLog, _ inspector: LedgerInspector) async -> DoctorCheck {
        await checking("tables") {
            let tables = try await projector(log).tables()
            let behind = tables.filter { $0.state == .live && $0.isCurrent && $0.lag > 0 }
            var oldest: Instant?
            if let last = behind.max(by: { $0.lag < $1.lag }) {
                oldest = try await inspector.oldestEvent(after: last.positions)
            }
            return Projector.Table.check(tables, oldest: oldest, now: .systemClock())
        }
    }
}
