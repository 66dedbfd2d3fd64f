import CommandSupport
import EmbeddedPostgres
import EventLog
import Events
import Postgres
import Projector
import Subledger

/// What `doctor` checks in the database.
struct DatabaseChecks {
    let options: DatabaseOptions
    let isQuiet: Bool

    /// The checks that need a session, in order.
    private static let names = [
        "durability", "role", "names", "clock", "disk", "schema", "objects", "append", "tables",
        "checkpoint",
    ]

    /// Runs all of them; without a server the first fails, and the rest are not checked.
    func run() async throws -> [DoctorCheck] {
        let settings: ConnectionSettings
        let server: LedgerInspector.Server
        do {
            settings = try await options.settings(isQuiet: isQuiet)
            server = try await LedgerInspector(settings).server()
        } catch let error as EventLogError {
            return unreachable(
                error.description,
                error.code == .tooManyConnections
                    ? "close connections that are not needed, or raise max_connections" : nil
            )
        } catch let error as EmbeddedServerError {
            return unreachable(error.description)
        }

        let inspector = LedgerInspector(settings)
        let skew = try DatabaseOptions.logOptions().clockSkewSecondsMax
        let clock = await checking("clock") {
            try await inspector.clocks().check(skewSecondsMax: skew)
        }
        var checks = [
            .ok("database", "PostgreSQL \(server.version) answers"), server.durabilityCheck,
            server.roleCheck, server.namesCheck, clock, server.diskCheck,
        ]

        let schema = await self.schema(settings, server)
        checks.append(schema)
        guard schema.result == .ok else {
            let missing = Self.names.suffix(4).map {
                DoctorCheck.notChecked($0, "the schema is not the one that this program needs")
            }
            return checks + missing
        }
        checks.append(await objects(settings, inspector))
        checks += await opened(settings, server, inspector)
        checks.append(
            await checking("checkpoint") {
                let newest = try await inspector.newestCheckpoint()
                return newest.check(datedLater: try await inspector.checkpointsDatedLater())
            }
        )
        return checks
    }

    private func unreachable(_ message: String, _ action: String? = nil) -> [DoctorCheck] {
        let first = DoctorCheck.wrong(
            "database",
            message,
            action
                ?? "start the server, or correct --database-url, DATABASE_URL or the PG* variables"
        )
        return [first] + Self.names.map { .notChecked($0, "the database does not answer") }
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

    private func schema(
        _ settings: ConnectionSettings,
        _ server: LedgerInspector.Server
    ) async -> DoctorCheck {
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

    private func objects(
        _ settings: ConnectionSettings,
        _ inspector: LedgerInspector
    ) async -> DoctorCheck {
        await checking("objects") {
            let views = try await Self.projecting(settings) { projector throws(ProjectorError) in
                try await projector.alteredViews().map(\.message)
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

    static func projecting<Value>(
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

    private static func words(of error: any Error) -> String {
        switch error {
        case let error as EventLogError: error.description
        case let error as ProjectorError: error.description
        default: "\(error)"
        }
    }

    // The checks that need an open log.
    private func opened(
        _ settings: ConnectionSettings,
        _ server: LedgerInspector.Server,
        _ inspector: LedgerInspector
    ) async -> [DoctorCheck] {
        var options = EventLog.Options()
        options.readersMax = 1
        let log: EventLog
        do {
            options.clockSkewSecondsMax = try DatabaseOptions.logOptions().clockSkewSecondsMax
            log = try await EventLog.open(settings, options)
        } catch {
            let words = Self.words(of: error)
            return [.wrong("append", words, nil), .notChecked("tables", words)]
        }
        let checks = [await append(log, server), await tables(log, settings, inspector)]
        await log.close()
        return checks
    }

    private func append(_ log: EventLog, _ server: LedgerInspector.Server) async -> DoctorCheck {
        guard server.roles.contains(LedgerRole.writer.rawValue) else {
            return .notChecked("append", "\(server.user) may not append")
        }
        guard let fault = await log.appendFault() else {
            return .ok("append", "the database would accept an append")
        }
        return .wrong("append", fault.description, nil)
    }

    private func tables(
        _ log: EventLog,
        _ settings: ConnectionSettings,
        _ inspector: LedgerInspector
    ) async -> DoctorCheck {
        await checking("tables") {
            let tables = try await Projector(log: log, settings: settings).tables()
            let behind = tables.filter { $0.state == .live && $0.isCurrent && $0.lag > 0 }
            var oldest: Instant?
            if let last = behind.max(by: { $0.lag < $1.lag }) {
                oldest = try await inspector.oldestEvent(after: last.positions)
            }
            return Projector.Table.check(tables, oldest: oldest, now: .systemClock())
        }
    }
}
