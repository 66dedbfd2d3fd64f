import Foundation
import Postgres
import TestSupport
import Testing

/// `periods`, `history` and `streams` from the outside.
@Suite(.enabled { await TestServer.isAvailable })
struct QuestionTests {
    @Test func `documents have the documented members`() async throws {
        try await withSimulatedLedger { command in
            let streams = try await command.expect(0, "streams", "--json")
            #expect(
                try members("{\"all\":\(streams)}", "all").isSuperset(of: [
                    "originalTransactionId", "environment", "events", "productIds",
                ])
            )
            let truth = try await Self.truths()[0]
            let id = truth.originalTransactionId
            let periods = try await command.expect(0, "periods", id, "--json")
            #expect(
                try members(periods) == [
                    "originalTransactionId", "environment", "isKnown", "periods", "active",
                    "linksNotInForce", "erasures", "otherSubscriptions",
                ]
            )
            #expect(
                try members(periods, "periods") == [
                    "productId", "purchaseDate", "expiresDate", "validFrom", "validTo", "kind",
                    "endReason", "expirationReason", "positions",
                ]
            )
            let history = try await command.expect(0, "history", id, "--json")
            #expect(
                try members(history) == [
                    "originalTransactionId", "environment", "events", "erasures",
                    "otherSubscriptions",
                ]
            )
            #expect(
                try members(history, "events").isSuperset(of: [
                    "position", "recordedAt", "asOf", "kind", "fields", "evidence",
                ])
            )
            #expect(try await command.expect(0, "periods", id).contains(id))
            #expect(try await command.expect(0, "history", id).contains("as of"))
        }
    }

    @Test func `every stream is listed once with its events`() async throws {
        try await withSimulatedLedger { command in
            let streams = try await command.json([StreamLine].self, "streams")
            let ids = Set(streams.map(\.originalTransactionId))
            #expect(ids.count == streams.count)
            #expect(ids.isSuperset(of: try await Self.truths().map(\.originalTransactionId)))
            let report = try await command.json(VerifyDocument.self, "verify")
            #expect(streams.map(\.events).reduce(0, +) == report.events)
        }
    }

    @Test func `--at keeps the rows that contain the instant, start included and end excluded`()
        async throws
    {
        try await withSimulatedLedger { command in
            let truth = try #require(try await Self.truths().first { $0.periods.count > 1 })
            let row = truth.periods[0]
            for (instant, isThere) in [
                (row.validFrom, true), (row.validTo - 1, true), (row.validFrom - 1, false),
                (row.validTo, false),
            ] {
                let text = Date(timeIntervalSince1970: Double(instant) / 1000)
                    .formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true))
                let told = try await command.json(
                    PeriodsDocument.self,
                    "periods",
                    truth.originalTransactionId,
                    "--at",
                    text + "Z"
                )
                #expect(told.periods.contains(row) == isThere, "at \(text)")
            }
        }
    }

    @Test func `known at an offset or an instant, less was known`() async throws {
        try await withSimulatedLedger { command in
            let truth = try #require(try await Self.truths().first { $0.periods.count > 1 })
            let id = truth.originalTransactionId
            let nothing = try await command.json(
                PeriodsDocument.self,
                "periods",
                id,
                "--known-at",
                "0"
            )
            #expect(nothing.periods.isEmpty && nothing.active.isEmpty)
            let before = try await command.json(
                PeriodsDocument.self,
                "periods",
                id,
                "--known-at",
                "2020-01-01"
            )
            #expect(before.periods.isEmpty)
            let all = try await command.json(
                PeriodsDocument.self,
                "periods",
                id,
                "--known-at",
                "2099-01-01T00:00:00Z"
            )
            #expect(all == truth)
            // A position beyond the log cannot have been known and is probably a mistake.
            for bound in ["0:1000000", "1000000", "7:1"] {
                try await command.expect(64, "periods", id, "--known-at", bound)
            }
        }
    }

    @Test func `the table of history counts the repetitions of the events that it shows`()
        async throws
    {
        try await withSimulatedLedger { command in
            let ends = try await command.json([StreamLine].self, "streams")
            let words = "repetitions of these events: "
            var cut = 0
            for stream in ends.prefix(12) {
                let question =
                    ["history", stream.originalTransactionId, "--environment"]
                    + [stream.environment, "--known-at", "60"]
                let document = try await command.expect(0, question + ["--json"])
                let repeated = try #require(
                    try JSONSerialization.jsonObject(with: Data(document.utf8)) as? [String: Any]
                )
                let events = try #require(repeated["events"] as? [[String: Any]])
                let count = events.reduce(0) { $0 + ($1["confirmations"] as? Int ?? 0) }
                let text = try await command.expect(0, question)
                #expect(text.contains(words + "\(count)\n") == (count > 0), "\(text)")
                if count == 0 { cut += 1 }
            }
            #expect(cut > 0)
        }
    }

    @Test func `an unknown id exits with 4, and the message names where to look`() async throws {
        let simulation = try await Simulation.shared
        let folder = try TestFolder()
        let one = try folder.write("one.json", try simulation.allPayloads()[0])
        try await withLedger { command, _ in
            try await command.expect(0, simulation.arguments + [one])
            for question in ["periods", "history", "explain", "access", "blame"] {
                let ending = try await command.run(question, "4711")
                #expect(ending.code == 4)
                #expect(ending.output.isEmpty)
                #expect(ending.errors.contains("4711"))
                #expect(ending.errors.contains("subledger streams"))
            }
            let lane = try await command.run("event", "1:5")
            #expect(lane.code == 4)
            #expect(
                lane.errors.contains(
                    "unknown lane 1: this ledger has one lane, where a position is just its "
                        + "offset: `subledger event 5`"
                ),
                "\(lane.errors)"
            )
            let known = try await command.json([StreamLine].self, "streams")[0]
            let bound = try await command.run(
                "diff",
                known.originalTransactionId,
                "--known",
                "1..99999"
            )
            #expect(bound.code == 64, "\(bound.errors)")
            #expect(bound.errors.contains("--known names offset 99999"), "\(bound.errors)")
        }
    }

    @Test func `every question to an empty ledger reports that it is empty and how to fill it`()
        async throws
    {
        try await withLedger { command, _ in
            for question in [
                "periods", "history", "explain", "access", "blame", "state", "changes", "refunds",
                "eligibility", "replay",
            ] {
                let ending = try await command.run(question, "4711")
                #expect(ending.code == 4 && ending.output.isEmpty)
                #expect(ending.errors.contains("this ledger is empty"), "\(ending.errors)")
                #expect(ending.errors.contains("`subledger ingest PATH…`"), "\(ending.errors)")
            }
            for question in [
                ["streams"], ["due"], ["report", "drift"], ["report", "anomalies"],
                ["report", "wrong-answers"], ["report", "ingest-quality"], ["customers", "list"],
                ["customers", "claims"],
            ] {
                let ending = try await command.run(question)
                #expect(ending.errors.contains("this ledger is empty"), "\(ending.errors)")
            }
            let event = try await command.run("event", "1")
            #expect(event.code == 4 && event.errors.contains("this ledger is empty"))
        }
    }

    @Test func `an id in two environments requires the environment`() async throws {
        let folder = try TestFolder()
        try await withLedger { command, _ in
            for environment in ["Production", "Sandbox"] {
                let out = folder.path(of: environment)
                try await command.expect(
                    0,
                    "simulate",
                    "--quiet",
                    "--subscriptions",
                    "1",
                    "--seed",
                    "3",
                    "--environment",
                    environment,
                    "--out",
                    out
                )
                try await command.expect(
                    0,
                    "ingest",
                    "--quiet",
                    "--root-certificate",
                    "\(out)/root.der",
                    out
                )
            }
            let streams = try await command.json([StreamLine].self, "streams")
            let id = try #require(streams.first).originalTransactionId
            #expect(streams.filter { $0.originalTransactionId == id }.count == 2)
            let ending = try await command.run("periods", id)
            #expect(ending.code == 64)
            #expect(ending.errors.contains("--environment"))
            for environment in ["Production", "Sandbox"] {
                let told = try await command.json(
                    PeriodsDocument.self,
                    "periods",
                    id,
                    "--environment",
                    environment
                )
                #expect(told.environment == environment)
                #expect(!told.periods.isEmpty)
            }
            let xcode = try await command.run("periods", id, "--environment", "Xcode")
            #expect(xcode.code == 4)
            #expect(xcode.errors.contains("Production, Sandbox"))
        }
    }

    private static func truths() async throws -> [PeriodsDocument] {
        try String(contentsOfFile: try await Simulation.shared.truth, encoding: .utf8)
            .split(separator: "\n").map {
                try JSONDecoder().decode(PeriodsDocument.self, from: Data($0.utf8))
            }
    }
}
