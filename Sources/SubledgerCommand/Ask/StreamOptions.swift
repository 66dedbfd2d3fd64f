import AppStore
import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Postgres
import Subledger

/// Which stream a question is about, and as known when.
struct StreamOptions: ParsableArguments {
    @Argument(help: "Apple's originalTransactionId.")
    var originalTransactionId: String

    @Option(help: "Production, Sandbox, Xcode …; needed where the id is known in several.")
    var environment: String?

    @Option(
        help: Clock.knownAtHelp,
        transform: Clock.knownAt
    )
    var knownAt: KnownAt = .latest

    /// The stream; an error where there is none or more than one, or where `knownAt` names a
    /// position that this ledger does not have.
    func stream(in log: EventLog) async throws -> StreamID {
        try await StreamOptions.check(knownAt, of: originalTransactionId, in: log)
        return try await StreamOptions.stream(originalTransactionId, in: environment, of: log)
    }

    /// The stream of an id; an error where there is none, or more than one and none was chosen.
    static func stream(
        _ originalTransactionId: String,
        in environment: String?,
        of log: EventLog
    ) async throws -> StreamID {
        let found = try await log.environments(of: originalTransactionId)
        let chosen = environment.map(Environment.init)
        let matching = chosen.map { wanted in found.filter { $0 == wanted } } ?? found.preferred
        guard let first = matching.first else {
            let known = found.map(\.word).joined(separator: ", ")
            throw Failure(
                Exit.notFound,
                found.isEmpty
                    ? "no event has the originalTransactionId \(originalTransactionId); "
                        + "`subledger streams` lists those that are known"
                    : "\(originalTransactionId) is not known in \(chosen?.word ?? ""), but in "
                        + known
            )
        }
        guard matching.count == 1 else {
            let known = matching.map(\.word).joined(separator: ", ")
            throw Failure(
                .validationFailure,
                "\(originalTransactionId) is known in \(known): say which with --environment"
            )
        }
        return StreamID(environment: first, originalTransactionId: originalTransactionId)
    }
}

extension StreamOptions {
    /// Refuses a position that the lane of a subscription does not have.
    static func check(
        _ knownAt: KnownAt,
        of originalTransactionId: String,
        in log: EventLog
    ) async throws {
        guard case .offsets(let offsets) = knownAt else { return }
        let lane = log.identity.lanes.lane(of: originalTransactionId)
        try await PositionVector(offsets).check(
            "--known-at",
            naming: [lane],
            because: ", which holds \(originalTransactionId)",
            in: log
        )
    }
}
