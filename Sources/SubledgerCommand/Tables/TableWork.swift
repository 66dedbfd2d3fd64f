import AppStore
import ArgumentParser
import CommandSupport
import EventLog
import Foundation
import Postgres
import Projections
import Projector
import Subledger

/// The change or comparison of projection tables that a command requested.
struct TableWork {
    let action: Action
    let tables: TableOptions
    /// The schema to work on, instead of the live tables'.
    let schema: String?
    /// The bound up to which the log is folded.
    var to: KnownAt?
    /// How a difference is shown; nil if none is requested.
    let comparison: ComparisonOptions?
    /// Connections that read and fold.
    let connections: Int

    /// A kind of work.
    enum Action: Equatable {
        /// Build them, and promote them.
        case rebuild
        /// Compare the live ones with what this policy would give.
        case whatIf(policy: String)
        /// Compare the live ones with new ones, which are kept ready, or promoted at once.
        case diff(isPromoted: Bool)
        /// Compare the live ones with a rebuild of them.
        case check
        /// Promote those that are ready.
        case promote
        /// Drop those that are ready, or kept.
        case discard
    }

    init(
        _ action: Action,
        _ tables: TableOptions,
        _ build: BuildOptions? = nil,
        _ comparison: ComparisonOptions? = nil,
        schema: String? = nil
    ) {
        self.action = action
        self.tables = tables
        self.comparison = comparison
        self.schema = schema
        connections = build?.connections ?? 1
    }

    var output: OutputOptions { tables.output }

    /// The prefix of messages.
    var name: String {
        switch action {
        case .rebuild, .whatIf: "rebuild"
        case .diff: "tables diff"
        case .check: "tables check"
        case .promote: "tables promote"
        case .discard: "tables discard"
        }
    }

    func run() async throws {
        if let path = comparison?.html { try OutputFile(path).check() }
        let settings = try await tables.database.settings()
        var options = EventLog.Options()
        options.readersMax = max(options.readersMax, connections)
        let log = try await EventLog.open(settings, options)
        let end = try await run(settings, log)
        await log.close()
        guard end == .success else { throw end }
    }

    /// The same in an open log.
    func run(_ settings: ConnectionSettings, _ log: EventLog) async throws -> ExitCode {
        let projector = Projector(log: log, settings: settings) {
            FoldContext(catalogs: try await CatalogStore(log: log).history())
        }
        let progress = Progress("rebuild", isQuiet: output.quiet)
        var options = Projector.RebuildOptions()
        options.jobs = connections
        options.progress = { progress.report($0, "event") }
        let name = name
        options.notice = { Terminal.write("\(name): \($0)") }
        let run = RebuildRun(
            work: self,
            projector: projector,
            chosen: try chosen(projector),
            whatIf: try await whatIf(log),
            options: options,
            progress: progress,
            log: log
        )
        return switch action {
        case .rebuild: try await run.rebuild()
        case .whatIf, .diff, .check: try await run.compare()
        case .promote: try await run.promote()
        case .discard: try await Self.namingSchemas { try await run.discard() }
        }
    }

    private func chosen(_ projector: Projector) throws -> [any Projection]? {
        guard !tables.projections.isEmpty else { return nil }
        return try projector.projections(named: known(projector))
    }

    private static func namingSchemas(
        _ discard: () async throws -> ExitCode
    ) async throws -> ExitCode {
        do {
            return try await discard()
        } catch let error as ProjectorError where error.code == .unknownProjection {
            throw Failure(
                .validationFailure,
                "\(error.message). Tables that `rebuild --into SCHEMA` built are dropped with "
                    + "`tables discard --schema SCHEMA`"
            )
        }
    }

    // Tables that an older program left can only be dropped.
    private func known(_ projector: Projector) -> [String] {
        guard action == .discard else { return tables.projections }
        let retired = projector.retired(among: tables.projections)
        return tables.projections.filter { !retired.contains($0) }
    }

    private func whatIf(_ log: EventLog) async throws -> Projector.WhatIf? {
        guard case .whatIf(let path) = action else { return nil }
        let catalogs = try await CatalogStore(log: log).history()
        let document = try PolicyFile.read(path)
        do throws(PolicyError) {
            return Projector.WhatIf(
                context: try document.context(catalogs),
                text: document.canonicalText
            )
        } catch {
            throw PolicyFile.failure(error, path)
        }
    }
}
