import Projections

/// The fold of the access periods with a mistake, which is live in the demo's ledger at first: it
/// does not count Apple's billing grace period as access.
struct DemoMistake: Projection {
    private let right: any Projection

    init(in right: any Projection) { self.right = right }

    var name: String { right.name }
    var version: Int { right.version - 1 }
    var tableSQL: String { right.tableSQL }
    var indexSQL: String { right.indexSQL }
    var columns: [String] { right.columns }
    var comparison: RowComparison { right.comparison }

    func rows(
        of timeline: Timeline,
        in context: FoldContext
    ) throws(FoldRefusal) -> [ProjectionRow] {
        let policy = context.policy
        let mistaken = AccessPolicy(
            graceCounts: false,
            familyCounts: policy.familyCounts,
            reversalIsRetroactive: policy.reversalIsRetroactive,
            refundIsRetroactive: policy.refundIsRetroactive
        )
        return try right.rows(
            of: timeline,
            in: FoldContext(catalogs: context.catalogs, policy: mistaken)
        )
    }
}
