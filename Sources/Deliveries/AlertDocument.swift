package import EventLog
package import Events

/// An alert as a document: what was found, and what to do.
package struct AlertDocument: Codable, Sendable {
    /// Its id.
    package let id: String
    /// What it is.
    package let alert: Alert.Kind
    /// What it is about; empty for the whole ledger.
    package let subject: String
    /// What was found.
    package let message: String
    /// What to do.
    package let whatToDo: String
    /// When it began.
    package let raisedAt: Instant
    /// When it was over; nil while it lasts.
    package let resolvedAt: Instant?

    /// The document of an alert.
    package init(_ alert: Alert) {
        (id, self.alert, subject) = (alert.id, alert.kind, alert.subject)
        (message, whatToDo) = (alert.message, alert.kind.whatToDo(about: alert.subject))
        (raisedAt, resolvedAt) = (alert.raisedAt, alert.resolvedAt)
    }
}

extension Alert.Kind {
    /// What to do about it.
    ///
    /// - Parameter subject: What the alert is about.
    /// - Returns: The sentences.
    package func whatToDo(about subject: String) -> String {
        switch self {
        case .refundsBurst:
            "Run `subledger report refunds --by week` and `--by product`: a broken release, a wrong "
                + "price or an outage makes customers ask for refunds."
        case .notificationsSilent:
            "Check the notification URL in App Store Connect, then run `subledger doctor "
                + "--ask-apple`, which asks Apple for a test notification. `subledger serve --poll` "
                + "fetches what was missed."
        case .drift:
            "Run `subledger report drift`: it lists each statement of Apple beside ours. Answers "
                + "about these subscriptions may be wrong."
        case .appleRefused:
            "Run `subledger doctor --ask-apple`: it checks the key, the key id and the issuer id. "
                + "Until this is corrected, nothing that was missed is fetched."
        case .followerBehind:
            "Run `subledger tables`: reports and views lack the newest events until the tables have "
                + "caught up. Check that `subledger follow` or `serve --follow` runs."
        case .clockSkew:
            "Synchronise the clocks of this machine and of the database server (NTP)."
        case .webhookPaused:
            "Repair the receiver, then run `subledger webhooks pause \(subject) --off`: it continues "
                + "where it stopped."
        }
    }
}
