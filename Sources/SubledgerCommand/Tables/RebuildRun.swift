import ArgumentParser
import CommandSupport
import EventLog
import Projections
import Projector
import Subledger

/// One run of the requested work, with everything it needs.
struct RebuildRun {
    let work: TableWork
    let projector: Projector
    let chosen: [any Projection]?
    let whatIf: Projector.WhatIf?
    let options: Projector.RebuildOptions
    let progress: Progress
    let log: EventLog

    func rebuild() async throws -> ExitCode {
        let rebuilt: [Projector.Rebuilt]
        if let schema = work.schema {
            if case .offsets(let offsets) = work.to {
                try await PositionVector(offsets).check("--to", in: log)
            }
            rebuilt = try await projector.build(
                chosen,
                into: schema,
                upTo: work.to ?? .latest,
                options
            )
        } else {
            rebuilt = try await projector.rebuild(chosen, options)
        }
        progress.finish()
        try print(rebuilt)
        if case .time(let bound)? = work.to, rebuilt.allSatisfy({ $0.events == 0 }) {
            Terminal.write(
                "rebuild: the tables are empty, because nothing was recorded by \(bound.clock) "
                    + "UTC; --to refers to what the ledger knew, not to Apple's dates"
            )
        }
        try await noteTablesBehind(rebuilt)
        return end(rebuilt)
    }

    // Live tables that were not rebuilt stay where they were; a query over both sees two states.
    private func noteTablesBehind(_ rebuilt: [Projector.Rebuilt]) async throws {
        guard !work.output.quiet, work.schema == nil, chosen != nil else { return }
        let behind = try await projector.tables().filter { table in
            table.state == .live && table.isKnown && table.lag > 0
                && !rebuilt.contains { $0.name == table.name }
        }
        guard let farthest = behind.map(\.lag).max() else { return }
        Terminal.write(
            "\(work.name): the other live tables are up to \(counted(farthest, "event")) behind "
                + "the log: `subledger follow --once` brings them up to date"
        )
    }

    func discard() async throws -> ExitCode {
        let dropped = try await discarded()
        if work.output.json {
            try Terminal.print(json: ["discarded": dropped])
        } else if dropped.isEmpty {
            Terminal.write(
                "no tables are waiting to be promoted; nothing was dropped"
                    + (work.tables.projections.isEmpty
                        ? "" : ": live tables stay if this program has their projections")
            )
        } else {
            Terminal.print("dropped \(dropped.joined(separator: ", "))")
        }
        return .success
    }

    private func discarded() async throws -> [String] {
        let halves = try await projector.tables().filter { $0.state == .filling }
        if let schema = work.schema {
            if let refusal = await refusal(ofDiscarding: schema) {
                // Every rebuild begins by dropping what a killed rebuild left there.
                let isGone = try await removed(among: halves).contains { $0.schema == schema }
                guard refusal.code == .schemaTaken, isGone else { throw refusal }
            }
            return [schema]
        }
        let retired = projector.retired(among: work.tables.projections)
        var dropped = retired.isEmpty ? [] : try await projector.discard(retired: retired, options)
        if work.tables.projections.isEmpty || retired.count < work.tables.projections.count {
            dropped += try await projector.discard(chosen, options)
        }
        return try await dropped + removed(among: halves).map { "\($0.schema).\($0.name)" }
    }

    private func refusal(ofDiscarding schema: String) async -> ProjectorError? {
        do {
            try await projector.discard(schema: schema, options)
            return nil
        } catch {
            return error
        }
    }

    // The partly filled tables whose schema no longer exists.
    private func removed(among tables: [Projector.Table]) async throws -> [Projector.Table] {
        guard !tables.isEmpty else { return [] }
        let left = Set(try await projector.tables().map(\.schema))
        return tables.filter { !left.contains($0.schema) }
    }

    func compare() async throws -> ExitCode {
        let comparison = try await projector.compare(
            chosen,
            then: afterwards,
            whatIf: whatIf,
            catalog: work.action == .check ? .ofLive : .newest,
            samplesMax: work.comparison?.samples ?? ProjectionDifference.samplesDefault,
            options
        )
        progress.finish()

        let report = try await report(comparison)
        // With --json, the report and the promotion are printed as one document.
        let isPromoted = work.action == .diff(isPromoted: true)
        let isOneDocument = isPromoted && work.output.json
        if !isOneDocument { try show(report, promotion: nil) }
        printFindings(of: comparison)
        // A refusal that is unchanged is not a difference.
        if work.action == .check { return comparison.isClean ? .success : Exit.mismatch }

        let unmatched = comparison.unmatched.map(\.name)
        let end = end(
            comparison.tables,
            reported: comparison.tables.filter { !unmatched.contains($0.name) }
        )
        guard isPromoted else { return end }
        let promoted = try await promote(
            with: isOneDocument ? report : nil,
            after: comparison.tables
        )
        return end == .success ? promoted : end
    }

    var afterwards: Projector.Afterwards {
        if let schema = work.schema { return .keep(into: schema) }
        return work.action == .check || whatIf != nil ? .drop : .wait
    }

    // Tables whose number of refused subscriptions was already reported are not reported again.
    func end(
        _ rebuilt: [Projector.Rebuilt],
        reported: [Projector.Rebuilt] = []
    ) -> ExitCode {
        let refused = rebuilt.filter { $0.refused > 0 }
        for table in refused
        where !reported.contains(where: { ($0.name, $0.refused) == (table.name, table.refused) }) {
            Terminal.write(
                "\(work.name): \(table.name) has no row of \(table.refused) refused "
                    + "\(table.refused == 1 ? "subscription" : "subscriptions"); "
                    + "`SELECT * FROM projection.refused_stream` lists which, and why"
            )
        }
        return refused.isEmpty ? .success : Exit.mismatch
    }

    private func print(_ rebuilt: [Projector.Rebuilt]) throws {
        if work.output.json {
            try Terminal.print(json: rebuilt)
            return
        }
        for projection in rebuilt {
            Terminal.print(
                "\(projection.name): \(counted(projection.rows, "row")) from "
                    + "\(counted(projection.events, "event")) of "
                    + "\(counted(projection.streams, "stream")), digest \(projection.digest)"
            )
        }
    }
}
