internal import AppStore
internal import EventLog
internal import Subledger

/// What the service knows of itself, in the form of `doctor`'s checks.
struct ServiceChecks {
    let metrics: ServiceMetrics
    /// Whether this process keeps the tables up to date.
    let isFollowing: Bool
    /// Why they are not kept up to date; nil if they are.
    let followFault: String?

    /// The program, the tables' follower, the poller and late payloads.
    var all: [DoctorCheck] { [version, follower, poller, wrongAnswers] }

    private var version: DoctorCheck {
        .ok("version", "subledger \(ProgramVersion.text) answers")
    }

    private var follower: DoctorCheck {
        guard isFollowing else {
            return .notChecked(
                "follower",
                "this process does not keep the tables up to date",
                "run `subledger follow`, or `subledger serve --follow`"
            )
        }
        guard let followFault else {
            return .ok("follower", "this process keeps the tables up to date")
        }
        return .wrong("follower", followFault, nil)
    }

    private var poller: DoctorCheck {
        let labels = [("reason", "poll")]
        let failures = AskedRound.errors.map { error in
            (error, metrics.value(.appleFailures, labels + [("error", error)]))
        }.filter { $0.1 > 0 }
        let rounds = metrics.value(.appleRounds, labels)
        guard rounds > 0 else {
            return .notChecked(
                "poller",
                "this process has not asked Apple since its start",
                "if this service should ask Apple, serve with --poll, --key, --key-id, --issuer-id and "
                    + "--bundle-id"
            )
        }
        let due = metrics.value(.appleLeft)
        let words =
            "\(counted(rounds, "round")) since the start, "
            + "\(counted(metrics.value(.appleAnswers, labels), "answer")), "
            + "\(counted(metrics.value(.appleEvents, labels), "new event"))"
            + (due > 0 ? "; \(counted(due, "subscription")) left for the next round" : "")
        guard !failures.isEmpty else { return .ok("poller", words) }
        let reasons = failures.map { "\($0.1) × \($0.0)" }.joined(separator: ", ")
        return .warning(
            "poller",
            "\(words); not answered: \(reasons)",
            "the log of this process has the reasons; `subledger doctor` checks the key"
        )
    }

    private var wrongAnswers: DoctorCheck {
        let denied = metrics.value(.wronglyDenied)
        let granted = metrics.value(.wronglyGranted)
        let missing = metrics.value(.notMeasured)
        let unmeasured =
            missing > 0 ? "; \(counted(missing, "late subscription")) not measured" : ""
        guard denied + granted > 0 else {
            return .ok(
                "wrong-answers",
                "no payload that was late since the start changed an earlier answer\(unmeasured)"
            )
        }
        return .warning(
            "wrong-answers",
            "payloads that were late since the start show access wrongly denied for "
                + "\(Duration.words(denied)), granted for \(Duration.words(granted))\(unmeasured)",
            "`subledger report wrong-answers` names what came late"
        )
    }

    /// Whether refused payloads wait for a correction; what strangers sent does not count.
    static func refusals(_ counts: [RejectionCount]) -> DoctorCheck {
        let open = counts.filter { $0.standing == .proven && $0.open > 0 }
        guard !open.isEmpty else {
            return .ok("refusals", "no refused payload that was proven is open")
        }
        let reasons = open.map { "\($0.open) × \($0.reason)" }.joined(separator: ", ")
        return .warning(
            "refusals",
            "refused payloads that were proven are open: \(reasons)",
            "`subledger rejections --open` lists them; correct the cause, then run "
                + "`subledger rejections --retry`"
        )
    }

    /// The outcomes of the facts that payloads stated since the start, by source.
    var facts: [(source: String, appended: Int64, duplicates: Int64)] {
        ServiceMetrics.sources.map { source in
            let count = { outcome in
                metrics.value(.facts, [("source", source), ("outcome", outcome)])
            }
            return (source, count("appended"), count("duplicate"))
        }
    }
}
