internal import Events

extension CloseDocument {
    /// What was written, as text.
    package func text(folder: String) -> [Block] {
        var blocks: [Block] = [
            .line(
                "\(month), \(environment.word): \(counted(files.count + 1, "file")) in \(folder), "
                    + "known at \(knownAt)"
            ),
            .table(
                ["report", "definition", "from", "to", "by"],
                reports.map { entry in
                    [
                        entry.fileName, "\(entry.version)", entry.from, entry.to,
                        Report.Dimension.text(entry.by),
                    ]
                }
            ),
        ]
        blocks += corrections.map {
            .line("corrections of \($0.month) since its numbers known at \($0.since)")
        }
        return blocks + [
            .line("computed again and compared by: subledger report close --verify \(folder)")
        ]
    }
}

extension CloseVerification {
    /// The result as text.
    package func text(folder: String) -> [Block] {
        guard isOfThisLedger else {
            return [.line("\(month): the close in \(folder) is of another ledger")]
        }
        var blocks: [Block] = changedHeads.map { head in
            .line(
                "lane \(head.lane): the log does not have commit \(head.commit) with the digest "
                    + "\(head.digest.hex); `subledger verify` reports whether the log is intact"
            )
        }
        let others = files.filter { $0.state != .same }
        if !others.isEmpty {
            blocks.append(
                .table(
                    ["file", "result", "why"],
                    others.map { file in
                        [file.path, file.state.words, file.reasons.joined(separator: "; ")]
                    }
                )
            )
        }
        let same = files.count - others.count
        blocks.append(
            .line(
                "\(month): \(same) of \(counted(files.count, "file")) are the same, byte for byte"
            )
        )
        blocks.append(
            .line(
                "`subledger verify --against \(folder)/\(CloseDocument.checkpointName)` checks the "
                    + "whole log"
            )
        )
        return blocks
    }
}

extension CloseVerification.State {
    fileprivate var words: String {
        switch self {
        case .same: "the same"
        case .missing: "missing"
        case .edited: "not the file that was written"
        case .differs: "computed differently now"
        }
    }
}
