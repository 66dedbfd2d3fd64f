internal import EmbeddedPostgres
internal import Foundation
package import Postgres
internal import Synchronization

/// The private server of one open ledger: it stops with the last ledger of this process, if this
/// process started it and no other program uses it.
package final class PrivateServer: Sendable {
    private let settings: ConnectionSettings
    private let home: String
    private let isOpen = Atomic<Bool>(true)

    /// What this process does with the server of a home.
    private struct Use {
        var wasStartedHere = false
        var ledgers = 0
    }

    private static let uses = Mutex<[String: Use]>([:])

    private static let attemptsMax = 10

    /// The name of this process's sessions, so that those of others can be distinguished.
    private static let applicationName =
        "subledger \(ProcessInfo.processInfo.processIdentifier)"

    /// The server of a ledger that was just opened with these settings.
    init(home: String, _ settings: ConnectionSettings) {
        (self.home, self.settings) = (home, settings)
        PrivateServer.uses.withLock { $0[home, default: Use()].ledgers += 1 }
    }

    /// Starts the server, unless it runs, and returns how to connect to it.
    static func start(
        home: String,
        createIfAbsent: Bool
    ) async throws -> ConnectionSettings {
        let server = EmbeddedServer(home: home)
        var wasRunning = false
        if case .running = try await server.status() { wasRunning = true }
        var settings = try await server.start(createIfAbsent: createIfAbsent)
        settings.applicationName = applicationName
        if !wasRunning { uses.withLock { $0[home, default: Use()].wasStartedHere = true } }
        return settings
    }

    /// Gives it up after the ledger has closed its connections; does nothing the second time.
    func close() async {
        guard isOpen.exchange(false, ordering: .relaxed) else { return }
        let mayStop = PrivateServer.uses.withLock { uses in
            uses[home, default: Use()].ledgers -= 1
            guard let use = uses[home], use.ledgers == 0 else { return false }
            uses[home] = nil
            return use.wasStartedHere
        }
        guard mayStop else { return }
        do {
            guard try await !PrivateServer.isUsedByOthers(settings) else { return }
            try await EmbeddedServer(home: home).stop()
        } catch {
            // It keeps running, or another process stopped it: the next ledger finds it as it is.
        }
    }

    /// Whether another program has a session in the server.
    ///
    /// Sessions with the application name of the settings are this program's.
    package static func isUsedByOthers(_ settings: ConnectionSettings) async throws -> Bool {
        try await PostgresSession.using(settings) { session in
            // The name of this session, because PGAPPNAME may have set another one.
            let others = """
                SELECT FROM pg_catalog.pg_stat_activity
                WHERE backend_type OPERATOR(pg_catalog.=) 'client backend' AND application_name
                    OPERATOR(pg_catalog.<>) pg_catalog.current_setting('application_name') LIMIT 1
                """
            // A session that was closed a moment ago is still listed until its process has ended.
            for _ in 1...attemptsMax {
                if try await session.query(others, []).isEmpty { return false }
                try await Task.sleep(for: .milliseconds(100))
            }
            return true
        }
    }
}
