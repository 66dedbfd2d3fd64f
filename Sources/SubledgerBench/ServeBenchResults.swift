import CommandSupport

/// The measurements.
struct ServeBenchResults: Encodable {
    /// Notifications a second whose three signatures are checked, on all cores.
    let signatureLimitPerSecond: Double
    /// Durable INSERTs a second, over 32 connections.
    let insertLimitPerSecond: Double
    /// Notifications, by number of connections: `1`, `32`, `256`.
    private(set) var connections: [String: LoadResult] = [:]
    /// Notifications that shared a commit, at 32 connections.
    private(set) var requestsPerCommitAt32 = 0.0
    /// The rate at 32 connections divided by the slower limit.
    private(set) var ratioToLimitAt32 = 0.0
    /// Notifications at half the rate of 32 connections.
    var halfLoad: LoadResult?
    /// GET access at 32 connections.
    var access: LoadResult?
    /// GET access at half of that rate.
    var accessAtHalfLoad: LoadResult?
    /// Memory of the service before the first measurement, after the last one, and after `--soak`.
    var memoryMiBBefore = 0
    var memoryMiBAfter = 0
    var memoryMiBAfterSoak: Int?

    private static let middle = 32
    private static let factsInNotification = 3.0

    init(signatureLimitPerSecond: Double, insertLimitPerSecond: Double) {
        self.signatureLimitPerSecond = signatureLimitPerSecond
        self.insertLimitPerSecond = insertLimitPerSecond
    }

    /// The average number of requests that shared a commit.
    static func ratio(
        _ before: (commits: Int64, events: Int64),
        _ after: (commits: Int64, events: Int64)
    ) -> Double {
        Double(after.events - before.events) / factsInNotification
            / Double(max(1, after.commits - before.commits))
    }

    mutating func record(_ cell: LoadResult, at connections: Int, _ requestsPerCommit: Double) {
        self.connections["\(connections)"] = cell
        guard connections == ServeBenchResults.middle else { return }
        requestsPerCommitAt32 = requestsPerCommit
        ratioToLimitAt32 = cell.perSecond / min(signatureLimitPerSecond, insertLimitPerSecond)
    }

    /// Requests a second at this many connections.
    func rate(at connections: Int) -> Double { self.connections["\(connections)"]?.perSecond ?? 0 }

    var table: String {
        var table = TextTable(["load", "requests/s", "p50 ms", "p99 ms", "errors"])
        let rows: [(String, LoadResult?)] =
            [1, 32, 256].map { ("notifications, connections: \($0)", connections["\($0)"]) } + [
                ("notifications, half load", halfLoad), ("GET access, connections: 32", access),
                ("GET access, half load", accessAtHalfLoad),
            ]
        for case (let name, let cell?) in rows {
            table.add([
                name, "\(Int(cell.perSecond))", hundredths(cell.p50Milliseconds),
                hundredths(cell.p99Milliseconds), "\(cell.errors)",
            ])
        }
        let soak = memoryMiBAfterSoak.map { ", \($0) after the soak" } ?? ""
        return [
            table.text,
            "limit: \(Int(signatureLimitPerSecond))/s by signatures, "
                + "\(Int(insertLimitPerSecond))/s by INSERTs; ratio at 32 connections "
                + hundredths(ratioToLimitAt32),
            "notifications in a commit at 32 connections: \(hundredths(requestsPerCommitAt32))",
            "memory of the service: \(memoryMiBBefore) MiB before, \(memoryMiBAfter) after\(soak)",
        ].joined(separator: "\n")
    }
}
