import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Projections
import Subledger

struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "A subscription event by event, with the state that each left.",
        discussion: """
            In the order in which the log learnt of them. Fields that changed are marked with *. \
            The state is that at the latest instant of which Apple had spoken by then, or at --at.
            """
    )

    @OptionGroup var question: StreamOptions

    @Option(help: "The instant whose state is shown after each event.", transform: Clock.instant)
    var at: Instant?

    @Flag(help: "Wait for Return after each event, where stdin is a terminal.")
    var step = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let log = try await database.openLog()
        let stream = try await question.stream(in: log)
        let lane = log.identity.lanes.lane(of: stream.originalTransactionId)
        let history = try await log.recordedHistory(of: stream)
            .cut(to: try await log.wholeCommits(question.knownAt, lane: lane), lane: lane)
        try await ErasureMarks.tell(of: [stream], in: log)
        try await question.printSiblings(of: stream, in: log)
        await log.close()
        let replay = try Replay(history, at: at)
        if output.json {
            try Terminal.print(json: replay.document(lanes: log.identity.lanes))
            return
        }
        Terminal.print("\(stream.originalTransactionId) · \(stream.environment) · UTC")
        for frame in replay.frames {
            Terminal.print(frame.text(lanes: log.identity.lanes))
            if step, isatty(0) == 1, readLine() == nil { return }
        }
    }
}

/// The states of a subscription after each event.
private struct Replay {
    let stream: StreamID
    let frames: [Frame]

    struct Frame {
        let event: Event
        let changes: [PeriodChange]
        let fields: [(field: StateField, isChanged: Bool)]
        let gone: [String]
    }

    init(_ history: RecordedHistory, at instant: Instant?) throws {
        guard let effects = EventEffects(history) else {
            throw Failure(
                Exit.badInput,
                "\(history.stream.originalTransactionId) has \(history.events.count) events; "
                    + "replay takes at most \(EventEffects.eventsMax): bound it with --known-at"
            )
        }
        stream = history.stream
        var last: [StateField] = []
        frames = zip(history.events, effects.changes).map { event, changes in
            let known = history.known(upTo: event.position.offset)
            let asked =
                instant ?? Timeline(known).horizon ?? event.fact.toldAsOf ?? event.recordedAt
            let fields = StateField.all(of: known, at: asked)
            let frame = Frame(
                event: event,
                changes: changes,
                fields: fields.map { field in
                    (field, !last.contains { $0.isSame(as: field) })
                },
                gone: last.map(\.name).filter { name in !fields.contains { $0.name == name } }
            )
            last = fields
            return frame
        }
    }

    func document(lanes: LaneCount) -> JSONTree {
        .object([
            "originalTransactionId": .text(stream.originalTransactionId),
            "environment": .text(stream.environment.word),
            "frames": .array(
                frames.map { frame in
                    .object([
                        "position": JSONTree(frame.event.position, lanes: lanes),
                        "asOf": JSONTree(frame.event.fact.toldAsOf?.milliseconds),
                        "recordedAt": .number(frame.event.recordedAt.milliseconds),
                        "effect": .array(frame.changes.map { .text($0.role.rawValue) }),
                        "state": .object(
                            Dictionary(
                                frame.fields.map { ($0.field.name, JSONTree($0.field.value)) },
                                uniquingKeysWith: { first, _ in first }
                            )
                        ),
                        "changed": .array(
                            frame.fields.filter(\.isChanged).map { .text($0.field.name) }
                                + frame.gone.map { .text($0) }
                        ),
                    ])
                }
            ),
        ])
    }
}

extension Replay.Frame {
    fileprivate func text(lanes: LaneCount) -> String {
        let effect = changes.isEmpty ? "· nothing" : changes.map(\.words).joined(separator: ", ")
        var lines = [
            "\(event.position.mark(lanes: lanes))  recorded \(event.recordedAt.clock)  as of "
                + "\(event.fact.toldAsOf?.clock ?? "–")  \(event.fact.kind.rawValue) \(event.fact.summary)",
            "    \(effect)",
        ]
        lines += fields.map { field, isChanged in
            "  \(isChanged ? "*" : " ") \(field.name) = \(field.value.words)"
        }
        lines += gone.map { "  * \($0) –" }
        return lines.joined(separator: "\n")
    }
}

extension PeriodChange {
    /// In a few words, with a sign in front: `+` opened, `=` renewed, `~` grace, `−` ended, `↩`
    /// restored, `>` extended, `*` corrected.
    var words: String {
        if let oneTimePurchase { return words(of: oneTimePurchase) }
        let row = after ?? before
        let product = row?.productId ?? ""
        let end = row?.validTo.clock ?? ""
        return switch role {
        case .opened: "+ opened \(row?.kind.rawValue ?? "") \(product) → \(end)"
        case .renewed: "= renewed \(product) → \(end)"
        case .grace: "~ grace → \(end)"
        case .ended: "− ended at \(end) (\(after?.endReason.rawValue ?? "gone"))"
        case .restored: "↩ restored \(product) → \(end)"
        case .extended: "> extended → \(end)"
        case .corrected: "* corrected \(product) → \(end)"
        }
    }

    private func words(of purchase: OneTimePurchase) -> String {
        switch role {
        case .ended:
            "− \(purchase.revocationWord)"
                + (purchase.revocationDate.map { " at \($0.clock)" } ?? "")
        case .restored: "↩ restored \(purchase.productId)"
        case .opened, .renewed, .grace, .extended, .corrected: "+ bought \(purchase.productId)"
        }
    }
}
