import ArgumentParser
import CommandSupport
import EventLog
import Events
import Projections
import Subledger

struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "What changed in the knowledge of a customer between two positions or instants.",
        discussion: """
            Lines with − were believed at the first and not at the second, lines with + the other \
            way round: first the access, then the periods, then money, refunds, one-time purchases, \
            changes of plan, the state of the renewal and, as of --at, eligibility for offers.
            """
    )

    @OptionGroup var customer: CustomerOrStreamOptions

    @Option(
        help: ArgumentHelp(
            "The two bounds of knowledge, each an offset, lane:offset pairs or an instant.",
            valueName: "a..b"
        ),
        transform: DiffCommand.bounds
    )
    var known: (KnownAt, KnownAt)

    @Option(
        help: "Whose subscriptions, and which eligibility: at this instant. Default: now.",
        transform: Clock.instant
    )
    var at: Instant?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let ledger = try await Ledger.open(try await database.settings())
        let instant = at ?? .systemClock()
        let before = try await customer.ask(ledger, at: instant, knownAt: known.0)
        let after = try await customer.ask(ledger, at: instant, knownAt: known.1)
        let old = try await ledger.catalogs(knownAt: known.0)
        let new = try await ledger.catalogs(knownAt: known.1)
        await ledger.log.close()
        for line in after.grounds.lines { Terminal.write(line) }
        let difference = KnowledgeDifference(
            before,
            after,
            statedBefore: KnownStatement.all(of: before, at: instant, old),
            statedAfter: KnownStatement.all(of: after, at: instant, new)
        )
        if output.json {
            try Terminal.print(json: difference.document(of: customer.id, known))
        } else {
            Terminal.print(difference.text(of: customer.id))
        }
    }

    private static func bounds(_ text: String) throws -> (KnownAt, KnownAt) {
        guard let middle = text.firstRange(of: "..") else {
            throw ValidationError("'\(text)' is no range; expected A..B, as 1391877..1394101")
        }
        return (
            try Clock.knownAt(String(text[..<middle.lowerBound])),
            try Clock.knownAt(String(text[middle.upperBound...]))
        )
    }
}

/// What two states of knowledge say differently about a customer.
private struct KnowledgeDifference {
    let lostAccess: [Range<Instant>]
    let gainedAccess: [Range<Instant>]
    let changes: [PeriodChange]
    let lostStatements: [KnownStatement]
    let gainedStatements: [KnownStatement]
    let lanes: LaneCount

    init(
        _ before: AskedCustomer,
        _ after: AskedCustomer,
        statedBefore: [KnownStatement],
        statedAfter: [KnownStatement]
    ) {
        let old = before.histories.map { ActivePeriods(Timeline($0.latest)) }
        let new = after.histories.map { ActivePeriods(Timeline($0.latest)) }
        let access = AccessDifference(from: old.flatMap(\.active), to: new.flatMap(\.active))
        lostAccess = access.lost
        gainedAccess = access.gained
        changes = PeriodChange.between(old.flatMap(\.rows), new.flatMap(\.rows))
        lostStatements = KnownStatement.missing(of: statedBefore, in: statedAfter)
        gainedStatements = KnownStatement.missing(of: statedAfter, in: statedBefore)
        lanes = after.lanes
    }

    func text(of id: String) -> String {
        var lines = lostAccess.map { "− access  \($0.lowerBound.clock) → \($0.upperBound.clock)" }
        lines += gainedAccess.map { "+ access  \($0.lowerBound.clock) → \($0.upperBound.clock)" }
        for change in changes {
            if let row = change.before {
                lines.append("− period  \(KnowledgeDifference.text(row))")
            }
            if let row = change.after {
                let positions = row.positions.marks(lanes: lanes)
                lines.append(
                    "+ period  \(KnowledgeDifference.text(row))  (\(change.role.rawValue), "
                        + "\(positions))"
                )
            }
        }
        for aspect in KnownStatement.Aspect.allCases {
            lines += lostStatements.filter { $0.aspect == aspect }.map {
                "− \(aspect.rawValue)  \($0.words)"
            }
            lines += gainedStatements.filter { $0.aspect == aspect }.map {
                "+ \(aspect.rawValue)  \($0.words)"
                    + ($0.positions.isEmpty ? "" : "  (\($0.positions.marks(lanes: lanes)))")
            }
        }
        return ([id] + (lines.isEmpty ? ["nothing changed"] : lines)).joined(separator: "\n")
    }

    private static func text(_ row: ActivePeriod) -> String {
        "\(row.kind.rawValue) \(row.productId) \(row.validFrom.clock) → \(row.validTo.clock) "
            + row.endReason.rawValue
    }

    func document(of id: String, _ known: (KnownAt, KnownAt)) -> JSONTree {
        .object([
            "customer": .text(id),
            "known": .array([.text(known.0.text(lanes: lanes)), .text(known.1.text(lanes: lanes))]),
            "lostAccess": intervals(lostAccess),
            "gainedAccess": intervals(gainedAccess),
            "periods": .array(
                changes.map { change in
                    .object([
                        "role": .text(change.role.rawValue),
                        "before": change.before.map { $0.json(lanes: lanes) } ?? .null,
                        "after": change.after.map { $0.json(lanes: lanes) } ?? .null,
                    ])
                }
            ),
            "lost": .array(lostStatements.map { $0.document(lanes: lanes) }),
            "gained": .array(gainedStatements.map { $0.document(lanes: lanes) }),
        ])
    }

    private func intervals(_ intervals: [Range<Instant>]) -> JSONTree {
        .array(
            intervals.map {
                .array([
                    .number($0.lowerBound.milliseconds), .number($0.upperBound.milliseconds),
                ])
            }
        )
    }
}

extension ActivePeriod {
    /// The row as `periods --json` prints it, with its subscription.
    func json(lanes: LaneCount) -> JSONTree {
        .object([
            "originalTransactionId": .text(stream.originalTransactionId),
            "productId": .text(productId), "kind": .text(kind.rawValue),
            "purchaseDate": .number(purchaseDate.milliseconds),
            "expiresDate": .number(expiresDate.milliseconds),
            "validFrom": .number(validFrom.milliseconds), "validTo": .number(validTo.milliseconds),
            "endReason": .text(endReason.rawValue),
            "positions": .array(positions.map { JSONTree($0, lanes: lanes) }),
        ])
    }
}
