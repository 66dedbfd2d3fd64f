import ArgumentParser
import CommandSupport
import EventLog
import Events
import Subledger

struct ConsumersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "consumers",
        abstract: "The named readers of events and effects: where each is, and how far behind.",
        discussion: """
            `feed --consumer`, `effects --consumer` and GET /v1/events?consumer= keep their places \
            in the database. Removed, a name begins again.
            """,
        subcommands: [List.self, Remove.self],
        defaultSubcommand: List.self
    )
}

extension ConsumersCommand {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the consumers, by name, at most 10000."
        )

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let log = try await database.openLog(EventLog.Options())
            let result: Result<[ConsumerPlace], EventLogError>
            do {
                result = .success(try await log.consumers(limit: 10_000))
            } catch {
                result = .failure(error)
            }
            await log.close()
            let documents = try result.get().map(ConsumerDocument.init)
            var table = TextTable(["consumer", "stream", "behind", "acknowledged", "cursor"])
            for document in documents { table.add(document.cells) }
            try output.print(documents, [documents.isEmpty ? "no consumers" : table.text])
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a consumer: a reader of the name begins again."
        )

        @Argument(help: "The name of the consumer.")
        var name: String

        @OptionGroup var database: DatabaseOptions

        func validate() throws {
            guard name.hasPrefix(Webhook.consumerPrefix) else { return }
            let webhook = name.dropFirst(Webhook.consumerPrefix.count)
            throw ValidationError(
                "\(name.harmless) keeps the place of a webhook; `subledger webhooks remove "
                    + "\(String(webhook).harmless)` removes both"
            )
        }

        func run() async throws {
            let log = try await database.openLog(EventLog.Options())
            let result: Result<Bool, EventLogError>
            do {
                result = .success(try await log.removeConsumer(name))
            } catch {
                result = .failure(error)
            }
            await log.close()
            guard try result.get() else {
                throw Failure(
                    Exit.notFound,
                    "no consumer \(name.harmless); `subledger consumers` lists them"
                )
            }
            Terminal.print("removed \(name)")
        }
    }
}

/// A consumer and where it is.
private struct ConsumerDocument: Encodable {
    let consumer: String
    let stream: Consumer.Stream
    let cursor: String
    let lagEvents: Int64?
    let acknowledgedAt: Instant
    let secondsSinceAcknowledged: Double

    init(_ place: ConsumerPlace) {
        (consumer, stream, cursor) = (place.name, place.stream, place.cursor)
        (lagEvents, acknowledgedAt) = (place.lag, place.acknowledgedAt)
        secondsSinceAcknowledged = place.idleSeconds
    }

    var cells: [String] {
        [
            consumer, stream.rawValue, lagEvents.map { counted($0, "event") } ?? "not of this log",
            "\(durationWords(secondsSinceAcknowledged)) ago", cursor.isEmpty ? "–" : cursor,
        ]
    }
}

extension Consumer {
    /// Refuses what cannot be the name of a consumer.
    ///
    /// - Throws: `ValidationError`.
    static func check(_ name: String) throws {
        guard isName(name), name.harmless == name else {
            throw ValidationError(
                "--consumer must not be blank, contain control characters, or be longer than "
                    + "\(nameBytesMax) bytes"
            )
        }
    }
}
