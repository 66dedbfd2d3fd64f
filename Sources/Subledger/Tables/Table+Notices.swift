package import Projector

extension Projector.Table {
    /// What a list remarks next to the version of the fold; empty for this program's own.
    package var remark: String {
        if policy != nil { return " (what-if)" }
        if isForeign { return " (\(fold ?? ""))" }
        guard isKnown else { return " (unknown here)" }
        return isCurrent ? "" : " (other fold)"
    }

    /// The name with the fold of another program that the table is of, and the events that it lacks.
    var owned: String {
        let left = lag > 0 ? ", \(counted(lag, "event")) behind" : ""
        return "\(name) (\(fold ?? "")\(left))"
    }
}

extension [Projector.Table] {
    /// What the operator should know about the live ones among all tables, a sentence each.
    package var notices: [String] {
        var notices: [String] = []
        let foreign = filter { $0.state == .live && $0.isForeign }
        if !foreign.isEmpty {
            notices.append(
                "other programs update \(foreign.map(\.owned).joined(separator: ", ")); if one is "
                    + "no longer in use, drop its tables: `subledger tables discard "
                    + "\(foreign.map(\.name).joined(separator: " "))`"
            )
        }
        let retired = filter { $0.state == .live && !$0.isKnown && !$0.isForeign }.map(\.name)
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
