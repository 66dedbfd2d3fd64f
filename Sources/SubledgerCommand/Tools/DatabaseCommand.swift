import ArgumentParser
import CommandSupport
import EmbeddedPostgres
import Postgres
import Subledger

struct DatabaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "database",
        abstract: "Start, stop and find the private PostgreSQL ($SUBLEDGER_HOME, or .subledger/).",
        discussion: """
            For development and small ledgers: one machine, one Unix socket, no password, no \
            replica. pg_basebackup and pg_dump back it up. Add your own settings at the end of its \
            postgresql.conf, in the folder that `database status` prints; they are kept.
            """,
        subcommands: [Start.self, Status.self, Stop.self, URL.self]
    )

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Start the private server, create it first if needed, and print its URL."
        )

        func run() async throws {
            let settings = try await Ledger.Database.embeddedServer.start()
            Terminal.write("a private server, for development and small ledgers")
            Terminal.print(try settings.uri())
        }
    }

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print whether the private server runs, and where its data is; exit 4 if "
                + "it does not run."
        )

        func run() async throws {
            switch try await Ledger.Database.embeddedServer.status() {
            case .running(let processId):
                Terminal.print("running  process \(processId)")
                try await printPlace()
            case .stopped:
                Terminal.print("stopped")
                try await printPlace()
                throw Exit.notFound
            case .absent:
                Terminal.print(
                    "absent; `subledger migrate` or `subledger database start` creates it"
                )
                throw Exit.notFound
            }
        }

        private func printPlace() async throws {
            guard let folder = try await Ledger.Database.embeddedServer.dataFolder() else { return }
            Terminal.print("data     \(folder)")
            Terminal.print("for development and small ledgers")
        }
    }

    struct Stop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Stop the private server; its data stays."
        )

        func run() async throws {
            try await Ledger.Database.embeddedServer.stop()
            Terminal.print("stopped")
        }
    }

    struct URL: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "url",
            abstract: "Print the URL of the database that commands use here.",
            discussion: """
                psql "$(subledger database url)" opens it. Starts the private server if commands \
                use it and it is not running, but never creates one. If the connection settings \
                contain a password, so does the output.
                """
        )

        @OptionGroup var database: DatabaseOptions

        func run() async throws {
            if let settings = database.location.configuredSettings {
                Terminal.print(try settings.uri())
            } else {
                Terminal.print(try await database.settings().uri())
            }
        }
    }
}
