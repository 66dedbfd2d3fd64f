import ArgumentParser
import CommandSupport
import EventLog
import Events
import Projections
import Subledger

struct BlameCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blame",
        abstract: "Which event is responsible for each part of a subscription's state.",
        discussion: """
            Of the purchases the one that decides the access at --at counts; of the next renewal \
            what Apple had said up to then.
            """
    )

    @OptionGroup var customer: CustomerOrStreamOptions

    @Option(help: "The instant asked about. Default: now.", transform: Clock.instant)
    var at: Instant?

    @Option(
        help: Clock.knownAtHelp,
        transform: Clock.knownAt
    )
    var knownAt: KnownAt = .latest

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let ledger = try await Ledger.open(try await database.settings())
        let instant = at ?? .systemClock()
        let asked = try await customer.ask(ledger, at: instant, knownAt: knownAt)
        await ledger.log.close()
        for line in asked.erasures.lines(lanes: asked.lanes) { Terminal.write(line) }
        for line in asked.grounds.lines { Terminal.write(line) }
        let blames = asked.histories.map { Blame($0, at: instant) }
        if output.json {
            try Terminal.print(
                json: JSONTree.object([
                    "customer": .text(customer.id), "at": .number(instant.milliseconds),
                    "environment": .text(asked.environment.word),
                    "subscriptions": .array(blames.map { $0.json(lanes: asked.lanes) }),
                ])
            )
        } else {
            Terminal.print(
                blames.map { $0.text(at: instant, lanes: asked.lanes) }.joined(separator: "\n\n")
            )
        }
    }
}

/// The fields of one subscription, each with its event.
private struct Blame {
    private let stream: StreamID
    private let fields: [(field: StateField, event: Event?)]

    init(_ history: RecordedHistory, at instant: Instant) {
        stream = history.stream
        fields = StateField.all(of: history.latest, at: instant).map { field in
            (field, history.events.first { $0.position == field.position })
        }
    }

    func text(at instant: Instant, lanes: LaneCount) -> String {
        var table = TextTable(["position", "what", "value", "event", "as of", "recorded"])
        for (field, event) in fields {
            table.add([
                field.position.mark(lanes: lanes), field.name, field.value.words,
                event.map { "\($0.fact.kind.rawValue) \($0.fact.summary)" } ?? "",
                event?.fact.asOf.clock ?? "", event?.recordedAt.clock ?? "",
            ])
        }
        let title = "\(stream.originalTransactionId) · \(stream.environment) · \(instant.clock) UTC"
        return title + "\n" + (fields.isEmpty ? "nothing is known" : table.text)
    }

    func json(lanes: LaneCount) -> JSONTree {
        .object([
            "originalTransactionId": .text(stream.originalTransactionId),
            "fields": .array(
                fields.map { field, event in
                    .object([
                        "name": .text(field.name), "value": JSONTree(field.value),
                        "position": JSONTree(field.position, lanes: lanes),
                        "asOf": JSONTree(event?.fact.asOf.milliseconds),
                        "recordedAt": JSONTree(event?.recordedAt.milliseconds),
                    ])
                }
            ),
        ])
    }
}

extension FieldValue {
    /// For tables.
    var words: String {
        switch self {
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .boolean(let flag): "\(flag)"
        case .instant(let instant): instant.clock
        }
    }
}
