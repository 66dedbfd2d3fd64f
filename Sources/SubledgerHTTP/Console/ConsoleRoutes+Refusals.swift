internal import EventLog
internal import HTTPTypes
internal import Logging
internal import Subledger

extension ConsoleRoutes {
    /// Ingests the open refused payloads of one reason again, as far as the time for an answer
    /// allows.
    func retryRefused(_ call: Call) async throws -> HTML {
        let reason = try await fields(of: call)["reason"] ?? ""
        try await routes.audit(call, "refusals-retry", about: reason)
        // Whoever sends payloads may not make this wait for long: what is left is tried next time.
        let seconds = routes.limits.answerSecondsMax
        let end = seconds > 0 ? ContinuousClock.now + .seconds(seconds / 2) : nil
        let (ledger, clock) = (routes.ledger, routes.clock)
        let report = try await routes.reading {
            try await ledger.retryRejections(
                RejectionFilter(reason: reason),
                clock: clock,
                isStopped: { end.map { $0 < .now } ?? false }
            )
        }
        guard report.payloads > 0 else {
            throw Problem(
                .conflict,
                "nothing-refused",
                "No refused payload is open whose last reason is \"\(reason.prefix(64))\": each was "
                    + "accepted since, or refused again for another reason. Look at the page of "
                    + "operations again."
            )
        }
        call.logger.notice(
            "retried refused payloads",
            metadata: [
                "token": "\(call.caller ?? "")", "reason": "\(reason)",
                "payloads": "\(report.payloads)", "rejected": "\(report.rejected)",
            ]
        )
        return framed(
            "Tried again",
            in: .operations,
            OperationsPage.retried(report, reason: reason)
        )
    }
}

extension OperationsPage {
    /// What became of refused payloads that were ingested again.
    fileprivate static func retried(_ report: IngestReport, reason: String) -> HTML {
        let accepted = report.payloads - report.rejected
        let groups = (report.rejectionGroups + report.noticeGroups).map { group -> HTML in
            "<li>\(group.reason): \(counted(group.payloads, "payload"))</li>"
        }
        let rest: HTML =
            report.wasStopped
            ? """
            <p role="alert">The time for an answer was over before all of them were tried. What \
            remains is still open: try again, or use \
            <code>subledger rejections --retry --reason \(reason)</code>.</p>
            """ : ""
        return """
            <h1>\(counted(report.payloads, "payload")) tried again</h1>
            <p>\(Int(accepted)) accepted, with \(counted(report.appended, "new fact")); \
            \(Int(report.rejected)) refused again, which stay open.</p>
            <ul>\(groups)</ul>
            \(rest)
            <p><a href="\(ConsoleAddress.operations)">Operations</a></p>
            """
    }
}
