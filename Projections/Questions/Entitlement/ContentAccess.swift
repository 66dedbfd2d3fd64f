package import Events

/// Which issues a customer has unlocked: the magazine rule (Apple's data: magazine rule).
///
/// Adjacent periods are one run. A run unlocks the newest issue published by its start, and each
/// that is published while it lasts, excluding its very end (Apple gives no rule; half-open is
/// ours). What was unlocked stays unlocked when the run ends. A refunded purchase unlocks nothing,
/// "as if never bought", so its run may begin later, and with another issue. If a refund is
/// configured not to change the time before it, everything unlocked by then stays unlocked.
package struct ContentAccess: Sendable {
    /// The runs that had begun, ascending.
    package let runs: [Range<Instant>]
    /// Each issue that had been published, by date, then name, and why it is unlocked or that it is
    /// not.
    package let issues: [Verdict]

    /// The result for one issue.
    package struct Verdict: Hashable, Sendable {
        /// The issue.
        package let issue: Issue
        /// Why it is unlocked; nil if it is not.
        package let unlocked: Reason?
    }

    /// Why an issue is unlocked.
    package enum Reason: Hashable, Sendable {
        /// It was the newest one when this run began.
        case newestAtStart(of: Range<Instant>)
        /// It was published during this run.
        case published(during: Range<Instant>)
    }

    /// Which of these issues are unlocked at an instant.
    ///
    /// Issues published and runs that begin after it do not count, nor do revocations after it. If
    /// issues have the same date, each counts as the newest.
    ///
    /// `refundIsRetroactive` selects whether what a refunded purchase unlocked before the refund is
    /// locked again.
    package init(
        _ entitlement: Entitlement,
        to scope: AccessScope = .anything,
        issues: [Issue],
        at instant: Instant,
        refundIsRetroactive: Bool = true
    ) {
        let kept = entitlement.periods.lazy.filter { access in
            scope.contains(access) && access.period.validFrom <= instant
                && !(refundIsRetroactive
                    && access.revocationDate.map { $0 <= instant } ?? false)
        }
        let runs = merged(kept.map(\.period))
        self.runs = runs
        let out = issues.filter { $0.publishedAt <= instant }.sorted { left, right in
            left.publishedAt != right.publishedAt
                ? left.publishedAt < right.publishedAt : byBytes(left.name, right.name) ?? false
        }
        self.issues = ContentAccess.verdicts(on: out, runs)
    }

    // Issues and runs are in order, so one pass over both is enough.
    private static func verdicts(on issues: [Issue], _ runs: [Range<Instant>]) -> [Verdict] {
        var (nextRun, newer) = (0, 0)
        return issues.map { issue in
            while nextRun < runs.count, runs[nextRun].upperBound <= issue.publishedAt {
                nextRun += 1
            }
            while newer < issues.count, issues[newer].publishedAt <= issue.publishedAt {
                newer += 1
            }
            guard nextRun < runs.count else { return Verdict(issue: issue, unlocked: nil) }
            let run = runs[nextRun]
            if run.contains(issue.publishedAt) {
                return Verdict(issue: issue, unlocked: .published(during: run))
            }
            // The run begins later: unlocked only if nothing newer was published by then.
            let isNewest = newer == issues.count || issues[newer].publishedAt > run.lowerBound
            return Verdict(issue: issue, unlocked: isNewest ? .newestAtStart(of: run) : nil)
        }
    }
}
