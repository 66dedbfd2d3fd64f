import Events
import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
import SubledgerCommand
import TestSupport
import Testing

/// Each command runs, one ledger after the other: `demo` has one database on a server.
@Suite(.enabled { await TestServer.isAvailable }, .serialized)
struct EveryCommandTests {
    @Test func `every command has a line in the table, and every line is a command`() async throws {
        let commands = try await CommandHelp.leaves()
        let listed = EveryCommand.all.map { line in
            commands.filter { line.words.starts(with: $0.path) }.map(\.name)
        }
        #expect(listed.allSatisfy { $0.count == 1 })
        #expect(Set(listed.joined()) == Set(commands.map(\.name)))
    }

    @Test func `every command runs on an empty ledger`() async throws {
        let store = try await ServedStore.start()
        try await withLedger { command, _ in
            let values = try await placeholders(command, store)
            for line in EveryCommand.all {
                guard let code = line.onEmpty else { continue }
                let ending = try await command.run(values.fill(line.words))
                expect(ending, code, line)
            }
        }
        await store.end()
    }

    @Test func `every command runs as a process, on a ledger with events and tables`() async throws
    {
        let store = try await ServedStore.start()
        try await withSimulatedLedger(rebuilt: true) { command in
            let values = try await placeholders(command, store)
            for line in EveryCommand.all {
                guard let code = line.onFilled else { continue }
                let ending = try await command.runProcess(values.fill(line.words))
                expect(ending, code, line)
            }
        }
        await store.end()
    }

    /// Every session sets its own search path before anything is looked up in the one that the
    /// database has; with `standard_conforming_strings` off, a text of ours would be another.
    @Test(.disabled(if: HostileShadows.areEverywhere, "every database has them already"))
    func `no command calls a hostile function or operator that a search path puts first`()
        async throws
    {
        let store = try await ServedStore.start()
        try await TestServer.shared.withDatabase { settings in
            try await HostileShadows.plant(in: settings)
            let (command, simulation) = (Command(settings), try await Simulation.shared)
            try await command.expect(0, "migrate")
            try await command.expect(0, simulation.arguments + [simulation.payloads])
            try await command.expect(0, "rebuild", "--quiet")
            let values = try await placeholders(command, store)
            for line in EveryCommand.all {
                guard let code = line.onFilled else { continue }
                let ending = try await command.run(values.fill(line.words))
                expect(ending, code, line)
                #expect(!(ending.output + ending.errors).contains("hostile"), "\(line)")
            }
        }
        await store.end()
    }

    @Test func `the service starts on an empty ledger, and a signal ends it with success`()
        async throws
    {
        let simulation = try await Simulation.shared
        try await withLedger { command, _ in
            let service = try Program("subledger").start(
                ["serve", "--port", "0", "--root-certificate", simulation.root],
                environment: command.environment
            )
            for await line in service.errorLines where line.contains("listening at") { break }
            service.signal(SIGTERM)
            let ending = await service.ending()
            #expect(ending.code == 0 && !ending.wasKilled, "\(ending.errors)")
        }
    }

    @Test func `the private server starts, is running, and stops`() async throws {
        let home = try TestFolder().path(of: "home")
        let command = Command(environment: ["SUBLEDGER_HOME": home])
        let url = try await command.expect(0, "database", "start")
        #expect(url.hasPrefix("postgresql://"))
        #expect(try await command.expect(0, "database", "status").hasPrefix("running"))
        try await command.expect(0, "database", "stop")
        try await command.expect(4, "database", "status")
    }

    private func expect(_ ending: Program.Ending, _ code: Int32, _ line: EveryCommand) {
        #expect(
            ending.code == code && !ending.wasKilled,
            "\(line): exit \(ending.code), \(ending.errors)\n\(ending.output.prefix(300))"
        )
        let printed = ending.output + ending.errors
        #expect(
            !printed.isEmpty || ["feed", "effects"].contains(line.words[0]),
            "\(line) prints nothing"
        )
    }
}

/// What stands for the placeholders of the table.
private struct Placeholders {
    let values: [String: [String]]

    func fill(_ words: [String]) -> [String] {
        words.flatMap { word in
            if let whole = values[word] { return whole }
            var word = word
            for (name, value) in values where value.count == 1 {
                word = word.replacing(name, with: value[0])
            }
            return [word]
        }
    }
}

extension EveryCommandTests {
    // The subscription is one that has a paid period; its ids are unknown to the empty ledger.
    private func placeholders(
        _ command: Command,
        _ store: ServedStore
    ) async throws -> Placeholders {
        let (simulation, folder) = (try await Simulation.shared, store.folder)
        let truths = try Data(contentsOf: URL(fileURLWithPath: simulation.truth))
            .split(separator: UInt8(ascii: "\n")).prefix(2)
            .map { try JSONDecoder().decode(Truth.self, from: $0) }
        let truth = truths[0]
        let start = try #require(truth.active.first?.first)
        let id = truth.originalTransactionId
        return Placeholders(
            values: [
                "{id}": [id], "{other}": [truths[1].originalTransactionId],
                "{at}": ["\(start + 1)"],
                "{month}": [String(Instant(milliseconds: start).description.prefix(7))],
                "{root}": [simulation.root],
                "{product}": [try #require(truth.periods.first).productId],
                "{payloads}": [simulation.payloads], "{folder}": [folder.path],
                "{catalog}": [simulation.payloads + "/catalog.storekit"],
                "{rates}": [
                    try folder.write(
                        "rates.csv",
                        Data("date,currency,base_currency,rate\n2026-01-05,USD,EUR,0.92\n".utf8)
                    )
                ],
                "{links}": [try folder.write("links.csv", Data("customer,id\nann,\(id)\n".utf8))],
                "{ids}": [try folder.write("ids", Data("\(id)\n".utf8))],
                "{store}": store.flags, "{seats}": [try await store.buySeats()],
                "{sandbox}": ["--environment", "Sandbox"] + store.flags,
            ].merging(EveryCommand.options) { $1 }
        )
    }

    private struct Truth: Decodable {
        struct Period: Decodable { let productId: String }
        let originalTransactionId: String
        let active: [[Int64]]
        let periods: [Period]
    }
}

/// `simulate --serve`, which answers in Apple's place about the subscriptions of `Simulation`.
private struct ServedStore {
    let program: RunningProgram
    let folder: TestFolder
    /// The flags with which the store says that it is asked.
    let flags: [String]

    static func start() async throws -> ServedStore {
        let folder = try TestFolder()
        let program = try Program("subledger").start([
            "simulate", "--serve", "0", "--subscriptions", "25", "--seed", "9", "--out",
            folder.path,
        ])
        for await line in program.errorLines {
            guard let match = line.firstMatch(of: /subledger poll (--api-url .*)/) else { continue }
            let flags = match.1.split(separator: " ").map(String.init)
            return ServedStore(program: program, folder: folder, flags: flags)
        }
        throw POSIXError(.ESRCH)
    }

    /// Buys a subscription with three seats in the sandbox; its id.
    func buySeats() async throws -> String {
        let url = try #require(URL(string: flags[1] + "/control/subscriptions"))
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data(
            """
            {"productId":"example.subledger.lumen.plus.monthly","environment":"Sandbox",\
            "seats":3,"invitationManagement":"DEVELOPER"}
            """.utf8
        )
        let (data, _) = try await URLSession.shared.data(for: request)
        return try JSONDecoder().decode(Bought.self, from: data).originalTransactionId
    }

    private struct Bought: Decodable { let originalTransactionId: String }

    func end() async {
        program.signal(SIGTERM)
        let ending = await program.ending()
        #expect(ending.code == 0 && !ending.wasKilled, "\(ending.errors)")
    }
}
