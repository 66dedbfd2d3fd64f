internal import Events

/// The time from Apple's answer about a due subscription until a poller asks about it again.
///
/// Without a pause, every round would ask about the same due subscriptions. Of a million monthly
/// subscriptions, 33,000 end each day. With these values, each of them is asked about at most ten
/// times before its end, and some 33,000 with a failed charge four times a day. That is less than
/// half a million questions a day; half of Apple's limit allows two million.
enum PollPause {
    /// If the customer may be locked out, and in the last hour of a period: in every round.
    static let urgentSeconds = 900.0
    /// If the period ends within a day: Apple may charge at any time of that day.
    static let endsSoonSeconds = 4 * 3600.0
    /// After a failed charge: Apple retries every few days, and reports a success.
    static let failedSeconds = 6 * 3600.0
    /// If Apple has reported nothing for a day after the end, although it was asked.
    static let silentSeconds = 86_400.0
    /// For subscriptions that are not due, and for missed notifications.
    static let plainSeconds = 600.0
    /// No pause is longer than the period divided by this number, because in test stores a month
    /// lasts minutes.
    static let periodParts = 8.0

    /// The time before its end in which a period is urgent, in milliseconds.
    private static let lastHour: Int64 = 3_600_000
    /// The time after its end in which a period without news is urgent, in milliseconds.
    private static let firstDay: Int64 = 86_400_000

    /// Seconds from an answer about a subscription to the next question.
    ///
    /// - Parameters:
    ///   - subject: The subscription, and the reason for asking.
    ///   - now: The current time.
    /// - Returns: The pause in seconds.
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
