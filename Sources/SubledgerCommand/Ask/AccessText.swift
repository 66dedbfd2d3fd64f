import CommandSupport
import Events
import Subledger

extension AccessDocument {
    /// The answer as text.
    var text: [String] {
        let end = until.map { ", until \($0.clock)" } ?? ""
        var lines = [
            "\(id) · \(environment) · \(at.clock) UTC",
            "access  " + (access ? "yes\(end)" : "no" + whyNot),
        ]
        if let sandboxRule { lines.append("sandbox " + sandboxRule.text) }
        lines += periods + oneTimePurchases
        let times = intervals.map(\.text)
        if !times.isEmpty { lines.append("periods " + times.joined(separator: ", ")) }
        let notInForce = linksNotInForce.map(\.line)
        guard access else {
            let why =
                "why: `subledger explain \(id.shellWord) --environment \(environment) --at \(at)`"
            return lines + subscriptions.lines + ambiguous.map(\.line) + notInForce + [why]
        }
        let deciding = Set(
            groups.flatMap(\.active).map(\.originalTransactionId)
                + owned.map(\.originalTransactionId)
        )
        return lines + subscriptions.filter { deciding.contains($0.originalTransactionId) }.lines
            + notInForce
    }

    // If no subscription explains the answer, the one-time purchases do.
    private var whyNot: String {
        guard intervals.isEmpty else { return "" }
        if !notJudged.isEmpty { return ": one-time purchase, not judged" }
        return revoked.last.map { ": " + $0.revocation } ?? ""
    }

    private var periods: [String] {
        guard !groups.isEmpty else { return [] }
        var table = TextTable(["group", "", "product", "app", "kind", "from", "to", "because of"])
        for group in groups {
            for (index, period) in group.active.enumerated() {
                let name = group.subscriptionGroupIdentifier ?? "of \(period.originalTransactionId)"
                table.add([
                    index == 0 ? name : "", index == 0 ? "*" : "", period.productId,
                    period.bundleId ?? "", period.kind,
                    period.validFrom.clock, period.validTo.clock, period.positions.marks,
                ])
            }
        }
        return [table.text]
    }

    private var oneTimePurchases: [String] {
        let rows =
            owned.map { ($0, "owned") } + notJudged.map { ($0, "not judged") }
            + revoked.map { ($0, $0.revocation) }
        guard !rows.isEmpty else { return [] }
        var table = TextTable(["one-time purchase", "kind", "bought", "", "because of"])
        for (purchase, verdict) in rows {
            table.add([
                purchase.productId, purchase.kindWords + (purchase.familyShared ? ", family" : ""),
                purchase.purchaseDate.clock, verdict, purchase.positions.marks,
            ])
        }
        return [table.text]
    }
}

extension ContentDocument {
    /// The answer as text.
    var text: [String] {
        var table = TextTable(["published", "issue", "unlocked", "because"])
        for line in issues {
            table.add([
                line.publishedAt.clock, line.name, line.unlocked ? "yes" : "no", line.because,
            ])
        }
        return ["\(id) · \(environment) · \(at.clock) UTC", table.text]
    }
}

extension ContentDocument.Line {
    fileprivate var because: String {
        guard let run else { return "" }
        return reason == "newestAtStart"
            ? "newest issue at the start on \(run.start.clock)"
            : "published while subscribed, \(run.text)"
    }
}
