import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Postgres

extension BenchCommand {
    struct Serve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "The HTTP service under load from another process, against its limit.",
            discussion: """
                Works in a separate database, subledger_bench, on the configured server, and \
                starts `subledger serve` with its default settings as a separate process; this \
                process generates the load. Every request is a new notification of version 2 with \
                three signatures, of another customer, signed a moment ago. Measured at 1, 32 and \
                256 connections, each of which sends its next request when it has its answer; then \
                at half of the rate of 32, where the time counts from the instant at which a \
                request was due; then GET access at 32 connections. The limit is measured in the \
                same run, without HTTP: bare signature checks on all cores, a third of them \
                because a notification has three, and durable INSERTs of one event row by 32 \
                connections; the slower of the two counts. Service, server and load share the \
                cores. With --soak, the notifications are sent again and again at the end, and the \
                memory of the service before and after is compared. Use a release build.
                """
        )

        @Option(help: "Notifications at each number of connections; a tenth at one connection.")
        var requests = 20_000

        @Option(help: "Requests that are sent at the end to see whether memory grows.")
        var soak = 0

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var output: OutputOptions

        /// The most notifications of a measurement, which are created in memory first.
        private static let requestsMax = 200_000

        func validate() throws {
            guard (10...Serve.requestsMax).contains(requests), soak >= 0 else {
                throw ValidationError(
                    "--requests must be from 10 to \(Serve.requestsMax), --soak at least 0"
                )
            }
        }

        func run() async throws {
            let scratch = try await database.scratch()
            try await scratch.make()
            let bench = ServeBench(
                settings: scratch.settings,
                requests: requests,
                soak: soak,
                note: output.note
            )
            let results = try await bench.measured()
            try await scratch.drop()
            try output.print(results.table, json: results)
        }
    }
}

/// The measurements, one after the other.
struct ServeBench {
    let settings: ConnectionSettings
    let requests: Int
    let soak: Int
    let note: @Sendable (String) -> Void

    private static let connections = [1, 32, 256]
    private static let middle = 32

    func measured() async throws -> ServeBenchResults {
        var material = try ServeBenchMaterial()
        note("measuring the limit")
        var results = ServeBenchResults(
            signatureLimitPerSecond: try await material.signatureLimit(),
            insertLimitPerSecond: try await insertLimit(&material)
        )
        let service = try await BenchedService.start(settings, root: material.rootDER)
        do {
            try await measure(service, &material, into: &results)
        } catch {
            service.kill()
            throw error
        }
        await service.stop()
        return results
    }

    private func insertLimit(_ material: inout ServeBenchMaterial) async throws -> Double {
        let inserts = PlainInserts(settings: settings)
        try await inserts.makeTables()
        return try await inserts.rate(
            of: try material.verified(max(10, requests / 4)),
            callers: ServeBench.middle
        )
    }

    private func measure(
        _ service: BenchedService,
        _ material: inout ServeBenchMaterial,
        into results: inout ServeBenchResults
    ) async throws {
        // Caches, plans and connections are warmed up before the measurement.
        _ = try await service.load(try material.notifications(max(10, requests / 20)), 8)
        results.memoryMiBBefore = service.memoryMiB

        for connections in ServeBench.connections {
            let count = connections == 1 ? max(10, requests / 10) : requests
            note("\(count) notifications, connections: \(connections)")
            let posts = try material.notifications(count)
            let before = try await service.groupCommit()
            let cell = try await service.load(posts, connections)
            let after = try await service.groupCommit()
            results.record(cell, at: connections, ServeBenchResults.ratio(before, after))
        }

        let half = results.rate(at: ServeBench.middle) / 2
        note("half of that load")
        let posts = try material.notifications(max(10, requests / 2))
        results.halfLoad = try await service.load(posts, ServeBench.middle, rate: half)
        note("GET access")
        let gets = material.customers(max(10, requests / 4)).map(service.access)
        results.access = try await service.load(gets, ServeBench.middle)
        results.accessAtHalfLoad = try await service.load(
            gets,
            ServeBench.middle,
            rate: (results.access?.perSecond ?? 0) / 2
        )
        results.memoryMiBAfter = service.memoryMiB

        guard soak > 0 else { return }
        note("\(soak) notifications again")
        try await service.soak(try material.notifications(requests), soak, ServeBench.middle)
        results.memoryMiBAfterSoak = service.memoryMiB
    }
}
