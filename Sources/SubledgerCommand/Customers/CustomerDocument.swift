import CommandSupport
import EventLog
import Events
import Projections

/// The JSON of `customers show`.
struct CustomerDocument: Encodable {
    let id: String
    let environment: String
    let customer: String?
    let appAccountTokens: [String]
    let streams: [Stream]
    let related: [Stream]
    let ambiguous: [Ambiguity]
    let ownedAt: [String]?

    struct Stream: Encodable {
        let originalTransactionId: String
        let bundleId: String?
        let productIds: [String]
        /// Why it is listed: `because`, `value` and `with`, as in `access`.
        let ground: JSONTree
        let owners: [Interval]
        let links: [ClaimLine]
        let tokens: [ClaimLine]
    }

    struct Interval: Encodable {
        let customer: String?
        let appAccountToken: String?
        let from: Int64?
        let to: Int64?
        let position: PositionValue?
    }

    struct Ambiguity: Encodable {
        let originalTransactionId: String
        let customers: [String]
    }

    init(_ customer: Customer, at: Instant?, lanes: LaneCount) {
        id = customer.name
        environment = customer.environment.word
        self.customer = customer.customerId
        appAccountTokens = customer.tokens
        let ground = { (stream: CustomerStream) in customer.ground(of: stream.stream) }
        streams = customer.streams.map { Stream($0, ground($0), lanes: lanes) }
        related = customer.related.map { Stream($0, ground($0), lanes: lanes) }
        ambiguous = customer.ambiguous.map {
            Ambiguity(
                originalTransactionId: $0.stream.originalTransactionId,
                customers: $0.customerIds
            )
        }
        ownedAt = at.map { instant in
            customer.streams(ownedAt: instant).map(\.stream.originalTransactionId)
        }
    }

    /// The same for people.
    static func printTables(_ customer: Customer, at: Instant?, lanes: LaneCount) {
        let own = Owner.appAccountToken(customer.name)
        let names =
            (customer.customerId.map { ["customer \($0)"] } ?? [])
            + customer.tokens.filter { .appAccountToken($0) != own }
        Terminal.print(
            ([customer.name, "\(customer.environment)"] + names + ["UTC"]).joined(separator: " · ")
        )
        for stream in customer.streams { stream.printTable(lanes: lanes) }
        let grounds = AnswerGrounds(customer, customer.streams)
        if !grounds.timedLines.isEmpty {
            Terminal.print("\n" + grounds.timedLines.joined(separator: "\n"))
        }
        if !customer.related.isEmpty {
            Terminal.print("\nof others now, once theirs or claimed by them in vain:")
        }
        for stream in customer.related { stream.printTable(lanes: lanes) }
        let related = AnswerGrounds(customer, customer.related).timedLines
        if !related.isEmpty { Terminal.print("\n" + related.joined(separator: "\n")) }
        for line in grounds.ambiguityLines { Terminal.print("\n" + line) }
        guard let at else { return }
        let owned = customer.streams(ownedAt: at).map(\.stream.originalTransactionId)
        Terminal.print(
            "\ntheirs at \(at.clock): " + (owned.isEmpty ? "none" : owned.joined(separator: ", "))
        )
    }
}

extension CustomerDocument.Stream {
    fileprivate init(_ stream: CustomerStream, _ ground: CustomerGround?, lanes: LaneCount) {
        bundleId = stream.bundleId
        self.ground = ground.map { .object($0.members) } ?? .null
        let claims = stream.claims
        func position(_ offset: Int64) -> PositionValue {
            PositionValue(Position(lane: claims.lane, offset: offset), lanes: lanes)
        }
        originalTransactionId = stream.stream.originalTransactionId
        productIds = stream.productIds
        owners = claims.owners.map { ownership in
            var (customer, token): (String?, String?)
            switch ownership.owner {
            case .customer(let name)?: customer = name
            case .appAccountToken(let name)?: token = name
            case nil: break
            }
            return CustomerDocument.Interval(
                customer: customer,
                appAccountToken: token,
                from: ownership.from?.milliseconds,
                to: ownership.to?.milliseconds,
                position: ownership.offset.map(position)
            )
        }
        let lines = ClaimLine.all(of: claims, lanes: lanes)
        links = lines.filter { $0.customer != nil }
        tokens = lines.filter { $0.appAccountToken != nil }
    }
}

extension CustomerStream {
    /// Its products, in the order of their purchases, each once.
    fileprivate var productIds: [String] {
        (timeline.purchases + timeline.oneTimePurchases).map(\.productId)
            .reduce(into: []) { if !$0.contains($1), !$1.isEmpty { $0.append($1) } }
    }

    fileprivate func printTable(lanes: LaneCount) {
        func mark(_ offset: Int64) -> String {
            Position(lane: claims.lane, offset: offset).mark(lanes: lanes)
        }
        Terminal.print("\n\(stream.originalTransactionId)  \(productIds.joined(separator: ", "))")
        var table = TextTable(["from", "to", "whose", "because of"])
        for ownership in claims.owners {
            let owner =
                switch ownership.owner {
                case .customer(let name)?: "customer \(name)"
                case .appAccountToken(let token)?: "token \(token)"
                case nil: "no link, no token"
                }
            table.add([
                ownership.from?.clock ?? "always", ownership.to?.clock ?? "–", owner,
                ownership.offset.map(mark) ?? "",
            ])
        }
        Terminal.print(table.text)
        for claim in claims.contested {
            Terminal.print(
                " CONTESTED: \(claim.customer) since \(claim.from.clock), held by "
                    + "\(claim.contests ?? "") (\(mark(claim.offset)))"
            )
        }
        if claims.hasMutatedToken {
            Terminal.print(" its app account token changed \(claims.tokens.count - 1) times")
        }
    }
}
