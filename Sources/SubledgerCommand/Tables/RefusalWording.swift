import Events
import Projections
import Projector
import Subledger

/// The report of a comparison about refused subscriptions, as text.
enum RefusalWording {
    /// The most refusals that are printed individually: a screen; `--json` lists
    /// `RefusalDifference.changedMax`.
    private static let linesMax = 10

    /// A sentence for each refusal on only one side, and one for those on both.
    static func lines(_ refusals: RefusalDifference) -> [String] {
        var lines = refusals.changed.prefix(linesMax).map(line)
        if refusals.changedCount > linesMax {
            lines.append(
                "\(refusals.changedCount - linesMax) more refusals differ; --json names "
                    + (refusals.changed.count == refusals.changedCount
                        ? "them" : "the first \(refusals.changed.count)")
            )
        }
        if refusals.sameStreams > 0 {
            lines.append(
                subscriptions(refusals.sameStreams)
                    + " refused by both the live tables and a rebuild; "
                    + "`SELECT * FROM projection.refused_stream` lists which, and why"
            )
        }
        return lines
    }

    private static func line(_ changed: RefusalDifference.Changed) -> String {
        let stream = "\(changed.originalTransactionId) (\(changed.environment))"
        return "\(changed.projection): subscription \(stream) is "
            + "\(words(changed.live)) by the live table, and "
            + "\(words(changed.rebuilt)) by a rebuild"
    }

    private static func words(_ refusal: RefusalDifference.Refusal?) -> String {
        guard let refusal else { return "not refused" }
        return "refused at \(refusal.position.mark) (\(refusal.reason))"
    }

    private static func subscriptions(_ count: Int) -> String {
        count == 1 ? "1 subscription is" : "\(count) subscriptions are"
    }
}
