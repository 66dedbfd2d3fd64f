import EventLog
import Events
import Subledger

/// The text that `verify` prints: only what was proved.
struct VerifyText {
    let report: VerificationReport
    /// The documents compared, for their signatures.
    let documents: [KeptDocument]
    /// Whether only documents of given keys were accepted.
    let isPinned: Bool
    /// The result for the signatures; nil if they were not verified.
    let proof: SignatureReport?

    /// Its lines.
    var lines: [String] {
        summary + kept + proofs + [report.note].compactMap { $0 } + (proof == nil ? facts : [])
    }

    // The chain proves only that nothing was changed since it was committed.
    private var facts: [String] {
        guard report.isOK else { return [] }
        return [
            "This proves the chain, not the facts: verify --signatures proves each event again from "
                + "its payload."
        ]
    }

    private var summary: [String] {
        let counts = counted(report.events, "event") + " in " + counted(report.commits, "commit")
        let after = since.map { " after the checkpoint of \($0)" } ?? ""
        guard let first = report.firstMismatch else {
            // What was requested but not proven comes before what was proven.
            let ok = proof?.isOK == false ? "signatures NOT PROVEN, chain of digests ok" : "ok"
            return ["\(ok): \(counts)\(after)"]
                + report.heads.map { head in
                    "lane \(head.lane): offset \(head.offset), commit \(head.commit), "
                        + "digest \(head.digest)"
                } + erased
        }
        let all = report.mismatches.isEmpty ? [first] : report.mismatches
        return all.map { mismatch in
            let event = mismatch.offset.map { ", event \($0)" } ?? ""
            return "MISMATCH in lane \(mismatch.lane), commit \(mismatch.commit)\(event): "
                + mismatch.reason
        } + ["\(counts)\(after) match their digests"]
    }

    private var erased: [String] {
        guard report.erasedEvents > 0 else { return [] }
        return [
            "erased: parts of \(report.erasedEvents) events, as events of kind erasure record; "
                + "the chain proves that they existed"
        ]
    }

    private var since: String? {
        report.since.map { "\($0.takenAt)" }
    }

    private var kept: [String] {
        let documents = Dictionary(self.documents.map { ($0.name, $0) }) { $1 }
        var lines = report.kept.map { result -> String in
            let time = result.kept.takenAt.map { "checkpoint of \($0)" } ?? "heads from `verify`"
            let words = [time] + [documents[result.kept.source]].compactMap { $0.map(signature) }
            return "\(result.kept.source): \(words.joined(separator: ", ")): "
                + VerifyText.outcome(of: result)
        }
        if report.storedCheckpoints > 0 {
            lines.append(
                "ledger.checkpoint: \(counted(report.storedCheckpoints, "row")) compared"
                    + (isPinned
                        ? ", \(report.storedCheckpointsOfKnownKeys) signed with a given key" : "")
            )
        }
        return lines
            + report.passedOver.map {
                "passed over: \($0) contradicts the log, is not a checkpoint or has an impossible "
                    + "time, and is not signed with a key given with --public-key: any writer can "
                    + "insert such a row, and an owner who rewrites the log leaves one behind. A "
                    + "checkpoint that was kept outside decides: --against"
            }
    }

    private func signature(of document: KeptDocument) -> String {
        guard let signature = document.checkpoint?.signature else { return "not signed" }
        let key = signature.publicKey.fingerprint
        return isPinned ? "signed with the given key \(key)" : "signed with the key \(key)"
    }

    private static func outcome(of result: KeptHeadsResult) -> String {
        guard !result.isOfOtherLedger else { return "it belongs to another ledger" }
        let wrong = result.heads.filter { $0.state == .differs || $0.state == .missing }
        let count = result.heads.count
        if wrong.isEmpty {
            return "the log contains \(count == 1 ? "its head" : "all \(count) heads")"
        }
        return "the log does not contain "
            + (count == 1 ? "its head" : "\(wrong.count) of its \(count) heads")
    }

    // Lanes for which a document proves the same share one line.
    private var proofs: [String] {
        var lines: [String] = []
        var groups: [(source: String, proven: [(lane: Int, mark: LaneEvidence.Mark)])] = []
        for lane in report.evidence {
            if let contradicted = lane.contradicted {
                lines.append(VerifyText.rewritten(lane, contradicted))
            }
            guard let proven = lane.proven, proven != lane.provenBelow else { continue }
            if let index = groups.firstIndex(where: { $0.source == proven.source }) {
                groups[index].proven.append((lane.lane, proven))
            } else {
                groups.append((proven.source, [(lane.lane, proven)]))
            }
        }
        return lines + groups.map { asItWas($0.proven) }
    }

    private func asItWas(_ proven: [(lane: Int, mark: LaneEvidence.Mark)]) -> String {
        let (lane, mark) = proven[0]
        let from = since.map { "after the checkpoint of \($0) and " } ?? ""
        let time = VerifyText.time(of: mark)
        return proven.count == 1
            ? "lane \(lane): \(from)up to commit \(mark.commit) the log is as it was \(time)"
            : "\(proven.count) lanes: \(from)up to their heads in \(mark.source) the log is as it "
                + "was \(time)"
    }

    private static func rewritten(_ lane: LaneEvidence, _ found: LaneEvidence.Mark) -> String {
        let when = found.takenAt.map { "after \($0) (\(found.source))" } ?? "after \(found.source)"
        let verb = lane.isMissing ? "cut or rewritten" : "rewritten"
        guard let below = lane.provenBelow else {
            return "lane \(lane.lane): at or before commit \(found.commit) it was \(verb) \(when); "
                + "no matching head proves any earlier commit"
        }
        return "lane \(lane.lane): up to commit \(below.commit) the log is as it was "
            + "\(time(of: below)); between commit \(below.commit) and commit \(found.commit) it "
            + "was \(verb) \(when)"
    }

    private static func time(of mark: LaneEvidence.Mark) -> String {
        mark.takenAt.map { "at \($0) (\(mark.source))" } ?? "when \(mark.source) was written"
    }
}
