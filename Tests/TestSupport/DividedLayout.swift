public import EventLog
public import Events

extension Migrator.Layout {
    /// Four lanes in four partitions; with SUBLEDGER_CITUS, on the servers of that cluster instead.
    public static let divided = divided(lanes: LaneCount(4) ?? .one)

    /// That number of lanes, divided in the same way.
    public static func divided(lanes: LaneCount) -> Migrator.Layout {
        CitusCluster.shared == nil
            ? Migrator.Layout(lanes: lanes, partitions: 4)
            : Migrator.Layout(lanes: lanes, isDistributed: true)
    }
}
