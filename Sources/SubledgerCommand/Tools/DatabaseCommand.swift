import ArgumentParser
import CommandSupport
import EmbeddedPostgres
import Postgres
import Subledger

struct DatabaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "database",
        abstract: "The private PostgreSQL of this folder ($SUBLEDGER_HOME, default .subledger/).",
        subcommands: [Start.self, Status.self, Stop.self]
    )

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Start it, make it where there is none, and print how to connect."
        )

        func run() async throws {
            let settings = try await Ledger.Database.embeddedServer.start()
            Terminal.print(settings.connectionString)
        }
    }

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say whether it runs; exit 4 where it does not."
        )

        func run() async throws {
            switch try await Ledger.Database.embeddedServer.status() {
            case .running(let processId):
                Terminal.print("running  process \(processId)")
            case .stopped:
                Terminal.print("stopped")
                throw Exit.notFound
            case .absent:
                Terminal.print("absent; any command that needs it makes it")
                throw Exit.notFound
            }
        }
    }

    struct Stop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Stop it; the data stays."
        )

        func run() async throws {
            try await Ledger.Database.embeddedServer.stop()
            Terminal.print("stopped")
        }
    }
}
