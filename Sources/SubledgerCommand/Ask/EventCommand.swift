import ArgumentParser
import CommandSupport
import EventLog
import Events
import Subledger

struct EventCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "event",
        abstract:
            "One event of the log: its content, the bytes that prove it, its place in the chain.",
        discussion: """
            --raw writes the evidence of the event to stdout, byte for byte: the smallest piece of \
            the payload that proves itself. That is a JWS (a notification with those nested in \
            it), the DER of an app receipt, the element of a statuses response, an unsigned body \
            with its passwords blanked, or the statement that Subledger wrote for a link or a \
            version of the catalog. An envelope around it, a byte order mark, and surrounding \
            white space are not kept. --proof prints what the digest of the event is computed \
            from; `subledger verify` proves the chain up to the printed commit.
            """
    )

    @Argument(help: "An offset, or lane:offset.", transform: EventCommand.position)
    var position: Position

    @Flag(help: "Print only the bytes of the evidence.")
    var raw = false

    @Flag(help: "Print every field (the default).")
    var decoded = false

    @Flag(help: "Print the digests of event, evidence and commit.")
    var proof = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard [raw, decoded, proof].count(where: { $0 }) <= 1, !(raw && output.json) else {
            throw ValidationError("choose one of --raw, --decoded and --proof; --raw has no --json")
        }
    }

    func run() async throws {
        let log = try await database.openLog()
        let stored = try await log.event(at: position)
        let heads = stored == nil ? try await log.heads() : [:]
        await log.close()
        guard let stored else {
            throw EventCommand.missing(position, of: log.identity, heads)
        }
        if raw {
            Terminal.put(bytes: try stored.payload)
        } else if proof {
            try output.print(ProofDocument(stored), [stored.proofText])
        } else {
            try output.print(EventDocument(stored), [stored.text])
        }
    }

    private static func missing(
        _ position: Position,
        of identity: LedgerIdentity,
        _ heads: [Int: EventLog.Head]
    ) -> Failure {
        let (lanes, lane) = (identity.lanes, position.lane.number)
        guard !heads.isEmpty else {
            return Failure(
                Exit.notFound,
                "this ledger is empty; \(AnswerNotes.fillingWords)"
            )
        }
        guard lane < lanes.value else {
            return Failure(
                Exit.notFound,
                "unknown lane \(lane): this ledger has "
                    + (lanes == .one
                        ? "one lane, where a position is just its offset: `subledger event "
                            + "\(position.offset)`"
                        : "the lanes 0 to \(lanes.value - 1), and a position is written "
                            + "lane:offset, for example 0:\(position.offset)")
            )
        }
        let head = heads[lane]?.offset ?? 0
        return Failure(
            Exit.notFound,
            "unknown event \(lanes.text([lane: position.offset])): "
                + (lanes == .one ? "the log" : "lane \(lane)") + " ends at \(head)"
        )
    }

    private static func position(_ text: String) throws -> Position {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let offset = parts.last.flatMap({ Int64($0) }),
            let number = parts.count == 1 ? 0 : Int(parts[0]), number >= 0, offset >= 1
        else {
            throw ValidationError(
                "'\(text)' is not a position; expected an offset (1391877), or lane:offset (3:1391877) "
                    + "where the ledger has several lanes"
            )
        }
        return Position(lane: Lane(number), offset: offset)
    }
}

extension StoredEvent {
    /// The payload as it arrived; a failure if it is missing or has changed.
    fileprivate var payload: [UInt8] {
        get throws {
            switch evidence {
            case .whole(let evidence): return evidence.payload
            case .erased:
                throw Failure(
                    Exit.notFound,
                    "the payload of event \(event.position) was erased; `subledger "
                        + "history \(event.fact.stream.originalTransactionId)` shows when, and why"
                )
            case .verifiedAtEntry:
                throw Failure(
                    Exit.notFound,
                    "the payload of event \(event.position) was verified on arrival "
                        + "but not kept, because its subscription had been erased"
                )
            case .missing:
                throw Failure(
                    Exit.mismatch,
                    "the payload of event \(event.position) is missing; run `subledger verify`"
                )
            case .damaged(let reason):
                throw Failure(
                    Exit.mismatch,
                    "the payload of event \(event.position) was changed: \(reason); "
                        + "run `subledger verify`"
                )
            }
        }
    }
}
