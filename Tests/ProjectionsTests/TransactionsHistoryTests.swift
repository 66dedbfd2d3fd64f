import Events
import Projections
import TestSupport
import Testing

/// What was known of purchases, and when.
@Suite struct TransactionsHistoryTests {
    private static let history = projectionsOnRequest.filter { $0.name == "transactions_history" }
    private static let transactions = allProjections.filter { $0.name == "transactions" }

    @Test func `a late refund is a state of January, and its reversal the next one`() throws {
        let states = try Self.states(
            RecordedStory(
                """
                01-01T00:00:05 @01-01 purchase basic 01-01..02-01 woli=1 price=990
                02-01T00:00:05 @02-01 purchase basic 02-01..03-01 woli=2 price=990 reason=RENEWAL
                02-10T09:00:00 @02-09 purchase basic 01-01..02-01 woli=1 price=990 revoked=01-20
                02-12T09:00:00 @02-12 purchase basic 01-01..02-01 woli=1 price=990
                """
            ).history
        )
        #expect(
            states.map(\.text) == [
                "#1 01-01T00:00:05..02-10T09:00:00 to 02-01 net 990",
                "#2 02-01T00:00:05..- to 03-01 net 990",
                "#1 02-10T09:00:00..02-12T09:00:00 to 01-20 net 0",
                "#1 02-12T09:00:00..- to 02-01 net 990",
            ]
        )
    }

    @Test func `facts of one commit are one state, and what repeats is none`() throws {
        let states = try Self.states(
            RecordedStory(
                """
                01-05 @01-01 purchase basic 01-01..02-01 woli=1 price=990
                01-05 @01-04 purchase basic 01-01..02-01 woli=1 price=990 revoked=01-03
                01-09 @01-08 purchase basic 01-01..02-01 woli=1 price=990 revoked=01-03
                """
            ).history
        )
        #expect(states.map(\.text) == ["#1 01-05..- to 01-03 net 0"])
    }

    @Test func `a purchase that turns out to be another one ends without a next state`() throws {
        let states = try Self.states(
            RecordedStory(
                """
                01-05 @01-01 purchase basic 01-01..02-01 woli=1 price=990
                01-06 @01-02 purchase basic 01-03..02-03 price=990
                01-07 @01-04 purchase basic 01-03..02-03 woli=1 price=990
                """
            ).history
        )
        let latest = states.filter { $0.knownTo == nil }
        let ended = states.filter { state in
            state.knownTo != nil
                && !states.contains { $0.first == state.first && $0.from == state.knownTo }
        }
        #expect(latest.count == 1 && ended.map(\.first) == [2], "\(states.map(\.text))")
    }

    @Test(arguments: ["transactions_history", "movements_history"])
    func `a subscription that would be folded too often is refused, with its last event`(
        name: String
    ) throws {
        let one = try RecordedStory(
            "01-05 @01-01 purchase basic 01-01..02-01 woli=1 price=990"
        ).history
        let event = try #require(one.events.first)
        func told(_ count: Int) -> RecordedHistory {
            RecordedHistory(
                stream: one.stream,
                events: one.events,
                repetitions: (1...count).map { number in
                    let later = Int64(number) * 60_000
                    return RecordedHistory.Repetition(
                        confirmation: Events.Confirmation(
                            position: event.position,
                            asOf: Instant(milliseconds: event.fact.asOf.milliseconds + later),
                            fields: event.fact.content.asserted,
                            transactionId: "",
                            evidence: 1
                        ),
                        recordedAt: Instant(
                            milliseconds: event.recordedAt.milliseconds + later
                        ),
                        knownFromOffset: 1
                    )
                }
            )
        }
        let projection = try #require(projectionsOnRequest.first { $0.name == name })
        #expect(projection.acceptedRows(of: Timeline(told(100))).count == 1)
        // 1 + 2 + … + 4472 facts are more than ten million.
        let refusal = #expect(throws: FoldRefusal.self) {
            try projection.rows(of: Timeline(told(4471)), in: FoldContext())
        }
        #expect(refusal?.position == event.position)
        #expect(refusal?.reason.contains("4472 steps") == true, "\(refusal?.reason ?? "")")
        #expect(refusal?.reason.contains(name) == true)
    }

    /// Law: at every instant the states that were known then are the rows of `transactions` over
    /// what was known then; and the states of one purchase follow each other.
    @Test func `the states known at an instant are the transactions known then`() async throws {
        let broken = try await Histories.each(Histories.numbers(unlessTold: 1000)) { number in
            var random = RandomFacts(seed: UInt64(number), hasOldFormats: true)
            let history = random.recordedHistory()
            let states = Self.states(history)
            for instant in history.instants {
                let known = Self.transactions.flatMap {
                    $0.acceptedRows(of: Timeline(history.known(at: instant)))
                }
                let then = states.filter {
                    $0.from <= instant && $0.knownTo.map { instant < $0 } ?? true
                }
                guard Set(then.map(\.transaction)) == Set(known), then.count == known.count else {
                    return ["seed \(number) at \(instant)"]
                }
            }
            let latest = Self.transactions.flatMap { $0.acceptedRows(of: Timeline(history.latest)) }
            let open = states.filter { $0.knownTo == nil }
            guard Set(open.map(\.transaction)) == Set(latest), open.count == latest.count else {
                return ["seed \(number): latest"]
            }
            let areInOrder = zip(states, states.dropFirst()).allSatisfy {
                ($0.from, $0.first) < ($1.from, $1.first)
            }
            let areApart = Dictionary(grouping: states, by: \.first).values.allSatisfy { own in
                zip(own, own.dropFirst()).allSatisfy { state, next in
                    guard let end = state.knownTo, end <= next.from else { return false }
                    if end == next.from { return state.transaction != next.transaction }
                    // For a time it was taken for another purchase, which was then known.
                    return states.contains { other in
                        other.first != state.first && other.from <= end
                            && other.knownTo.map { end < $0 } ?? true
                    }
                }
            }
            return areInOrder && areApart ? [] : ["seed \(number): order"]
        }
        #expect(broken.isEmpty, "\(Histories.summary(broken))")
    }

    private static func states(_ history: RecordedHistory) -> [KnownState] {
        Self.history.flatMap { projection in
            projection.acceptedRows(of: Timeline(history)).map { KnownState($0, projection) }
        }
    }
}

/// A row of the table.
private struct KnownState {
    /// The columns that `transactions` has too.
    let transaction: ProjectionRow
    let first: Int64
    let from: Instant
    let knownTo: Instant?
    let text: String

    init(_ row: ProjectionRow, _ projection: any Projection) {
        let values = Dictionary(uniqueKeysWithValues: zip(projection.columns, row.values))
        transaction = ProjectionRow(
            values: Array(row.values.dropLast(4)),
            positions: row.positions
        )
        first = values["first_lane_offset"]?.number ?? 0
        from = values["known_from"]?.instant ?? .epoch
        knownTo = values["known_to"]?.instant
        #expect(values["is_latest"] == .boolean(knownTo == nil))
        let ends = values["effective_end_time"]?.instant.map(TimelineText.text) ?? "-"
        text =
            "#\(first) \(TimelineText.text(from))..\(knownTo.map(TimelineText.text) ?? "-") to \(ends)"
            + " net \(values["price_milliunits"]?.number.map(String.init) ?? "-")"
    }
}
