package import Projector

extension Projector.Table {
    /// What a list remarks next to the version of the fold; empty for this program's own.
    package var remark: String {
        if policy != nil { return " (what-if)" }
        guard isKnown else { return " (unknown here)" }
        return isCurrent ? "" : " (other fold)"
    }
}

extension [Projector.Table] {
    /// What the operator should know about the live ones among all tables, a sentence each.
    package var notices: [String] {
        var notices: [String] = []
        let retired = filter { $0.state == .live && !$0.isKnown }.map(\.name)
        if !retired.isEmpty {
            notices.append(
                "this program does not update tables of projections that it does not have; "
                    + "if no other program does either, drop them: `subledger tables discard "
                    + "\(retired.joined(separator: " "))`"
            )
        }
        if contains(where: { $0.state == .live && $0.isKnown && !$0.isCurrent && $0.policy == nil })
        {
            notices.append(
                "other folds than this program's built some of the live tables; `subledger "
                    + "tables diff` shows what a rebuild would change"
            )
        }
        return notices
    }
}
