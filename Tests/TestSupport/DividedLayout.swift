package import EventLog
package import Events

extension Migrator.Layout {
    /// One lane in plain tables; with SUBLEDGER_CITUS, on a server of that cluster instead.
    package static let single = Migrator.Layout(
        lanes: .one,
        isDistributed: CitusCluster.shared != nil
    )

    /// Four lanes in four partitions; with SUBLEDGER_CITUS, on the servers of that cluster instead.
    package static let divided = divided(lanes: LaneCount(4) ?? .one)

    /// That number of lanes, divided in the same way.
    package static func divided(lanes: LaneCount) -> Migrator.Layout {
        CitusCluster.shared == nil
            ? Migrator.Layout(lanes: lanes, partitions: 4)
            : Migrator.Layout(lanes: lanes, isDistributed: true)
    }
}
