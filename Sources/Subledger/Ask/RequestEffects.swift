internal import Events
internal import Projections

/// The requests for another product or billing plan that the events of a history made and withdrew.
struct RequestEffects {
    /// What one event did to a request.
    struct Effect {
        /// The machine-readable word for JSON.
        let name: String
        /// The same as text, with what changes.
        let words: String
    }

    private var effects: [Position: [Effect]] = [:]

    init(_ history: StreamHistory) {
        for change in PlanChanges(Timeline(history), .none).rows {
            let words = RequestEffects.words(change)
            for (kind, instant) in [
                (Movement.Kind.planChangeScheduled, change.requested),
                (.planChangeCancelled, change.withdrawn),
            ] {
                guard let instant else { continue }
                let isScheduled = kind == .planChangeScheduled
                // Among the events of a row, the renewal statement of that instant.
                let event = history.events.first {
                    $0.fact.kind == .renewal && $0.fact.asOf == instant
                        && change.positions.contains($0.position)
                }
                guard let event else { continue }
                effects[event.position, default: []].append(
                    Effect(
                        name: kind.rawValue,
                        words: (isScheduled ? "→ asked for " : "← withdrew ") + words
                    )
                )
            }
        }
    }

    /// What the event at that position did; empty for most events.
    func at(_ position: Position) -> [Effect] { effects[position] ?? [] }

    private static func words(_ change: PlanChange) -> String {
        guard let from = change.fromBillingPlanType, let to = change.toBillingPlanType,
            change.fromProductId.utf8.elementsEqual(change.toProductId.utf8)
        else { return "\(change.toProductId) instead of \(change.fromProductId)" }
        return "\(to) instead of \(from)"
    }
}
