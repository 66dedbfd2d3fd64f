import ArgumentParser
import CommandSupport
import Foundation
import Subledger

/// The command line: wiring only.
@main
struct SubledgerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subledger",
        abstract: "The event-sourced ledger of App Store subscriptions.",
        discussion: """
            Every verified transaction and notification becomes an idempotent event in a \
            PostgreSQL log that is never edited; everything else is computed from that log.

            Commands use the first database that is configured, in this order: --database-url, \
            DATABASE_URL, libpq's own PG* variables, and a private server under $SUBLEDGER_HOME \
            (default .subledger/). `migrate` creates the private server, which is meant for \
            development and small ledgers. A connection pooler must be in session mode. If the \
            database is unreachable, an append fails after SUBLEDGER_APPEND_SECONDS_MAX seconds \
            (default 60).

            On a terminal, answers longer than the screen are shown with $PAGER (default less); \
            PAGER=cat turns that off.

            Exit codes: 0 ok, 1 access denied, or a fault found by `doctor`, 3 integrity mismatch, \
            4 not found, 64 wrong usage, 65 bad input (`ingest` accepted the rest), 66 input \
            missing, 69 database unavailable, 70 internal error, 75 try again later, 77 permission \
            denied, 78 wrong configuration, 130 interrupted.
            """,
        version: Ledger.version,
        groupedSubcommands: [
            CommandGroup(
                name: "Fill",
                subcommands: [
                    IngestCommand.self, PollCommand.self, BackfillCommand.self, ImportCommand.self,
                    MigrateCommand.self, CatalogCommand.self, RatesCommand.self,
                    RejectionsCommand.self,
                ]
            ),
            CommandGroup(
                name: "Ask",
                subcommands: Questions.served.commands + [DiffCommand.self]
                    + Questions.local.commands
                    + [EventCommand.self, DueCommand.self, StreamsCommand.self]
            ),
            CommandGroup(
                name: "Customers",
                subcommands: [CustomersCommand.self, EraseCommand.self]
            ),
            CommandGroup(
                name: "Tables",
                subcommands: [
                    RebuildCommand.self, FollowCommand.self, TablesCommand.self,
                ]
            ),
            CommandGroup(
                name: "Prove",
                subcommands: [
                    VerifyCommand.self, CheckpointCommand.self, EvidenceCommand.self,
                    RepairCommand.self,
                ]
            ),
            CommandGroup(
                name: "Reports",
                subcommands: [
                    ReportCommand.self, ExportCommand.self, FeedCommand.self, EffectsCommand.self,
                    WebhooksCommand.self, AlertsCommand.self,
                    ConsumersCommand.self,
                ]
            ),
            CommandGroup(
                name: "Serve",
                subcommands: [
                    UpCommand.self, ServeCommand.self, MCPCommand.self, TokensCommand.self,
                ]
            ),
            CommandGroup(
                name: "Tools",
                subcommands: [
                    DoctorCommand.self, AppleCommand.self, DemoCommand.self,
                    DatabaseCommand.self, SimulateCommand.self,
                ]
            ),
        ]
    )

    static func main() async {
        StandardStream.reserve()
        ProcessArguments.hidePasswords()
        Interrupt.install()
        Foundation.exit(await CommandRun.exitCode(Array(CommandLine.arguments.dropFirst())))
    }
}
