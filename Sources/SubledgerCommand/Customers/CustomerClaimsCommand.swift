import AppStore
import ArgumentParser
import CommandSupport
import EventLog
import Events
import Projections
import Subledger

struct CustomerClaimsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "claims",
        abstract: "Who claims which subscription: every link, and every token that changed.",
        discussion: """
            With --contested only what waits for a decision: links to a customer while another one \
            had the subscription, which moved nothing and wait for an unlink or a transfer; and \
            app account tokens that Apple's account (a receipt, an appTransactionId) joins to \
            another token, which count as one customer until a link says otherwise. For these it \
            looks up the customer of every subscription that has a token.
            """
    )

    @Flag(help: "Only contested links, and tokens that Apple's account joins to another one.")
    var contested = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    /// Subscriptions looked up at once: the list is as long as the ledger has customers.
    static let pageStreams = 1000

    func run() async throws {
        let log = try await database.openLog()
        var printer = ClaimPrinter(isJSON: output.json)
        var last: StreamID?
        repeat {
            let page = try await log.streams(
                claimedBy: contested ? .severalCustomers : .anybody,
                after: last,
                limit: CustomerClaimsCommand.pageStreams
            )
            for stream in page {
                let claims = StreamClaims(Timeline(try await log.history(of: stream)))
                let lines = ClaimLine.all(of: claims, lanes: log.identity.lanes)
                for line in lines where !contested || line.isContested { try printer.print(line) }
            }
            last = page.count < CustomerClaimsCommand.pageStreams ? nil : page.last
        } while last != nil
        if contested { try await printJoinedTokens(of: log, with: &printer) }
        printer.finish()
        await log.close()
    }

    private func printJoinedTokens(
        of log: EventLog,
        with printer: inout ClaimPrinter
    ) async throws {
        let ledger = Ledger(log: log, verifier: AppStoreVerifier(policy: VerificationPolicy()))
        var last: StreamID?
        repeat {
            let page = try await log.streams(
                claimedBy: .token,
                after: last,
                limit: CustomerClaimsCommand.pageStreams
            )
            for stream in page {
                let id = stream.originalTransactionId
                let customer: Customer
                do throws(EventLogError) {
                    customer = try await ledger.customer(id, in: stream.environment)
                } catch {
                    guard error.code == .tooManyStreams else { throw error }
                    Terminal.write(error.message)
                    continue
                }
                guard let own = customer.streams.first(where: { $0.stream == stream }) else {
                    continue
                }
                let others = customer.otherTokens(than: own)
                guard !others.isEmpty else { continue }
                for line in ClaimLine.all(of: own.claims, lanes: log.identity.lanes, others)
                where line.appAccountToken != nil { try printer.print(line) }
            }
            last = page.count < CustomerClaimsCommand.pageStreams ? nil : page.last
        } while last != nil
    }
}

/// Prints claims one by one: an array in JSON, a line each for people.
private struct ClaimPrinter {
    private let isJSON: Bool
    private var isFirst = true

    init(isJSON: Bool) {
        self.isJSON = isJSON
        if isJSON { Terminal.put("[") }
    }

    mutating func print(_ line: ClaimLine) throws {
        if isJSON {
            Terminal.put((isFirst ? "" : ",") + (try Terminal.text(json: line)))
        } else {
            Terminal.print(line.text)
        }
        isFirst = false
    }

    func finish() {
        if isJSON {
            Terminal.print("]")
        } else if isFirst {
            Terminal.print("no claims")
        }
    }
}

/// A claim as a line of `customers show` and `customers claims`.
struct ClaimLine: Encodable {
    let originalTransactionId: String
    let environment: String
    let customer: String?
    let appAccountToken: String?
    let from: Int64
    let to: Int64?
    let position: PositionValue
    let endPosition: PositionValue?
    let by: String?
    let reason: String?
    let isContested: Bool
    let contests: String?
    /// Of a token, others that Apple's account joins to it; empty where that was not looked up.
    let joinedTokens: [String]
    private let positionText: String

    enum CodingKeys: CodingKey {
        case originalTransactionId, environment, customer, appAccountToken, from, to, position,
            endPosition, by, reason, isContested, contests, joinedTokens
    }

    /// The claims of a subscription: its links, then its tokens.
    static func all(
        of claims: StreamClaims,
        lanes: LaneCount,
        _ joinedTokens: [String] = []
    ) -> [ClaimLine] {
        claims.links.map { ClaimLine($0, of: claims, lanes: lanes) }
            + claims.tokens.map { ClaimLine($0, of: claims, lanes: lanes, joinedTokens) }
    }

    private init(_ link: LinkClaim, of claims: StreamClaims, lanes: LaneCount) {
        let start = Position(lane: claims.lane, offset: link.offset)
        originalTransactionId = claims.stream.originalTransactionId
        environment = claims.stream.environment.word
        customer = link.customer
        appAccountToken = nil
        from = link.from.milliseconds
        to = link.to?.milliseconds
        position = PositionValue(start, lanes: lanes)
        endPosition = link.endOffset.map {
            PositionValue(Position(lane: claims.lane, offset: $0), lanes: lanes)
        }
        by = link.statedBy
        reason = link.reason.isEmpty ? nil : link.reason
        isContested = link.isContested
        contests = link.contests
        joinedTokens = []
        positionText = start.mark(lanes: lanes)
    }

    private init(
        _ token: TokenClaim,
        of claims: StreamClaims,
        lanes: LaneCount,
        _ joinedTokens: [String]
    ) {
        self.joinedTokens = joinedTokens
        let start = Position(lane: claims.lane, offset: token.offset)
        originalTransactionId = claims.stream.originalTransactionId
        environment = claims.stream.environment.word
        customer = nil
        appAccountToken = token.token
        from = token.from.milliseconds
        to = token.to?.milliseconds
        position = PositionValue(start, lanes: lanes)
        endPosition = nil
        by = nil
        reason = nil
        isContested = false
        contests = nil
        positionText = start.mark(lanes: lanes)
    }

    /// The claim for people.
    var text: String {
        let end = to.map { Instant(milliseconds: $0).clock } ?? "–"
        var words = [
            originalTransactionId, environment,
            customer.map { "customer \($0)" } ?? "token \(appAccountToken ?? "")",
            "\(Instant(milliseconds: from).clock) → \(end)", positionText,
        ]
        if let by { words.append("by \(by)") }
        if let reason { words.append(reason) }
        if let contests { words.append("CONTESTED, held by \(contests)") }
        if !joinedTokens.isEmpty {
            words.append(
                "JOINED by Apple's account to token " + joinedTokens.joined(separator: ", ")
                    + "; link each subscription to its customer to part them"
            )
        }
        return words.joined(separator: "  ")
    }
}
