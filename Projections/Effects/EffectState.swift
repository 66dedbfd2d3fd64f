package import Events

/// The folded answers of one subscription that effects are about: its access, what happened, its
/// changes of plan, its customer and its erasures.
package struct EffectState: Sendable {
    /// The times with access.
    let access: [AccessGrant]
    /// What happened, each once at its time.
    let movements: Rows<MovementsProjection>
    /// The changes of plan.
    let planChanges: Rows<PlanChangesProjection>
    /// The customer by a link; nil if no link is in force.
    package let customer: String?
    /// The app account token by the newest claim; nil if Apple signed none.
    package let appAccountToken: String?
    /// What was erased, in the order of the log.
    let erasures: [Erasure.Scope]

    /// The rows of a fold, with the form in which a table compares them.
    struct Rows<Table: DeclaredProjection & Sendable>: Sendable where Table.Row: Sendable {
        let rows: [Table.Row]
        fileprivate let compared: [ProjectionRow]

        fileprivate init(_ rows: [Table.Row], of table: Table) {
            var writer = RowWriter()
            self.rows = rows
            compared = rows.map { table.row(of: $0, &writer) }
        }

        /// Pairs of an earlier and a later row that stand for the same thing and differ; one of them
        /// is nil for what is new, or is withdrawn.
        func differences(
            to after: Self,
            by identities: [[RowKey.Part]]
        ) -> [(before: Table.Row?, after: Table.Row?)] {
            let matching = RowMatching(compared, after.compared, by: identities)
            let changed = matching.pairs.sorted { $0.new < $1.new }
                .map { (rows[$0.old], after.rows[$0.new]) }
            return matching.removed.sorted().map { (rows[$0], nil) } + changed
                + matching.added.sorted().map { (nil, after.rows[$0]) }
        }
    }

    /// The answers of what was known about a subscription; none if nothing was.
    ///
    /// Events that this program cannot read are left out.
    package init(_ history: StreamHistory, in context: FoldContext) {
        let timeline = Timeline(history).under(context.policy)
        let claims = StreamClaims(timeline)
        access = AccessGrant.all(of: timeline, context.catalogs)
        movements = Rows(
            Movements(timeline, context.catalogs).rows.filter {
                EffectChange.Kind($0) != nil
            },
            of: MovementsProjection()
        )
        planChanges = Rows(
            PlanChanges(timeline, context.catalogs).rows,
            of: PlanChangesProjection()
        )
        customer = claims.linkedCustomer
        appAccountToken = claims.tokens.last?.token
        erasures = history.events.compactMap { Erasure($0.fact.content)?.scope }
    }
}
