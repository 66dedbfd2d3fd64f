import ArgumentParser
import EventLog
import Events
import Foundation
import Projections
import Subledger

struct PeriodsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "periods",
        abstract: "When a subscription gave access, and why it stopped.",
        discussion: """
            Folded from the log at once; no table stands between. Open is a period that had not \
            ended when Apple last spoke. Where its end has passed since, the text prints "expired \
            since Apple last spoke"; the JSON keeps open, as the table active_periods does, which \
            knows no clock.
            """
    )

    @OptionGroup var question: StreamOptions

    @Option(help: "Only the periods that hold this instant.", transform: Clock.instant)
    var at: Instant?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let log = try await database.openLog()
        let stream = try await question.stream(in: log)
        let history = try await log.history(of: stream, knownAt: question.knownAt)
        try await ErasureMarks.tell(of: [stream], in: log)
        try await question.printSiblings(of: stream, in: log)
        await log.close()
        let timeline = Timeline(history)
        let periods = ActivePeriods(timeline)
        let rows = periods.rows.filter { row in
            at.map { row.validFrom <= $0 && $0 < row.validTo } ?? true
        }
        let active = periods.active.filter { interval in at.map(interval.contains) ?? true }
        if output.json {
            try Terminal.print(
                json: PeriodsDocument(stream, rows, active, lanes: log.identity.lanes)
            )
        } else {
            PeriodsDocument.printTable(
                stream,
                rows,
                active,
                at: at ?? .systemClock(),
                instead: OneTimePurchase.sentence(of: timeline, without: "periods"),
                lanes: log.identity.lanes
            )
        }
    }
}

/// The fixed JSON of `periods` (DESIGN §8).
struct PeriodsDocument: Encodable {
    let originalTransactionId: String
    let environment: String
    let periods: [Row]
    let active: [[Int64]]

    struct Row: Encodable {
        let productId: String
        let purchaseDate: Int64
        let expiresDate: Int64
        let validFrom: Int64
        let validTo: Int64
        let kind: String
        let endReason: String
        let expirationReason: String?
        let billingPlanType: String?
        let commitment: Commitment?
        let advancedCommerceItems: [Item]?
        let positions: [PositionValue]
    }

    /// An item of an Advanced Commerce purchase, under Apple's names.
    struct Item: Encodable {
        // Apple's spelling.
        let SKU: String
        let displayName: String?
        let price: Int64?
        let revocationDate: Int64?

        init(_ item: CommerceItem) {
            SKU = item.sku
            displayName = item.displayName
            price = item.priceMilliunits
            revocationDate = item.revocationDate?.milliseconds
        }
    }

    /// The commitment of a period, under Apple's names.
    struct Commitment: Encodable {
        let billingPeriodNumber: Int64?
        let totalBillingPeriods: Int64?
        let commitmentExpiresDate: Int64?
        let commitmentPrice: Int64?

        init(_ commitment: BillingPlan.Commitment) {
            billingPeriodNumber = commitment.periodNumber
            totalBillingPeriods = commitment.periodCount
            commitmentExpiresDate = commitment.expiresDate?.milliseconds
            commitmentPrice = commitment.priceMilliunits
        }
    }

    init(
        _ stream: StreamID,
        _ rows: [ActivePeriod],
        _ active: [Range<Instant>],
        lanes: LaneCount
    ) {
        originalTransactionId = stream.originalTransactionId
        environment = stream.environment.word
        periods = rows.map { row in
            Row(
                productId: row.productId,
                purchaseDate: row.purchaseDate.milliseconds,
                expiresDate: row.expiresDate.milliseconds,
                validFrom: row.validFrom.milliseconds,
                validTo: row.validTo.milliseconds,
                kind: row.kind.rawValue,
                endReason: row.endReason.rawValue,
                expirationReason: row.expirationReason?.rawValue,
                billingPlanType: row.billingPlan?.type,
                commitment: row.billingPlan?.commitment.map(Commitment.init),
                advancedCommerceItems: row.items.isEmpty ? nil : row.items.map(Item.init),
                positions: row.positions.map { PositionValue($0, lanes: lanes) }
            )
        }
        self.active = active.map { [$0.lowerBound.milliseconds, $0.upperBound.milliseconds] }
    }

    /// The same for people.
    static func printTable(
        _ stream: StreamID,
        _ rows: [ActivePeriod],
        _ active: [Range<Instant>],
        at instant: Instant,
        instead sentence: String?,
        lanes: LaneCount
    ) {
        Terminal.print("\(stream.originalTransactionId) · \(stream.environment) · UTC")
        if rows.isEmpty, let sentence {
            Terminal.print(sentence)
            return
        }
        var table = TextTable(["from", "to", "kind", "ended", "product", "because of"])
        for row in rows {
            table.add([
                row.validFrom.clock, row.validTo.clock, row.kind.rawValue,
                row.endWords(at: instant), row.productWords, row.positions.marks(lanes: lanes),
            ])
        }
        Terminal.print(table.text)
        let intervals = active.map { "\($0.lowerBound.clock) – \($0.upperBound.clock)" }
        Terminal.print(
            intervals.isEmpty ? "no access" : "access " + intervals.joined(separator: ", ")
        )
    }
}

extension ActivePeriod {
    /// What was bought, and how it is paid where Apple said so.
    fileprivate var productWords: String {
        var words = [productId]
        if let type = billingPlan?.type { words.append(type) }
        if let commitment = billingPlan?.commitment, let number = commitment.periodNumber,
            let count = commitment.periodCount
        {
            words.append("\(number) of \(count)")
        }
        if let expires = billingPlan?.commitment?.expiresDate {
            words.append("committed until \(expires.clock)")
        }
        words += items.map { item in
            let name = item.displayName.map { " “\($0)”" } ?? ""
            let price = item.priceMilliunits.map { " " + Amount.text($0, nil) } ?? ""
            return "item \(item.sku)\(name)\(price)"
        }
        return words.joined(separator: " · ")
    }

    /// Why it ended, with Apple's reason where it said one; by the clock where Apple has not
    /// spoken.
    fileprivate func endWords(at instant: Instant) -> String {
        if endReason == .open, validTo <= instant { return "expired since Apple last spoke" }
        return endReason.rawValue + (expirationReason.map { " (\($0.rawValue))" } ?? "")
    }
}

/// A position as JSON: a number where there is one lane, else `"lane:offset"`.
struct PositionValue: Encodable, CustomStringConvertible {
    private let position: Position
    private let lanes: LaneCount

    var description: String { position.text(lanes: lanes) }

    init(_ position: Position, lanes: LaneCount) {
        self.position = position
        self.lanes = lanes
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if lanes == .one {
            try container.encode(position.offset)
        } else {
            try container.encode(position.text(lanes: lanes))
        }
    }
}

/// A field's value as JSON.
struct JSONValue: Encodable {
    private let value: FieldValue

    init(_ value: FieldValue) {
        self.value = value
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch value {
        case .text(let text): try container.encode(text)
        case .integer(let number): try container.encode(number)
        case .boolean(let flag): try container.encode(flag)
        case .instant(let instant): try container.encode(instant.milliseconds)
        }
    }
}

struct StreamsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "streams",
        abstract: "Every subscription in the log, with its events and products."
    )

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    /// Lines fetched at once: the list is as long as the ledger has customers.
    static let pageLines = 1000

    func run() async throws {
        let log = try await database.openLog()
        var last: StreamSummary?
        var isFirst = true
        if output.json { Terminal.put("[") }
        while true {
            let page = try await log.streams(after: last, limit: StreamsCommand.pageLines)
            if isFirst, !page.isEmpty, !output.json { Terminal.print(Line.header) }
            for stream in page {
                if output.json {
                    Terminal.put((isFirst ? "" : ",") + (try Terminal.text(json: Line(stream))))
                } else {
                    Terminal.print(Line.text(stream))
                }
                isFirst = false
            }
            last = page.last
            if page.count < StreamsCommand.pageLines { break }
        }
        if output.json { Terminal.print("]") }
        await log.close()
    }

    private struct Line: Encodable {
        let originalTransactionId: String
        let environment: String
        let lane: Int
        let events: Int64
        let productIds: [String]
        let firstRecordedAt: Int64
        let lastRecordedAt: Int64

        init(_ summary: StreamSummary) {
            originalTransactionId = summary.stream.originalTransactionId
            environment = summary.stream.environment.word
            lane = summary.lane
            events = summary.events
            productIds = summary.productIds
            firstRecordedAt = summary.firstRecordedAt.milliseconds
            lastRecordedAt = summary.lastRecordedAt.milliseconds
        }

        static let header = StreamedTable.row(["subscription", "environment", "events", "products"])

        static func text(_ summary: StreamSummary) -> String {
            StreamedTable.row([
                summary.stream.originalTransactionId, "\(summary.stream.environment)",
                "\(summary.events)", summary.productIds.joined(separator: ", "),
            ])
        }
    }
}
