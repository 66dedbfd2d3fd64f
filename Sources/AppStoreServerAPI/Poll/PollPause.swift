internal import Events

/// How long a due subscription is left alone after Apple answered about it.
///
/// Each round asks about what is due, so that without a pause it would ask about the same
/// subscriptions in every round. Of a million monthly subscriptions 33,000 end each day. With these
/// values each is asked about at most ten times before its end, and some 33,000 whose charge failed
/// four times a day: below half a million questions a day, where half of Apple's limit allows two
/// million.
enum PollPause {
    /// For a customer who may be locked out, and for the last hour of a period: as often as a round
    /// comes.
    static let urgentSeconds = 900.0
    /// For a period that ends within a day: Apple charges at any time in it.
    static let endsSoonSeconds = 4 * 3600.0
    /// For a failed charge: Apple tries again every few days, and reports when it succeeds.
    static let failedSeconds = 6 * 3600.0
    /// For one that stayed silent for a day after its end, though Apple was asked.
    static let silentSeconds = 86_400.0
    /// For everything that is asked about without being due, and for missed notifications.
    static let plainSeconds = 600.0
    /// No pause is longer than this part of a period, because stores for tests sell months of
    /// minutes.
    static let periodParts = 8.0

    /// Before its end a period counts as urgent, in milliseconds.
    private static let lastHour: Int64 = 3_600_000
    /// After its end a silent period counts as urgent, in milliseconds.
    private static let firstDay: Int64 = 86_400_000

    /// Seconds from an answer about a subscription to the next question.
    ///
    /// - Parameters:
    ///   - subject: The subscription, and why to ask.
    ///   - now: Our clock.
    /// - Returns: The seconds.
    static func seconds(of subject: PollSubject, at now: Instant) -> Double {
        let least = seconds(for: subject.reason, toEnd: subject.millisecondsToEnd(at: now))
        guard let period = subject.periodMilliseconds, period > 0 else { return least }
        return min(least, Double(period) / 1000 / periodParts)
    }

    private static func seconds(for reason: PollSubject.Reason, toEnd: Int64) -> Double {
        switch reason {
        case .overdue: toEnd >= -firstDay ? urgentSeconds : silentSeconds
        case .endsSoon: toEnd <= lastHour ? urgentSeconds : endsSoonSeconds
        case .failed: failedSeconds
        case .unreadable: silentSeconds
        case .asked: plainSeconds
        }
    }
}

extension PollSubject {
    fileprivate func millisecondsToEnd(at now: Instant) -> Int64 {
        (accessEnd ?? now).milliseconds - now.milliseconds
    }
}
