import CommandSupport
import Subledger

extension UnreadableStreams {
    /// Reports on stderr how many there are, and which is the first.
    func printNote(_ command: String) { UnreadableStreams.printNote(named, count, command) }

    /// The same for a document that lists them.
    static func printNote(_ named: [Named], _ count: Int, _ command: String) {
        guard let first = named.first, let position = first.positions.first else { return }
        let subscriptions = count == 1 ? "1 subscription" : "\(count) subscriptions"
        Terminal.write(
            "\(command): \(subscriptions) could not be read, so there is no reliable answer about "
                + (count == 1 ? "it" : "them") + "; the first is \(first.originalTransactionId) "
                + "(\(first.environment)), event #\(position): \(first.reason) `subledger "
                + "verify` reports whether the log is intact; if a newer subledger wrote the "
                + "event, use that version"
        )
    }
}
