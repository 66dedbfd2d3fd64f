public import AppStore
internal import EmbeddedPostgres
internal import EventLog
public import Projections
public import Subledger

/// Empty ledgers, each of which one test has to itself.
///
/// The first one of a process starts a private PostgreSQL server in a temporary folder, which ends
/// with the process, and creates the schema; each ledger is a copy of that, and is dropped after its
/// test. It needs PostgreSQL's server programs on this machine; with SUBLEDGER_TEST_DATABASE_URL, the
/// connection string of a superuser, ledgers are databases of that server instead.
public enum TestLedger {
    /// Lends a test an empty ledger, and drops it afterwards.
    ///
    /// At most four are lent at once; further tests wait.
    ///
    /// - Parameters:
    ///   - policy: What it trusts and accepts: that of a ``TestStore``.
    ///   - projections: The folds whose tables it builds and keeps up to date.
    ///   - isolation: The caller's.
    ///   - body: The test.
    /// - Returns: What the test returns.
    /// - Throws: What the test throws; `EmbeddedServerError` if there is no server.
    public static func with<Result>(
        _ policy: VerificationPolicy,
        projections: [any Projection] = .standard,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (Ledger) async throws -> Result
    ) async throws -> Result {
        try await databases.withDatabase(from: migrated) { settings in
            let ledger = try await Ledger.open(settings, policy: policy, projections: projections)
            do {
                let result = try await body(ledger)
                await ledger.close()
                return result
            } catch {
                await ledger.close()
                throw error
            }
        }
    }

    private static let databases = TemporaryDatabases(atOnceMax: 4)

    private static let migrated = TemporaryDatabases.Template("test_ledger") {
        _ = try await Migrator.migrate($0)
    }
}

extension Ledger {
    /// Ingests the notifications of an update.
    ///
    /// - Parameter update: What a ``TestStore`` returned.
    /// - Returns: The outcome of each notification.
    /// - Throws: As `ingest` of a payload.
    @discardableResult
    public func ingest(_ update: TestStore.Update) async throws -> [Ingestion] {
        var outcomes: [Ingestion] = []
        for body in update.notifications {
            outcomes.append(try await ingest(body, source: "notification"))
        }
        return outcomes
    }
}
