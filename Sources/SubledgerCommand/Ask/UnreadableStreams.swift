import ArgumentParser
import CommandSupport
import Events

/// The subscriptions of a report with events that this program cannot read: without these nothing
/// is certain of them, so they are left out, and told.
struct UnreadableStreams: Sendable {
    /// Most subscriptions that a document names: they are held in memory.
    private static let namedMax = 1000

    /// How many there are.
    private(set) var count = 0
    private var named: [Named] = []

    private struct Named: Sendable {
        let stream: StreamID
        let events: [UnreadableEvent]
    }

    /// Takes a subscription; false where it can be read.
    mutating func take(_ stream: StreamID, _ events: [UnreadableEvent]) -> Bool {
        guard !events.isEmpty else { return false }
        count += 1
        if named.count < UnreadableStreams.namedMax {
            named.append(Named(stream: stream, events: events))
        }
        return true
    }

    /// Says on stderr how many there are, and which is the first.
    func tell(_ command: String, lanes: LaneCount) {
        guard let first = named.first, let event = first.events.first else { return }
        let subscriptions = count == 1 ? "1 subscription" : "\(count) subscriptions"
        Terminal.write(
            "\(command): \(subscriptions) could not be read, and nothing is certain of "
                + (count == 1 ? "it" : "them") + "; the first is "
                + "\(first.stream.originalTransactionId) (\(first.stream.environment)), event "
                + "\(event.position.mark(lanes: lanes)): \(event.reason) `subledger verify` tells whether the log is "
                + "whole; a newer subledger may read what it wrote"
        )
    }

    /// The code of a report that left something out.
    func check() throws {
        guard count == 0 else { throw Exit.mismatch }
    }

    /// The subscriptions in JSON, with the positions of their unreadable events.
    func document(lanes: LaneCount) -> JSONTree {
        .array(
            named.map { found in
                .object([
                    "originalTransactionId": .text(found.stream.originalTransactionId),
                    "environment": .text(found.stream.environment.word),
                    "positions": .array(
                        found.events.map { JSONTree($0.position, lanes: lanes) }
                    ),
                ])
            }
        )
    }
}

/// What a report makes of the log, beside what it could not read.
struct Readable<State: Sendable>: Sendable {
    var state: State
    var unreadable = UnreadableStreams()

    init(_ state: State) { self.state = state }
}
