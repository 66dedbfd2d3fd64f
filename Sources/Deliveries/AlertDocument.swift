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
        (message, whatToDo) = (alert.message, alert.kind.whatToDo)
        (raisedAt, resolvedAt) = (alert.raisedAt, alert.resolvedAt)
    }
}

extension Alert.Kind {
    /// What to do about it.
    package var whatToDo: String {
        switch self {
        case .refundsBurst:
            "Read `subledger report refunds --by day` and the newest refunds: a broken release, a "
                + "wrong price or an outage make customers ask for their money back."
        case .notificationsSilent:
            "Check the URL of notifications in App Store Connect, and `subledger doctor --poll`: it "
                + "asks Apple for a test notification. `serve --poll` fetches what was missed."
        case .drift:
            "Read `subledger report drift`: it lists each statement of Apple beside ours. Answers of "
                + "these subscriptions may be wrong."
        case .appleRefused:
            "Run `subledger doctor --poll`: it checks the key, its id and issuer with one question "
                + "to Apple. Until it is mended, nothing that was missed is fetched."
        case .followerBehind:
            "Read `subledger tables`: reports and views lack the newest events until the tables have "
                + "caught up. Check that `subledger follow` or `serve --follow` runs."
        case .clockSkew:
            "Synchronise the clocks of this machine and of the database server (NTP)."
        case .webhookPaused:
            "Mend the receiver, then `subledger webhooks pause NAME --off`: it continues where it "
                + "stopped, and nothing is lost."
        }
    }
}
