internal import Events

/// A run of events and confirmations of one lane.
package struct FeedPage: Sendable {
    /// The cursor before the first of them.
    package let before: FeedCursor
    /// The lane.
    package let lane: Int
    /// By offset, without gaps; may be empty if there are confirmations.
    package let events: [FedEvent]
    /// By commit; each stands after the event at its `lastOffset`, or the last one before that.
    ///
    /// They move no cursor, so a reader that starts again at a cursor gets those of its commit and of
    /// later commits, whether it had them or not.
    package let confirmations: [FedConfirmation]
}

extension FeedPage {
    /// The most events of a page: the statements to read them cost little compared with writing
    /// them out, and the largest possible contents take thirty megabytes.
    package static let eventsMax = 500

    /// The most rows of confirmations of a page, unless one commit has more.
    static let confirmationRowsMax = 1000
}

extension FeedPage {
    /// An event, or a confirmation among them.
    package enum Line: Sendable {
        /// An event.
        case event(FedEvent)
        /// A confirmation.
        case confirmation(FedConfirmation)
    }

    /// The events and confirmations in the order of the log: confirmations after the events of their
    /// commit.
    ///
    /// - Parameter eventsMax: The most events; the page ends with the last of them.
    /// - Returns: The lines.
    package func lines(eventsMax: Int = .max) -> [Line] {
        var lines: [Line] = []
        var rest = confirmations[...]
        for event in events.prefix(eventsMax) {
            while let first = rest.first, first.lastOffset < event.event.position.offset {
                lines.append(.confirmation(rest.removeFirst()))
            }
            lines.append(.event(event))
        }
        return events.count < eventsMax ? lines + rest.map(Line.confirmation) : lines
    }
}
