package import Events

/// What the ledger should know about a subscription but does not, as far as its own events show.
package struct StreamGaps: Sendable {
    /// At most one renewal that never arrived and one contradiction.
    package let found: [StreamGap]
    /// The length of the newest period, in milliseconds; 0 if there is none.
    package let periodMilliseconds: Int64

    /// How late a renewal may be by default, in milliseconds: a day, within which Apple reports
    /// most renewals.
    package static let patienceMax: Int64 = 86_400_000
    /// For shorter periods, the period is divided by this: in test stores, a month lasts minutes.
    private static let patienceParts: Int64 = 4

    /// The gaps of a history at an instant.
    ///
    /// Pure: the instant is a parameter.
    ///
    /// - Parameters:
    ///   - history: All that is known.
    ///   - instant: As things stand at it.
    ///   - patience: How late a renewal may be, in milliseconds; nil for a day, or a quarter of a
    ///     period shorter than four days.
    package init(_ history: StreamHistory, at instant: Instant, patience: Int64?) {
        let timeline = Timeline(history)
        let period = timeline.newestCharge?.periodMilliseconds ?? 0
        let usual = min(StreamGaps.patienceMax, period / StreamGaps.patienceParts)
        periodMilliseconds = period
        found = [
            StreamGaps.missingRenewal(in: timeline, at: instant, patience ?? usual),
            StreamGaps.contradiction(in: history, at: instant),
        ].compactMap { $0 }
    }

    private static func missingRenewal(
        in timeline: Timeline,
        at instant: Instant,
        _ patience: Int64
    ) -> StreamGap? {
        // Without a limit: a subscription about which Apple was never asked stays a gap.
        let due = DueCharge(timeline, at: instant, withinMilliseconds: 0, endedWithin: .max)
        guard let due, due.reason == .overdue, let newest = timeline.newestCharge else {
            return nil
        }
        let late = instant.milliseconds - due.accessEnd.milliseconds
        guard late > patience else { return nil }
        return StreamGap(
            of: timeline.stream,
            .renewalMissing,
            since: due.accessEnd,
            milliseconds: late,
            ours: "access ended",
            positions: [Position(lane: timeline.lane, offset: newest.datesOffset)]
        )
    }

    // Only Apple's last statement counts: an earlier contradiction is one of the fold, and appears
    // in `drift`.
    private static func contradiction(
        in history: StreamHistory,
        at instant: Instant
    ) -> StreamGap? {
        guard let last = Drift.newestStatement(in: history),
            let found = Drift.check(history).disagreements.last(where: {
                $0.position == last.position
            })
        else { return nil }
        return StreamGap(
            of: found.stream,
            .statusContradicts,
            since: found.asOf,
            milliseconds: max(0, instant.milliseconds - found.asOf.milliseconds),
            apple: "\(found.subject.rawValue) \(found.apple)",
            ours: found.ours.isEmpty ? nil : found.ours,
            positions: [found.position]
        )
    }
}
