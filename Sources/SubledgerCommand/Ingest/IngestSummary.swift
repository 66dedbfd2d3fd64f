import AppStore
import CommandSupport
import EventLog
import Events
import Subledger

/// The result of an ingest as text: the summary on stdout, and what was left out on stderr.
struct IngestSummary {
    let report: IngestReport
    /// The positions up to which the log now contains it; empty if nothing is new.
    let place: String
    /// Whether the payloads had been refused before.
    var isRetry = false

    /// The line for stdout.
    var result: String {
        "\(counted(report.payloads, "payload")): \(counted(report.appended, "fact")) appended, "
            + "\(report.duplicates) known already, "
            + "\(counted(report.rejected, "payload")) refused; "
            + counted(report.streams, "stream")
            + (report.erased > 0
                ? "; \(counted(report.erased, "fact")) refused by erasures" : "")
            + (report.leftOut > 0 ? "; \(counted(report.leftOut, "fact")) left out" : "")
            + (report.unchanged > 0
                ? "; \(counted(report.unchanged, "payload")) without news" : "")
            + (report.skipped > 0 ? "; \(counted(report.skipped, "other file")) skipped" : "")
            + (place.isEmpty ? "" : "; in the log up to \(place)")
    }

    /// What erasures refused, and which; the line for stderr.
    var erasures: [String] {
        guard report.erased > 0 else { return [] }
        let shown = report.erasures.sorted().prefix(IngestSummary.erasuresShownMax)
        return [
            "refused by \(counted(report.erasures.count, "erasure")) ("
                + shown.map(\.description).joined(separator: ", ")
                + (shown.count < report.erasures.count ? ", …" : "")
                + "): \(counted(report.erased, "fact")) from before the erasure of the "
                + "subscription, or in payloads that also contain an erased one and may not be "
                + "kept. `subledger event` shows an erasure; facts of a subscription that was not "
                + "erased can be ingested from a payload of its own (`subledger poll`)"
        ]
    }

    private static let erasuresShownMax = 5

    /// What was left out and refused, by reason; the lines for stderr.
    var groups: [String] {
        var lines =
            IngestSummary.lines(leftOut: report.noticeGroups)
            + IngestSummary.lines(refused: report.rejectionGroups)
        guard !lines.isEmpty else { return [] }
        if report.bodiesNotKept > 0 {
            lines.append(
                "the bytes of \(counted(report.bodiesNotKept, "refused payload")) are not kept, "
                    + "because the limit for kept payloads is reached: keep the originals, or "
                    + "delete old rows of ledger.rejection"
            )
        }
        guard !isRetry else {
            return lines + [
                "`subledger rejections --open` lists those that are still refused"
            ]
        }
        lines.append(
            "`ingest --verbose` lists each payload"
                + (report.rejected > report.rejectedUnkept
                    ? ", `subledger rejections` lists the refused ones" : "")
        )
        let (unkept, isOne) = (report.rejectedUnkept, report.rejectedUnkept == 1)
        if unkept > 0 {
            lines.append(
                "\(unkept) of the refused payloads \(isOne ? "is" : "are") not kept, because "
                    + "\(isOne ? "it" : "they") cannot be read as a payload: correct the input and "
                    + "ingest it again"
            )
        }
        return lines
    }

    /// Each payload that was refused, or had something left out; the lines for stderr.
    var single: [String] {
        var lines = report.notices.map { remark in
            "notice   \(remark.path): \(remark.notice.message) [\(remark.notice.code.rawValue)]"
        }
        if report.noticeCount > report.notices.count {
            lines.append("… and \(report.noticeCount - report.notices.count) more notices")
        }
        lines += report.rejections.map { refusal in
            "refused  \(refusal.path): \(refusal.rejection.message) "
                + "[\(refusal.rejection.code.rawValue)]"
        }
        if report.rejected > report.rejections.count {
            lines.append("… and \(report.rejected - report.rejections.count) more refused")
        }
        return lines
    }

    /// Groups of payloads that had, or would have, something left out.
    static func lines(leftOut groups: [ReasonGroup]) -> [String] {
        groups.flatMap { group in
            lines(
                group,
                group.facts > 0
                    ? "left out: \(counted(group.facts, "fact")) of "
                        + counted(group.payloads, "payload")
                    : "notice: \(counted(group.payloads, "payload"))"
            )
        }
    }

    /// Groups of payloads that were, or would be, refused.
    static func lines(refused groups: [ReasonGroup]) -> [String] {
        groups.flatMap { group in
            lines(
                group,
                "refused: \(counted(group.payloads, "payload"))"
                    + (group.facts > 0 ? " with \(counted(group.facts, "fact")) or more" : "")
            )
        }
    }

    private static func lines(_ group: ReasonGroup, _ count: String) -> [String] {
        [
            "\(count) [\(group.reason)]", "  for example \(group.example): \(group.message)",
        ]
            + (group.advice.map {
                ["  to accept \(group.payloads == 1 ? "it" : "them"): \($0)"]
            } ?? [])
    }

    /// Prints it, and fails the command if it was stopped, if anything was refused or, with
    /// `isStrict`, left out.
    func finish(_ output: OutputOptions, isVerbose: Bool, isStrict: Bool) throws {
        try output.print(report, [result])
        if !output.quiet, !output.json {
            for line in (isVerbose ? single : []) + groups + erasures { Terminal.write(line) }
            if report.wasStopped {
                Terminal.write(
                    "interrupted; everything counted is committed; run again to continue"
                )
            }
        }
        if report.wasStopped { throw Exit.interrupted }
        if report.rejected > 0 || report.erased > 0 || isStrict && report.leftOut > 0 {
            throw Exit.badInput
        }
    }
}
