internal import EventLog
internal import Events
internal import Projections
internal import Subledger

/// The times at which a customer's page may change: those when something changed for the customer,
/// and those when the ledger recorded something about them.
///
/// They are those of everything known now, whatever the page shows, so that a page about the past
/// leads on.
struct TimeStops: Sendable {
    /// A time, and what happened then.
    struct Stop: Sendable, Hashable {
        let instant: Instant
        let words: String
    }

    /// When periods begin and end, and events take effect, ascending, each once.
    let changes: [Stop]
    /// When a commit recorded something, ascending, each once.
    let commits: [Stop]

    /// The most stops that are listed, the last ones; each is a line of the page.
    private static let listedMax = 500
    /// The most things that a stop names.
    private static let namesMax = 3

    /// The stops of the subscriptions of a customer.
    init(_ histories: [RecordedHistory]) {
        var changes: [Instant: [String]] = [:]
        var commits: [Instant: [String]] = [:]
        for history in histories {
            for event in history.events {
                commits[event.recordedAt, default: []]
                    .append("\(event.position.mark) \(event.fact.summary)")
                guard event.fact.kind != .erased, event.fact.effective.ifSet != nil else {
                    continue
                }
                changes[event.fact.effective, default: []].append(event.fact.summary)
            }
            for repetition in history.repetitions {
                commits[repetition.recordedAt, default: []]
                    .append("\(repetition.confirmation.position.mark) repeated")
            }
            for row in ActivePeriods(Timeline(history.latest)).rows
            where row.validFrom < row.validTo {
                let name = "\(row.kind.rawValue) period of \(row.productId)"
                changes[row.validFrom, default: []].append("\(name) begins")
                changes[row.validTo, default: []].append("\(name) ends")
            }
        }
        self.changes = TimeStops.ordered(changes)
        self.commits = TimeStops.ordered(commits)
    }

    private static func ordered(_ names: [Instant: [String]]) -> [Stop] {
        names.sorted { $0.key < $1.key }.map { instant, names in
            let more = names.count > namesMax ? ["and \(names.count - namesMax) more"] : []
            return Stop(
                instant: instant,
                words: (names.prefix(namesMax) + more).joined(separator: ", ")
            )
        }
    }
}

extension TimeStops {
    /// The two lists, from which the script makes two sliders.
    ///
    /// - Parameters:
    ///   - address: The address of the page.
    ///   - instant: The instant that it is about.
    ///   - known: The newest time that it knows of; nil if it knows nothing.
    /// - Returns: The markup.
    func html(at address: ConsoleAddress, _ instant: Instant, known: Instant?) -> HTML {
        """
        <nav class="times" aria-label="Times">
        \(list("at", "At", changes, instant, address) { $0.at = $1 })
        \(list("known-at", "Known at", commits, known, address) { $0.knownAt = $1 })
        </nav>
        """
    }

    private func list(
        _ name: String,
        _ title: String,
        _ stops: [Stop],
        _ shown: Instant?,
        _ address: ConsoleAddress,
        _ set: (inout ConsoleAddress, String?) -> Void
    ) -> HTML {
        func link(_ value: String?) -> String {
            var address = address
            set(&address, value)
            return address.text
        }
        let current = stops.lastIndex { stop in shown.map { stop.instant <= $0 } ?? false }
        let items = stops.enumerated().suffix(TimeStops.listedMax).map { index, stop -> HTML in
            let mark: HTML = index == current ? " aria-current=\"true\"" : ""
            return """
                <li><a href="\(link(ConsoleAddress.field(stop.instant)))"\(mark)>\
                \(stop.instant.zonedClock)</a> \(stop.words)</li>
                """
        }
        let left = max(0, stops.count - TimeStops.listedMax)
        let rest = left > 0 ? " · the first \(left) are not listed" : ""
        return """
            <details id="\(name)"><summary data-name="\(title)"><span>\(title) \
            <time>\(shown?.zonedClock ?? "a time when nothing was known")</time> · </span>\
            list of \(counted(stops.count, "time"))</summary>
            <p class="quiet"><a href="\(link(nil))">Now</a>\(rest)</p>
            <ol>\(HTML.joined(items))</ol></details>
            """
    }
}
