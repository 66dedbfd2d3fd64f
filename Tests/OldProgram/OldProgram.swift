import EventLog
import Events
import Foundation
import Postgres
import Projections
import Projector

/// An older version of the program, whose fold treats an upgraded purchase as still active: the
/// rebuild story repairs this.
///
/// Arguments: `rebuild` or `follow`, once.
@main
struct OldProgram {
    static func main() async throws {
        guard let url = ProcessInfo.processInfo.environment["DATABASE_URL"],
            CommandLine.arguments.count == 2
        else { throw UsageError() }
        let settings = ConnectionSettings(url)
        let log = try await EventLog.open(settings)
        let projector = Projector(
            log: log,
            settings: settings,
            projections: [UpgradedStillActive()]
        )
        switch CommandLine.arguments[1] {
        case "rebuild":
            _ = try await projector.rebuild()
        case "follow":
            var options = Projector.FollowOptions(holder: "old program")
            options.isOnce = true
            _ = try await projector.follow(options)
        default:
            throw UsageError()
        }
        await log.close()
    }

    private struct UsageError: Error {}
}

/// `active_periods` as it was before upgrades were understood (Apple's data: trap 22).
private struct UpgradedStillActive: Projection {
    let name = "active_periods"
    let version = 0
    private let later = allProjections.first { $0.name == "active_periods" }

    var tableSQL: String { later?.tableSQL ?? "" }
    var indexSQL: String { later?.indexSQL ?? "" }
    var columns: [String] { later?.columns ?? [] }

    func rows(
        of timeline: Timeline,
        in context: FoldContext
    ) throws(FoldRefusal) -> [ProjectionRow] {
        guard let later else { return [] }
        let place = { (name: String) in later.columns.firstIndex(of: name) ?? 0 }
        return try later.rows(of: timeline, in: context).map { row in
            guard row.values[place("end_reason")] == .text("upgraded") else { return row }
            var values = row.values
            guard case .integer(let expires) = values[place("expires_date_ms")] else { return row }
            values[place("valid_to")] = .timestamp(Instant(milliseconds: expires))
            values[place("end_reason")] = .text("expired")
            return ProjectionRow(values: values, positions: row.positions)
        }
    }
}
