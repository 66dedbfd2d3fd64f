import ArgumentParser

/// The command line: wiring only.
@main
struct SubledgerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subledger",
        abstract: "The event-sourced ledger of App Store subscriptions.",
        discussion: """
            Every verified transaction and notification becomes an idempotent event in a \
            PostgreSQL log that is never edited; everything else is a fold over it.

            The database: --database-url, else DATABASE_URL, else libpq's own PG* variables, \
            else a private server under $SUBLEDGER_HOME (default .subledger/). A pooler in front of it \
            must be in session mode. An append fails after SUBLEDGER_APPEND_SECONDS_MAX seconds \
            (default 60) without the database.

            Exit codes: 0 ok, 1 the no of `access`, 3 integrity mismatch, 4 not found, 64 usage, 65 bad input (the rest \
            is in), 66 input missing, 69 database unavailable, 70 internal, 75 try again later, 77 permission, \
            78 configuration, 130 interrupted.
            """,
        version: "0.1.0",
        subcommands: [
            DemoCommand.self, MigrateCommand.self, IngestCommand.self, RebuildCommand.self,
            FollowCommand.self, ProjectionsCommand.self,
            CheckpointCommand.self, VerifyCommand.self, ExplainCommand.self, PeriodsCommand.self,
            StateCommand.self,
            ChangesCommand.self, RefundsCommand.self, HistoryCommand.self, BlameCommand.self,
            DiffCommand.self, ReplayCommand.self, EventCommand.self, FeedCommand.self,
            AccessCommand.self, EligibilityCommand.self, DueCommand.self, StreamsCommand.self,
            CustomersCommand.self, EraseCommand.self, CatalogCommand.self, RejectionsCommand.self,
            ReportCommand.self,
            SimulateCommand.self, BenchCommand.self, DatabaseCommand.self,
        ]
    )

    static func main() async {
        StandardStream.reserve()
        Interrupt.install()
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            Failure.exit(error, of: self)
        }
    }
}
